"""The index as a whole: caught up when it is asked, thrown away when it does not fit."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnemolog.errors import MnemologError, StorageIOError
from mnemolog.index import catalogue, database, fusion, lexical, mending, scope, tokens
from mnemolog.index.catch_up import CatchUp
from mnemolog.index.columns import Columns
from mnemolog.index.deadline import Deadline
from mnemolog.index.follow import Follow, Look
from mnemolog.index.fusion import Evidence
from mnemolog.index.intake import Intake
from mnemolog.index.snapshot import Mask, Snapshot
from mnemolog.index.spots import spots_of
from mnemolog.index.vectors import Embedder, Vectors
from mnemolog.model.query import Query
from mnemolog.policy import decay as decaying
from mnemolog.policy import relevance
from mnemolog.policy.access import Viewer
from mnemolog.ports import Candidate, Feed, Found, Listed, Progress, Use, Wanted
from mnemolog.settings import Decay

T = TypeVar("T")

_HOUR = 3_600_000

# A child that closes a database of its parent's may disturb it; these are never closed.
_inherited: list[sqlite3.Connection] = []


class Index:
    """Everything derived for searching, in one folder."""

    def __init__(
        self, folder: str, feed: Feed, embedder: Embedder | None, timeout_ms: int = 0
    ) -> None:
        self._folder = folder
        self._timeout = timeout_ms / 1000
        self._feed = feed
        self._embedder = embedder
        self._mutex = RLock()
        self._db: sqlite3.Connection | None = None
        self._ident: tuple[int, int] | None = None

    def forget(self) -> None:
        """Let go of the parent's database without closing it, as a forked child must."""
        if self._db is not None:
            _inherited.append(self._db)
        self._db = None
        self._mutex = RLock()

    def close(self) -> None:
        """Let go of the database; the next use opens it again."""
        with self._mutex:
            if self._db is not None:
                self._db.close()
            self._db = None

    def _mended(self, work: Callable[[], T]) -> T:
        """Do some work; if the index is in the way, make it anew and try once more."""
        with self._mutex:
            try:
                return work()
            except MnemologError:
                raise
            except mending.TROUBLE as error:
                self.close()
                if not mending.is_damaged(error):
                    raise mending.told(error) from error
            try:
                with suppress(FileNotFoundError):
                    database.discard(self._folder)
                return work()
            except MnemologError:
                raise
            except mending.TROUBLE as error:
                self.close()
                raise mending.told(error) from error

    def catch_up(self, progress: Progress | None = None) -> int:
        """Read what is new in the logs; says how many rows were added."""
        return self._mended(lambda: self._catch_up(progress))

    def _catch_up(self, progress: Progress | None = None) -> int:
        db = self._open()
        return CatchUp(db, self._columns, self._feed, self._embed).run(progress)

    def rebuild(self, progress: Progress | None = None) -> int:
        """Throw everything away and read all logs again."""
        with self._mutex:
            self.close()
            with suppress(FileNotFoundError):
                database.discard(self._folder)
            return self.catch_up(progress)

    def search(
        self, query: Query, viewer: Viewer, log: str | None, now: datetime, decay: Decay
    ) -> Found:
        """The best rows for a query, of one log or of all that the viewer may see."""

        def found() -> Found:
            deadline = Deadline(self._timeout)
            self._catch_up()
            deadline.check()
            with self._moment():
                return _Search(self, query, viewer, log, now, decay, deadline).run()

        return self._mended(found)

    def use(self, uses: Mapping[str, list[Use]]) -> None:
        """Count that entries of these logs were used; relaxed, so an error costs only that."""
        with self._mutex, suppress(*mending.TROUBLE):
            db = self._open()
            db.execute("BEGIN IMMEDIATE")
            try:
                intake = Intake(db, self._columns)
                for name, own in uses.items():
                    row = db.execute("SELECT id FROM log WHERE name = ?", (name,)).fetchone()
                    if row is not None:
                        intake.take_uses(row[0], own)
            finally:
                db.execute("COMMIT")

    def look(self, follow: Follow) -> Look:
        """What is new for somebody who follows."""

        def looked() -> Look:
            self._catch_up()
            with self._moment() as db:
                return follow.look(db, self._snapshot)

        return self._mended(looked)

    def sessions(self, wanted: Wanted, viewer: Viewer) -> list[Listed]:
        """The sessions that the viewer may see, last changed first."""

        def listed() -> list[Listed]:
            self._catch_up()
            return catalogue.sessions(self._open(), wanted, viewer)

        return self._mended(listed)

    @contextmanager
    def _moment(self) -> Iterator[sqlite3.Connection]:
        """The index as of one moment, whatever others seal and merge meanwhile."""
        db = self._open()
        db.execute("BEGIN")
        try:
            self._snapshot.refresh()
            yield db
        finally:
            db.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        path = f"{self._folder}/index.db"
        if self._db is not None and _ident(path) == self._ident:
            return self._db
        self.close()
        if os.path.islink(self._folder):
            raise StorageIOError(
                "The folder `index` is a link, which is never followed.", advice="Remove the link."
            )
        os.makedirs(self._folder, 0o700, exist_ok=True)
        name = self._embedder.name if self._embedder else "none"
        db, is_new = database.connect(path, f"{tokens.VERSION} {name}")
        self._db, self._ident = db, _ident(path)
        build = database.build_of(db)
        self._columns = Columns(self._folder, build)
        self._vectors = Vectors(self._folder, build, self._embedder) if self._embedder else None
        self._snapshot = Snapshot(db, self._columns)
        if is_new or _is_after_reboot(db):
            CatchUp(db, self._columns, self._feed, self._embed).note(self._feed.all())
            db.execute("REPLACE INTO meta VALUES ('boot', ?)", (_boot(),))
        return db

    def _embed(self, first: int, texts: list[str]) -> None:
        if self._vectors is not None and texts:
            self._vectors.write(first, texts)


