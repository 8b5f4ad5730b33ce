"""Backing up: snapshots, whole logs out and in, old lines brought up to date."""

import os

from mnemolog.errors import MnemologError, NotAllowedError
from mnemolog.memory.base import Base
from mnemolog.model import given
from mnemolog.model.ids import check_id, check_name
from mnemolog.model.times import to_text
from mnemolog.policy.access import OWNER
from mnemolog.ports import LogKey, Progress
from mnemolog.ports.keeping import Audited
from mnemolog.ports.moving import BackedUp, Exported, Imported, Migrated, Mover

__all__ = ["BackedUp", "Backing", "Exported", "Imported", "Migrated"]


class Backing(Base):
    """The verbs that move whole logs; they are the owner's, for a log holds what is private."""

    def backup(
        self,
        target_file: str | os.PathLike[str],
        *,
        with_keys: bool = False,
        progress: Progress | None = None,
    ) -> BackedUp:
        """Write everything that is not derived to one new `tar.gz`, while writers go on.

        Of every log it holds at least what was acknowledged before it began. Keys and tokens are
        left out unless asked for. `mnemolog backup restore` makes a root of it again.
        """
        mover = self._mover("back up a memory")
        now = to_text(self._clock.now())
        done = mover.backup(
            given.place(target_file, "target_file"), now, with_keys=with_keys, progress=progress
        )
        self._record_backup(done, now)
        return done

    def _record_backup(self, done: BackedUp, now: str) -> None:
        """Note where a backup lies: what is erased later is still in it."""
        if self._kept_by is not None:
            facts = {"sessions": done.sessions, "files": done.files}
            line = Audited(now, "backup", None, 0, "owner", "", facts, place=done.path)
            self._kept_by.record(line)

    def export_native(
        self,
        target_path: str | os.PathLike[str],
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        """Write logs to one new file of lines, byte for byte; through gzip if it ends in `.gz`.

        Of one session, of a user with all their sessions and their graph, or of everything there
        is.
        """
        mover = self._mover("export whole logs")
        left_out: list[str] = []
        logs = self._chosen_logs(session_id, user_id, left_out)
        graphs = [user_id] if user_id is not None and session_id is None else None
        now = to_text(self._clock.now())
        target = given.place(target_path, "target_path")
        done = mover.export_native(logs, target, now, graphs=graphs, progress=progress)
        return done._replace(left_out=(*left_out, *done.left_out))

    def _chosen_logs(
        self, session_id: str | None, user_id: str | None, left_out: list[str]
    ) -> list[LogKey] | None:
        if session_id is not None:
            return [LogKey("session", self._manifest(session_id).session_id)]
        user = check_name(user_id, "user id")
        if user is None:
            return None

        def is_unread(name: str, error: MnemologError) -> None:
            left_out.append(name)  # it may be this user's

        facts = [one.manifest for one in self._visible(is_unread)]
        logs = [LogKey("session", one.session_id) for one in facts if one.user_id == user]
        own = LogKey("user", user)
        is_there = self._store.read(own, OWNER, last=0).summary.last_seq > 0
        return [*logs, own] if is_there else logs

    def import_native(
        self,
        path: str | os.PathLike[str],
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        """Read such a file in. All of it is checked before any of it is stored.

        A log that is there already stays as it is; one that ends earlier gets what is missing; one
        that says something else is refused, and the report says why. So is a user's graph of which
        a node here is another text.
        """
        mover = self._mover("import whole logs")
        return mover.import_native(given.place(path, "path"), dry_run=dry_run, progress=progress)

    def migrate(
        self,
        session_id: str | None = None,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> list[Migrated]:
        """Rewrite the lines of earlier versions of the format, of one session or of all logs.

        Nothing has to be migrated to be read or written to.
        """
        mover = self._mover("migrate logs")
        logs = None
        if session_id is not None:
            logs = [LogKey("session", self._manifest(check_id(session_id)).session_id)]
        now = to_text(self._clock.now())
        return list(mover.migrate(logs, now, dry_run=dry_run, progress=progress))

    def _mover(self, action: str) -> Mover:
        self._for_owner(action)
        if self._moved_by is None:
            raise NotAllowedError("This handle was made without a way to move logs.")
        return self._moved_by()
