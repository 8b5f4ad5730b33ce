"""Fusion: word match, meaning, neighbours and session become one match from 0 to 1.

Only a pool of rows is looked at closely: the best by words, the best by meaning, and the turns
before and after each of them. The scales have fixed floors, so that the size of the pool moves no
score.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index.columns import NONE
from mnemolog.index.snapshot import Mask, Snapshot
from mnemolog.index.vectors import Likeness

Floats = NDArray[np.float32]
RowNumbers = NDArray[np.int64]

# What is closer than the average by LIKE counts in full; a cosine below UNLIKE counts not at all.
LIKE = 0.25
UNLIKE = 0.1
# A likeness below this share of the best one is chance; a word in common never is.
FAINT = 0.05


class Weights(NamedTuple):
    """How much each part counts. The better the vectors, the more meaning counts beside words.

    A turn's neighbours count by what they share with the text in words and in meaning, each by a
    share of its own: vectors that are good know of a turn itself what it is about.
    """

    words: float
    meaning: float
    beside_words: float
    beside_meaning: float
    session: float
    speaker: float

    @property
    def ceiling(self) -> float:
        """The most that all parts can add up to."""
        beside = 2 * (self.words * self.beside_words + self.meaning * self.beside_meaning)
        return (self.words + self.meaning) * (1 + self.session) + beside + self.speaker


# Fitted once for each of our own embedders; vectors of others count like those of `static`.
PLAIN = Weights(1.0, 0.7, 0.4, 0.4, 0.5, 0.3)
_FITTED = {
    "static": Weights(1.0, 0.7, 0.4, 0.1, 0.3, 0.5),
    "small": Weights(0.6, 1.0, 0.4, 0.1, 0.3, 0.5),
    "full": Weights(0.6, 1.0, 0.35, 0.15, 0.15, 0.5),
}


def weights_of(embedder: str) -> Weights:
    """The weights that fit an embedder, by the kind that its name begins with."""
    return _FITTED.get(embedder.partition("-")[0], PLAIN)


class Evidence(NamedTuple):
    """What speaks for each row of the pool, weighted; `match` is all of it, from 0 to 1."""

    rows: RowNumbers
    lexical: Floats
    semantic: Floats
    neighbours: Floats
    session: Floats
    speaker: Floats
    match: Floats

    def only(self, kept: Mask) -> "Evidence":
        """The evidence for some of the rows."""
        if kept.all():
            return self
        rows, *rest = self
        return Evidence(rows[kept], *(column[kept] for column in rest))


def pool_size(rows: int, limit: int) -> int:
    """How many of the best rows are looked at: more where there are more to choose from."""
    return max(400 if rows <= 20_000 else 1000, 2 * limit)


def fuse(
    snapshot: Snapshot,
    mask: Mask,
    words: Floats,
    meaning: Likeness | None,
    *,
    wanted: Mask,
    speakers: list[int],
    is_about_asker: bool = False,
    most: int,
    weights: Weights = PLAIN,
) -> Evidence:
    """Put the evidence for the best rows together."""
    lexical = words * np.float32(weights.words / max(float(words.max(initial=0.0)), 1e-9))
    semantic = np.zeros_like(words)
    if meaning is not None:
        semantic = _lifted(meaning, meaning.scores, weights.meaning)
    around = rows = _pool(snapshot, mask, mask, most, (lexical, semantic))
    if not np.array_equal(wanted, mask):
        rows = _each(
            np.concatenate([around, _pool(snapshot, mask, wanted, most, (lexical, semantic))])
        )
    if meaning is not None and not meaning.is_filled:
        _fill(snapshot, mask, meaning, rows, semantic, weights.meaning)
    rows = rows[wanted[rows]]
    base = lexical[rows] + semantic[rows]
    beside = _beside(snapshot, mask, rows, lexical, semantic, weights)
    near = base + beside
    beyond = np.concatenate([rows, around])
    both = np.concatenate([base, lexical[around] + semantic[around]])
    best = _session_best(snapshot.column("log")[beyond], both)
    session = weights.session * best[: len(rows)] * (near > 0)
    speaker = np.zeros(len(rows), np.float32)
    if speakers or is_about_asker:
        is_meant = np.isin(snapshot.column("agent")[rows], speakers)
        if is_about_asker:
            is_meant |= snapshot.column("voice")[rows] > 0
        speaker[is_meant & (base > 0)] = weights.speaker
    total = near + session + speaker
    return Evidence(
        rows, lexical[rows], semantic[rows], beside, session, speaker,
        (total / weights.ceiling).astype(np.float32),
    )  # fmt: skip


def _lifted(meaning: Likeness, scores: Floats, weight: float) -> Floats:
    """Similarity above the average of what is in sight, as a share of the best, weighted."""
    span = max(float(meaning.scores.max(initial=0.0)) - meaning.average, LIKE)
    lifted = scores - np.float32(meaning.average)
    lifted /= np.float32(span)
    np.clip(lifted, 0.0, 1.0, out=lifted)
    lifted[scores < UNLIKE] = 0
    lifted *= np.float32(weight)
    return lifted


def _fill(
    snapshot: Snapshot,
    mask: Mask,
    meaning: Likeness,
    rows: RowNumbers,
    semantic: Floats,
    weight: float,
) -> None:
    """Compare what has not been compared yet of the pool and of what stands beside it."""
    beside = np.concatenate(snapshot.beside(rows, mask))
    rows = _each(np.concatenate([rows, beside[beside != NONE]]))
    meaning.fill(rows)
    semantic[rows] = _lifted(meaning, meaning.scores[rows], weight)


def _each(rows: RowNumbers) -> RowNumbers:
    """The rows in order, each once."""
    rows = np.sort(rows)
    return rows[_is_first(rows)]


def _is_first(ordered: NDArray[Any]) -> Mask:
    """Whether each of ordered values is another one than that before it."""
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return is_first


def _pool(
    snapshot: Snapshot, seen: Mask, wanted: Mask, most: int, signals: tuple[Floats, ...]
) -> RowNumbers:
    """The best of the rows that are wanted, and those that stand beside them in sight."""
    if wanted is not seen:  # what is out of sight has no signal anyway
        signals = tuple(np.where(wanted, signal, 0) for signal in signals)
    lexical, semantic = signals
    rows = np.concatenate([_best(lexical, most, 0.0), _best(semantic, most, FAINT)])
    beside = np.concatenate(snapshot.beside(rows, seen))
    rows = _each(np.concatenate([rows, beside[beside != NONE]]))
    chosen: RowNumbers = rows[wanted[rows]]
    return chosen


def _best(signal: Floats, most: int, least: float) -> RowNumbers:
    """The rows with the largest values, above this share of the largest one."""
    largest = float(signal.max(initial=0.0))
    rows = np.flatnonzero(signal > FAINT * largest)
    if len(rows) < most and least < FAINT:
        rows = np.flatnonzero(signal > least * largest)
    if len(rows) > most:
        rows = rows[np.argpartition(signal[rows], -most)[-most:]]
    return rows


def _beside(
    snapshot: Snapshot,
    mask: Mask,
    rows: RowNumbers,
    lexical: Floats,
    semantic: Floats,
    weights: Weights,
) -> Floats:
    """What the turns before and after a row are worth."""
    total = np.zeros(len(rows), np.float32)
    for others in snapshot.beside(rows, mask):
        at = np.flatnonzero(others != NONE)
        others = others[at]
        total[at] += (
            weights.beside_words * lexical[others] + weights.beside_meaning * semantic[others]
        )
    return total


def _session_best(logs: NDArray[np.uint32], base: Floats) -> Floats:
    """For each row, the best value in its log."""
    best = np.zeros(int(logs.max(initial=0)) + 1, np.float32)
    np.maximum.at(best, logs, base)
    return best[logs]
