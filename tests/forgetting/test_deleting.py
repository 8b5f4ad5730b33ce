"""Deleting hides at once, for everybody, exactly what was meant; and can be undone."""

import itertools
from contextlib import suppress
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    EntryNotFoundError,
    MnemologError,
    NotAllowedError,
    SchemaInvalidError,
    SessionNotFoundError,
    SizeLimitError,
)
from tests.forgetting.onlooker import onlooker
from tests.log.disks import RecordingDisk, open_on
from tests.log.independent import records

MIB = 1024 * 1024

# id, type, agent, day of November 2026, tags, context
WORLD: dict[str, tuple[str, str, int, tuple[str, ...], dict[str, str]]] = {
    "c1": ("conversation", "architect", 1, ("sensitive",), {}),
    "c2": ("conversation", "analyst", 2, ("security.login",), {"topic": "database"}),
    "c3": ("conversation", "architect", 10, ("security",), {}),
    "d1": ("decision", "architect", 3, ("database.schema", "security"), {}),
    "d2": ("decision", "analyst", 12, ("securitynot",), {"topic": "database"}),
    "f1": ("finding", "analyst", 4, ("security.login.web", "database"), {}),
    "f2": ("finding", "architect", 2, (), {}),
    "p1": ("preference", "analyst", 3, (), {}),
    "n1": ("note", "architect", 2, ("databases",), {"topic": "data"}),
    "s1": ("stand-up", "analyst", 5, ("database",), {}),
}
CHOICES: dict[str, Any] = {
    "ids": ["c1", "c2", "d1", "f1", "n1", "nobody"],
    "types": ["conversation", "decisions", "finding", "stand-up"],
    "time_range": {"start": "2026-11-02T00:00:00Z", "end": "2026-11-04T00:00:00Z"},
    "tags": ["security", "sensitive"],
    "topic": "database",
    "agents": ["architect"],
}
CAMEL = {"ids": "memoryIds", "time_range": "timeRange", "agents": "agentId"}
COMBINATIONS = [names for size in range(1, 7) for names in itertools.combinations(CHOICES, size)]


def day(number: int) -> str:
    return f"2026-11-{number:02}T00:00:00Z"


def write(memory: Memory, sid: str) -> None:
    for name, (kind, agent, when, tags, context) in WORLD.items():
        memory.add_memory(
            sid, id=name, type=kind, agent_id=agent, timestamp=day(when), tags=list(tags),
            context=context, content=f"what {name} says",
        )  # fmt: skip


def below(tags: tuple[str, ...], wanted: str) -> bool:
    return any(tag == wanted or tag[: len(wanted) + 1] == wanted + "." for tag in tags)


def is_meant(name: str, chosen: tuple[str, ...]) -> bool:
    """The criteria once more, spelled out."""
    kind, agent, when, tags, context = WORLD[name]
    meets = {
        "ids": name in CHOICES["ids"],
        "types": kind in ("conversation", "decision", "finding", "stand-up"),
        "time_range": 2 <= when <= 4,
        "tags": below(tags, "security") or below(tags, "sensitive"),
        "topic": below(tags, "database") or context.get("topic") == "database",
        "agents": agent == "architect",
    }
    return all(meets[one] for one in chosen)


def living(memory: Memory, sid: str) -> list[str]:
    return [entry.id for entry in memory.get_entries(sid)]


@pytest.fixture
def quick(root, clock):
    """A memory that does not sync, with the whole world in its session `talk`."""
    with Memory.open(
        root, settings={"storage.durability": "os"}, clock=clock, environ={}
    ) as memory:
        memory.create_session("u1", agent_ids=["architect", "analyst"], session_id="talk")
        write(memory, "talk")
        yield memory


# --- what is meant


