"""The audit says that something went, when, how much and why; never what it said."""

import hashlib
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import CorruptionError
from mnemolog.fs.real import RealDisk
from mnemolog.log import audit
from mnemolog.ports.keeping import Audited
from mnemolog.testing import FixedClock
from tests.forgetting.scanner import forms, word

FIRST = "0" * 64
PROCESSES, EACH = 10, 4

DELETER = """
import sys
from mnemolog import Memory
root, name, count = sys.argv[1:]
sys.stdin.readline()
with Memory.open(root, settings={"search.embedder": "none"}, environ={}) as memory:
    for number in range(int(count)):
        memory.add_memory("talk", id=f"{name}-{number}", content="x")
        if number % 2:
            memory.delete("talk", ids=[f"{name}-{number}"], reason=f"{name} {number}")
        else:
            memory.erase("talk", ids=[f"{name}-{number}"], reason=f"{name} {number}", verify=False)
"""


def raw(root: Path) -> list[bytes]:
    return (root / "audit.jsonl").read_bytes().splitlines()


def lines(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in raw(root)]


def check_chain(root: Path) -> None:
    """The chain, from its description alone."""
    before = FIRST
    for line in raw(root):
        found = json.loads(line)
        body, _, total = line.rpartition(b',"sum":"')
        assert found["before"] == before
        assert total == found["sum"].encode() + b'"}'
        assert sha256(body).hexdigest() == found["sum"]
        before = found["sum"]


def told(root: Path) -> list[Audited]:
    return list(audit.read(RealDisk(str(root))))


@pytest.fixture
def busy(memory, sid, root, clock):
    """A root in which something of every kind was done."""
    for number in range(6):
        memory.add_memory(sid, id=f"e{number}", type="note", content="x", importance=0.01)
    memory.delete(sid, ids=["e0", "e1"], reason="asked by the user")
    memory.for_agent("analyst").add_memory(sid, id="own", type="note", content="x")
    memory.for_agent("analyst").delete(sid, ids=["own"])
    memory.erase(sid, ids=["e2"], reason="by law", verify=False)
    clock.advance(days=400)
    memory.compact_session(sid)
    memory.create_session(session_id="other")
    memory.add_memory("other", content="x")
    memory.delete_session("other", reason="no longer needed")
    return root


@pytest.mark.req("S001-093", "S002-102")
def test_every_kind_of_forgetting_leaves_one_line(busy):
    found = [
        (one["action"], one["session_id"], one["entries"], one["actor"], one.get("reason", ""))
        for one in lines(busy)
    ]
    assert found == [
        ("delete", "talk", 2, "owner", "asked by the user"),
        ("delete", "talk", 1, "analyst", ""),
        ("erase", "talk", 1, "owner", "by law"),
        ("compact", "talk", 6, "owner", ""),
        ("delete session", "other", 1, "owner", "no longer needed"),
    ]
    assert lines(busy)[0]["at"] == "2026-11-15T09:00:00.000Z"
    assert lines(busy)[0]["criteria"] == {"ids": 2}
    assert len({one["id"] for one in lines(busy)}) == 5
    check_chain(busy)
    assert [one.action for one in told(busy)] == [one["action"] for one in lines(busy)]


@pytest.mark.req("S002-102")
def test_lines_are_only_ever_added_and_survive_everything(busy, memory, sid):
    before = (busy / "audit.jsonl").read_bytes()
    memory.compact_session(sid)
    memory.erase(sid, types=["note"], verify=False)
    memory.rebuild_index()
    memory.archive_session(sid)
    memory.delete_session(sid)
    memory.close()
    after = (busy / "audit.jsonl").read_bytes()
    assert after.startswith(before)
    assert len(after) > len(before)
    check_chain(busy)


