"""`manifest.json`: a session's own facts and the list of its segments."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from mnemolog import fs
from mnemolog.errors import InvalidFormatError, SessionCorruptError
from mnemolog.fs import Disk
from mnemolog.log.versions import CURRENT, MALFORMED, Versions
from mnemolog.model.ids import check_id
from mnemolog.model.session import Manifest, Segment

NAME = "manifest.json"
FIRST_SEGMENT = "memory.jsonl"
_LARGEST = 2**53
Markers = Mapping[str, Any]
SEGMENT = re.compile(r"memory(\.g\d+\.\d+)?\.jsonl")


def segment_name(generation: int, number: int) -> str:
    """The name of a segment; only the very first one goes by the plain name."""
    return (
        FIRST_SEGMENT if (generation, number) == (1, 1) else f"memory.g{generation}.{number}.jsonl"
    )


def parse(content: bytes, folder: str, versions: Versions = CURRENT) -> Manifest:
    """Read a manifest of any version, or say what is wrong with it."""
    try:
        found = versions.manifest(content)
    except MALFORMED as error:
        raise SessionCorruptError(
            f"{folder}/{NAME} cannot be read: {error}.",
            advice="`mnemolog doctor --repair` rebuilds it from the segments.",
        ) from error
    names = [segment.name for segment in found.segments]
    if not names or not all(map(SEGMENT.fullmatch, names)):
        raise SessionCorruptError(
            f"{folder}/{NAME} does not name its segments.",
            advice="`mnemolog doctor --repair` rebuilds it from the segments.",
        )
    if wrong := flaw(found, versions):
        raise SessionCorruptError(
            f"{folder}/{NAME} cannot be used: {wrong}.",
            advice="Correct it, or let `mnemolog doctor --repair` rebuild it from the segments.",
        )
    # Only a sidecar tells that; whoever believed it here would look for the session elsewhere.
    return msgspec.structs.replace(found, archived_at=None)


def flaw(found: Manifest, versions: Versions) -> str:
    """What no writer would have put there, and whoever goes by it would stumble over."""
    numbers = (found.generation, *(segment.first_seq for segment in found.segments))
    if not all(0 < number <= _LARGEST for number in numbers):
        return "its generation or the number of a line is out of range"
    if len({segment.name for segment in found.segments}) < len(found.segments):
        return "it names a segment twice"
    try:
        check_id(found.session_id, "session id")
    except InvalidFormatError as error:
        return error.message.rstrip(".")
    is_ours = found.v <= versions.current
    wrong = [name for name, kind in _MARKERS.items() if is_ours and not kind(found.markers, name)]
    return f"its marker {wrong[0]} is not what mnemolog writes" if wrong else ""


def _is_number(value: object) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST


def _may_be_number(markers: Markers, name: str) -> bool:
    return name not in markers or _is_number(markers[name])


def _may_be_numbers(markers: Markers, name: str) -> bool:
    found = markers.get(name, [])
    return isinstance(found, list) and all(map(_is_number, found))


def _may_tell_size(markers: Markers, name: str) -> bool:
    found = markers.get(name, {})
    return isinstance(found, dict) and _may_be_number(found, "size_bytes")


_MARKERS: dict[str, Callable[[Markers, str], bool]] = {
    "closed_seq": _may_be_number,
    "moved": _may_be_numbers,
    "compacted": _may_tell_size,
}


def render(manifest: Manifest) -> bytes:
    """A manifest as people read it: indented, one newline at the end."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def swap(disk: Disk, folder: str, manifest: Manifest) -> None:
    """Replace the manifest durably; only for the holder of the session's lock."""
    fs.replace(disk, f"{folder}/{NAME}", render(manifest))


def next_segment(manifest: Manifest, sealed_size: int, next_seq: int) -> Manifest:
    """The manifest after its last segment was sealed and a new one begun."""
    *before, last = manifest.segments
    sealed = Segment(last.name, last.first_seq, sealed_size)
    fresh = Segment(segment_name(manifest.generation, len(before) + 2), next_seq)
    return msgspec.structs.replace(manifest, segments=(*before, sealed, fresh))
