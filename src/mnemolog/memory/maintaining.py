"""Maintaining a root: purge, archive and compact, each only where its settings ask for it."""

from collections.abc import Iterator

from mnemolog.errors import MnemologError, SessionNotFoundError
from mnemolog.memory.archiving import Archiving
from mnemolog.memory.purging import MAINTAIN, Purging
from mnemolog.model.maintenance import Maintenance, Purge
from mnemolog.model.times import local, to_moment
from mnemolog.policy import schedule
from mnemolog.policy.compartments import is_left
from mnemolog.ports import Progress
from mnemolog.ports.keeping import LeftRun

_UNCONFIRMED = (
    "Nothing was purged: the first purge has to be confirmed."
    " `mnemolog maintain --purge --dry-run` shows what would go."
)

_Failed = dict[str, str]
"""Why a session was not kept in order, by its id, or where it lies if that cannot be read."""


class Maintaining(Archiving, Purging):
    """The verb that keeps a root in order; for a worker, a timer, or a person."""

    def maintain(
        self,
        *,
        purge: bool = False,
        confirm: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Maintenance:
        """Purge when the schedule says so, archive idle sessions, compact those that grew large.

        Runs that nobody has ended, and that have been silent for a week, are ended.

        With `purge` it purges at once. Any number of programs may call it: one does the work, the
        others are told so. For the owner.
        """
        self.check_allowed("maintain")
        if dry_run:
            return self._would_maintain(purge, progress)
        with self._keeper.lease(MAINTAIN) as is_mine:
            if not is_mine:
                return Maintenance(is_elsewhere=True)
            return self._maintain(purge, confirm, progress)

    def _maintain(self, purge: bool, confirm: bool, progress: Progress | None) -> Maintenance:
        purged, notes = self._purge_if_due(purge, confirm, progress)
        ended, left = self._end_left_runs()
        idle = self.archive_idle(progress=progress) if self.settings.archive.auto else None
        compacted, failed = self._compact_large()
        return Maintenance(
            purge=purged,
            archived=tuple(one.session_id for one in idle.archived) if idle else (),
            compacted=tuple(compacted),
            ended_runs=tuple(ended),
            failed={**left, **(idle.failed if idle else {}), **failed},
            notes=(*notes, *self._audit_trouble()),
        )

    def _would_maintain(self, purge: bool, progress: Progress | None) -> Maintenance:
        is_wanted = purge or self._is_purge_due(self._last_purge())
        failed: _Failed = {}
        bare = Archiving(self._store, self.settings, self._clock)  # an index would catch up first
        idle = bare._idle(self._clock.now()) if self.settings.archive.auto else ()
        return Maintenance(
            is_dry_run=True,
            purge=self.purge(dry_run=True, progress=progress) if is_wanted else None,
            archived=tuple(session.id for session in idle),
            compacted=tuple(session_id for session_id, _ in self._large(failed)),
            ended_runs=tuple(one.run_id for one in self._left_runs(failed)),
            failed=failed,
            notes=self._audit_trouble(),
        )

    def _purge_if_due(
        self, is_wanted: bool, confirm: bool, progress: Progress | None
    ) -> tuple[Purge | None, tuple[str, ...]]:
        last = self._last_purge()
        is_agreed = confirm or last is not None
        if is_wanted and not is_agreed:
            return self._purge(progress, is_dry=True, needs_confirmation=True), ()
        if is_wanted:
            return self._purge(progress), ()
        if not self._is_purge_due(last):
            return None, ()
        if last is None:
            return None, (_UNCONFIRMED,)
        return self._purge(progress, is_automatic=True), ()

    def _is_purge_due(self, last: str | None) -> bool:
        """Whether a scheduled moment has passed since the last purge, by the local clock."""
        privacy = self.settings.privacy
        if not privacy.auto_purge:
            return False
        planned = schedule.parse(privacy.purge_schedule).last(local(self._clock.now()))
        return planned is not None and (last is None or to_moment(last) < planned)

    def _left_runs(self, failed: _Failed) -> list[LeftRun]:
        """The runs that nobody has ended, and that have been silent for a week."""
        now = self._clock.now()
        found: list[LeftRun] = []
        for session_id, _ in self._sizes(failed):
            try:
                runs = self._keeper.runs(session_id)
                found += [one for one in runs if is_left(one.last_written, now)]
            except MnemologError as error:
                failed[session_id] = str(error)
        return found

    def _sizes(self, failed: _Failed) -> Iterator[tuple[str, int]]:
        """The size of each session; nobody may think that one which cannot be read was kept."""

        def left_out(name: str, error: MnemologError) -> None:
            failed[name] = str(error)

        return self._keeper.sizes(left_out)

    def _end_left_runs(self) -> tuple[list[str], _Failed]:
        done: list[str] = []
        failed: _Failed = {}
        for one in self._left_runs(failed):
            try:
                self._keeper.end_run(one.session_id, one.run_id)
                done.append(one.run_id)
            except MnemologError as error:
                failed[one.session_id] = str(error)
        return done, failed

    def _large(self, failed: _Failed) -> Iterator[tuple[str, int]]:
        """The sessions that have grown past their trigger since they were last compacted."""
        for session_id, used in self._sizes(failed):
            try:
                is_large = self._is_large(self._manifest(session_id), used)
            except SessionNotFoundError:
                continue  # deleted meanwhile
            except MnemologError as error:
                failed[session_id] = str(error)
                continue
            if is_large:
                yield session_id, used

    def _compact_large(self) -> tuple[list[str], _Failed]:
        done: list[str] = []
        failed: _Failed = {}
        for session_id, used in list(self._large(failed)):
            try:
                self._relieve(session_id, used)
                done.append(session_id)
            except MnemologError as error:  # one that cannot be compacted must not keep the others
                failed[session_id] = str(error)
        return done, failed
