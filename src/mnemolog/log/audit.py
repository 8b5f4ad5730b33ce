"""`audit.jsonl`: what was deleted, erased, purged, compacted, backed up; never what it said.

Lines are only ever added. Each holds the sum of the one before it, so that a line which is changed
or taken out breaks the chain. The file is its own lock: it is never replaced.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import Any

from mnemolog import paths
from mnemolog.errors import CorruptionError, LockTimeoutError
from mnemolog.fs import Disk, File, full
from mnemolog.log.tail import backwards
from mnemolog.ports.keeping import Audited

_SECONDS = 5.0
_PAUSE = 0.001
_SUM = ',"sum":"'
_FIRST = "0" * 64
_USUAL = Audited("", "", None, 0, "", "", {})


def record(disk: Disk, line: Audited, identity: str | None = None, *, again: bool = False) -> None:
    """Add a line, durably; done `again` after a crash, only if it is not there yet."""
    file = _open(disk)
    _lock(file)
    try:
        if again and f'"id":"{identity}"'.encode() in file.read(0, file.size()):
            return
        _append(file, _rendered(line, identity or os.urandom(8).hex(), _last(file)))
    finally:
        file.unlock()


def read(disk: Disk, *, is_strict: bool = True) -> Iterator[Audited]:
    """The lines in order; if strict, raises `CorruptionError` where the chain is broken."""
    try:
        file = disk.open(paths.AUDIT, "read")
    except FileNotFoundError:
        return
    before = _FIRST
    for number, raw in enumerate(_whole(file.read(0, file.size()).split(b"\n")), 1):
        if is_strict:
            before = _check(raw, before, number)
        with suppress(ValueError):
            yield _parsed(json.loads(raw))


def _open(disk: Disk) -> File:
    try:
        return disk.open(paths.AUDIT, "append")
    except FileNotFoundError:
        pass
    try:
        file = disk.open(paths.AUDIT, "create")
    except FileExistsError:
        return disk.open(paths.AUDIT, "append")
    disk.sync_folder("")
    return file


def _lock(file: File) -> None:
    deadline = time.monotonic() + _SECONDS
    while not file.try_lock():
        if time.monotonic() >= deadline:
            raise LockTimeoutError(
                "Lock acquisition timeout for the audit.", advice="Try again in a moment."
            )
        time.sleep(_PAUSE)


def _append(file: File, line: bytes) -> None:
    size = file.size()
    if size and file.read(size - 1, 1) != b"\n":
        line = b"\n" + line  # torn by a crash: it was never acknowledged
    if file.append(line) != len(line):
        file.truncate(size)
        raise full("add to the audit")
    file.sync()


def _rendered(line: Audited, identity: str, before: str) -> bytes:
    fields: dict[str, Any] = {"v": 1, "id": identity}
    fields |= {name: value for name, value in line._asdict().items() if value not in ("", None, {})}
    text = json.dumps(fields | {"before": before}, ensure_ascii=False, separators=(",", ":"))[:-1]
    return f'{text}{_SUM}{sha256(text.encode()).hexdigest()}"}}\n'.encode()


def _whole(content: Iterable[bytes]) -> Iterator[str]:
    """The lines that are whole: the rest was torn by a crash, which may leave zeros in it."""
    for raw in content:
        text = raw.decode("utf-8", "replace")
        if text.endswith('"}') and _SUM in text and "\0" not in text:
            yield text


def _last(file: File) -> str:
    """The sum of the last line, found from the end."""
    raw = (line for _, line in backwards(file, 0, file.size()))
    return next((text[-66:-2] for text in _whole(raw) if _sums_up(text)), _FIRST)


def _sums_up(text: str) -> bool:
    body, _, total = text.rpartition(_SUM)
    return sha256(body.encode()).hexdigest() == total[:-2]


def _check(text: str, before: str, number: int) -> str:
    body, _, total = text.rpartition(_SUM)
    if not _sums_up(text) or f'"before":"{before}"' not in body:
        raise CorruptionError(
            f"Line {number} of the audit is not what was written, or one before it is missing.",
            advice="Somebody edited audit.jsonl; compare it with a backup.",
            line=number,
        )
    return total[:-2]


def _parsed(fields: dict[str, Any]) -> Audited:
    known = {name: fields[name] for name in Audited._fields if name in fields}
    return _USUAL._replace(**known)
