"""Fusion: word match, meaning, neighbours and session become one match from 0 to 1.

Only a pool of rows is looked at closely: the best by words, the best by meaning, and the turns
before and after each of them. The scales have fixed floors, so that the size of the pool moves no
score.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index.snapshot import Mask, Snapshot
from mnemolog.index.vectors import Floats, Likeness, RowNumbers

# What is closer than the average by LIKE counts in full; a cosine below UNLIKE counts not at all.
LIKE = 0.25
UNLIKE = 0.1
# So many rows that are just UNLIKE are counted with those in sight. Where there are only a few, all
# of them may be what is asked for, and their own average would say that none stands out.
UNSEEN = 10
# Above this share of the best one lie the first few hundred, as a rule, and not many more.
CLEAR = 0.3
# A likeness below this share of the best one is chance; a word in common never is.
FAINT = 0.05
# A turn of so many words counts in full, those of its date and speaker included; one of so few, as
# a date has by itself, loses this share, and those between in proportion: "Sure, the red one!" has
# much in common with a question, by words and by meaning, and tells little.
WHOLE = 12
EMPTY = 3
BRIEF = 0.4


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
    lasting: float = 0.3

    @property
    def ceiling(self) -> float:
        """The most that all parts can add up to."""
        beside = 2 * (self.words * self.beside_words + self.meaning * self.beside_meaning)
        own = (self.words + self.meaning) * (1 + self.session)
        return own + beside + self.speaker + self.lasting


# Fitted once for each of our own embedders; the vectors of others count as PLAIN has it.
PLAIN = Weights(1.0, 0.7, 0.4, 0.4, 0.5, 0.4)
_FITTED = {
    "static": Weights(1.0, 0.7, 0.4, 0.1, 0.3, 0.65),
    "small": Weights(0.6, 1.0, 0.4, 0.1, 0.3, 0.5),
    "full": Weights(0.6, 1.0, 0.35, 0.15, 0.15, 0.5),
}


def weights_of(embedder: str) -> Weights:
    """The weights that fit an embedder, by the kind that its name begins with."""
    return _FITTED.get(embedder.partition("-")[0], PLAIN)


EVIDENCE = (
    "lexical", "semantic", "neighbours", "session", "speaker", "lasting", "brief", "match",
)  # fmt: skip
"""The parts of the evidence, in order; `brief` is what is taken off, `match` is all together."""


class Evidence(NamedTuple):
    """What speaks for each row of the pool, weighted: a line for each of `EVIDENCE`."""

    rows: RowNumbers
    lines: Floats

    @property
    def match(self) -> Floats:
        """All of it, from 0 to 1."""
        match: Floats = self.lines[-1]
        return match

    def only(self, kept: Mask) -> "Evidence":
        """The evidence for some of the rows."""
        at = kept.nonzero()[0]
        if len(at) == len(self.rows):
            return self
        return Evidence(self.rows[at], self.lines.take(at, axis=1))


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
    voice: int | None = None,
    most: int,
    weights: Weights = PLAIN,
) -> Evidence:
    """Put the evidence for the best rows together."""
    # One more than there are rows: where nothing stands beside a row, nobody is worth nothing.
    lexical, semantic = np.zeros((2, snapshot.rows + 1), np.float32)
    most_words = max(float(words.max(initial=0.0)), 1e-9)
    np.multiply(words, np.float32(weights.words / most_words), out=lexical[:-1])
    if meaning is not None:
        _lift(meaning, meaning.scores, weights.meaning, semantic[:-1])
        _presume(snapshot.embedded, lexical, semantic, weights)
    around = rows = _pool(snapshot, mask, mask, most, (lexical, semantic))
    if wanted is not mask:
        more = _pool(snapshot, mask, wanted, most, (lexical, semantic))
        rows = _each(snapshot, around, more)
    if meaning is not None and not meaning.is_filled:
        _fill(snapshot, mask, meaning, rows, semantic, weights.meaning)
        _presume(snapshot.embedded, lexical, semantic, weights)
    is_all = rows is around
    rows = rows if is_all else rows[wanted[rows]]
    own_words, own_meaning = lexical[rows], semantic[rows]
    base = own_words + own_meaning
    beside = _beside(snapshot, mask, rows, lexical, semantic, weights)
    near = base + beside
    beyond = rows if is_all else np.concatenate([rows, around])
    both = base if is_all else lexical[beyond] + semantic[beyond]
    best = _session_best(snapshot.column("log")[beyond], both)
    session = weights.session * best[: len(rows)] * (near > 0)
    speaker = _is_meant(snapshot, rows, speakers, voice) * (base > 0) * np.float32(weights.speaker)
    lasting = snapshot.column("lasting")[rows] * (base > 0) * np.float32(weights.lasting)
    total = near + session + speaker + lasting
    kept = total * (1 - _lost(snapshot, rows))
    match = kept / weights.ceiling
    lines = (own_words, own_meaning, beside, session, speaker, lasting, kept - total, match)
    return Evidence(rows, np.array(lines, np.float32))


def _is_meant(snapshot: Snapshot, rows: RowNumbers, speakers: list[int], voice: int | None) -> Mask:
    """Which rows were said by one of those whom a question names, or in the voice that it means."""
    is_meant = np.zeros(len(rows), bool)
    if speakers:
        is_meant |= np.isin(snapshot.column("agent")[rows], speakers)
    if voice is not None:
        is_meant |= snapshot.column("voice")[rows] == voice
    return is_meant


def _lost(snapshot: Snapshot, rows: RowNumbers) -> Floats:
    """The share of what speaks for a row that a turn of few words loses.

    What is of another type, or was said to last, was put down as what it is, in as many words as
    that takes.
    """
    words = np.maximum(np.minimum(snapshot.column("length")[rows], WHOLE), EMPTY)
    is_turn = snapshot.column("kind")[rows] == snapshot.names.conversation
    is_turn &= snapshot.column("lasting")[rows] == 0
    # No more than WHOLE is left to take off, so that nothing wraps round.
    lost: Floats = np.float32(BRIEF / (WHOLE - EMPTY)) * (WHOLE - words) * is_turn
    return lost


def _lift(meaning: Likeness, scores: Floats, weight: float, lifted: Floats) -> None:
    """Similarity above the average of what is in sight, as a share of the best, weighted."""
    average = (meaning.average * meaning.count + UNLIKE * UNSEEN) / (meaning.count + UNSEEN)
    span = max(float(meaning.scores.max(initial=0.0)) - average, LIKE)
    np.subtract(scores, np.float32(average), out=lifted)
    lifted *= np.float32(weight / span)
    np.minimum(lifted, np.float32(weight), out=lifted)
    np.maximum(lifted, 0.0, out=lifted)
    lifted *= scores >= UNLIKE


def _presume(first: int, lexical: Floats, semantic: Floats, weights: Weights) -> None:
    """What waits for its vector means what its words say: else all that has one came before it."""
    semantic[first:] = lexical[first:] * np.float32(weights.meaning / weights.words)


def _fill(
    snapshot: Snapshot,
    mask: Mask,
    meaning: Likeness,
    rows: RowNumbers,
    semantic: Floats,
    weight: float,
) -> None:
    """Compare what has not been compared yet of the pool and of what stands beside it."""
    rows = _each(snapshot, rows, *snapshot.beside(rows, mask))
    meaning.fill(rows)
    lifted = np.empty(len(rows), np.float32)
    _lift(meaning, meaning.scores[rows], weight, lifted)
    semantic[rows] = lifted


def _each(snapshot: Snapshot, *parts: RowNumbers) -> RowNumbers:
    """The rows of all parts in order, each once; nobody is none of them."""
    is_one = np.zeros(snapshot.rows + 1, bool)
    for part in parts:
        is_one[part] = True
    rows: RowNumbers = is_one[:-1].nonzero()[0]
    return rows


def _pool(
    snapshot: Snapshot, seen: Mask, wanted: Mask, most: int, signals: tuple[Floats, ...]
) -> RowNumbers:
    """The best of the rows that are wanted, and those that stand beside them in sight."""
    lexical, semantic = (signal[:-1] for signal in signals)
    if wanted is not seen:  # what is out of sight has no signal anyway
        lexical, semantic = lexical * wanted, semantic * wanted
    # With those beside them, as many may be chosen below; what is out of sight counts for nothing.
    if np.count_nonzero(seen) <= 3 * most:
        rows = ((lexical > 0) | (semantic > FAINT * semantic.max(initial=0.0))).nonzero()[0]
    else:
        best = _best(snapshot, lexical, most, 0.0), _best(snapshot, semantic, most, FAINT)
        rows = np.concatenate(best)
    rows = _each(snapshot, rows, *snapshot.beside(rows, seen))
    return rows if wanted is seen else rows[wanted[rows]]


def _above(signal: Floats, least: float) -> RowNumbers:
    rows: RowNumbers = (signal > least).nonzero()[0]
    return rows


def _best(snapshot: Snapshot, signal: Floats, most: int, least: float) -> RowNumbers:
    """The rows with the largest values, above this share of the largest one."""
    largest = float(signal.max(initial=0.0))
    rows = _above(signal, CLEAR * largest)
    if len(rows) < most:
        rows = _above(signal, FAINT * largest)
    if len(rows) < most and least < FAINT:
        rows = _above(signal, least * largest)
    if len(rows) <= most:
        return rows
    values = signal[rows]
    last = np.partition(values, -most)[-most]
    best, alike = rows[values > last], rows[values == last]
    if len(best) + len(alike) > most:
        alike = _first(snapshot, alike, most - len(best))
    first: RowNumbers = np.concatenate([best, alike])
    return first


def _first(snapshot: Snapshot, rows: RowNumbers, most: int) -> RowNumbers:
    """Of rows that match alike those that come first among hits.

    Which of them are taken must not depend on where they lie: that changes with a new index, and
    with entries that the viewer may not see.
    """
    keys = (
        lambda at: -snapshot.column("time")[at],
        lambda at: snapshot.column("home")[at],
        lambda at: -snapshot.column("seq")[at].astype(np.int64),
    )
    chosen = []
    for key in keys:
        values = key(rows)
        last = np.partition(values, most - 1)[most - 1]
        chosen.append(rows[values < last])
        rows, most = rows[values == last], most - len(chosen[-1])
        if len(rows) == most:
            break
    return np.concatenate([*chosen, rows[:most]])


def _beside(
    snapshot: Snapshot,
    mask: Mask,
    rows: RowNumbers,
    lexical: Floats,
    semantic: Floats,
    weights: Weights,
) -> Floats:
    """What the turns before and after a row are worth."""
    before, after = snapshot.beside(rows, mask)
    words = lexical[before] + lexical[after]
    meaning = semantic[before] + semantic[after]
    beside: Floats = weights.beside_words * words + weights.beside_meaning * meaning
    return beside


def _session_best(logs: NDArray[np.uint32], base: Floats) -> Floats:
    """For each row, the best value in its log."""
    best = np.zeros(int(logs.max(initial=0)) + 1, np.float32)
    np.maximum.at(best, logs, base)
    return best[logs]
