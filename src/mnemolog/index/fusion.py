"""Fusion: word match, meaning, neighbours and session become one match from 0 to 1.

Only a pool of rows is looked at closely: the best by words, the best by meaning, and the turns
before and after each of them. The scales have fixed floors, so that the size of the pool moves no
score.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index.columns import NONE
from mnemolog.index.snapshot import Mask, Snapshot

Floats = NDArray[np.float32]
RowNumbers = NDArray[np.int64]

MEANING = 0.7
NEIGHBOURS = 0.4
SESSION = 0.5
SPEAKER = 0.3
# What is closer than the average by LIKE counts in full; a cosine below UNLIKE counts not at all.
LIKE = 0.25
UNLIKE = 0.1
# The most that all parts can add up to.
CEILING = (1 + MEANING) * (1 + 2 * NEIGHBOURS + SESSION) + SPEAKER


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
        rows, *rest = self
        return Evidence(rows[kept], *(column[kept] for column in rest))


def pool_size(rows: int, limit: int) -> int:
    """How many of the best rows are looked at: more where there are more to choose from."""
    return max(400 if rows <= 20_000 else 1000, 2 * limit)


def fuse(
    snapshot: Snapshot,
    mask: Mask,
    words: Floats,
    meaning: Floats | None,
    *,
    wanted: Mask,
    speakers: list[int],
    most: int,
) -> Evidence:
    """Put the evidence for the best rows together."""
    lexical = words / max(float(words.max(initial=0.0)), 1e-9)
    semantic = np.zeros_like(words) if meaning is None else MEANING * _lifted(meaning, mask)
    around = _pool(snapshot, mask, most, (lexical, semantic))
    rows = np.unique(np.concatenate([_pool(snapshot, wanted, most, (lexical, semantic)), around]))
    rows = rows[wanted[rows]]
    base = lexical[rows] + semantic[rows]
    beside = NEIGHBOURS * _beside(snapshot, mask, rows, lexical + semantic)
    own = base + beside
    beyond = np.concatenate([rows, around])
    best = _session_best(snapshot.column("log")[beyond], (lexical + semantic)[beyond])
    session = SESSION * best[: len(rows)] * (own > 0)
    is_named = np.isin(snapshot.column("agent")[rows], speakers) & (base > 0)
    speaker = SPEAKER * is_named.astype(np.float32)
    total = own + session + speaker
    return Evidence(
        rows, lexical[rows], semantic[rows], beside, session, speaker,
        (total / CEILING).astype(np.float32),
    )  # fmt: skip


def _lifted(meaning: Floats, mask: Mask) -> Floats:
    """Similarity above the average of what is in sight, as a share of the best."""
    seen = meaning[mask]
    if len(seen) == 0:
        return np.zeros_like(meaning)
    floor = float(seen.mean())
    span = max(float(seen.max()) - floor, LIKE)
    lifted: Floats = np.clip((meaning - floor) / span, 0.0, 1.0).astype(np.float32)
    lifted[~mask | (meaning < UNLIKE)] = 0
    return lifted


def _pool(snapshot: Snapshot, mask: Mask, most: int, signals: tuple[Floats, ...]) -> RowNumbers:
    rows = np.concatenate([_best(np.where(mask, signal, 0), most) for signal in signals])
    previous = snapshot.column("previous")[rows]
    following = snapshot.following[rows]
    beside = np.concatenate([previous, following])
    rows = np.concatenate([rows, beside[beside != NONE].astype(np.int64)])
    rows.sort()
    rows = rows[np.r_[True, rows[1:] != rows[:-1]]] if len(rows) else rows
    seen: RowNumbers = rows[mask[rows]]
    return seen


def _best(signal: Floats, most: int) -> RowNumbers:
    """The rows with the largest values above zero."""
    rows = np.flatnonzero(signal > 0.05 * signal.max(initial=0.0))
    if len(rows) > most:
        rows = rows[np.argpartition(signal[rows], -most)[-most:]]
    return rows


def _beside(snapshot: Snapshot, mask: Mask, rows: RowNumbers, base: Floats) -> Floats:
    """What the turns before and after a row are worth."""
    total = np.zeros(len(rows), np.float32)
    for others in (snapshot.column("previous")[rows], snapshot.following[rows]):
        has_one = others != NONE
        at = others[has_one].astype(np.int64)
        total[has_one] += np.where(mask[at], base[at], 0)
    return total


def _session_best(logs: NDArray[np.uint32], base: Floats) -> Floats:
    """For each row, the best value in its log."""
    order = np.argsort(logs, kind="stable")
    ordered = logs[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(ordered) else order
    best = np.zeros_like(base)
    if len(ordered):
        largest = np.maximum.reduceat(base[order], starts)
        best[order] = np.repeat(largest, np.diff(np.r_[starts, len(ordered)]))
    return best
