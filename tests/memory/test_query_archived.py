"""What compactions moved out of a session is still found, if it is asked for."""

import json

import pytest

from mnemolog.errors import InvalidQueryError
from tests.index.searching import ids

OLD = {"timestamp": "2024-01-01T00:00:00Z", "importance": 0.01}


@pytest.fixture
def moved(memory):
    """A session of u1 in which two of three entries have become irrelevant."""
    memory.create_session("u1", agent_ids=["a", "b"], session_id="talk")
    memory.add_memory("talk", id="tea", content="tea about storage", tags=["drink.hot"], **OLD)
    memory.add_memory("talk", id="own", content="tea alone", agent_id="b", scope="agent",
                      context={"topic": "breakfast"}, references=["tea"], **OLD)  # fmt: skip
    memory.add_memory("talk", id="db", type="decision", content="PostgreSQL for storage")
    assert memory.compact_session("talk").archived == 2
    return memory


def found(memory, **query):
    return ids(memory.query("talk", include_archived=True, **query))


def test_it_is_found_beside_the_rest_and_only_if_asked_for(moved):
    assert ids(moved.query("talk")) == ["db"]
    assert set(found(moved)) == {"db", "tea", "own"}
    assert set(found(moved, text="storage")) == {"db", "tea"}
    assert found(moved, sort="time_desc")[0] == "db"
    assert len(found(moved, limit=2)) == 2
    with pytest.raises(InvalidQueryError):
        moved.query(None, include_archived=True)


@pytest.mark.parametrize("name", ["include_archived", "includeArchived"])
def test_a_dictionary_may_ask_for_it_too(moved, name):
    assert set(ids(moved.query("talk", {"text": "storage", name: True}))) == {"db", "tea"}
    assert ids(moved.query("talk", {"text": "storage", name: None})) == ["db"]
    assert ids(moved.query("talk", {"text": "storage", name: False})) == ["db"]
    strange: object
    for strange in ("yes", 1, []):
        with pytest.raises(InvalidQueryError):
            moved.query("talk", {name: strange})
    with pytest.raises(InvalidQueryError):
        moved.query("talk", {"includeArchived": True}, include_archived=False)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"users": ["u1"]}, {"db", "tea", "own"}),
        ({"users": ["u2"]}, set()),
        ({"kinds": ["node"]}, set()),
        ({"types": ["conversation"]}, {"tea", "own"}),
        ({"agents": ["b"]}, {"own"}),
        ({"tags": ["drink"]}, {"tea"}),
        ({"tags": ["breakfast"]}, {"own"}),
        ({"tags": {"exclude": ["breakfast", "drink"]}}, {"db"}),
        ({"time_range": {"end": "2025-01-01"}}, {"tea", "own"}),
        ({"min_importance": 0.5}, {"db"}),
        ({"references": ["tea"]}, {"own"}),
        ({"text": "storage", "min_relevance": 0.9}, {"tea"}),
    ],
)
def test_every_filter_counts_for_it_too(moved, query, wanted):
    assert set(found(moved, **query)) == wanted


def test_a_view_finds_of_it_what_it_may_see(moved):
    assert set(found(moved.for_agent("a"))) == {"db", "tea"}
    assert set(found(moved.for_agent("b"))) == {"db", "tea", "own"}


def test_it_says_why_it_is_there(moved):
    for hit in moved.query("talk", text="tea", include_archived=True):
        assert hit.relevance == hit.why["final"] == hit.why["lexical"] == 1.0
        assert hit.why["archived"] == 1.0


def test_what_is_deleted_or_erased_is_not_found_there_either(moved):
    moved.delete("talk", ids=["own"])
    assert set(found(moved)) == {"db", "tea"}
    moved.erase("talk", ids=["tea"])
    assert found(moved) == ["db"]


