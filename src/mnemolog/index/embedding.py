"""Embedding: what an embedder says, looked at before it is used, for it may be anybody's.

Whatever it does wrong is a `FailedError`: entries wait for their vectors, and searches go on with
words.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.errors import MnemologError, SettingsError, shown
from mnemolog.ports.embedder import Embedder


class FailedError(SettingsError):
    """The embedder raised an error, or answered with what are no vectors."""

    usual_advice = "Mend it, or choose another; the entries are safe, and found by their words."


def quick(embedder: Embedder | None) -> Embedder | None:
    """The embedder, if it only looks up pieces of words and adds; others may wait for that inside a
    transaction. Nobody can tell how long another one takes."""
    is_quick = hasattr(embedder, "embed_pieces") and getattr(embedder, "at_once", None) is None
    return embedder if is_quick else None


class Meaning(NamedTuple):
    """What an embedder said for a search, before the index was looked at."""

    question: NDArray[np.float32] | FailedError | None = None
    """None if it is quick, and asked on the way."""
    trouble: FailedError | None = None
    """Why rows wait that would not have to."""


def embed(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of texts; an error never quotes what was said."""
    with _asking(embedder):
        found = np.asarray(embedder.embed(texts), np.float32)
    if found.shape != (len(texts), embedder.size):
        wanted = (len(texts), embedder.size)
        raise _failed(embedder, f"the shape of its vectors is {found.shape}, not {wanted}")
    flat = found.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        length = flat.dot(flat)
    if not math.isfinite(length):
        raise _failed(embedder, "its vectors hold what is no number, or are endless")
    return found


def check(embedder: Embedder) -> None:
    """Refuse an embedder whose vectors could not be kept apart from others."""
    with _asking(embedder, passing=(MnemologError,)):  # one of ours says what it lacks
        name, size, at_once = _told(embedder)
    if not isinstance(name, str) or not name.isprintable() or not name:
        raise _refused(embedder, f"name is {shown(name)}, not a plain text")
    if not _is_whole(size):
        raise _refused(embedder, f"size is {shown(size)}, not a whole number")
    if isinstance(at_once, bool) or not isinstance(at_once, int | None):
        raise _refused(embedder, f"at_once is {shown(at_once)}, not a whole number")


def _told(embedder: Embedder) -> tuple[object, object, object]:
    """What it says of itself, which may be anything."""
    return embedder.name, embedder.size, getattr(embedder, "at_once", None)


@contextmanager
def _asking(embedder: Embedder, *, passing: tuple[type[MnemologError], ...] = ()) -> Iterator[None]:
    """Turn what an embedder raises, which may be anything, into an error that quotes nothing."""
    try:
        yield
    except passing:
        raise
    except Exception as error:
        raise _failed(embedder, type(error).__name__) from error


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _failed(embedder: Embedder, why: str) -> FailedError:
    return FailedError(f"The embedder, a {type(embedder).__name__}, failed: {why}.")


def _refused(embedder: Embedder, why: str) -> SettingsError:
    return SettingsError(
        f"A {type(embedder).__name__} cannot be used as an embedder: its {why}.",
        advice="`name` is a text, `size` and `at_once` are whole numbers.",
    )
