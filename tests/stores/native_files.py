"""Exports in our own form, built by hand from the description, and what a root holds."""

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.log import independent

MANIFEST: dict[str, Any] = {
    "v": 1,
    "session_id": "talk",
    "created_at": independent.MOMENT,
    "segments": [{"name": "memory.jsonl"}],
}
HEADER = {"mnemolog": "native", "v": 1, "exported_at": independent.MOMENT}


def dumped(*marks: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(mark).encode() + b"\n" for mark in marks)


def log(
    lines: Iterable[bytes],
    manifest: dict[str, Any] | None = None,
    size: int | None = None,
    **begins: Any,
) -> bytes:
    """A log with its two marks; a session's unless told otherwise."""
    pieces = list(lines)
    body = b"".join(pieces)
    start = {"mnemolog": "log", "kind": "session", "id": "talk", **begins}
    if start["kind"] == "session":
        start["manifest"] = MANIFEST if manifest is None else manifest
    end = {"lines": len(pieces), "bytes": len(body) if size is None else size}
    total = f"sha256:{sha256(body).hexdigest()}"
    return dumped(start) + body + dumped({"mnemolog": "end of log", **end, "sum": total})


def export(*logs: bytes, lines: int | None = None) -> bytes:
    """A whole export; `lines` is their number in all logs, counted if it is not given."""
    inner = b"".join(logs)
    ends = [json.loads(line) for line in inner.splitlines() if b"end of log" in line]
    total = sum(end["lines"] for end in ends) if lines is None else lines
    return dumped(HEADER) + inner + dumped({"mnemolog": "end", "logs": len(logs), "lines": total})


def held(root: Path) -> dict[str, bytes]:
    """Every file that makes the logs of a root what they are, with its bytes."""
    found = {}
    for room in ("sessions", "users", "shared"):
        for path in sorted((root / room).rglob("*")):
            if path.is_file() and path.name != "access.jsonl":
                found[str(path.relative_to(root))] = path.read_bytes()
    return found
