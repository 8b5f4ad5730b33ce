"""The line format, once more and from its description alone: nothing of mnemolog is used here."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

MARK = b',"sum":'
MOMENT = "2026-11-15T09:00:00.000Z"


def build(seq: int, entry_id: str, content: Any = "hello", **fields: Any) -> bytes:
    """A line of the format, newline included, with the right sum."""
    record = {"v": 1, "id": entry_id, "session_id": "talk", "timestamp": MOMENT}
    record |= {"type": "conversation", "origin": "agent", "content": content, **fields}
    return seal({**record, "seq": seq})


def mark(seq: int, kind: str, target: str) -> bytes:
    """A tombstone, an undelete or an erased line."""
    record = {"v": 1, "id": f"mark_{seq}", "session_id": "talk", "timestamp": MOMENT}
    return seal({**record, "type": kind, "origin": "user", "target": target, "seq": seq})


def seal(record: dict[str, Any]) -> bytes:
    """Any object as a line whose sum is right."""
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return body + MARK + b'"sha256:' + sha256(body).hexdigest().encode() + b'"}\n'


def is_intact(line: bytes) -> bool:
    """Whether the sum at the end of a line is the SHA-256 of the exact bytes before it."""
    body, found, rest = line.rstrip(b"\r\n").rpartition(MARK)
    return bool(found) and rest == b'"sha256:' + sha256(body).hexdigest().encode() + b'"}'


def segment_names(folder: Path) -> list[str]:
    """A session's segments in order, as its manifest tells them."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    return [segment["name"] for segment in manifest["segments"]]


def raw_lines(folder: Path) -> list[bytes]:
    """Every line of a session as bytes, without the newline that ends it."""
    content = b"".join((folder / name).read_bytes() for name in segment_names(folder))
    return content.removesuffix(b"\n").split(b"\n") if content else []


def records(folder: Path) -> list[dict[str, Any]]:
    """Every line of a session, parsed by a plain JSON reader; each must be intact."""
    lines = raw_lines(folder)
    assert all(map(is_intact, lines)), [line for line in lines if not is_intact(line)]
    return [json.loads(line) for line in lines]
