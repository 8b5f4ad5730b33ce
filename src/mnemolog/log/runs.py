"""The notes of runs: `sessions/<name>/runs/<run>.jsonl`, one file each, under the session's lock.

They are lines like those of a log; the first one says whose run it is. No index reads them. A run
that ends takes its file with it, overwritten first; one that crashes leaves it, so that the run can
go on. A name that ends in `.tmp` is a run that was being made or ended: it counts no more, and
whoever begins or ends the next one removes it.
"""

from collections.abc import Iterator
from urllib.parse import unquote

from mnemolog import fs, paths
from mnemolog.errors import MnemologError, NotAllowedError
from mnemolog.fs import Disk, File
from mnemolog.log import lines
from mnemolog.log.places import FilePlace, SessionPlace
from mnemolog.log.tail import last_line
from mnemolog.log.writer import Writer
from mnemolog.model.entry import Entry
from mnemolog.model.times import of_file
from mnemolog.ports.keeping import LeftRun

FOLDER = "runs"
_SUFFIX = ".jsonl"
PASSING = ".tmp"
_LONGEST_FIRST = 1 << 16


class RunPlace(FilePlace):
    """Where the notes of one run lie."""

    def missing(self) -> MnemologError:
        return NotAllowedError(
            f"The run {self.name!r:.140} has ended, and its notes are gone.",
            advice="Open another run on the session.",
        )


def folder_of(session: SessionPlace) -> str:
    """Where the runs of a session lie."""
    return f"{session.folder}/{FOLDER}"


def place(session: SessionPlace, run_id: str) -> RunPlace:
    """Where a run's notes lie."""
    path = f"{folder_of(session)}/{paths.file_name(run_id)}{_SUFFIX}"
    return RunPlace(run_id, path, session.lock)


def begin(disk: Disk, writer: Writer, session: SessionPlace, run_id: str, first: Entry) -> bool:
    """Make the file of a run with its first line, durably; False if it is there already."""
    path = place(session, run_id).guard
    with writer.locked():
        if disk.ident(path) is not None:
            return False
        disk.mkdir(folder_of(session))
        _shred_passing(disk, session)
        fs.replace(disk, path, lines.Draft(first).line(1))
        disk.sync_folder(session.folder)
    return True


def end(disk: Disk, writer: Writer, session: SessionPlace, run_id: str) -> None:
    """Overwrite and remove a run's notes, durably; nothing happens if they are gone.

    It is renamed first: what a crash interrupts has either not ended, or is not there any more.
    """
    path = place(session, run_id).guard
    with writer.locked():
        if disk.ident(path) is not None:
            disk.rename(path, f"{path}{PASSING}")
            disk.sync_folder(folder_of(session))
        sweep(disk, session)


def sweep(disk: Disk, session: SessionPlace) -> None:
    """Overwrite and remove what is no run any more, and see that this lasts; under the lock."""
    folder = folder_of(session)
    if disk.ident(folder) is None:
        return
    _shred_passing(disk, session)
    disk.sync_folder(folder)  # also what another process did not live to sync


def _shred_passing(disk: Disk, session: SessionPlace) -> None:
    for name in passing(disk, session):
        fs.shred(disk, f"{folder_of(session)}/{name}")


def passing(disk: Disk, session: SessionPlace) -> list[str]:
    """The files of runs that were being made or ended."""
    return [name for name in disk.list(folder_of(session)) if name.endswith(PASSING)]


def left(disk: Disk, session: SessionPlace) -> Iterator[LeftRun]:
    """The runs of a session that nobody has ended, those that crashed while ending too."""
    for name in disk.list(folder_of(session)):
        path = f"{folder_of(session)}/{name}"
        try:
            if name.removesuffix(PASSING).endswith(_SUFFIX):
                yield _left(disk, session.name, path)
        except FileNotFoundError:
            continue  # ended meanwhile


def _left(disk: Disk, session_id: str, path: str) -> LeftRun:
    file = disk.open(path, "read")
    first, last = _first_line(file), last_line(file)
    known = first or last
    if last is not None:
        written = last.written_at
    else:
        status = disk.stat(path)
        written = of_file(status.mtime_ns if status else 0)
    name = unquote(path.rpartition("/")[2].removesuffix(PASSING).removesuffix(_SUFFIX))
    run_id = known.run_id if known is not None and known.run_id is not None else name
    agent_id = known.agent_id if known is not None else None
    began = first.timestamp if first is not None else None
    return LeftRun(session_id, run_id, written, path, agent_id, began)


def _first_line(file: File) -> Entry | None:
    line, newline, _ = file.read(0, _LONGEST_FIRST).partition(b"\n")
    return lines.valid(line) if newline else None
