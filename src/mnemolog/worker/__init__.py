"""The worker: finished sessions become nodes, by way of a distiller."""

from mnemolog.distillers import default_prompt
from mnemolog.worker.distillers import Distillers
from mnemolog.worker.loop import Worker
from mnemolog.worker.tick import Outcome, Preview, preview

__all__ = ["Distillers", "Outcome", "Preview", "Worker", "default_prompt", "preview"]
