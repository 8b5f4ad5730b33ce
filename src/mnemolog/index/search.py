"""One query on its way through the index."""

from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import decays, fusion, lexical, scope, voices
from mnemolog.index.build import Build
from mnemolog.index.deadline import Deadline
from mnemolog.index.decays import Values
from mnemolog.index.embedding import FailedError, Meaning
from mnemolog.index.fusion import Evidence
from mnemolog.index.snapshot import Mask
from mnemolog.index.spots import spots_of
from mnemolog.index.vectors import Floats, Likeness, RowNumbers, Vectors
from mnemolog.model.query import Query
from mnemolog.policy import decay as decaying
from mnemolog.policy import relevance
from mnemolog.policy.access import Viewer
from mnemolog.ports import Candidate, Found
from mnemolog.settings import Decay

Places = NDArray[np.intp]

_HOUR = 3_600_000
_REASONS = (*fusion.EVIDENCE, "decay", "importance", "access", "final")

CUT = (
    "the text is long: the middle of more than"
    f" {lexical.MOST_CHARACTERS:,} characters is left out, and of the words those"
    f" {lexical.MOST_TERMS} are looked for that tell most, of the wildcards {lexical.MOST_PATTERNS}"
)


class Search:
    """One query; inside a moment of the build that is searched."""

    def __init__(
        self,
        build: Build,
        query: Query,
        viewer: Viewer,
        log: str | None,
        now: datetime,
        decay: Decay,
        deadline: Deadline,
        told: Meaning,
    ) -> None:
        self._db = build.db
        self._snapshot = build.snapshot
        self._vectors = build.vectors
        self._embedded = build.snapshot.embedded
        self._query = query
        self._log = log
        self._now = int(now.timestamp() * 1000)
        self._decay = decay
        self._deadline = deadline
        self._told = told
        self._trouble = told.trouble
        self._is_unread = False
        self._seen = scope.mask_of(self._db, self._snapshot, viewer, log, query)

    def run(self) -> Found:
        """What was found, best first."""
        mask = scope.narrow(self._db, self._snapshot, self._seen, self._query)
        if self._query.references:
            mask = mask & scope.linked(self._db, self._snapshot, self._seen, self._query)
        evidence = self._match(mask) if self._query.text.strip() else _neutral(mask)
        evidence = evidence.only(self._contending(evidence.match))
        parts = self._parts(evidence)
        scores = relevance.SCORERS[self._query.scorer](parts)
        order = self._order(evidence, scores)
        candidates = self._candidates(evidence, parts, scores, order)
        return Found(candidates, self._semantic(), self._notes())

    def _notes(self) -> tuple[str, ...]:
        cut = (CUT,) if lexical.is_cut(self._query.text) else ()
        return cut if self._trouble is None else (*cut, str(self._trouble))

    def _semantic(self) -> Literal["ready", "pending", "off"]:
        """Whether meaning can be compared for all that is in sight."""
        if self._vectors is None or self._is_unread:
            return "off"
        return "pending" if self._seen[self._embedded :].any() else "ready"

    def _match(self, mask: Mask) -> Evidence:
        """Match the text; the statistics are those of all rows in sight, filtered or not."""
        text = lexical.shortened(self._query.text)
        # First, for the vectors of all rows drive everything else out of the processor's caches.
        meaning = self._meaning(text)
        self._deadline.check()
        asked = lexical.wanted(self._db, self._snapshot, self._seen, text)
        words = lexical.score(self._snapshot, self._seen, asked)
        name = self._vectors.name if self._vectors and meaning else "none"
        self._deadline.check()
        return fusion.fuse(
            self._snapshot,
            self._seen,
            words,
            meaning,
            wanted=mask,
            speakers=self._snapshot.names.mentioned(text),
            voice=voices.wanted(text),
            most=self._pool_size(),
            weights=fusion.weights_of(name),
        )

    def _meaning(self, text: str) -> Likeness | None:
        """How close everything is to the text; None if nothing can tell."""
        if self._vectors is None:
            return None
        try:
            question = self._read(self._vectors, text)
        except FailedError as error:
            self._trouble, self._is_unread = error, True
            return None
        return self._vectors.likeness(question, self._embedded, self._seen, self._snapshot.lots)

    def _read(self, vectors: Vectors, text: str) -> Floats:
        """The vector of the question, if it was not told before."""
        if isinstance(self._told.question, FailedError):
            raise self._told.question
        return vectors.read(text) if self._told.question is None else self._told.question

    def _contending(self, match: Floats) -> Mask:
        """Which rows match, and so well that they may be among those asked for."""
        if self._query.sort == "relevance_desc":
            least = relevance.least_match(self._query.scorer, match, self._query.limit)
            if least > 0:
                return match >= least
        return match > 0

    def _pool_size(self) -> int:
        """How many of those that match best are compared: all, if something else decides, be it
        the time, or with some scorers age, weight and use."""
        if self._query.sort != "relevance_desc" or self._query.scorer != "recall":
            return self._snapshot.rows
        return fusion.pool_size(int(np.count_nonzero(self._seen)), self._query.limit)

    def _parts(self, evidence: Evidence) -> relevance.Parts:
        rows = evidence.rows
        age = np.maximum(self._now - self._snapshot.column("time")[rows], 0) / _HOUR
        weight = self._snapshot.column("importance")[rows].astype(np.float64)
        boost = decaying.boost(self._snapshot.column("uses")[rows].astype(np.float64), weight)
        used = self._snapshot.column("used")[rows]
        idle = np.where(used > 0, np.maximum(self._now - used, 0) / _HOUR, age)
        access = relevance.access_score(idle, used > 0)
        decay = self._decayed(evidence.rows, age, boost)
        return relevance.Parts(evidence.match.astype(np.float64), decay, weight, access, idle)

    def _decayed(self, rows: RowNumbers, age: Values, boost: Values) -> Values:
        """The decay of each row; a session may have one of its own."""
        kinds = self._snapshot.column("kind")[rows]
        types = self._snapshot.names.types
        factor = decays.factors(types, kinds, age, boost, self._decay)
        if self._log is None:  # else it is that session's already
            for own, ids in self._own_decays().items():
                at = np.isin(self._snapshot.column("log")[rows], ids).nonzero()[0]
                factor[at] = decays.factors(types, kinds[at], age[at], boost[at], own)
        return factor

    def _own_decays(self) -> dict[Decay, list[int]]:
        logs = self._snapshot.once(decays.with_settings)
        return decays.of_sessions(logs, self._decay) if logs else {}

    def _order(self, evidence: Evidence, scores: Values) -> Places:
        """The first rows in the order asked for.

        Equal ones come newest first, then log by log, and in each the last line first: that stays
        the same when the index is built anew, and whatever the viewer may not see.
        """
        rows = evidence.rows
        time = self._snapshot.column("time")[rows]
        is_ascending = self._query.sort == "time_asc"
        first = {"relevance_desc": -scores, "time_desc": -time, "time_asc": time}[self._query.sort]
        keep = _first(first, (scores >= self._query.min_relevance).nonzero()[0], self._query.limit)
        seq = self._snapshot.column("seq")[rows[keep]].astype(np.int64)
        home = self._snapshot.column("home")[rows[keep]]
        keys = (seq if is_ascending else -seq, home, -time[keep], first[keep])
        return keep[np.lexsort(keys)[: self._query.limit]]

    def _candidates(
        self, evidence: Evidence, parts: relevance.Parts, scores: Values, order: Places
    ) -> list[Candidate]:
        spots = spots_of(self._db, self._snapshot, evidence.rows[order])
        why = _why(evidence, parts, scores, order)
        return list(map(Candidate, spots, scores[order].tolist(), why))


def _neutral(mask: Mask) -> Evidence:
    """Without a text every row matches alike."""
    rows = mask.nonzero()[0]
    lines = np.zeros((len(fusion.EVIDENCE), len(rows)), np.float32)
    lines[-1] = 1
    return Evidence(rows, lines)


def _first(key: NDArray[Any], at: NDArray[np.intp], limit: int) -> NDArray[np.intp]:
    """Those that may be among the first so many by a key: ties with the last one stay."""
    if not 0 < limit < len(at):
        return at
    values = key[at]
    return np.asarray(at[values <= np.partition(values, limit - 1)[limit - 1]])


def _why(
    evidence: Evidence, parts: relevance.Parts, scores: Values, order: Places
) -> list[dict[str, float]]:
    """For each of these, what its relevance is made of."""
    priors = np.array((parts.decay, parts.importance, parts.access, scores))
    lines = np.concatenate((evidence.lines[:, order], priors[:, order])).round(6)
    return [dict(zip(_REASONS, values, strict=True)) for values in lines.T.tolist()]
