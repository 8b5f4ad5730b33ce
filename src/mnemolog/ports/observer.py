"""The port of observers: who wants to know what the core does, in names and numbers."""

from mnemolog.model.observing import Fact, Observe, observe

__all__ = ["Fact", "Observe", "observe"]
