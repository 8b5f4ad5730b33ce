"""Changing `config.toml` by keys: only the lines of those keys are touched, comments stay."""

import re
from collections.abc import Mapping
from hashlib import sha256

from mnemolog import fs
from mnemolog.errors import ConcurrentModificationError, SettingsError
from mnemolog.fs.real import RealDisk
from mnemolog.settings import KEYS, Settings, load, written

NAME = "config.toml"
_JSON = "config.json"
_HEADER = re.compile(r"\s*\[")


def fingerprint(root: str) -> str:
    """What changes when the settings file does; for a root without one as well."""
    return _hash(_content(RealDisk(root)))


def change(root: str, changes: Mapping[str, object], expected: str | None) -> str:
    """Set values in a root's file; says its new fingerprint. They count from the next opening."""
    disk = RealDisk(root)
    if disk.stat(_JSON) is not None and disk.stat(NAME) is None:
        raise SettingsError(f"The settings stand in {_JSON}.", advice="Change that file by hand.")
    before = _content(disk)
    if expected is not None and expected != _hash(before):
        raise ConcurrentModificationError(
            "The settings file was changed meanwhile.", advice="Read the settings again."
        )
    checked = Settings().changed(changes).flat()
    text = before.decode()
    for key in changes:
        if key not in KEYS:
            raise SettingsError(f"There is no setting {key!r:.60}.", key=key)
        text = _with(text, key, written(checked[key]))
    _check(text, {key: checked[key] for key in changes})
    after = text.encode()
    if after != before:
        fs.replace(disk, NAME, after)
    return _hash(after)


def _check(text: str, wanted: Mapping[str, object]) -> None:
    """What was written by line must mean what was wanted, whatever the file looked like."""
    found = load(text).flat()
    for key, value in wanted.items():
        if found[key] != value:
            raise SettingsError(
                f"{key} stands in {NAME} in a form that cannot be changed line by line.",
                advice="Change it by hand.",
                key=key,
            )


def _with(text: str, key: str, value: str) -> str:
    table, _, name = key.rpartition(".")
    lines = text.splitlines(keepends=True)
    start = _after_header(lines, table)
    if start is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        head = f"\n[{table}]\n" if table else ""
        return f"{text}{gap}{head}{name} = {value}\n"
    for number in range(start, _end(lines, start)):
        if re.match(rf"\s*{re.escape(name)}\s*=", lines[number]):
            lines[number] = f"{name} = {value}\n"
            return "".join(lines)
    lines.insert(start, f"{name} = {value}\n")
    return "".join(lines)


def _after_header(lines: list[str], table: str) -> int | None:
    if not table:
        return 0
    wanted = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\]\s*(#.*)?$")
    found = (n + 1 for n, line in enumerate(lines) if wanted.match(line.rstrip("\r\n")))
    return next(found, None)


def _end(lines: list[str], start: int) -> int:
    later = (n for n in range(start, len(lines)) if _HEADER.match(lines[n]))
    return next(later, len(lines))


def _content(disk: RealDisk) -> bytes:
    try:
        return fs.read_all(disk, NAME)
    except FileNotFoundError:
        return b""


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