@pytest.mark.req("S001-089", "S001-090", "S001-128", "S001-007", "S002-007", "S002-097", "S002-098")
@pytest.mark.parametrize("spelling", ["snake", "camel", "keywords", "half and half"])
def test_every_combination_of_criteria_hides_exactly_what_meets_all_of_them(quick, spelling):
    seen = set()
    for chosen in COMBINATIONS:
        wanted = [name for name in WORLD if is_meant(name, chosen)]
        criteria = {name: CHOICES[name] for name in chosen}
        more: dict[str, Any] = {}
        if spelling == "camel":
            criteria = {CAMEL.get(name, name): value for name, value in criteria.items()}
        elif spelling == "keywords":
            criteria, more = {}, criteria
        elif spelling == "half and half":
            more = {name: criteria.pop(name) for name in chosen[::2]}
        done = quick.delete("talk", criteria or None, **more)
        assert (sorted(done.ids), done.deleted_count) == (sorted(wanted), len(wanted)), chosen
        assert sorted(living(quick, "talk")) == sorted(set(WORLD) - set(wanted)), chosen
        assert sorted(quick.undelete("talk", list(WORLD)).ids) == sorted(wanted)
        assert sorted(living(quick, "talk")) == sorted(WORLD)
        seen.add(tuple(wanted))
    assert len(seen) > 15, "the combinations mean different things"


@pytest.mark.req("S001-090", "S001-093", "S001-128")
def test_the_source_documents_example_works_and_the_answer_tells_counts_and_the_time(quick, clock):
    done = quick.delete(
        "talk",
        {
            "types": ["conversation"],
            "time_range": {"start": "2026-11-01T00:00:00Z", "end": "2026-11-01T23:59:59Z"},
            "tags": ["sensitive"],
        },
    )
    assert (done.ids, done.deleted_count) == (("c1",), 1)
    assert done.deleted_at == "2026-11-15T09:00:00.000Z"
    assert done.restorable_until == "2026-12-15T09:00:00.000Z"
    assert done.criteria == {"types": 1, "time_range": 1, "tags": 1}


@pytest.mark.parametrize(
    ("criteria", "wanted"),
    [
        ({"types": "findings"}, {"f1", "f2"}),
        ({"type": "Decisions"}, {"d1", "d2"}),
        ({"types": ["notes", "preference"]}, {"n1", "p1"}),
        ({"tags": "security"}, {"c2", "c3", "d1", "f1"}),
        ({"tags": ["security.login"]}, {"c2", "f1"}),
        ({"topic": "security.login.web"}, {"f1"}),
        ({"topics": ["database", "sensitive"]}, {"c1", "c2", "d1", "d2", "f1", "s1"}),
        ({"time_range": {"start": day(10)}}, {"c3", "d2"}),
        ({"time_range": {"end": day(1)}}, {"c1"}),
        ({"timeRange": {"start": day(2), "end": day(2)}}, {"c2", "f2", "n1"}),
        ({"time_range": {"start": day(4), "end": day(2)}}, set()),
        ({"agent": "analyst", "types": ["conversation"]}, {"c2"}),
        ({"agent_id": "analyst", "type": "finding"}, {"f1"}),
        ({"madeBy": "architect", "type": "decision"}, {"d1"}),
        ({"discovered_by": ["architect"], "type": "finding"}, {"f2"}),
        ({"id": "c1"}, {"c1"}),
        ({"ids": []}, set()),
        ({"types": []}, set()),
        ({"tags": []}, set()),
        ({"agents": []}, set()),
    ],
)
def test_singular_plural_tags_below_a_tag_and_open_ranges(quick, criteria, wanted):
    assert set(quick.delete("talk", criteria).ids) == wanted
    assert set(living(quick, "talk")) == set(WORLD) - wanted


@pytest.mark.parametrize(
    "criteria",
    [
        {},
        {"ids": None},
        {"topic": []},
        {"topics": ()},
        {"time_range": {}},
        {"time_range": {"start": None, "end": None}},
    ],
    ids=str,
)
@pytest.mark.parametrize("verb", ["delete", "erase"])
def test_what_names_nothing_never_means_everything(quick, verb, criteria):
    """A caller whose list came out empty must not lose the session."""
    with suppress(SchemaInvalidError):
        getattr(quick, verb)("talk", criteria)
    assert living(quick, "talk") == list(WORLD)


