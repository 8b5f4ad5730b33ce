"""Maintaining a root: purge, archive and compact, each only where its settings ask for it."""

from collections.abc import Iterator

from mnemolog.errors import MnemologError
from mnemolog.memory.archiving import Archiving
from mnemolog.memory.keeping import Keeping
from mnemolog.memory.purging import MAINTAIN, Purging
from mnemolog.model.maintenance import Maintenance, Purge
from mnemolog.model.times import to_moment
from mnemolog.policy import schedule
from mnemolog.ports import Progress

_UNCONFIRMED = (
    "Nothing was purged: the first purge has to be confirmed."
    " `mnemolog maintain --purge --dry-run` shows what would go."
)


class Maintaining(Purging, Archiving, Keeping):
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

        With `purge` it purges at once. Any number of programs may call it: one does the work, the
        others are told so. For the owner.
        """
        self._for_owner("maintain a memory")
        if dry_run:
            return self._would_maintain(purge, progress)
        with self._keeper.lease(MAINTAIN) as is_mine:
            if not is_mine:
                return Maintenance(is_elsewhere=True)
            return self._maintain(purge, confirm, progress)

    def _maintain(self, purge: bool, confirm: bool, progress: Progress | None) -> Maintenance:
        purged, notes = self._purge_if_due(purge, confirm, progress)
        idle = self.archive_idle(progress=progress) if self.settings.archive.auto else None
        compacted, failed = self._compact_large()
        return Maintenance(
            purge=purged,
            archived=tuple(one.session_id for one in idle.archived) if idle else (),
            compacted=tuple(compacted),
            failed={**(idle.failed if idle else {}), **failed},
            notes=notes,
        )

    def _would_maintain(self, purge: bool, progress: Progress | None) -> Maintenance:
        is_wanted = purge or self._is_purge_due(self._last_purge())
        bare = Archiving(self._store, self.settings, self._clock)  # an index would catch up first
        idle = bare._idle(self._clock.now()) if self.settings.archive.auto else ()
        return Maintenance(
            is_dry_run=True,
            purge=self.purge(dry_run=True, progress=progress) if is_wanted else None,
            archived=tuple(session.id for session in idle),
            compacted=tuple(session_id for session_id, _ in self._large()),
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
        planned = schedule.parse(privacy.purge_schedule).last(self._clock.now().astimezone())
        return planned is not None and (last is None or to_moment(last) < planned)

    def _large(self) -> Iterator[tuple[str, int]]:
        """The sessions that have grown past their trigger since they were last compacted."""
        for session_id, used in self._keeper.sizes():
            if self._is_large(self._manifest(session_id), used):
                yield session_id, used

    def _compact_large(self) -> tuple[list[str], dict[str, str]]:
        done: list[str] = []
        failed: dict[str, str] = {}
        for session_id, used in list(self._large()):
            try:
                self._relieve(session_id, used)
                done.append(session_id)
            except MnemologError as error:  # one that cannot be compacted must not keep the others
                failed[session_id] = str(error)
        return done, failed