class _Search:
    """One query on its way through the index."""

    def __init__(
        self,
        index: Index,
        query: Query,
        viewer: Viewer,
        log: str | None,
        now: datetime,
        decay: Decay,
        deadline: Deadline,
    ) -> None:
        assert index._db is not None
        self._db = index._db
        self._snapshot = index._snapshot
        self._vectors = index._vectors
        self._query = query
        self._now = int(now.timestamp() * 1000)
        self._decay = decay
        self._deadline = deadline
        self._seen = scope.mask_of(self._db, self._snapshot, viewer, log)

    def run(self) -> Found:
        mask = scope.narrow(self._db, self._snapshot, self._seen, self._query)
        if self._query.references:
            mask &= scope.linked(self._db, self._snapshot, self._seen, self._query)
        evidence = self._match(mask) if self._query.text.strip() else _neutral(mask)
        parts = self._parts(evidence)
        scores = relevance.SCORERS[self._query.scorer](parts)
        order = self._order(evidence, scores)[: self._query.limit]
        candidates = self._candidates(evidence, parts, scores, order)
        return Found(candidates, "ready" if self._vectors is not None else "off")

    def _match(self, mask: Mask) -> Evidence:
        """Match the text; the statistics are those of all rows in sight, filtered or not."""
        asked = lexical.wanted(self._db, self._query.text)
        words = lexical.score(self._snapshot, self._seen, asked)
        self._deadline.check()
        meaning = None
        if self._vectors is not None:
            vector = self._vectors.embed(self._query.text)
            meaning = self._vectors.compare(vector, self._snapshot.rows, self._seen)
        self._deadline.check()
        evidence = fusion.fuse(
            self._snapshot,
            self._seen,
            words,
            meaning,
            wanted=mask,
            speakers=self._speakers(),
            most=self._pool_size(),
        )
        return evidence.only(evidence.match > 0)

    def _pool_size(self) -> int:
        """By relevance the best are enough; by time, all that match are compared."""
        if self._query.sort != "relevance_desc":
            return self._snapshot.rows
        return fusion.pool_size(self._snapshot.rows, self._query.limit)

    def _speakers(self) -> list[int]:
        """The agents whose names the text mentions."""
        mentioned = set(tokens.terms(self._query.text))
        names = self._db.execute("SELECT id, text FROM word WHERE kind = 'agent'").fetchall()
        return [number for number, name in names if mentioned & set(tokens.terms(name))]

    def _parts(self, evidence: Evidence) -> relevance.Parts:
        rows = evidence.rows
        age = np.maximum(self._now - self._snapshot.column("time")[rows], 0) / _HOUR
        weight = self._snapshot.column("importance")[rows].astype(np.float64)
        boost = decaying.boost(self._snapshot.column("uses")[rows].astype(np.float64), weight)
        decay = self._decayed(self._snapshot.column("kind")[rows], age, boost)
        used = self._snapshot.column("used")[rows]
        idle = np.where(used > 0, np.maximum(self._now - used, 0) / _HOUR, age)
        access = relevance.access_score(idle, used > 0)
        return relevance.Parts(evidence.match.astype(np.float64), decay, weight, access, idle)

    def _decayed(
        self, kinds: NDArray[np.uint16], age: NDArray[np.float64], boost: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        names = dict(self._db.execute("SELECT id, text FROM word WHERE kind = 'type'").fetchall())
        rates = np.zeros(max(names, default=0) + 1)
        for number, name in names.items():
            rates[number] = decaying.rate(name, self._decay)
        rate = rates[kinds]
        factor = np.exp(-rate * age) * boost
        return np.where(rate == 0, 1.0, np.clip(factor, self._decay.minimum, 1.0))

    def _order(self, evidence: Evidence, scores: NDArray[np.float64]) -> list[int]:
        """The rows in the order asked for; equal ones newest first, then by row."""
        time = self._snapshot.column("time")[evidence.rows]
        rows = -evidence.rows
        keep = np.flatnonzero(scores >= self._query.min_relevance)
        keys: dict[str, tuple[NDArray[np.generic], ...]] = {
            "relevance_desc": (rows, -time, -scores),
            "time_desc": (rows, -time),
            "time_asc": (-rows, time),
        }
        order = np.lexsort(tuple(key[keep] for key in keys[self._query.sort]))
        return [int(number) for number in keep[order]]

    def _candidates(
        self,
        evidence: Evidence,
        parts: relevance.Parts,
        scores: NDArray[np.float64],
        order: list[int],
    ) -> list[Candidate]:
        spots = spots_of(self._db, self._snapshot, evidence.rows[order])
        return [
            Candidate(spot, float(scores[at]), _why(evidence, parts, scores, at))
            for spot, at in zip(spots, order, strict=True)
        ]


def _neutral(mask: Mask) -> Evidence:
    """Without a text every row matches alike."""
    rows = np.flatnonzero(mask)
    nothing = np.zeros(len(rows), np.float32)
    return Evidence(rows, nothing, nothing, nothing, nothing, nothing, nothing + 1)


def _why(
    evidence: Evidence, parts: relevance.Parts, scores: NDArray[np.float64], at: int
) -> dict[str, float]:
    columns: dict[str, NDArray[np.floating[Any]]] = {
        "lexical": evidence.lexical,
        "semantic": evidence.semantic,
        "neighbours": evidence.neighbours,
        "session": evidence.session,
        "speaker": evidence.speaker,
        "match": parts.match,
        "decay": parts.decay,
        "importance": parts.importance,
        "access": parts.access,
        "final": scores,
    }
    return {name: round(float(column[at]), 6) for name, column in columns.items()}


def _ident(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _boot() -> str:
    """What tells this start of the machine from the one before; marks may be lost between."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def _is_after_reboot(db: sqlite3.Connection) -> bool:
    found = db.execute("SELECT value FROM meta WHERE key = 'boot'").fetchone()
    return found is None or found[0] != _boot()
