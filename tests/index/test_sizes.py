"""How large entries are, and how many of them fit; what is buffered, and until when."""

from typing import Any

import pytest

from tests.index.searching import opened_on
from tests.log.disks import RecordingDisk, open_on

MESSAGE = "We need ACID transactions for the payment service, and the team knows SQL well."
TYPICAL: dict[str, dict[str, Any]] = {
    "conversation": {"role": "user", "content": MESSAGE, "agent_id": "architect"},
    "decision": {
        "made_by": "architect",
        "decision": "Use PostgreSQL for the payment service",
        "rationale": "ACID transactions; the team knows SQL well",
        "impact": "high",
        "approved_by": ["user"],
        "alternatives_considered": [{"option": "MongoDB", "rejected_reason": "no transactions"}],
        "tags": ["database"],
    },
    "finding": {
        "discovered_by": "analyst",
        "category": "security",
        "severity": "high",
        "description": "The login page does not limit attempts",
        "evidence": "1,000 attempts a minute were accepted",
        "recommendation": "Limit to five a minute",
        "status": "open",
        "tags": ["security.login"],
    },
}
SIZES = {"conversation": (200, 500), "decision": (400, 800), "finding": (300, 600)}
IN_TEN_MEGABYTES = {
    "conversation": (20_000, 50_000), "decision": (12_000, 25_000), "finding": (15_000, 33_000),
}  # fmt: skip


def line_of(memory, sid, folder, kind) -> bytes:
    memory.add_memory(sid, type=kind, **TYPICAL[kind])
    return (folder / "memory.jsonl").read_bytes()


@pytest.mark.req("S001-139", "S001-140")
@pytest.mark.parametrize("kind", TYPICAL)
def test_a_typical_entry_is_as_small_as_the_first_document_says(memory, sid, folder, kind):
    size = len(line_of(memory, sid, folder, kind))
    low, high = SIZES[kind]
    assert low <= size <= high
    fewest, most = IN_TEN_MEGABYTES[kind]
    assert fewest <= 10 * 1024 * 1024 // size <= most


@pytest.mark.req("S001-139")
def test_a_preference_is_little_more_than_its_id_its_session_and_its_sum(memory, sid, folder):
    """The document says 150 to 300 bytes; the checksum and the number of the line come on top."""
    memory.update_preference(sid, key="answer_style", value="short", category="style")
    line = (folder / "memory.jsonl").read_bytes()
    own = line.index(b',"seq":')
    assert 150 <= own <= 300
    assert len(line) - own < 100


@pytest.mark.req("S001-140")
def test_a_tenth_of_the_limit_holds_two_thousand_messages(memory):
    sid = memory.create_session(settings={"storage.max_session_size_mb": 1}).id
    for _ in range(4):
        memory.add_many(sid, [TYPICAL["conversation"]] * 500)
    assert memory.get_statistics(sid).conversations == 2000


@pytest.mark.req("S002-109")
def test_writes_are_buffered_and_synced_now_and_then_if_that_is_asked_for(root):
    disk = RecordingDisk(root)
    often = {"storage.durability": "batch", "storage.batch_write_size": 50,
             "storage.batch_write_interval_ms": 3_600_000}  # fmt: skip
    memory = open_on(disk, **often)
    sid = memory.create_session().id
    disk.calls.clear()
    durable = [memory.add_memory(sid, content="x").durable for _ in range(200)]
    assert disk.count("sync", "memory.jsonl") == 4
    assert durable == ([False] * 49 + [True]) * 4, "what is not synced is not called durable"
    memory.add_memory(sid, content="x")
    memory.close()
    assert disk.count("sync", "memory.jsonl") == 5


@pytest.mark.req("S002-109")
def test_notes_of_use_are_buffered_until_there_are_many(root, clock):
    disk = RecordingDisk(root)
    memory = opened_on(disk, clock=clock)
    sid = memory.create_session().id
    memory.add_many(sid, [{"content": f"word {n}"} for n in range(1000)])
    for _ in range(4):
        memory.query(sid, limit=1000)
    assert disk.count("append", "access.jsonl") == 0
    memory.query(sid, limit=1000)
    assert disk.count("append", "access.jsonl") == 1