def test_an_open_time_range_on_both_sides_never_means_everything(quick):
    with suppress(SchemaInvalidError):
        quick.delete_memories_by_time_range("talk")
    assert living(quick, "talk") == list(WORLD)


@pytest.mark.parametrize(
    "criteria",
    [
        "c1", ["c1"], 7, {"colour": "red"}, {"ids": [1]}, {"ids": "a\0b"}, {"types": "tombstone"},
        {"time_range": "yesterday"}, {"time_range": {"from": day(1)}}, {"tags": 3},
        {"time_range": {"start": "not a time"}},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("verb", ["delete", "erase"])
def test_wrong_criteria_are_refused_and_nothing_is_hidden(quick, verb, criteria):
    with pytest.raises(MnemologError) as caught:
        getattr(quick, verb)("talk", criteria)
    assert caught.value.code.startswith("E_")
    assert living(quick, "talk") == list(WORLD)


@pytest.mark.parametrize("reason", [7, "x" * 501, None])
def test_a_wrong_reason_is_refused_before_anything_is_hidden(quick, root, reason):
    for verb in (quick.delete, quick.erase):
        with pytest.raises(SchemaInvalidError):
            verb("talk", ids=["c1"], reason=reason)
    with pytest.raises(SchemaInvalidError):
        quick.clear_session("talk", reason=reason)
    assert living(quick, "talk") == list(WORLD)
    assert not (root / "audit.jsonl").exists()


# --- the shorter verbs


@pytest.mark.req("S002-045", "S002-096", "S002-143")
def test_deleting_one_memory_says_whether_there_was_one(memory, sid):
    write(memory, sid)
    assert memory.delete_memory(sid, "c1") is True
    assert memory.delete_memory(sid, "c1") is False
    assert memory.delete_memory(sid, "nobody") is False
    assert memory.get_memory(sid, "c1") is None
    assert "c1" not in living(memory, sid)


@pytest.mark.req("S002-143")
def test_deleting_what_is_not_there_writes_nothing(memory, sid, root, folder):
    write(memory, sid)
    before = (folder / "memory.jsonl").read_bytes()
    assert memory.delete(sid, ids=["nobody"]).ids == ()
    assert memory.delete_memories_by_topic(sid, "nothing") == 0
    assert memory.erase(sid, ids=["nobody"]).erased_count == 0
    assert (folder / "memory.jsonl").read_bytes() == before
    assert not (root / "audit.jsonl").exists()


@pytest.mark.parametrize("verb", ["delete", "erase", "undelete"])
def test_there_has_to_be_such_a_session(memory, verb):
    with pytest.raises(SessionNotFoundError):
        getattr(memory, verb)("nowhere", ids=["c1"])
    with pytest.raises(SessionNotFoundError):
        memory.delete_session("nowhere")


@pytest.mark.req("S002-050", "S002-097")
def test_deleting_by_topic_counts(memory, sid):
    write(memory, sid)
    assert memory.delete_memories_by_topic(sid, "database") == 5
    assert memory.delete_memories_by_topic(sid, "database") == 0
    assert set(living(memory, sid)) == {"c1", "c3", "f2", "p1", "n1"}


def test_deleting_by_topic_reaches_what_a_search_by_topic_finds(memory, sid):
    for topic in ("tea", "tea.green", "team"):
        memory.add_conversation(sid, id=topic, role="user", content="x", context={"topic": topic})
        memory.add_memory(sid, id=f"{topic}-tag", content="x", tags=[topic])
    found = {hit.entry.id for hit in memory.search_by_topic(sid, "tea")}
    assert found == {"tea", "tea-tag", "tea.green", "tea.green-tag"}
    assert memory.delete_memories_by_topic(sid, "tea") == 4
    assert memory.search_by_topic(sid, "tea") == []
    assert set(living(memory, sid)) == {"team", "team-tag"}


@pytest.mark.req("S002-051", "S002-098")
def test_deleting_by_time_counts_and_includes_both_ends(memory, sid):
    write(memory, sid)
    assert memory.delete_memories_by_time_range(sid, day(2), day(3)) == 5
    assert memory.delete_memories_by_time_range(sid, start=day(12)) == 1
    assert set(living(memory, sid)) == {"c1", "c3", "f1", "s1"}


def test_clearing_a_session_hides_everything_in_it_and_keeps_its_facts(memory, sid, root):
    write(memory, sid)
    memory.add_memory(sid, id="shared", type="note", content="for all", scope="shared")
    done = memory.clear_session(sid, reason="asked for")
    assert set(done.ids) == set(WORLD)
    assert living(memory, sid) == []
    assert memory.load_session(sid).user_id == "u1"
    assert memory.get_statistics(sid).total_entries == 0
    assert memory.get_memory(sid, "shared") is not None
    assert set(memory.undelete(sid, list(WORLD)).ids) == set(WORLD)
    assert set(living(memory, sid)) == set(WORLD)


# --- the tombstone


@pytest.mark.req("S002-017", "S002-093", "S002-095", "S001-092")
def test_a_deletion_is_one_line_with_its_target_time_and_reason(memory, sid, folder):
    write(memory, sid)
    before = records(folder)
    memory.delete(sid, ids=["c1"], reason="asked by the user")
    *same, mark = records(folder)
    assert same == before, "nothing is rewritten"
    wanted = {"type": "tombstone", "target": "c1", "reason": "asked by the user"}
    assert wanted.items() <= mark.items()
    assert mark["timestamp"] == "2026-11-15T09:00:00.000Z"
    assert mark["seq"] == before[-1]["seq"] + 1
    assert "content" not in mark


@pytest.mark.req("S001-092")
def test_a_batch_of_deletions_is_one_write_and_one_sync(root):
    disk = RecordingDisk(root)
    memory = open_on(disk)
    memory.create_session(session_id="talk")
    memory.add_many("talk", [{"content": f"entry {number}"} for number in range(100)])
    disk.calls.clear()
    assert memory.delete("talk", types=["conversation"]).deleted_count == 100
    assert disk.count("append", "memory.jsonl") == disk.count("sync", "memory.jsonl") == 1
    assert disk.count("append", "audit.jsonl") == disk.count("sync", "audit.jsonl") == 1
    assert disk.names("rename", "write_at", "truncate") == []
    disk.calls.clear()
    ids = [f"x{number}" for number in range(50)]
    memory.add_many("talk", [{"content": "x", "id": one} for one in ids])
    memory.delete("talk", ids=ids)
    disk.calls.clear()
    assert len(memory.undelete("talk", ids).ids) == 50
    assert disk.count("append", "memory.jsonl") == disk.count("sync", "memory.jsonl") == 1


@pytest.mark.parametrize(
    ("verb", "more", "left"),
    [
        ("delete_memory", ["e0"], -1),
        ("delete_memories_by_topic", ["t"], 0),
        ("clear_session", [], 0),
    ],
)
def test_a_full_session_can_still_be_deleted_from(root, verb, more, left):
    settings = {"storage.max_session_size_mb": 2000 / MIB, "compaction.auto": False}
    with Memory.open(root, settings=settings, environ={}) as memory:
        memory.create_session(session_id="talk")
        for number in itertools.count():
            try:
                memory.add_memory("talk", id=f"e{number}", content="x" * 50, tags=["t"])
            except SizeLimitError:
                break
        count = len(living(memory, "talk"))
        assert count > 2
        with pytest.raises(SizeLimitError):
            memory.add_memory("talk", content="x" * 500)
        getattr(memory, verb)("talk", *more)
        assert len(living(memory, "talk")) == (count + left if left else 0)
        assert memory.undelete("talk", ["e0"]).ids == ("e0",)
        assert "e0" in living(memory, "talk")


# --- undoing it


def test_undelete_brings_back_the_entry_exactly_as_it_was(memory, sid, clock):
    write(memory, sid)
    memory.update_memory(sid, "c1", content="what c1 says now")
    before = memory.get_memory(sid, "c1")
    place = living(memory, sid).index("c1")
    clock.advance(hours=1)
    memory.delete(sid, ids=["c1"])
    clock.advance(hours=1)
    done = memory.undelete(sid, ["c1"])
    assert (done.ids, done.refused) == (("c1",), {})
    assert memory.get_memory(sid, "c1") == before
    assert living(memory, sid).index("c1") == place


@pytest.mark.parametrize(
    ("days", "is_back"), [(0, True), (29.99, True), (30, True), (30.01, False), (400, False)]
)
def test_undelete_works_for_thirty_days(memory, sid, clock, days, is_back):
    write(memory, sid)
    memory.delete(sid, ids=["c1"])
    clock.advance(days=days)
    done = memory.undelete(sid, ["c1"])
    assert done.ids == (("c1",) if is_back else ())
    assert (memory.get_memory(sid, "c1") is not None) is is_back
    if not is_back:
        assert "over" in done.refused["c1"]


def test_a_session_may_have_days_of_its_own_to_undelete(memory, clock):
    memory.create_session(session_id="brief", settings={"privacy.undelete_days": 1})
    memory.add_memory("brief", id="a", content="x")
    done = memory.delete("brief", ids=["a"])
    assert done.restorable_until == "2026-11-16T09:00:00.000Z"
    clock.advance(days=2)
    assert memory.undelete("brief", ["a"]).ids == ()


def test_undelete_says_what_it_could_not_bring_back(memory, sid):
    write(memory, sid)
    memory.delete(sid, ids=["c1", "c2"])
    assert set(memory.undelete(sid, ["c1", "c2", "c3", "nobody"]).ids) == {"c1", "c2"}
    again = memory.undelete(sid, ["c1", "nobody"])
    assert again.ids == ()
    assert set(again.refused) == {"c1", "nobody"}
    assert all(again.refused.values())


def test_undelete_takes_the_same_criteria_and_refuses_none_at_all(memory, sid):
    write(memory, sid)
    memory.clear_session(sid)
    assert set(memory.undelete(sid, {"types": ["conversation"]}).ids) == {"c1", "c2", "c3"}
    assert set(memory.undelete(sid, tags=["database"]).ids) == {"d1", "f1", "s1"}
    with pytest.raises(SchemaInvalidError) as refused:
        memory.undelete(sid)
    assert refused.value.advice.endswith("a time_range from 0 on means all.")
    assert len(memory.undelete(sid, time_range={"start": 0}).ids) == len(WORLD) - 6


def test_whoever_says_nothing_is_advised_to_do_what_the_verb_does(memory, sid):
    write(memory, sid)
    for verb, instead in (("delete", "clear_session"), ("erase", "delete_session")):
        with pytest.raises(SchemaInvalidError, match=f"; or use {instead}\\.$"):
            getattr(memory, verb)(sid)


@pytest.mark.parametrize("verb", ["delete", "erase", "undelete"])
def test_a_criterion_that_there_is_not_is_told_with_the_nearest_one(memory, sid, verb):
    for wrong, meant in (("idz", "ids"), ("typ", "types"), ("made_bye", "made_by")):
        with pytest.raises(SchemaInvalidError, match=f"Did you mean '{meant}'"):
            getattr(memory, verb)(sid, **{wrong: ["x"]})
    with pytest.raises(SchemaInvalidError, match="Use ids, types, topic, agents, "):
        getattr(memory, verb)(sid, colour="red")


def test_deleting_undeleting_and_deleting_again(memory, sid):
    memory.add_memory(sid, id="a", content="x")
    for _ in range(3):
        assert memory.delete_memory(sid, "a")
        assert living(memory, sid) == []
        assert memory.undelete(sid, ["a"]).ids == ("a",)
        assert living(memory, sid) == ["a"]


def test_a_revision_after_a_tombstone_revives_the_id(memory, sid, clock):
    memory.add_memory(sid, id="a", content="before")
    memory.delete(sid, ids=["a"])
    with pytest.raises(EntryNotFoundError):
        memory.update_memory(sid, "a", content="changed")
    clock.advance(days=100)
    receipt = memory.add_memory(sid, id="a", content="after")
    found = memory.get_memory(sid, "a")
    assert found is not None
    assert (found.content, found.seq) == ("after", receipt.seq)
    assert found.timestamp == "2026-11-15T09:00:00.000Z", "the first timestamp stays"
    assert memory.undelete(sid, ["a"]).ids == ()


# --- whose it is


def test_an_agent_deletes_and_undeletes_only_its_own(memory, sid):
    write(memory, sid)
    analyst = memory.for_agent("analyst")
    done = analyst.delete(sid, types=["conversation", "decision"])
    assert set(done.ids) == {"c2", "d2"}
    assert analyst.delete_memory(sid, "c1") is False
    assert set(analyst.clear_session(sid).ids) == {"f1", "p1", "s1"}
    assert set(living(memory, sid)) == {"c1", "c3", "d1", "f2", "n1"}
    memory.delete(sid, ids=["c1"])
    assert set(analyst.undelete(sid, ["c1", "c2"]).ids) == {"c2"}
    assert memory.get_memory(sid, "c1") is None


def test_an_agent_neither_sees_nor_deletes_what_is_scoped_to_another(memory, sid):
    memory.for_agent("architect").add_memory(sid, id="mine", content="x", scope="agent")
    memory.for_agent("architect").add_memory(sid, id="ours", content="x", scope="shared")
    analyst = memory.for_agent("analyst")
    for one in ("mine", "ours"):
        assert analyst.delete_memory(sid, one) is False
        assert analyst.erase(sid, ids=[one]).erased_count == 0
        assert memory.get_memory(sid, one) is not None
        assert memory.for_agent("architect").delete_memory(sid, one) is True
        assert memory.get_memory(sid, one) is None


def test_another_users_view_does_not_delete_what_is_shared(memory, sid):
    """Only the writer or the owner may; a user's view is neither."""
    memory.create_session("u2", session_id="elsewhere")
    memory.add_memory(sid, id="common", type="note", content="for all", scope="shared")
    neighbour = memory.for_user("u2")
    assert neighbour.delete_memory("elsewhere", "common") is False
    assert neighbour.erase("elsewhere", ids=["common"]).erased_count == 0
    assert memory.get_memory(sid, "common") is not None


@pytest.mark.req("S001-091")
def test_only_the_owner_deletes_a_session(memory, sid):
    write(memory, sid)
    with pytest.raises(NotAllowedError):
        memory.for_agent("analyst").delete_session(sid)
    assert living(memory, sid) == list(WORLD)
    memory.delete_session(sid)
    with pytest.raises(SessionNotFoundError):
        memory.load_session(sid)
    assert memory.list_sessions() == []


def test_the_ids_of_the_users_and_of_the_shared_log_are_meant_too(memory, sid):
    memory.add_memory(sid, id="own", type="note", content="of the user", scope="user")
    memory.add_memory(sid, id="common", type="note", content="of all", scope="shared")
    memory.add_memory(sid, id="here", type="note", content="of the session")
    assert set(memory.delete(sid, types=["note"]).ids) == {"here"}, "criteria mean the session"
    assert set(memory.delete(sid, ids=["own", "common", "here"]).ids) == {"own", "common"}
    assert memory.get_memory(sid, "own") is memory.get_memory(sid, "common") is None
    assert set(memory.undelete(sid, ["own", "common"]).ids) == {"own", "common"}
    assert memory.get_memory(sid, "own") is not None


# --- everybody sees it at once


@pytest.mark.req("S002-093", "S001-007", "S002-007")
def test_another_process_and_an_open_reader_see_it_at_once(memory, sid, root):
    write(memory, sid)
    memory.add_memory(sid, id="common", type="note", content="kumquat", scope="shared")
    with onlooker(root) as ask, Memory.open(root, environ={}) as reader:
        everything = [*WORLD]
        assert ask("get_entries", sid) == living(reader, sid) == everything
        assert ask("get_memory", sid, "common") == "common"
        memory.delete(sid, ids=["c1", "common"])
        assert ask("get_entries", sid) == living(reader, sid) == everything[1:]
        for one in ("c1", "common"):
            assert ask("get_memory", sid, one) is reader.get_memory(sid, one) is None
        assert reader.get_statistics(sid).total_entries == len(WORLD) - 1
        assert ask("undelete", sid, ["c1", "common"]) is not None
        assert living(memory, sid) == living(reader, sid) == everything
        assert memory.get_memory(sid, "common") is not None


@pytest.mark.req("S002-093")
def test_search_no_longer_finds_it_and_finds_it_again_after_undelete(root, clock):
    settings = {"search.embedder": "none"}
    with (
        Memory.open(root, settings=settings, clock=clock, environ={}) as memory,
        onlooker(root) as ask,
    ):
        memory.create_session("u1", session_id="talk")
        write(memory, "talk")
        asked: list[dict[str, Any]] = [
            {"text": "says"}, {"text": "c1"}, {"tags": ["sensitive"]}, {"limit": 100},
        ]  # fmt: skip

        def finds(wanted: bool) -> None:
            for query in asked:
                for where in ("talk", None):
                    ours = [hit.entry.id for hit in memory.query(where, query)]
                    assert ("c1" in ours) is wanted, query
                    assert ("c1" in ask("query", where, query)) is wanted, query

        finds(True)
        memory.delete("talk", ids=["c1"])
        finds(False)
        memory.undelete("talk", ["c1"])
        finds(True)
        memory.clear_session("talk")
        assert memory.query("talk", limit=100) == []
        memory.add_memory("talk", id="c1", content="what c1 says", tags=["sensitive"])
        finds(True)


def test_a_search_in_all_other_views_does_not_find_it_either(memory, sid):
    write(memory, sid)
    memory.query(sid, text="says")
    memory.for_agent("analyst").delete_memory(sid, "c2")
    for view in (memory, memory.for_agent("architect"), memory.for_user("u1")):
        assert "c2" not in [hit.entry.id for hit in view.query(None, text="says", limit=50)]
        assert "c2" not in living(view, sid)
        assert view.get_memory(sid, "c2") is None
        assert "c2" not in [entry.id for entry in view.get_entries(sid, types="conversation")]


def test_statistics_and_lists_do_not_count_what_is_hidden(memory, sid):
    write(memory, sid)
    memory.delete(sid, types=["decision"])
    assert memory.get_decisions(sid) == []
    stats = memory.get_statistics(sid)
    assert (stats.total_decisions, stats.total_entries) == (0, len(WORLD) - 2)
    assert memory.get_global_statistics().total_entries == len(WORLD) - 2


# --- what a compaction moved to the archive is deleted like everything else


@pytest.fixture
def moved(memory, sid, clock):
    """An entry `old` that a compaction moved to the archive, and one that stayed."""
    memory.add_memory(sid, id="old", type="note", content="kumquat", importance=0.01)
    memory.add_memory(sid, id="new", type="note", content="orchard", importance=1.0)
    clock.advance(days=400)
    assert memory.compact_session(sid).archived == 1
    assert memory.get_memory(sid, "old") is not None
    return memory


def test_an_entry_that_was_moved_can_be_deleted(moved, sid):
    assert moved.delete_memory(sid, "old") is True
    assert moved.get_memory(sid, "old") is None


def test_clearing_a_session_hides_what_was_moved(moved, sid):
    moved.clear_session(sid)
    assert moved.get_memory(sid, "old") is None


def test_an_id_that_was_moved_used_anew_and_deleted_does_not_show_its_old_revision(moved, sid):
    moved.add_memory(sid, id="old", type="note", content="again")
    assert moved.delete_memory(sid, "old") is True
    assert moved.get_memory(sid, "old") is None