@pytest.mark.req("S002-102")
def test_nothing_of_what_went_stands_in_it(memory, sid, root, clock):
    """Neither text nor tags, topics, ids of entries, metadata, nor a hash of any of them."""
    secret = {
        name: word() for name in ("content", "tag", "topic", "meta", "id", "type", "category")
    }
    memory.add_memory(
        sid, id=secret["id"], type=secret["type"], content=secret["content"], tags=[secret["tag"]],
        context={"topic": secret["topic"]}, metadata={"k": secret["meta"]},
        category=secret["category"], importance=0.01,
    )  # fmt: skip
    criteria: list[dict[str, Any]] = [
        {"ids": [secret["id"], "other"]},
        {"types": [secret["type"]]},
        {"tags": [secret["tag"]]},
        {"topic": secret["topic"]},
        {"category": secret["category"], "tags": [secret["tag"]]},
        {"time_range": {"start": "2026-11-15T08:59:59.123Z", "end": "2026-11-15T09:00:00.456Z"}},
    ]
    for one in criteria:
        assert memory.delete(sid, one).deleted_count == 1
        memory.undelete(sid, [secret["id"]])
    memory.delete_memories_by_topic(sid, secret["tag"])
    memory.undelete(sid, [secret["id"]])
    clock.advance(days=400)
    memory.compact_session(sid)
    memory.erase(sid, {"tags": [secret["tag"]]}, ids=[secret["id"]])
    content = (root / "audit.jsonl").read_bytes()
    assert content.count(b"\n") == 9
    for text in (*secret.values(), "59.123", "00.456", "other"):
        assert not [form for form in forms(text) if form in content]
        for digest in ("md5", "sha1", "sha256"):
            found = hashlib.new(digest, text.encode()).hexdigest()
            assert found[:8].encode() not in content
    assert lines(root)[0]["criteria"] == {"ids": 2}
    assert lines(root)[4]["criteria"] == {"category": 1, "tags": 1}


def test_an_erasure_that_found_nothing_and_a_refused_one_leave_no_line(memory, sid, root):
    memory.delete(sid, ids=["nobody"])
    memory.erase(sid, ids=["nobody"])
    with pytest.raises(ValueError, match="which entries"):
        memory.delete(sid)
    assert not (root / "audit.jsonl").exists()


def test_plain_deletions_may_be_left_out_but_erasures_never(root):
    settings = {"privacy.audit_deletions": False}
    with Memory.open(root, settings=settings, clock=FixedClock(), environ={}) as memory:
        memory.create_session(session_id="talk")
        for name in ("a", "b"):
            memory.add_memory("talk", id=name, content="x")
        memory.delete("talk", ids=["a"])
        memory.erase("talk", ids=["b"], verify=False)
        memory.compact_session("talk")
        memory.delete_session("talk")
    assert [one["action"] for one in lines(root)] == ["erase", "compact", "delete session"]


def test_a_session_may_leave_out_its_own_deletions(memory, root):
    memory.create_session(session_id="quiet", settings={"privacy.audit_deletions": False})
    memory.create_session(session_id="loud")
    for session in ("quiet", "loud"):
        memory.add_memory(session, id="a", content="x")
        memory.delete(session, ids=["a"])
    assert [one["session_id"] for one in lines(root)] == ["loud"]


# --- tampering


def swapped(found: list[bytes]) -> list[bytes]:
    return [found[1], found[0], *found[2:]]


def resealed(found: list[bytes]) -> list[bytes]:
    """One line changed, with a right sum of its own."""
    body = found[1].rpartition(b',"sum":"')[0].replace(b'"entries":1', b'"entries":7')
    return [found[0], body + b',"sum":"' + sha256(body).hexdigest().encode() + b'"}', *found[2:]]


