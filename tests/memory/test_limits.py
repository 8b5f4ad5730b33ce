"""Limits: exactly at them everything works, one byte more is refused with numbers."""

import pytest

from mnemolog.errors import SizeLimitError

# Otherwise a full log makes room by itself.
NOTHING_MOVES = {"compaction": {"auto": False}}
MIB = 1024 * 1024


@pytest.mark.req("S002-141")
@pytest.mark.parametrize(
    "content", ["x" * MIB, "ä" * (MIB // 2), {"text": "x" * (MIB - len('{"text":""}'))}]
)
def test_content_of_exactly_one_mebibyte_is_stored(memory, sid, content):
    receipt = memory.add_memory(sid, type="note", content=content)
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.content == content


@pytest.mark.req("S001-149", "S002-141")
@pytest.mark.parametrize(
    "content",
    ["x" * (MIB + 1), "ä" * (MIB // 2) + "x", {"text": "x" * (MIB - len('{"text":""}') + 1)}],
)
def test_one_byte_more_is_refused_with_numbers(memory, sid, content):
    with pytest.raises(SizeLimitError, match="1,048,577") as caught:
        memory.add_memory(sid, type="note", content=content)
    assert caught.value.code == "E_SIZE_LIMIT"
    assert caught.value.details == {"size_bytes": MIB + 1, "limit_bytes": MIB}
    assert caught.value.advice
    assert memory.get_entries(sid) == []


def test_what_stands_beside_the_content_has_a_limit_too(memory, sid):
    with pytest.raises(SizeLimitError, match="limit"):
        memory.add_memory(sid, content="x", metadata={"a": "x" * 2 * MIB})


def line_length(memory, sid, content):
    """How many bytes an entry with this content takes in a log."""
    before = memory.get_statistics(sid).size_bytes
    memory.add_memory(sid, id="m" * 8, content=content)
    return memory.get_statistics(sid).size_bytes - before


def filled_up_to(memory, sid, room):
    """Fill a session until exactly so many bytes are left of its 10 MiB."""
    memory.add_many(sid, [{"content": "x" * 1_000_000} for _ in range(10)])
    overhead = line_length(memory, sid, "y" * 1000) - 1000
    left = 10 * MIB - memory.get_statistics(sid).size_bytes - room
    length = line_length(memory, sid, "y" * (left - overhead))
    assert length == left


@pytest.mark.req("S001-008", "S002-056", "S002-135")
def test_a_session_can_be_filled_to_exactly_10_mib(memory, sid):
    memory.update_session(sid, settings=NOTHING_MOVES)
    filled_up_to(memory, sid, room=0)
    stats = memory.get_statistics(sid)
    assert stats.size_bytes == stats.max_size_bytes == 10 * MIB
    with pytest.raises(SizeLimitError, match="10,485,760") as caught:
        memory.add_memory(sid, content="x")
    assert caught.value.code == "E_SIZE_LIMIT"
    assert caught.value.details["size_bytes"] == 10 * MIB
    assert caught.value.details["limit_bytes"] == 10 * MIB
    assert caught.value.details["session_id"] == sid
    assert "max_session_size_mb" in caught.value.advice


@pytest.mark.req("S002-135")
def test_one_byte_past_the_limit_is_refused_and_leaves_the_session_whole(memory, sid):
    memory.update_session(sid, settings=NOTHING_MOVES)
    filled_up_to(memory, sid, room=300)
    used = memory.get_statistics(sid).size_bytes
    short = line_length(memory, memory.create_session(session_id="like").id, "z")
    content = "z" * (300 - short + 2)
    with pytest.raises(SizeLimitError):
        memory.add_memory(sid, id="m" * 8, content=content)
    assert memory.get_statistics(sid).size_bytes == used
    assert memory.get_entries(sid).warnings == ()


@pytest.mark.req("S001-008", "S001-162", "S002-009", "S002-056")
def test_eleven_entries_of_one_mebibyte_do_not_fit(memory, sid):
    memory.update_session(sid, settings=NOTHING_MOVES)
    for _ in range(9):
        memory.add_conversation(sid, content="x" * MIB)
    for _ in range(2):  # ten lines of 1 MiB, with what stands beside, are more than 10 MiB
        with pytest.raises(SizeLimitError, match="10,485,760"):
            memory.add_conversation(sid, content="x" * MIB)
    assert memory.get_statistics(sid).size_bytes <= 10 * MIB
    assert len(memory.get_entries(sid)) == 9


@pytest.mark.req("S001-020", "S002-056")
def test_a_full_session_is_no_reason_to_refuse_another(memory, sid):
    small = memory.create_session(settings={"storage.max_session_size_mb": 0.001}).id
    with pytest.raises(SizeLimitError):
        memory.add_memory(small, content="x" * 2000)
    assert memory.add_memory(sid, content="x" * 2000).durable


def test_a_batch_that_does_not_fit_is_refused_as_a_whole(memory):
    small = memory.create_session(settings={"storage.max_session_size_mb": 0.004}).id
    with pytest.raises(SizeLimitError):
        memory.add_many(small, [{"content": "x" * 1000} for _ in range(5)])
    assert memory.get_entries(small) == []


def test_a_raised_limit_lets_the_session_grow_again(memory):
    small = memory.create_session(settings={"storage.max_session_size_mb": 0.001}).id
    with pytest.raises(SizeLimitError):
        memory.add_memory(small, content="x" * 2000)
    memory.update_session(small, settings={"storage.max_session_size_mb": 1})
    assert memory.add_memory(small, content="x" * 2000).durable


def test_sealed_segments_count_towards_the_limit(memory, sid):
    memory.update_session(sid, settings=NOTHING_MOVES)
    memory.add_many(sid, [{"content": "x" * 1_000_000} for _ in range(9)])
    memory.add_memory(sid, content="in a second segment")
    with pytest.raises(SizeLimitError):
        memory.add_many(sid, [{"content": "x" * 1_000_000} for _ in range(2)])
