"""A rewrite as compaction will do it: every line copied into a new generation."""

import json
from collections.abc import Callable
from pathlib import Path

from mnemolog.fs.real import RealDisk
from mnemolog.log import sessions
from mnemolog.log.writer import Handle, Writer
from mnemolog.model.session import Manifest

Keep = Callable[[bytes], bool]


def rewrite(root: Path, session_id: str, keep: Keep = bool, timeout: float = 30.0) -> Manifest:
    """Write the session's next generation, with the lines that `keep` wants."""
    disk = RealDisk(str(root))
    place = sessions.place(session_id)
    writer = Writer(disk, place, timeout)
    return sessions.rewrite(
        disk,
        writer,
        place,
        lambda handle: numbered(root, handle, keep),
        operation="compact",
        since="2026-11-15T09:00:00.000Z",
    )


def numbered(root: Path, handle: Handle, keep: Keep) -> list[tuple[int, bytes]]:
    """The complete lines of a log under its lock, each with its number."""
    chain = handle.chain
    content = b"".join((root / chain.path(one)).read_bytes() for one in chain.segments)
    lines = [line + b"\n" for line in content.split(b"\n")[:-1]]
    return [(json.loads(line)["seq"], line) for line in lines if keep(line)]
