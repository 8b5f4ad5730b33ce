"""Versions: how a line or a manifest of an earlier version becomes one of today's.

Every line and every manifest says in `v` which version it is. An earlier one is brought up to date
in memory, by one small function for each version in between; its bytes stay as they are until a
compaction or a migration rewrites them. A later one is read as far as it can be.

A new version is one more `Step` at the end of `CURRENT`, never a change of an earlier one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from mnemolog.model.entry import Entry
from mnemolog.model.plain import is_too_deep
from mnemolog.model.session import Manifest

Fields = dict[str, Any]
Upgrade = Callable[[Fields], Fields]

# The source documents write `schema_version` in lines and `version` elsewhere, 1 or "1.0".
_SPELLINGS = ("v", "schema_version", "version")

OLDEST = "oldest_format"
"""The marker of a manifest whose log may still hold lines of this earlier version."""

MALFORMED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises: also for what lies too deep to be a line or a manifest of ours."""
_decode_fields = msgspec.json.Decoder(Fields).decode
# What the library knows of a type is made when it is first used; two threads that are first at the
# same time crash the process. A decoder that nobody needs makes it here, where there is one thread.
_KNOWN = msgspec.json.Decoder(Manifest)


def _unchanged(fields: Fields) -> Fields:
    return fields


class Step(NamedTuple):
    """From one version to the next: what becomes of the fields of a line, and of a manifest."""

    line: Upgrade
    manifest: Upgrade = _unchanged


class Versions:
    """All versions up to one; `record` is what a line of that one decodes to."""

    def __init__(self, *steps: Step, record: type[Entry] = Entry) -> None:
        self.current = 1 + len(steps)
        self._steps = steps
        self._record = record
        self._decode_record = msgspec.json.Decoder(record).decode

    def entry(self, line: bytes) -> Entry | None:
        """Decode a line of any version; None if it is not one of ours."""
        try:
            found = self._decode_record(line)
            if found.content.__class__ is not str or found.metadata or found.context:
                _flat(line)  # most lines hold no object, and need not be looked through
            if found.v >= self.current:
                return found if found.seq else None
        except MALFORMED:
            pass  # an earlier version need not have today's fields
        fields = self.fields(line)
        if fields is None:
            return None
        try:
            found = msgspec.convert(fields, self._record)
        except msgspec.ValidationError:
            return None
        return found if found.seq else None

    def fields(self, line: bytes) -> Fields | None:
        """The fields of a line, those that nobody knows too, as today's version has them."""
        try:
            found = _spelled(_decode(line))
        except MALFORMED:
            return None
        return found and self.upgrade(found, found["v"])

    def stored(self, line: bytes) -> int | None:
        """In which version a line is stored; None if it does not say."""
        try:
            found = _spelled(_decode(line))
        except MALFORMED:
            return None
        return None if found is None else int(found["v"])

    def upgrade(self, line_fields: Fields, from_version: int) -> Fields:
        """The fields of a line of an earlier version, one version after the other."""
        for step in self._steps[from_version - 1 :]:
            line_fields = step.line(line_fields)
        rest = {name: value for name, value in line_fields.items() if name != "v"}
        return {"v": max(from_version, self.current), **rest}

    def latest(self, entry: Entry) -> Entry:
        """An entry as it is written now."""
        if entry.v >= self.current:
            return entry
        fields = self.upgrade(msgspec.to_builtins(entry), entry.v)
        return msgspec.convert(fields, self._record)

    def manifest(self, content: bytes) -> Manifest:
        """Decode a manifest of any version; its `v` still tells in which one it is stored.

        Raises what msgspec raises.
        """
        fields = _spelled(_decode(content))
        if fields is None:
            raise msgspec.ValidationError("it does not say which version it is")
        for step in self._steps[fields["v"] - 1 :]:
            fields = step.manifest(fields)
        return msgspec.convert(fields, Manifest)

    def stamped(self, manifest: Manifest) -> Manifest:
        """A manifest as it is written now; of a log whose lines may be older than that."""
        if manifest.v >= self.current:
            return manifest
        markers = {OLDEST: manifest.v, **manifest.markers}
        return msgspec.structs.replace(manifest, v=self.current, markers=markers)

    def settled(self, manifest: Manifest) -> Manifest:
        """The manifest of a log that holds no line of an earlier version any more."""
        markers = {name: value for name, value in manifest.markers.items() if name != OLDEST}
        return msgspec.structs.replace(manifest, v=max(manifest.v, self.current), markers=markers)

    def is_settled(self, manifest: Manifest) -> bool:
        """Whether a manifest says that its log needs no migration."""
        return manifest.v >= self.current and OLDEST not in manifest.markers


def _flat(content: bytes) -> bytes:
    """The same bytes; refuses what is nested too deep to be gone through."""
    if is_too_deep(content):
        raise msgspec.DecodeError("it is nested too deep")
    return content


def _decode(content: bytes) -> Fields:
    return _decode_fields(_flat(content))


def _spelled(fields: Fields) -> Fields | None:
    """The fields with their version as `v`, a number from 1 on, in the first place."""
    for name in _SPELLINGS:
        if name in fields:
            version = _number(fields[name])
            rest = {other: value for other, value in fields.items() if other != name}
            return None if version is None else {"v": version, **rest}
    return None


def _number(value: object) -> int | None:
    """1 for 1 and for "1.0"."""
    if isinstance(value, str):
        head = value.partition(".")[0]
        value = int(head) if head.isdecimal() and len(head) < 10 else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value >= 1 else None


CURRENT = Versions()
