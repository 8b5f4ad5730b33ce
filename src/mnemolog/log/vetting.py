"""Vetting: whether what an export says may become a log here.

An export may come from anywhere. Whatever a writer of ours would never have written is refused:
names that do not fit, numbers out of order, values that no entry may have, segments that would be
overwritten later.
"""

import re
from contextlib import suppress

from mnemolog import paths
from mnemolog.errors import InvalidFormatError
from mnemolog.log import lines, manifests
from mnemolog.log.versions import Versions
from mnemolog.model import plain, times
from mnemolog.model.entry import MARKS, MAX_SEQ, ORIGINS, SCOPES, Entry, type_name
from mnemolog.model.ids import check_id
from mnemolog.model.session import Manifest, Segment
from mnemolog.ports import LogKey

_MAX_MANIFEST = 16 * 1024 * 1024
_MAX_GENERATION = 2**31
_NUMBERS = re.compile(r"memory\.g(\d{1,10})\.(\d{1,10})\.jsonl", re.ASCII)
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_OF_SESSIONS = ("session", "agent", "run")
_CLOSED = "closed_seq"


def vet_manifest(log: LogKey, content: bytes, versions: Versions) -> Manifest | None:
    """The manifest of a session, if it can be one; the other logs have none."""
    if log.kind != "session":
        _expect(not content, "only a session has a manifest")
        _expect(log.kind == "user" or not log.id, "the shared log has no id")
        if log.kind == "user":
            check_id(log.id, "user id")
        return None
    _expect(len(content) <= _MAX_MANIFEST, "the manifest is too long")
    found = manifests.parse(content, paths.session_folder(check_id(log.id, "session id")), versions)
    _expect(found.session_id == log.id, "the manifest is another session's")
    _expect(found.v <= versions.current, f"a newer mnemolog wrote it (format {found.v})")
    _vet_facts(found)
    _vet_segments(found)
    return found


def vet_moved(manifest: Manifest, generation: int) -> None:
    """Whether the compaction to this generation may have moved something out of a session."""
    known = manifest.markers.get("moved", ())
    is_known = isinstance(known, list | tuple) and generation in known
    _expect(is_known and 1 < generation <= manifest.generation, "it names no such compaction")


def vet_use(identifier: str, at: str) -> None:
    """Whether a note of use can be one."""
    check_id(identifier)
    _vet_time(at)


def _vet_facts(found: Manifest) -> None:
    _vet_time(found.created_at)
    for agent in found.agent_ids:
        check_id(agent, "agent id")
    if found.user_id is not None:
        check_id(found.user_id, "user id")
    for name in ("metadata", "preferences", "settings", "markers"):
        plain.plain_object(getattr(found, name), name, [])
    plain.count(found.markers.get(_CLOSED), _CLOSED)


def _vet_segments(found: Manifest) -> None:
    """A later segment or generation must never get the name of one that is there."""
    names = [segment.name for segment in found.segments]
    _expect(0 < found.generation < _MAX_GENERATION, "the generation is out of range")
    _expect(len(set(names)) == len(names), "two segments have the same name")
    for position, name in enumerate(names, 1):
        generation, number = _numbers(name)
        is_earlier = generation < found.generation
        is_own = (generation, number) == (found.generation, position)
        _expect(is_earlier or is_own, f"the name {name} does not fit its place")
    for segment in found.segments:
        _expect(0 < segment.first_seq <= MAX_SEQ, "a segment's first number is out of range")
    _expect(all((one.size or 0) >= 0 for one in found.segments), "a size is out of range")
    is_sealed = [segment.size is not None for segment in found.segments]
    _expect(all(is_sealed[:-1]) and not is_sealed[-1], "only the last segment may be open")


def _numbers(name: str) -> tuple[int, int]:
    if name == manifests.FIRST_SEGMENT:
        return 1, 1
    match = _NUMBERS.fullmatch(name)
    if match is None:
        raise InvalidFormatError(f"{name!r:.80} is no name of a segment.")
    return int(match[1]), int(match[2])


class Vetted:
    """A log as it comes in: every piece is checked, and told which segment it belongs to."""

    def __init__(self, log: LogKey, manifest: Manifest | None, versions: Versions) -> None:
        self._log = log
        self._versions = versions
        self._segments = manifest.segments if manifest else (Segment("", 1),)
        self._filled = 0
        self.segment = 0
        self.last_seq = 0
        self.move_on()

    def take(self, piece: bytes) -> str | None:
        """Check a piece; gives the sum of the valid line in it, if there is one."""
        line = piece.rstrip(b"\r\n")
        start = 0 if lines.verify(line) else lines.salvage(line)
        total = self._take_line(line[start:]) if start >= 0 and line else None
        self._filled += len(piece)
        size = self._segments[self.segment].size
        _expect(size is None or self._filled <= size, "a segment is longer than it says")
        _expect(piece.endswith(b"\n") or self._filled == size, "a line is not ended")
        return total

    def move_on(self) -> None:
        """Go on to the next segment where this one is full; after each piece."""
        while self._segments[self.segment].size == self._filled:
            self.segment += 1
            self._filled = 0
            first = self._segments[self.segment].first_seq
            _expect(first > self.last_seq, "a segment's first number was used before")

    def finish(self) -> None:
        """After the last piece: every sealed segment must be full."""
        is_last = self.segment + 1 == len(self._segments)
        _expect(is_last, "a segment is shorter than it says")

    def _take_line(self, line: bytes) -> str:
        entry = lines.entry(line, self._versions)
        if entry is None:
            raise InvalidFormatError("A line has a right sum, but is no entry.")
        _expect(entry.v <= self._versions.current, f"a line has the newer format {entry.v}")
        _expect(self.last_seq < entry.seq <= MAX_SEQ, f"number {entry.seq} is out of order")
        _expect(entry.seq >= self._segments[self.segment].first_seq, "a number is out of place")
        _vet_entry(self._log, entry)
        self.last_seq = entry.seq
        return entry.sum


def _vet_entry(log: LogKey, entry: Entry) -> None:
    check_id(entry.id)
    for stamp in filter(None, (entry.timestamp, entry.at, entry.created)):
        _vet_time(stamp)
    if log.kind == "session":
        _expect(entry.session_id in (None, log.id), "a line belongs to another session")
    if entry.type in MARKS:
        return
    type_name(entry.type)
    _expect(entry.scope in SCOPES and entry.origin in ORIGINS, "scope or origin is unknown")
    is_own = entry.scope in _OF_SESSIONS if log.kind == "session" else entry.scope == log.kind
    _expect(is_own, f"an entry of scope {entry.scope} stands in a log of a {log.kind}")
    plain.unit(entry.importance, "importance")
    if entry.tags:
        plain.tags(entry.tags)
    for value in (entry.content, entry.context, entry.metadata):
        if isinstance(value, dict) and value:  # a text that was decoded is a text
            plain.plain(value, "content", [])


def _vet_time(stamp: str) -> None:
    with suppress(ValueError):
        times.to_moment(stamp)
        if _STAMP.fullmatch(stamp):
            return
    raise InvalidFormatError(f"The time {stamp!r:.40} is not written as ours are.")


def _expect(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise InvalidFormatError(f"It cannot be imported: {otherwise}.")
