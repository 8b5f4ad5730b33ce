"""The line format, held against a second implementation of it in `independent`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.log import lines
from mnemolog.log.lines import Draft
from mnemolog.model.entry import MAX_SEQ, Entry
from tests.log import independent

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def entry(content: object) -> Entry:
    return Entry(
        v=1,
        id="mem_1",
        session_id="talk",
        timestamp=independent.MOMENT,
        type="event",
        origin="agent",
        content=content if isinstance(content, str | dict) else {"value": content},
    )


@pytest.mark.req("S001-003", "S002-004", "S002-013", "S002-015", "S002-125", "S002-127")
def test_a_log_is_json_one_complete_object_per_line_that_any_reader_understands(
    memory, sid, folder
):
    memory.add_memory(sid, content="first\nsecond line", tags=["a"])
    memory.add_decision(sid, decision="Grüße 日本", made_by="architect")
    content = (folder / "memory.jsonl").read_bytes()
    assert content.count(b"\n") == 2
    assert content.endswith(b"}\n")
    first, second = [json.loads(line) for line in content.decode("utf-8").splitlines()]
    assert first["content"] == "first\nsecond line"
    assert second["content"] == {"decision": "Grüße 日本"}
    assert "日本".encode() in content, "text stays readable with cat"
    assert set(first) >= {"v", "id", "session_id", "timestamp", "type", "origin", "seq", "sum"}


@pytest.mark.req("S002-031", "S002-128")
def test_the_sum_is_over_the_exact_bytes_before_it(memory, sid, folder):
    memory.add_many(sid, [{"content": f"line {number}"} for number in range(5)])
    found = independent.raw_lines(folder)
    assert len(found) == 5
    assert all(map(independent.is_intact, found))
    assert all(b'"sum":"sha256:' in line for line in found)


def test_seq_and_sum_come_last_and_the_version_first(memory, sid, folder):
    memory.add_memory(sid, content="hello", metadata={"seq": 9, "sum": "sha256:no"})
    (line,) = independent.raw_lines(folder)
    names = list(json.loads(line))
    assert names[0] == "v"
    assert names[-2:] == ["seq", "sum"]


def test_defaults_are_left_out_of_a_line(memory, sid, folder):
    memory.add_memory(sid, content="hello")
    (record,) = independent.records(folder)
    assert set(record) == {
        "v", "id", "session_id", "timestamp", "type", "origin", "content", "seq", "sum",
    }  # fmt: skip


@given(content=st.dictionaries(TEXT, VALUES, min_size=1, max_size=3) | TEXT, seq=st.integers(1))
def test_every_line_verifies_and_gives_its_entry_back(content, seq):
    line = Draft(entry(content)).line(seq)
    assert line.count(b"\n") == 1
    assert independent.is_intact(line)
    assert lines.verify(line.rstrip(b"\n")) is not None
    found = lines.entry(line)
    assert (found and (found.content, found.seq)) == ((content, seq) if seq <= MAX_SEQ else None)


@given(content=st.dictionaries(TEXT, VALUES, min_size=1, max_size=3) | TEXT, seq=st.integers(1))
def test_the_numbers_of_a_line_are_told_without_decoding_it(content, seq):
    line = Draft(entry(content)).line(seq).rstrip(b"\n")
    told = lines.numbers(line)
    assert told == ((1, seq) if seq <= MAX_SEQ else None)


def test_the_numbers_of_a_line_that_is_damaged_or_written_in_another_way_are_not_told():
    line = independent.build(7, "mem_1", {"seq": 9})[:-1]
    assert lines.numbers(line) == (1, 7)
    assert lines.numbers(line.replace(b"mem_1", b"mem_2")) is None
    assert lines.numbers(line[10:]) is None
    assert lines.numbers(b"") is None
    blank = Draft(entry("said")).line(7, blanks=3)[:-1]
    spaced = independent.seal({"id": "mem_1", "v": 1, "seq": 7})[:-1]
    inside = independent.seal({"v": 1, "content": {"seq": 7}})[:-1]
    for other in (blank, spaced, inside):
        assert lines.verify(other)
        assert lines.numbers(other) is None


@pytest.mark.req("S002-129")
@given(place=st.integers(0, 10_000), flip=st.integers(1, 255))
def test_one_changed_byte_anywhere_is_noticed(place, flip):
    line = bytearray(independent.build(7, "mem_1", "some content"))[:-1]
    line[place % len(line)] ^= flip
    assert lines.verify(bytes(line)) is None


@pytest.mark.parametrize("cut", [1, 2, 60, 90, 150])
def test_a_shortened_line_is_noticed(cut):
    line = independent.build(7, "mem_1", "some content").rstrip(b"\n")
    assert lines.verify(line[:-cut]) is None
    assert lines.verify(line[cut:]) is None


@pytest.mark.req("S002-057")
def test_lines_built_by_hand_from_the_description_are_read(memory, sid, folder):
    content = independent.build(1, "m1", "by hand") + independent.build(2, "m2", {"message": "x"})
    (folder / "memory.jsonl").write_bytes(content)
    found = memory.get_entries(sid)
    assert [(one.id, one.content, one.seq) for one in found] == [
        ("m1", "by hand", 1),
        ("m2", {"message": "x"}, 2),
    ]
    assert found.warnings == ()


@pytest.mark.req("S002-126")
def test_lines_that_end_in_crlf_are_read_and_can_be_followed_by_more(memory, sid, folder):
    lf = independent.build(1, "m1") + independent.build(2, "m2")
    (folder / "memory.jsonl").write_bytes(lf.replace(b"\n", b"\r\n"))
    assert [one.id for one in memory.get_entries(sid)] == ["m1", "m2"]
    receipt = memory.add_memory(sid, id="m3", content="after")
    assert receipt.seq == 3
    found = memory.get_entries(sid)
    assert [one.id for one in found] == ["m1", "m2", "m3"]
    assert found.warnings == ()


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\r"])
@pytest.mark.req("S002-140")
def test_only_a_newline_byte_ends_a_line(memory, sid, folder, separator):
    text = f"before{separator}after"
    receipt = memory.add_memory(sid, content=text)
    with (folder / "memory.jsonl").open("ab") as log:
        log.write(independent.build(2, "m2", text))
    assert (folder / "memory.jsonl").read_bytes().count(b"\n") == 2
    found = memory.get_entries(sid)
    assert [(one.id, one.content) for one in found] == [(receipt.id, text), ("m2", text)]
