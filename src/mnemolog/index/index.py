"""The index as a whole: caught up when it is asked, thrown away when it does not fit."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from threading import RLock
from typing import TypeVar

from mnemolog.errors import LockTimeoutError, MnemologError, StorageError, StorageIOError
from mnemolog.index import (
    catalogue,
    database,
    lexical,
    mending,
    purging,
    restarts,
    tokens,
    unlearned,
)
from mnemolog.index.behind import Behind
from mnemolog.index.build import Build
from mnemolog.index.catch_up import CatchUp, is_settled
from mnemolog.index.deadline import Deadline
from mnemolog.index.embedding import FailedError, Meaning, embed, quick
from mnemolog.index.follow import Follow, Look
from mnemolog.index.gate import Gate
from mnemolog.index.models import ReplacedError
from mnemolog.index.search import Search
from mnemolog.index.waiting import BATCH, Backlog, Step, at_once
from mnemolog.index.windows import Windows
from mnemolog.model.query import Query
from mnemolog.policy.access import OWNER, Viewer
from mnemolog.ports import Asked, Feed, Found, Listed, Progress, Unlearned, Wanted
from mnemolog.ports.embedder import Embedder
from mnemolog.ports.keeping import Wiped
from mnemolog.settings import Decay

T = TypeVar("T")

_NOTHING = Meaning()

# Before each attempt, for somebody else may be throwing the index away, which takes a while.
_PAUSES = (0.0, 0.0, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2)

# Whoever forks waits so many seconds for what is under way in other threads.
_PATIENCE = 5.0

# A child that closes a database of its parent's may disturb it; these are never closed.
_inherited: list[Build] = []


def _noted(found: Found, unread: set[str], log: str | None) -> Found:
    """What was found, with a note if logs could not be looked through."""
    names = sorted(unread if log is None else unread & {log})
    if not names:
        return found
    note = f"left out, for it cannot be read (`mnemolog doctor` says more): {', '.join(names):.300}"
    return found._replace(notes=(*found.notes, note))


class Index:
    """Everything derived for searching, in one folder."""

    def __init__(
        self,
        folder: str,
        feed: Feed,
        embedder: Embedder | None,
        timeout_ms: int = 0,
        second: Sequence[str] = (),
    ) -> None:
        self._folder = folder
        self._timeout = timeout_ms / 1000
        self._feed = feed
        self._embedder = embedder
        self._second = second
        self._mutex = RLock()
        # Held by whoever embeds, without the mutex: who does not embed waits for no embedder.
        self._embedding = RLock()
        self._gate = Gate(folder)
        self._build: Build | None = None
        self._is_at_work = False
        self._closed = 0
        self._tried: tuple[int, int] | None = None
        self._unfit: tuple[int, int] | None = None
        self._behind = Behind(lambda: self._embed_some().left)

    def settle(self) -> None:
        """Close the database before a fork.

        SQLite keeps in memory which locks its process holds: a child that inherits that takes the
        parent's for its own, and holds none. It would wait for ever for a transaction that was
        under way, and the journal would be removed while it is writing to it.
        """
        if self._mutex.acquire(timeout=_PATIENCE) and not self._is_at_work:
            self._close()

    def go_on(self) -> None:
        """Let others use it again, after a fork."""
        with suppress(RuntimeError):  # it could not be had in time
            self._mutex.release()

    def forget(self) -> None:
        """Let go of a parent's database without closing it, as a forked child must."""
        if self._build is not None:
            _inherited.append(self._build)
        self._build = None
        self._gate.forget()
        self._behind.forget()
        self._mutex = RLock()
        self._embedding = RLock()
        self._is_at_work = False

    def close(self) -> None:
        """Let go of the database; the next use opens it again."""
        self._closed += 1
        self._behind.end()
        self._let_go()

    def _let_go(self) -> None:
        with self._mutex:
            self._close()
            self._gate.forget()

    def _close(self) -> None:
        if self._build is not None:
            with suppress(OSError), self._gate.together():
                self._drop()
        self._drop()

    def _drop(self) -> None:
        build, self._build = self._build, None
        if build is not None:
            build.close()

    def _use(self, work: Callable[[Build], T]) -> T:
        """Do some work; if the index is in the way, make it anew and try once more."""
        with self._mutex:
            is_mended = False
            trouble: Exception
            for pause in _PAUSES:
                if pause:
                    time.sleep(pause)
                try:
                    return self._attempt(work)
                except MnemologError:
                    raise
                except ReplacedError as error:
                    trouble = error
                    continue  # it is opened again, with other vectors
                except mending.TROUBLE as error:
                    trouble = error
                there = database.ident(self._folder)
                if there != self._tried or (there is None and mending.lost_its_files(trouble)):
                    continue  # another one was there first, or took away what was being made
                if not mending.is_damaged(trouble):
                    break
                if self._tried is None:
                    continue  # it was thrown away again before there was anything to mend
                if is_mended:
                    break
                self._unfit, is_mended = self._tried, True
            raise mending.told(trouble) from trouble

    def _attempt(self, work: Callable[[Build], T]) -> T:
        self._tried = database.ident(self._folder)
        self._prepare()
        with self._gate.together():
            try:
                self._is_at_work = True
                return work(self._opened())
            except MnemologError:
                raise
            except mending.TROUBLE as error:
                is_replaced = self._build is not None and self._build.is_replaced()
                self._drop()
                if is_replaced:  # the files of its vectors went while it was searching them
                    raise ReplacedError(str(error)) from error
                raise
            finally:
                self._is_at_work = False

    def _prepare(self) -> None:
        """Make what is missing, and make anew what is unfit."""
        if database.is_link(self._folder):
            raise StorageIOError(
                "The folder `index` is a link, which is never followed.", advice="Remove the link."
            )
        if self._tried in (None, self._unfit):
            database.make_folder(self._folder)
            with self._gate.alone():
                if database.ident(self._folder) in (None, self._unfit):
                    database.make(self._folder, tokens.identity())
            self._tried = database.ident(self._folder)
        self._unfit = None

    def _opened(self) -> Build:
        if self._build is not None and not self._build.is_current():
            self._drop()
        if self._build is None:
            self._build = Build(self._folder, self._embedder)
            restarts.check(self._build, self._feed, restarts.this_boot())
        return self._build

    def _caught_up(self, build: Build, progress: Progress | None = None) -> int:
        return CatchUp(build, self._feed, self._second).run(progress)

    def catch_up(self, progress: Progress | None = None) -> int:
        """Read what is new in the logs; says how many rows were added."""
        added, waiting = self._use(
            lambda build: (self._caught_up(build, progress), build.waiting())
        )
        self._embed_all(waiting, progress)
        return added

    def rebuild(self, progress: Progress | None = None) -> int:
        """Throw everything away and read all logs again; says how many entries are known."""

        def built(build: Build) -> tuple[int, int]:
            self._caught_up(build, progress)
            (entries,) = build.db.execute("SELECT coalesce(sum(entries), 0) FROM log").fetchone()
            return int(entries), build.waiting()

        with self._mutex:
            self._let_go()
            self._unfit = database.ident(self._folder)
            entries, waiting = self._use(built)
        self._embed_all(waiting, progress)
        return entries

    def purge(self, gone: Wiped | str) -> bool:
        """Forget entries, or a whole log, for good; if that cannot be, all of the index goes.

        False if it could not even be thrown away, or if a whole log is meant and there is no index.
        """
        if database.ident(self._folder) is None:
            return not isinstance(gone, str)  # its mark may be left
        with suppress(StorageError, LockTimeoutError):  # a full disk, or others for too long
            if self._use(lambda build: self._purged(build, gone)):
                return True
        return self._is_thrown_away()

    def _purged(self, build: Build, gone: Wiped | str) -> bool:
        if not purging.purge(build, gone):
            return False
        if isinstance(gone, str):  # its mark goes, unless there is another one of its name by now
            CatchUp(build, self._feed, self._second).run_for(gone)
        return True

    def _is_thrown_away(self) -> bool:
        with self._mutex:
            self._let_go()
            try:
                with self._gate.alone():
                    database.discard(self._folder)
            except OSError:
                return False
            return True

    def search(
        self, query: Query, viewer: Viewer, log: str | None, now: datetime, decay: Decay
    ) -> Found:
        """The best rows for a query, of one log or of all that the viewer may see."""
        deadline = Deadline(self._timeout)
        told = None if query.text.strip() else _NOTHING

        def found(build: Build) -> Found | None:
            """None if the embedder has to be asked before."""
            if told is None and build.is_slow:
                self._caught_up(build)
                return None
            news = CatchUp(build, self._feed, self._second)
            is_marked = bool(news.marked())  # before the moment, or a write could be missed
            with build.moment():
                if not is_marked and is_settled(build):
                    return look(build)
            news.run()
            if told is None and build.waiting():
                return None
            deadline.check()
            with build.moment():
                answer = look(build)
            # Of logs that nobody can read nobody can tell who else may know of them.
            return _noted(answer, news.unread, log) if viewer == OWNER else answer

        def look(build: Build) -> Found:
            given = told or _NOTHING
            return Search(build, query, viewer, log, now, decay, deadline, given).run()

        closed = self._closed
        try:
            while (answer := self._use(found)) is None:
                told = self._told(query.text)
            return answer
        finally:
            if self._closed != closed:  # while the embedder was at work: it was opened again
                self.close()

    def _told(self, text: str) -> Meaning:
        """What the embedder says of a few of the rows that wait, and of a question.

        It may take as long as it likes: only others who embed wait for it. Searches go on without
        what it fails at.
        """
        trouble = None
        try:
            self._embed_few()
        except FailedError as error:
            trouble = error
        if self._embedder is None or quick(self._embedder):
            return Meaning(trouble=trouble)
        try:
            return Meaning(embed(self._embedder, [lexical.shortened(text)])[0], trouble)
        except FailedError as error:
            return Meaning(error, trouble)

    def _embed_few(self) -> None:
        """Embed a few of the rows that wait, unless somebody is at it; more of them in time."""
        if self._embedder is None or self._behind.is_at_work:
            return
        most = at_once(self._embedder)
        while most > 0:
            step = self._embed_some(min(most, BATCH))
            if not step.left:
                return
            most -= step.done
        with self._mutex:
            if self._use(lambda build: build.waiting()):
                self._behind.wake()

    def _embed_all(self, waiting: int, progress: Progress | None) -> None:
        """Embed all rows that wait, beside others who may be at it too."""
        left = waiting
        while left:
            left = self._embed_some(BATCH).left
            waiting = max(waiting, left)
            if progress is not None and left < waiting:
                progress(waiting - left, waiting)

    def _embed_some(self, most: int | None = None) -> Step:
        """Embed some of the rows that wait, while others go on."""
        with self._embedding:
            taken = self._use(lambda build: Backlog(build, self._feed).take(most))
            if taken is None or taken.build.vectors is None:
                return Step(0, 0)
            vectors = taken.build.vectors.made_of(taken.texts)
            left = self._use(lambda build: Backlog(build, self._feed).give(taken, vectors))
            return Step(len(taken.texts), left)

    def windows(self, viewer: Viewer, ask: Callable[[Windows], T]) -> T:
        """What the rows say of logs, as one viewer may see them, at one moment."""

        def looked(build: Build) -> T:
            self._caught_up(build)
            with build.moment() as db:
                return ask(Windows(db, build.snapshot, viewer))

        return self._use(looked)

    def note(self, names: Iterable[str]) -> None:
        """Have these logs looked at by the next search; relaxed, so an error costs only that."""
        if database.ident(self._folder) is not None:
            with suppress(MnemologError):
                self._use(lambda build: CatchUp(build, self._feed).note(names))

    def look(self, follow: Follow) -> Look:
        """What is new for somebody who follows."""

        def looked(build: Build) -> Look:
            self._caught_up(build)
            with build.moment() as db:
                return follow.look(db, build.snapshot)

        return self._use(looked)

    def sessions(self, wanted: Wanted, viewer: Viewer) -> list[Listed]:
        """The sessions that the viewer may see, last changed first."""

        def listed(build: Build) -> list[Listed]:
            if wanted.limit != 1:
                self._caught_up(build)
                return catalogue.sessions(build.db, wanted, viewer)
            # Writers ask for the newest one, and must not wait until all lines are read.
            behind = CatchUp(build, self._feed).behind()
            now = {name: self._feed.listed(name) for name in behind}
            return catalogue.sessions(build.db, wanted, viewer, now)

        return self._use(listed)

    def unlearned(self, asked: Asked) -> list[Unlearned]:
        """The sessions that are due to be learned from, or parked."""

        def found(build: Build) -> list[Unlearned]:
            self._caught_up(build)
            return unlearned.due(build.db, asked)

        return self._use(found)
