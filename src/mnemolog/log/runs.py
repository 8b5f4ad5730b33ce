"""The notes of runs: `sessions/<name>/runs/<run>.jsonl`, one file each, under the session's lock.

They are lines like those of a log. No index reads them. A run that ends takes its file with it,
overwritten first; one that crashes leaves it, so that the run can go on.
"""

from collections.abc import Iterator

from mnemolog import paths
from mnemolog.errors import MnemologError, NotAllowedError
from mnemolog.fs import Disk
from mnemolog.log.blanking import shred
from mnemolog.log.places import FilePlace, SessionPlace
from mnemolog.log.tail import last_line
from mnemolog.log.writer import Writer
from mnemolog.ports.keeping import LeftRun

FOLDER = "runs"
_SUFFIX = ".jsonl"


class RunPlace(FilePlace):
    """Where the notes of one run lie."""

    def missing(self) -> MnemologError:
        return NotAllowedError(
            f"The run {self.name!r:.140} has ended, and its notes are gone.",
            advice="Open another run on the session.",
        )


def place(session: SessionPlace, run_id: str) -> RunPlace:
    """Where a run's notes lie."""
    path = f"{session.folder}/{FOLDER}/{paths.file_name(run_id)}{_SUFFIX}"
    return RunPlace(run_id, path, session.lock)


def begin(disk: Disk, writer: Writer, session: SessionPlace, run_id: str) -> bool:
    """Make the file of a run, durably; False if it is there already."""
    path = place(session, run_id).guard
    with writer.locked():
        if disk.ident(path) is not None:
            return False
        disk.mkdir(f"{session.folder}/{FOLDER}")
        disk.open(path, "create")
        disk.sync_folder(f"{session.folder}/{FOLDER}")
        disk.sync_folder(session.folder)
    return True


def end(disk: Disk, writer: Writer, session: SessionPlace, run_id: str) -> None:
    """Overwrite and remove a run's notes, durably; nothing happens if they are gone."""
    with writer.locked():
        shred(disk, place(session, run_id).guard)
        if disk.ident(f"{session.folder}/{FOLDER}") is not None:
            disk.sync_folder(f"{session.folder}/{FOLDER}")


def left(disk: Disk, session_id: str, folder: str) -> Iterator[LeftRun]:
    """The runs of a session that have notes and no end yet."""
    for name in disk.list(f"{folder}/{FOLDER}"):
        try:
            last = last_line(disk.open(f"{folder}/{FOLDER}/{name}", "read"))
        except FileNotFoundError:
            continue  # ended meanwhile
        if last is not None and last.run_id is not None:
            yield LeftRun(session_id, last.run_id, last.written_at)
