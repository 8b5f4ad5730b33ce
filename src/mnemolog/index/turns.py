"""Turns: which entries stand beside each other in a log, for somebody who does not see them all.

A turn is an entry with all its revisions, and goes by the number of its first row; it stands where
it was first said. What is hidden, and what the viewer may not see, is passed over as if it were
not there.
"""

import numpy as np
from numpy.typing import NDArray

from mnemolog.index.columns import NONE, Array

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

# So many turns are passed over one by one; after that all of them at once are cheaper.
_STEPS = 32


def extended(latest: Array, following: Array, turns: Array, previous: Array) -> tuple[Array, Array]:
    """For each turn its latest row and the turn that follows it, with the newest rows added."""
    start, rows = len(latest), len(turns)
    fresh = np.arange(start, rows, dtype=np.uint32)
    latest = np.concatenate([latest, fresh])
    latest[turns[start:]] = fresh  # in order, so that of several the last one stays
    following = np.concatenate([following, np.full(rows - start, NONE, np.uint32)])
    is_linked = (turns[start:] == fresh) & (previous[start:] != NONE)
    following[previous[start:][is_linked]] = fresh[is_linked]
    return latest, following


def nearest(rows: Rows, seen: Mask, turns: Array, latest: Array, link: Array) -> Rows:
    """For each row the nearest one in sight, going by one link after the other; if none is, the
    number of all rows, which is nobody's."""
    at = link[turns[rows]].astype(np.int64)
    for _ in range(_STEPS):
        there = (at != NONE).nonzero()[0]
        found = latest[at[there]]
        is_seen = seen[found]
        if is_seen.all():
            break
        blind = there[~is_seen]
        at[blind] = link[at[blind]]
    else:
        at = _leap(at, seen[latest], link)
        there = (at != NONE).nonzero()[0]
        found = latest[at[there]]
    nearest = np.full(len(rows), len(turns))
    nearest[there] = found
    return nearest


def _leap(at: Rows, is_seen: Mask, link: Array) -> Rows:
    """Where the links lead at last, found by doubling every step; damaged ones may lead round."""
    end = len(link)
    step = np.append(np.where(is_seen, np.arange(end), link), end).astype(np.int64)
    step[step == NONE] = end
    at = np.where(at == NONE, end, at)
    is_seen = np.append(is_seen, True)
    for _ in range(end.bit_length() + 1):
        if is_seen[at].all():
            return np.where(at == end, NONE, at)
        step = step[step]
        at = step[at]
    raise ValueError("turns follow each other in a circle")
