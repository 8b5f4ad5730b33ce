"""Redaction for a root: the rules, and the key of its tags, which lies in a file of its own."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Protocol

from mnemolog import fs, paths
from mnemolog.fs import Disk
from mnemolog.policy.drafting import Redact
from mnemolog.settings import RedactionPattern

_KEY_BYTES = 32


class Redacted(Protocol):
    """What is left of a tree of texts, and how many secrets of each kind were hidden."""

    @property
    def value(self) -> Any:
        """The tree."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of each kind."""


class Redactor(Protocol):
    """Hides secrets in a tree of texts."""

    def tree(self, value: Any) -> Redacted:
        """The tree with placeholders."""


MakeRedactor = Callable[[bytes, Sequence[tuple[str, str]], Sequence[str]], Redactor]


class Redaction:
    """Makes what hides secrets below one root, once for each set of rules."""

    def __init__(self, disk: Disk, make: MakeRedactor, key_path: str = paths.REDACT_KEY) -> None:
        self._disk = disk
        self._make = make
        self._key_path = key_path
        self.for_rules = lru_cache(maxsize=16)(self._for_rules)

    def _for_rules(
        self, patterns: tuple[RedactionPattern, ...] = (), kinds: tuple[str, ...] = ()
    ) -> Redact:
        own = [(pattern.type, pattern.regex) for pattern in patterns]
        looking = self._make(b"", own, kinds)
        keyed: list[Redactor] = []

        def redact(value: Any) -> tuple[Any, Mapping[str, int]]:
            found = (keyed[0] if keyed else looking).tree(value)
            if not found.counts or keyed:
                return found.value, found.counts
            # Only who has something to hide needs the key, and a file for it.
            keyed.append(self._make(_key(self._disk, self._key_path), own, kinds))
            return redact(value)

        return redact


def _key(disk: Disk, path: str) -> bytes:
    """The key of the tags, made with the first secret that is found."""
    try:
        found = fs.read_all(disk, path)
    except FileNotFoundError:
        return _made(disk, path, disk.place)
    # Emptied by hand, or by a copy that failed: anybody could make the tags of an empty key.
    return found if found.strip(b"\0\r\n ") else _made(disk, path, disk.rename)


def _made(disk: Disk, path: str, put: Callable[[str, str], None]) -> bytes:
    """A new key, or that of another program which was faster: all have to go by the same."""
    folder = path.rpartition("/")[0]
    disk.mkdir(folder)
    temporary = f"{path}.{os.urandom(4).hex()}.tmp"
    fs.write_new(disk, temporary, os.urandom(_KEY_BYTES).hex().encode() + b"\n")
    with suppress(FileExistsError):
        put(temporary, path)
    disk.unlink(temporary)
    disk.sync_folder(folder)
    return fs.read_all(disk, path)
