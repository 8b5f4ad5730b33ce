"""Archiving: sessions that nobody writes to move out of the way, and come back."""

from collections.abc import Iterator
from datetime import datetime

from mnemolog.errors import MnemologError
from mnemolog.memory.sessions import Sessions
from mnemolog.model.archiving import ArchiveReceipt, IdleArchiving
from mnemolog.model.observing import tell
from mnemolog.model.session import Session
from mnemolog.model.times import normalise, shifted, to_moment, to_text
from mnemolog.ports import Progress
from mnemolog.ports.keeping import Archived


class Archiving(Sessions):
    """The verbs of the archive."""

    def archive_session(self, session_id: str, progress: Progress | None = None) -> ArchiveReceipt:
        """Move a session to the archive, where it is still listed, read and searched.

        A write brings it back, unless `archive.auto_restore` is off.
        """
        self._manifest(session_id)
        self.check_allowed("archive_session")
        now = to_text(self._clock.now())
        done = _receipt(self._keeper.archive(session_id, now, progress))
        tell("session.archived", session_id)
        return done

    def restore_session(self, session_id: str) -> Session:
        """Bring a session back from the archive; nothing happens if it is not there."""
        self._manifest(session_id)
        self._keeper.restore(session_id)
        tell("session.restored", session_id)
        return self.load_session(session_id)

    def archive_idle(
        self, now: datetime | str | None = None, progress: Progress | None = None
    ) -> IdleArchiving:
        """Archive every session without a write for more than `archive.after_idle_days`."""
        self.check_allowed("archive_session")
        moment = self._clock.now() if now is None else to_moment(normalise(now, "now"))
        idle = list(self._idle(moment))
        done: list[ArchiveReceipt] = []
        failed: dict[str, str] = {}
        for number, session in enumerate(idle, 1):
            try:
                done.append(self.archive_session(session.id))
            except MnemologError as error:  # one that cannot go must not keep the others
                failed[session.id] = str(error)
            if progress is not None:
                progress(number, len(idle))
        return IdleArchiving(archived=tuple(done), failed=failed)

    def _idle(self, now: datetime) -> Iterator[Session]:
        days = self.settings.archive.after_idle_days
        latest = to_text(shifted(now, days=-days))
        for session in self.list_sessions():
            if session.state != "archived" and session.updated_at < latest:
                yield session


def _receipt(found: Archived) -> ArchiveReceipt:
    return ArchiveReceipt(
        session_id=found.listed.manifest.session_id,
        archived_at=found.archived_at,
        original_size_bytes=found.original_bytes,
        compressed_size_bytes=found.compressed_bytes,
    )