def test_what_came_back_has_one_life_though_a_crash_left_it_in_the_archive_too(moved, root):
    (archive,) = root.glob("archive/*.jsonl.gz")
    before = archive.read_bytes()
    moved.delete("talk", ids=["own"])
    moved.update_memory("talk", "tea", content="coffee")
    archive.write_bytes(before)  # the crash came before it was taken out there
    assert set(found(moved)) == {"db", "tea"}
    told = json.loads(moved.export_session("talk"))["sessions"][0]["entries"]
    assert sorted(entry["id"] for entry in told) == ["db", "tea"]


def test_what_was_revised_keeps_its_first_moment_there_too(memory):
    """A revision may bear a later timestamp; whether it was moved out is no matter of time."""
    memory.create_session(session_id="talk")
    old = {**OLD, "id": "tea"}
    memory.add_memory("talk", old, content="tea")
    memory.add_memory("talk", {**old, "timestamp": "2024-06-01T00:00:00Z"}, content="more tea")
    before = memory.get_memory("talk", "tea")
    assert memory.compact_session("talk").archived == 1
    assert (
        memory.get_memory("talk", "tea").timestamp == before.timestamp == "2024-01-01T00:00:00.000Z"
    )
    assert memory.get_memory("talk", "tea").written_at == before.written_at
    winter = {"time_range": {"end": "2024-02-01"}}
    assert found(memory, **winter) == ["tea"]
    assert found(memory, time_range={"start": "2024-05-01"}) == []
    assert memory.delete("talk", **winter).ids == ("tea",)
    memory.undelete("talk", ["tea"])
    assert memory.get_memory("talk", "tea").timestamp == before.timestamp
    assert memory.compact_session("talk").archived == 1
    assert memory.erase("talk", **winter).ids == ("tea",)
    assert memory.get_memory("talk", "tea") is None


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("我们在数据库里存储日志", "数据库是什么"),
        ("黑猫在睡觉", "猫"),
        ("データベースを使う", "データ"),
        ("데이터베이스를 사용한다", "데이터"),
        ("เราใช้ฐานข้อมูล", "ข้อมูล"),
        ("हमने किताब पढ़ी", "किताब"),
        ("كِتَابٌ جديد", "كتاب"),
        ("café ole", "cafe\u0301"),
        ("使用PostgreSQL数据库", "postgresql"),
        ("🎉 we won", "🎉"),
    ],
)
def test_its_words_are_those_of_every_script(memory, said, asked):
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="there", content=said, **OLD)
    memory.add_memory("talk", id="other", content="nothing of the kind कल अब", **OLD)
    assert memory.compact_session("talk").archived == 2
    assert found(memory, text=asked) == ["there"]


def test_a_text_without_a_word_finds_nothing_of_it(moved):
    for text in ("!!!", "***", "…"):
        assert found(moved, text=text) == ids(moved.query("talk", text=text)) == []


def test_what_was_written_anew_is_not_found_as_it_was_before(moved):
    """Nor does what was hidden since come back as what it said before that."""
    moved.add_memory("talk", id="tea", content="coffee now")
    said = {hit.entry.text for hit in moved.query("talk", text="storage", include_archived=True)}
    assert "tea about storage" not in said
    assert {hit.entry.text for hit in moved.query("talk", include_archived=True)} == {
        "coffee now", "tea alone", "PostgreSQL for storage",
    }  # fmt: skip
    moved.delete_memory("talk", "tea")
    assert set(found(moved)) == {"db", "own"}
    assert found(moved, text="storage") == ["db"]


def test_an_export_holds_what_was_moved_out_unless_it_was_written_anew(moved):
    assert "tea about storage" in moved.export_session("talk")
    moved.add_memory("talk", id="tea", content="coffee now")
    exported = moved.export_session("talk")
    assert "coffee now" in exported
    assert "tea alone" in exported
    assert "tea about storage" not in exported
    moved.delete_memory("talk", "tea")
    assert "tea about storage" not in moved.export_session("talk")
