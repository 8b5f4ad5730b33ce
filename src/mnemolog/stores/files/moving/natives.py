"""Export in our own form: whole logs and graphs, byte for byte (`log.native` tells the form)."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import BinaryIO

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import (
    CorruptionError,
    InvalidFormatError,
    SessionError,
    SessionNotFoundError,
    StorageIOError,
)
from mnemolog.fs import Disk
from mnemolog.graph.shelf import FilesShelf
from mnemolog.log import moved, native, snapshot
from mnemolog.log.native import GraphBegins, LogBegins, LogEnds, MovedBegins, UseNoted, UsesBegin
from mnemolog.log.snapshot import PATIENCE, ChangedError, Picture
from mnemolog.log.versions import Versions
from mnemolog.ports import LogKey, Progress, unwatched
from mnemolog.ports.moving import Exported
from mnemolog.stores.files.census import census, is_its_own
from mnemolog.stores.files.feed import log_name
from mnemolog.stores.files.held import place_of
from mnemolog.stores.files.moving import outside
from mnemolog.stores.files.moving.replanting import files_of, graphs_of, strange_files
from mnemolog.stores.files.uses import read_uses


class NativeExport:
    """Writes logs to one file."""

    def __init__(self, disk: Disk, versions: Versions, root: str | None) -> None:
        self._disk = disk
        self._versions = versions
        self._root = root

    def write(
        self,
        logs: Sequence[LogKey] | None,
        target: str,
        now: str,
        progress: Progress | None,
        graphs: Sequence[str] | None = None,
    ) -> Exported:
        """Write these logs, or all, and graphs; anew if something is erased meanwhile."""
        chosen = graphs_of(self._disk) if logs is None else graphs or ()
        told = progress or unwatched
        return snapshot.undisturbed(
            lambda: self._write(logs, target, now, told, chosen), "exported"
        )

    def _write(
        self,
        logs: Sequence[LogKey] | None,
        target: str,
        now: str,
        progress: Progress,
        graphs: Sequence[str],
    ) -> Exported:
        chosen, left_out = (list(logs), []) if logs is not None else census(self._disk)
        total = Exported(target, 0, 0, 0, 0)
        with (
            outside.new_file(target, self._root) as stream,
            outside.packed(stream, is_packed=target.endswith(".gz")) as out,
        ):
            out.write(native.mark(native.Header(v=native.VERSION, exported_at=now)))
            for done, log in enumerate(chosen):
                progress(done, len(chosen))
                try:
                    taken = self._taken(log)
                except SessionNotFoundError:
                    if logs is not None:
                        raise
                    continue  # it went meanwhile
                except (SessionError, CorruptionError, StorageIOError) as error:
                    folder = log_name(log)
                    if len(chosen) == 1 or not is_its_own(self._disk, folder, error):
                        raise
                    left_out.append(folder)
                    continue
                total = self._log(out, log, taken, total)
            for user in graphs:
                total = self._graph(out, user, total)
            out.write(native.mark(native.End(logs=total.logs, lines=total.lines)))
        progress(len(chosen), len(chosen))
        return total._replace(left_out=(*left_out, *total.left_out))

    def _taken(self, log: LogKey) -> Picture:
        """A log as it is now; an archive is read through, so that damage is told before any of it
        is written."""
        place = place_of(log, self._versions)
        taken = snapshot.take(self._disk, place, PATIENCE, with_moved=True)
        if taken.chain.archive is not None:
            _digest(taken)
        return taken

    def _graph(self, out: BinaryIO, user: str, total: Exported) -> Exported:
        """All of a user's graph, which nobody writes meanwhile."""
        count = 0

        def lines() -> Iterator[tuple[bytes, int]]:
            nonlocal count
            for path, content in files_of(self._disk, user):
                count += 1
                yield from ((raw, len(raw)) for raw in native.file_pieces(path, content))

        with FilesShelf(self._disk).locked(user):
            if next(files_of(self._disk, user), None) is None:
                return total
            out.write(native.mark(GraphBegins(user=user)))
            _section(out, lines())
        left_out = (*total.left_out, *strange_files(self._disk, user))
        return total._replace(files=total.files + count, left_out=left_out)

    def _log(self, out: BinaryIO, log: LogKey, taken: Picture, total: Exported) -> Exported:
        if log.kind == "run":
            raise InvalidFormatError("Notes of a run end with it: they are not exported.")
        manifest = msgspec.json.decode(taken.manifest) if taken.manifest else {}
        out.write(native.mark(LogBegins(kind=log.kind, id=log.id, manifest=manifest)))
        ours = sha256()
        count = size = damaged = 0

        def lines() -> Iterator[tuple[bytes, int]]:
            nonlocal count, size, damaged
            for piece in snapshot.pieces(taken):
                line, is_readable = native.carried(piece, self._versions)
                ours.update(piece)
                count, size, damaged = count + 1, size + len(piece), damaged + (not is_readable)
                yield line, len(piece)

        _section(out, lines())
        if ours.digest() != _digest(taken):
            raise ChangedError
        total = total._replace(
            logs=total.logs + 1,
            lines=total.lines + count,
            bytes=total.bytes + size,
            damaged=total.damaged + damaged,
        )
        return self._beside(out, log, taken, total) if log.kind == "session" else total

    def _beside(self, out: BinaryIO, log: LogKey, taken: Picture, total: Exported) -> Exported:
        """What compactions moved out of a session, and the notes of use."""
        name, left_out = paths.file_name(log.id), list(total.left_out)
        lines = 0
        for generation, packed in taken.moved:
            path = moved.path_of(name, generation)
            try:
                found = [raw for raw, _ in moved.lines_of(packed, path)]
            except CorruptionError:
                left_out.append(path)
                continue
            out.write(native.mark(MovedBegins(generation=generation)))
            carried = ((native.carried(raw, self._versions)[0], len(raw)) for raw in found)
            lines += _section(out, carried)
        self._refuse_change(log, taken)
        notes = read_uses(self._disk, paths.session_folder(log.id), 0)[0]
        if notes:
            out.write(native.mark(UsesBegin()))
            marks = (native.mark(UseNoted(id=use.id, at=use.at)) for use in notes)
            _section(out, ((raw, len(raw)) for raw in marks))
        return total._replace(
            left_out=tuple(left_out), moved=total.moved + lines, uses=total.uses + len(notes)
        )

    def _refuse_change(self, log: LogKey, taken: Picture) -> None:
        """What was moved out is erased in its own file, which the log does not tell."""
        for generation, packed in taken.moved:
            path = moved.path_of(paths.file_name(log.id), generation)
            if self._disk.ident(path) is None or fs.read_all(self._disk, path) != packed:
                raise ChangedError


def _section(out: BinaryIO, lines: Iterable[tuple[bytes, int]]) -> int:
    """Write lines and the mark that ends them; each comes with the size of what it carries."""
    digest = sha256()
    count = size = 0
    for line, carried in lines:
        out.write(line)
        digest.update(line)
        count, size = count + 1, size + carried
    out.write(native.mark(LogEnds(lines=count, bytes=size, sum=f"sha256:{digest.hexdigest()}")))
    return count


def _digest(taken: Picture) -> bytes:
    digest = sha256()
    for piece in snapshot.pieces(taken):
        digest.update(piece)
    return digest.digest()
