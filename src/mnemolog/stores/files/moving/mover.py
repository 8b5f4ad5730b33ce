"""The files back end's part of moving: exports in our own form, backups, migration."""

from collections.abc import Iterator, Sequence

from mnemolog.fs import Disk
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.ports import LogKey, Progress
from mnemolog.ports.moving import BackedUp, Exported, Imported, Migrated
from mnemolog.settings import Settings
from mnemolog.stores.files.moving.importing import NativeImport
from mnemolog.stores.files.moving.migrating import Migration
from mnemolog.stores.files.moving.natives import NativeExport
from mnemolog.stores.files.moving.snapshots import Backup


class FilesMover:
    """Moves whole logs in and out of the files below one root."""

    def __init__(
        self,
        disk: Disk,
        settings: Settings,
        root: str | None = None,
        versions: Versions = CURRENT,
    ) -> None:
        self._disk = disk
        self._settings = settings
        self._root = root
        self._versions = versions

    def export_native(
        self,
        logs: Sequence[LogKey] | None,
        target: str,
        now: str,
        *,
        graphs: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        writing = NativeExport(self._disk, self._versions, self._root)
        return writing.write(logs, target, now, progress, graphs)

    def import_native(
        self, path: str, *, dry_run: bool = False, progress: Progress | None = None
    ) -> Imported:
        taking = NativeImport(self._disk, self._settings, self._versions, path)
        return taking.run(dry_run=dry_run, progress=progress)

    def backup(
        self,
        target: str,
        now: str,
        *,
        with_keys: bool = False,
        progress: Progress | None = None,
    ) -> BackedUp:
        return Backup(self._disk, self._root, with_keys=with_keys).write(target, now, progress)

    def migrate(
        self,
        logs: Sequence[LogKey] | None,
        now: str,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Migrated]:
        return Migration(self._disk, self._versions, now, dry_run=dry_run).run(logs, progress)
