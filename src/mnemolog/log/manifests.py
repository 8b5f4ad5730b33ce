"""`manifest.json`: a session's own facts and the list of its segments."""

import re

import msgspec

from mnemolog import fs
from mnemolog.errors import SessionCorruptError
from mnemolog.fs import Disk
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.model.session import Manifest, Segment

NAME = "manifest.json"
FIRST_SEGMENT = "memory.jsonl"
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
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
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
    return found


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
