"""Secrets in every place that an entry can reach, for the tests that look whether they are gone."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnemolog import Memory
from mnemolog.testing import FixedClock
from tests.forgetting.dying import LATER, WORDS_ONLY
from tests.forgetting.scanner import traces, word
from tests.log.independent import raw_lines

KINDS: dict[str, Callable[[str], str]] = {
    "ASCII": lambda one: one,
    "accented": lambda one: f"é{one}ÿß",
    "CJK": lambda one: f"記憶{one}文字",
    "emoji": lambda one: f"🗝{one}𝔘",
    "quotes": lambda one: f'"{one}\'"',
    "newlines": lambda one: f"{one[:7]}\n{one[7:]}\tx",
    "backslashes": lambda one: f"\\{one}\\u0041\\n/",
    "upper case": lambda one: one.upper(),
}


@contextmanager
def opened(root: Path, clock: Any = None, **settings: object) -> Iterator[Memory]:
    with Memory.open(root, settings={**WORDS_ONLY, **settings}, clock=clock, environ={}) as memory:
        yield memory


def texts(memory: Memory, sid: str = "talk") -> list[str]:
    return [entry.text for entry in memory.get_entries(sid)]


def damage(path: Path, before: bytes, after: bytes) -> None:
    """Change some bytes of a log by hand."""
    content = path.read_bytes()
    assert content.count(before) == 1
    path.write_bytes(content.replace(before, after))


def audited(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "audit.jsonl").read_bytes().splitlines()]


class Hidden:
    """A secret in each place; those that cannot be a tag have no tag."""

    def __init__(self, kind: str) -> None:
        make = KINDS[kind]
        self.words = {name: word() for name in PLACES}
        self.texts = {name: make(one) for name, one in self.words.items()}

    def __getitem__(self, name: str) -> str:
        return self.texts[name]


PLACES = (
    "content", "object", "metadata", "metadata key", "tag", "topic", "reason", "first revision",
    "second revision", "user", "shared", "damaged", "moved", "quarantined", "hidden",
)  # fmt: skip
IDS = tuple(f"id-{word(10)}-{name}" for name in ("a", "b", "c", "d", "e", "f", "g", "h"))
A, B, C, D, E, F, G, H = IDS


def plant(root: Path, secret: Hidden) -> None:
    """Write, revise, delete, damage, search and compact, so that the secrets are everywhere."""
    clock = FixedClock()
    folder = root / "sessions" / "talk"
    with opened(root, clock, **{"privacy.audit_deletions": False}) as memory:
        memory.create_session("u1", agent_ids=["a1"], session_id="talk")
        memory.add_memory("talk", id="keep-1", type="note", content="stays one")
        memory.add_memory(
            "talk", id=A, content=f"before {secret['content']} after", tags=[secret.words["tag"]],
            metadata={"deep": [{secret["metadata key"]: secret["metadata"]}]},
            context={"topic": secret["topic"]},
        )  # fmt: skip
        memory.add_memory("talk", id=B, type="decision", content={"decision": secret["object"]})
        memory.add_memory("talk", id=C, type="note", content=secret["first revision"])
        memory.update_memory("talk", C, content=secret["second revision"])
        memory.update_memory("talk", C, content="harmless by now")
        memory.delete("talk", ids=[C], reason=secret["reason"])
        memory.add_memory("talk", id=D, type="note", content=secret["user"], scope="user")
        memory.add_memory("talk", id=E, type="note", content=secret["shared"], scope="shared")
        memory.add_memory("talk", id="keep-2", type="note", content="stays", references=[A])
        memory.add_memory("talk", id=G, type="note", content=secret["moved"], importance=0.001)
        memory.add_memory("talk", id=H, type="note", content=secret["quarantined"])
        memory.add_memory("talk", id=H, type="note", content="harmless")
    quoted = json.dumps(secret["quarantined"], ensure_ascii=False)[1:-1].encode()
    damage(folder / "memory.jsonl", quoted + b'","seq"', quoted + b'","seQ"')
    clock.advance(days=400)
    with opened(root, clock) as memory:
        assert len(memory.get_entries("talk").warnings) == 1
        assert memory.compact_session("talk").archived == 1
        memory.add_memory("talk", id=F, type="note", content=secret["damaged"])
        memory.add_memory("talk", id=F, type="note", content="harmless")
        memory.add_memory("talk", id=H, type="note", content=secret["hidden"])
        memory.add_memory("talk", id=C, type="note", content=secret["second revision"])
        memory.delete("talk", ids=[H, C], reason="")
        for wanted in (*secret.words.values(), "harmless", "stays"):
            memory.query(None, text=wanted)
            memory.query("talk", tags=[secret.words["tag"]])
    (active,) = folder.glob("memory.*.2.jsonl")
    quoted = json.dumps(secret["damaged"], ensure_ascii=False)[1:-1].encode()
    damage(active, quoted + b'","seq"', quoted + b'","seQ"')
    with opened(root, clock) as memory:
        assert len(memory.get_entries("talk").warnings) == 1, "and a copy is in quarantine"
        memory.query(None, text="harmless")


def everything_of(secret: Hidden) -> set[str]:
    """What must be nowhere: the secrets, their cores, and the ids."""
    return {*secret.texts.values(), *secret.words.values(), *IDS}


def template(root: Path, secret: str) -> None:
    """A session with an index, an archive, quarantine, uses; the entry says the secret in each."""
    clock = FixedClock()
    with opened(root, clock) as memory:
        memory.create_session("u1", session_id="talk")
        memory.add_memory("talk", id="keep-1", type="note", content="stays one")
        memory.add_memory("talk", id="the-id", type="note", content=secret, importance=0.001)
        memory.add_memory("talk", id="keep-2", type="note", content="stays two")
    with opened(root, FixedClock(LATER)) as memory:
        assert memory.compact_session("talk").archived == 1
        memory.add_memory("talk", id="the-id", type="note", content=f"again {secret}")
        memory.add_memory("talk", id="the-id", type="note", content=f"{secret} damaged")
        memory.add_memory("talk", id="the-id", type="note", content=f"once more {secret}")
        memory.add_memory("talk", id="keep-3", type="note", content="stays three")
        memory.query(None, text=secret)
    (active,) = (root / "sessions/talk").glob("memory.*.2.jsonl")
    damage(active, b' damaged"', b' Damaged"')
    with opened(root, FixedClock(LATER)) as memory:
        memory.query(None, text=secret)
        assert len(memory.get_entries("talk").warnings) == 1
    found = traces(root, [secret])[secret]
    assert {path.partition("/")[0] for path in found} >= {"sessions", "archive", "quarantine"}


def kept_lines(root: Path) -> list[bytes]:
    return [line for line in raw_lines(root / "sessions/talk") if b'"id":"keep-' in line]