@pytest.mark.parametrize(
    "change",
    [
        lambda found: [found[0].replace(b'"entries":2', b'"entries":1'), *found[1:]],
        lambda found: [*found[:2], found[2].replace(b"by law", b"by law!"), *found[3:]],
        lambda found: [*found[:-1], found[-1].replace(b'"entries":1', b'"entries":0')],
        lambda found: found[1:],
        lambda found: [*found[:2], *found[3:]],
        lambda found: [*found[:2], b"", *found[3:]],
        lambda found: [*found[:2], found[2][:-10], *found[3:]],
        lambda found: [*found[:2], b" " * len(found[2]), *found[3:]],
        lambda found: [*found[:3], found[1], *found[3:]],
        swapped,
        resealed,
    ],
    ids=[
        "a number", "a reason", "the last line", "the first line gone", "a middle one gone",
        "emptied", "cut short", "blanked", "repeated", "swapped", "resealed",
    ],
)  # fmt: skip
def test_a_line_that_was_changed_or_taken_out_is_noticed(busy, change):
    assert len(told(busy)) == 5
    (busy / "audit.jsonl").write_bytes(b"".join(line + b"\n" for line in change(raw(busy))))
    with pytest.raises(CorruptionError, match="Line") as caught:
        told(busy)
    assert "audit" in str(caught.value)


def test_a_changed_audit_does_not_stop_an_erasure_nor_hide_that_it_was_done(busy, memory, sid):
    """Whoever can write one byte into the audit must not keep others from erasing."""
    path = busy / "audit.jsonl"
    path.write_bytes(path.read_bytes().replace(b"by law", b"by LAW"))
    memory.add_memory(sid, id="late", content="kumquat orchard at night")
    done = memory.erase(sid, ids=["late"])
    assert done.erased_count == 1
    assert lines(busy)[-1]["action"] == "erase"
    with pytest.raises(CorruptionError):
        told(busy)


# --- torn


@pytest.mark.parametrize("cut", [1, 2, 3, 40, 68, 69, 70, 80, 150])
def test_a_torn_tail_is_left_behind_and_the_chain_goes_on(busy, memory, sid, cut):
    path = busy / "audit.jsonl"
    whole = len(raw(busy))
    memory.add_memory(sid, id="late", content="x")
    memory.delete(sid, ids=["late"])
    path.write_bytes(path.read_bytes()[:-cut])
    kept = whole + (cut == 1)
    assert len(told(busy)) == kept
    memory.undelete(sid, ["late"])
    memory.delete(sid, ids=["late"])
    assert len(told(busy)) == kept + 1
    assert told(busy)[-1].action == "delete"


@pytest.mark.parametrize("lost", [(0, 30), (10, 60), (30, 90), (0, 120)])
def test_a_tail_of_which_a_page_was_lost_is_torn_too(busy, memory, sid, lost):
    """A power loss may keep the end of a line that was not synced, and lose what is before it."""
    path = busy / "audit.jsonl"
    before = path.read_bytes()
    memory.add_memory(sid, id="late", content="x")
    memory.delete(sid, ids=["late"])
    added = path.read_bytes()[len(before) :]
    start, end = lost
    path.write_bytes(before + added[:start] + bytes(end - start) + added[end:])
    assert [one.action for one in told(busy)][-1] == "delete session"
    memory.undelete(sid, ["late"])
    memory.erase(sid, ids=["late"], verify=False)
    assert [one.action for one in told(busy)][-1] == "erase"


# --- many at once


@pytest.mark.req("S002-102")
def test_ten_processes_at_once_leave_one_whole_chain(root):
    with Memory.open(root, environ={}) as memory:
        memory.create_session(session_id="talk")
    wanted = {**os.environ, "MNEMOLOG_CONCURRENCY__LOCK_TIMEOUT_MS": "60000"}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", DELETER, str(root), f"p{number}", str(EACH)],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=wanted,
        )
        for number in range(PROCESSES)
    ]  # fmt: skip
    ended = [child.communicate("\n", timeout=120)[1] for child in children]
    assert ended == [""] * PROCESSES
    check_chain(root)
    found = lines(root)
    assert len(found) == PROCESSES * EACH
    assert len({one["id"] for one in found}) == len(found)
    reasons = [one["reason"] for one in found]
    assert sorted(reasons) == sorted(f"p{n} {k}" for n in range(PROCESSES) for k in range(EACH))
    for number in range(PROCESSES):
        mine = [one for one in reasons if one.startswith(f"p{number} ")]
        assert mine == [f"p{number} {k}" for k in range(EACH)], "each in its order"
