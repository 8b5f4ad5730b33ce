"""What a vector costs: `python -m bench embedding`

Milliseconds of a processor for an entry of 300 characters, in batches as the index makes them, and
for a question by itself; for every size that is installed or lies in this repository.
"""

import time
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure
from mnemolog.embedders import Embedder, open_embedder
from retriever.conversations import files
from retriever.measure_speed import cut
from retriever.measure_vectors import found

SIZES = {"static": 2_000, "small": 128, "full": 64}
QUESTION = "which database did we choose for the payments, and why?"
ROUNDS = 3


def measure(folder: Path) -> list[Figure]:
    """An entry, a question, and the first one of all, which loads the model."""
    figures = []
    for name, many in SIZES.items():
        embedder = open_embedder(found(name))
        texts = cut(files())[:many]
        first = _milliseconds(embedder, [QUESTION])
        entry = min(_milliseconds(embedder, texts) for _ in range(ROUNDS))
        question = min(_milliseconds(embedder, [QUESTION]) for _ in range(ROUNDS))
        figures += [
            Figure("embedding", f"{name}: an entry", entry / len(texts), "ms"),
            Figure("embedding", f"{name}: a question", question, "ms"),
            Figure("embedding", f"{name}: the first of all, with the model", first, "ms"),
        ]
    return figures


def _milliseconds(embedder: Embedder, texts: Sequence[str]) -> float:
    start = time.process_time()
    embedder.embed(texts)
    return (time.process_time() - start) * 1000
