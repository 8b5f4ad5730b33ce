"""Export in our own form: whole logs, byte for byte (`log.native` tells the form)."""

from collections.abc import Sequence
from hashlib import sha256
from typing import BinaryIO

import msgspec

from mnemolog.errors import (
    ConcurrentModificationError,
    InvalidFormatError,
    SessionNotFoundError,
)
from mnemolog.fs import Disk
from mnemolog.log import native, snapshot
from mnemolog.log.native import LogBegins, LogEnds
from mnemolog.log.snapshot import PATIENCE, ChangedError, Snapshot
from mnemolog.log.versions import Versions
from mnemolog.ports import LogKey, Progress
from mnemolog.ports.moving import Exported
from mnemolog.stores.files import outside
from mnemolog.stores.files.census import census
from mnemolog.stores.files.held import place_of

_TRIES = 3


class NativeExport:
    """Writes logs to one file."""

    def __init__(self, disk: Disk, versions: Versions, root: str | None) -> None:
        self._disk = disk
        self._versions = versions
        self._root = root

    def write(
        self, logs: Sequence[LogKey] | None, target: str, now: str, progress: Progress | None
    ) -> Exported:
        """Write these logs, or all; anew if something is erased meanwhile."""
        for _ in range(_TRIES):
            try:
                return self._write(logs, target, now, progress or unwatched)
            except ChangedError:
                continue
        raise ConcurrentModificationError(
            "Entries were erased while they were exported.", advice="Nothing was kept; try again."
        )

    def _write(
        self, logs: Sequence[LogKey] | None, target: str, now: str, progress: Progress
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
                    taken = snapshot.take(self._disk, place_of(log, self._versions), PATIENCE)
                except SessionNotFoundError:
                    if logs is not None:
                        raise
                    continue  # it went meanwhile
                total = self._log(out, log, taken, total)
            out.write(native.mark(native.End(logs=total.logs, lines=total.lines)))
        progress(len(chosen), len(chosen))
        return total._replace(left_out=tuple(left_out))

    def _log(self, out: BinaryIO, log: LogKey, taken: Snapshot, total: Exported) -> Exported:
        if log.kind == "run":
            raise InvalidFormatError("Notes of a run end with it: they are not exported.")
        manifest = msgspec.json.decode(taken.manifest) if taken.manifest else {}
        out.write(native.mark(LogBegins(kind=log.kind, id=log.id, manifest=manifest)))
        digest, ours = sha256(), sha256()
        count = size = damaged = 0
        for piece in snapshot.pieces(taken):
            line, is_readable = native.carried(piece, self._versions)
            out.write(line)
            digest.update(line)
            ours.update(piece)
            count, size, damaged = count + 1, size + len(piece), damaged + (not is_readable)
        if ours.digest() != _digest(taken):
            raise ChangedError
        end = LogEnds(lines=count, bytes=size, sum=f"sha256:{digest.hexdigest()}")
        out.write(native.mark(end))
        return total._replace(
            logs=total.logs + 1,
            lines=total.lines + count,
            bytes=total.bytes + size,
            damaged=total.damaged + damaged,
        )


def _digest(taken: Snapshot) -> bytes:
    digest = sha256()
    for piece in snapshot.pieces(taken):
        digest.update(piece)
    return digest.digest()


def unwatched(done: int, total: int) -> None:
    """Nobody wants to know how far it got."""
