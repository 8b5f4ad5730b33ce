"""What an import promises: nothing twice, nothing in a dry run, nothing into the wrong hands."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from mnemolog import AsyncMemory, Memory
from mnemolog.errors import InvalidFormatError, StorageIOError
from mnemolog.memory import receiving
from tests.layouts.world import fill, opened


def talk(*texts, session="s", agent="bot", start=1) -> dict[str, bytes]:
    events = (
        json.dumps({"id": f"m{number}", "role": "user", "content": text}).encode() + b"\n"
        for number, text in enumerate(texts, start)
    )
    return {f"agents/{agent}/memory/sessions/{session}.ndjson": b"".join(events)}


def test_a_dry_run_says_the_same_and_writes_nothing(memory, root):
    memory.create_session("u1", session_id="before")
    files = talk("one", "two")
    files["agents/bot/memory/sessions/s.ndjson"] += b"not JSON\n"
    before = sorted(path for path in root.rglob("*") if "index" not in path.parts)
    dry = memory.import_from(files, dry_run=True)
    assert sorted(path for path in root.rglob("*") if "index" not in path.parts) == before
    done = memory.import_from(files)
    assert dry.dry_run
    assert not done.dry_run
    for name in ("layout", "sessions", "stored", "revised", "present", "refused", "reasons"):
        assert getattr(dry, name) == getattr(done, name), name
    again = memory.import_from(files, dry_run=True)
    assert (again.stored, again.present) == ({}, {"conversation": 2})


def test_later_lines_of_an_id_are_revisions_and_a_second_import_still_adds_nothing(memory, root):
    line = b'{"id":"m1","role":"assistant","content":"%s"}\n'
    files = {"s.ndjson": line % b"Thinking" + line % b"Thinking, done"}
    report = memory.import_from(files)
    assert (report.stored, report.revised) == ({"conversation": 1}, {"conversation": 1})
    size = (root / "sessions/s/memory.jsonl").stat().st_size
    assert memory.import_from(files).present == {"conversation": 2}
    assert (root / "sessions/s/memory.jsonl").stat().st_size == size
    assert [entry.content for entry in memory.get_entries("s")] == ["Thinking, done"]


def test_revisions_across_batches_are_revisions_too(memory, monkeypatch):
    monkeypatch.setattr(receiving, "BATCH", 2)
    line = b'{"id":"%s","role":"user","content":"%d"}\n'
    content = b"".join(line % (b"m1" if n in (0, 5) else b"x%d" % n, n) for n in range(8))
    report = memory.import_from({"s.ndjson": content})
    assert (report.stored, report.revised, report.present) == (
        {"conversation": 7}, {"conversation": 1}, {},
    )  # fmt: skip
    assert memory.get_memory("s", "m1").content == "5"


@pytest.mark.parametrize("said", ["abc", "aba", "abab", "abcbd"])
def test_an_import_that_was_killed_between_revisions_is_completed_by_the_next(memory, said):
    """Wherever it was killed; and what is complete stays as it is."""
    line = b'{"id":"%s","role":"user","content":"%s"}\n'
    lines = [line % (b"m1", text.encode()) for text in said]
    lines.insert(1, line % (b"m2", b"between"))
    for killed in range(1, len(lines) + 1):
        session = f"s{killed}"
        memory.import_from({f"{session}.ndjson": b"".join(lines[:killed])})
        done = memory.import_from({f"{session}.ndjson": b"".join(lines)})
        assert done.stored.total() + done.revised.total() == len(lines) - killed
        assert memory.get_memory(session, "m1").content == said[-1]
        again = memory.import_from({f"{session}.ndjson": b"".join(lines)})
        assert (again.stored, again.revised) == ({}, {})


def test_an_import_that_was_torn_between_an_entry_and_its_tombstone_is_completed(memory, root):
    entry = b'{"id":"%s","type":"note","content":"%s"}\n'
    log = entry % (b"m1", b"stays") + entry % (b"m2", b"went")
    tombstone = b'{"id":"m2","timestamp":"2026-01-02T00:00:00Z","reason":"asked for"}\n'
    files = {"s/metadata.json": b'{"session_id":"s"}', "s/memory.jsonl": log}
    files["s/tombstones.jsonl"] = tombstone
    memory.import_from(files)
    memory.close()
    path = root / "sessions" / "s" / "memory.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with Memory.open(root) as again:
        assert [one.id for one in again.get_entries("s")] == ["m1", "m2"]
        again.import_from(files)
        assert [one.id for one in again.get_entries("s")] == ["m1"]
        again.undelete("s", ["m2"])
        again.import_from(files)
        assert [one.id for one in again.get_entries("s")] == ["m1", "m2"]
        again.delete("s", ids=["m2"])
        again.add_memory("s", id="m2", type="note", content="went")  # by somebody who wants it
        again.import_from(files)
        assert [one.id for one in again.get_entries("s")] == ["m1", "m2"]


def test_an_import_that_was_torn_within_a_revision_is_completed(memory, root):
    """The torn line has used up a number, and nobody else has written."""
    line = b'{"id":"m1","role":"user","content":"%s"}\n'
    files = {"s.ndjson": line % b"a" + line % b"b" + line % b"c"}
    memory.import_from(files)
    memory.close()
    path = root / "sessions" / "s" / "memory.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with Memory.open(root) as again:
        assert [one.content for one in again.get_entries("s")] == ["b"]
        assert again.import_from(files).revised.total() == 1
        assert [one.content for one in again.get_entries("s")] == ["c"]


def test_what_was_revised_here_is_left_as_it_is_by_an_import(memory):
    line = b'{"id":"m1","role":"user","content":"%s"}\n'
    memory.import_from({"s.ndjson": line % b"a"})
    memory.update_memory("s", "m1", content="revised here")
    done = memory.import_from({"s.ndjson": line % b"a" + line % b"b"})
    assert (done.revised, done.present) == ({}, {"conversation": 2})
    assert memory.get_memory("s", "m1").content == "revised here"


def test_what_was_deleted_here_does_not_come_back(memory):
    files = talk("one", "two")
    memory.import_from(files)
    memory.delete("s", ids=["m1"])
    report = memory.import_from(files)
    assert (report.stored, report.present) == ({}, {"conversation": 1})
    assert report.skipped == {"deleted here": 1}
    assert [entry.id for entry in memory.get_entries("s")] == ["m2"]


def test_a_session_of_other_agents_or_of_another_user_is_not_added_to(memory):
    memory.import_from(talk("mine", agent="ann"))
    report = memory.import_from(talk("theirs", agent="bob", start=7))
    assert report.stored == {}
    assert list(report.reasons.values()) == [2]  # the session, and its one entry
    assert [entry.content for entry in memory.for_agent("ann").get_entries("s")] == ["mine"]
    assert memory.import_from(talk("theirs", agent="bob"), prefix="b-").stored == {
        "conversation": 1
    }
    assert [entry.content for entry in memory.for_agent("bob").get_entries("b-s")] == ["theirs"]


def test_a_session_that_grew_by_an_agent_is_added_to(memory):
    facts = {"session_id": "s", "agent_ids": ["ann"]}
    line = b'{"id":"%s","role":"user","content":"x"}\n'
    memory.import_from({"s/manifest.json": json.dumps(facts), "s/conversation.jsonl": line % b"a"})
    facts["agent_ids"] = ["ann", "bob"]
    report = memory.import_from(
        {"s/manifest.json": json.dumps(facts), "s/conversation.jsonl": line % b"b"}
    )
    assert report.stored == {"conversation": 1}


@pytest.mark.parametrize("scope", ["shared", "user"])
def test_an_entry_of_a_session_cannot_claim_a_wider_scope(memory, scope):
    record = {"id": "x", "role": "user", "content": "obey", "scope": scope, "user_id": "u1"}
    report = memory.import_from({"s/conversation.jsonl": json.dumps(record)})
    assert report.reasons == {"an entry of a session cannot have this scope": 1}
    assert memory.get_statistics("s").total_entries == 0


def test_settings_of_an_export_are_not_taken_over(memory, tmp_path):
    memory.create_session("u1", session_id="s", settings={"decay": {"minimum": 0.2}})
    with opened(tmp_path / "other") as other:
        other.import_from({"e.json": memory.export_session("s")})
        assert other.load_session("s").settings == {}


def test_a_full_session_refuses_the_rest_and_takes_it_later(root, clock, tmp_path, monkeypatch):
    monkeypatch.setattr(receiving, "BATCH", 4)
    small, large = ({"storage": {"max_session_size_mb": size}} for size in (1, 2))
    # One that is full of what may not be dropped stays full.
    texts = [f"{number} " + "x" * 200_000 for number in range(8)]
    line = b'{"id":"d%d","decision":"%s","approved_by":["u"]}\n'
    content = b"".join(line % (number, text.encode()) for number, text in enumerate(texts))
    files = {"s/decisions.jsonl": content}
    with opened_with(root, small) as memory:
        report = memory.import_from(files)
        assert 0 < report.stored["decision"] < 8
        assert report.refused_total == 8 - report.stored["decision"]
        assert {code for _, _, _, code in report.refused} == {"E_SIZE_LIMIT"}
    with opened_with(root, large) as memory:
        again = memory.import_from(files)
        assert again.present == report.stored
        assert again.stored == {"decision": report.refused_total}


def opened_with(root, settings):
    return Memory.open(root, settings=settings, environ={})


def test_a_view_imports_only_as_itself(memory):
    agent = memory.for_agent("bot")
    files = {"s/conversation.jsonl": b'{"id":"a","role":"user","content":"x","agent_id":"eve"}\n'
             b'{"id":"b","role":"user","content":"y"}\n'}  # fmt: skip
    report = agent.import_from(files)
    assert (report.stored, report.refused_total) == ({"conversation": 1}, 1)
    assert report.refused[0].code == "E_NOT_ALLOWED"
    assert memory.load_session("s").agent_ids == ("bot",)
    user = memory.for_user("u7")
    user.import_from(talk("hi", session="t"))
    assert memory.load_session("t").user_id == "u7"
    told = {"users": {"u8": [{"id": "p", "key": "k", "value": 1}]}}
    report = user.import_from(
        {"s9/decisions.jsonl": b"", "shared/user-preferences.json": json.dumps(told)}
    )
    assert [code for _, _, _, code in report.refused] == ["E_NOT_ALLOWED"]


def test_progress_tells_bytes_and_ends_with_all_of_them(memory):
    seen: list[tuple[int, int]] = []
    files = {**talk(*map(str, range(50))), "notes.txt": b"never read"}
    memory.import_from(files, progress=lambda done, total: seen.append((done, total)))
    total = sum(map(len, files.values()))
    assert seen[-1] == (total, total)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(seen) > 10


def test_a_layout_that_is_named_is_tried_and_an_unknown_one_is_refused(memory):
    with pytest.raises(InvalidFormatError, match="No known layout"):
        memory.import_from({"readme.txt": b"hello"})
    with pytest.raises(InvalidFormatError, match="no layout 'native'"):
        memory.import_from({"readme.txt": b"hello"}, "native")
    with pytest.raises(InvalidFormatError, match="no layout 'markdown'"):
        memory.import_from({"a.md": b"hello"}, "markdown")
    with pytest.raises(InvalidFormatError, match="fits the layout four-files"):
        memory.import_from({"readme.txt": b"hello"}, "four-files")
    with pytest.raises(InvalidFormatError, match="not 7"):
        memory.import_from(7)
    with pytest.raises(StorageIOError, match="no file or folder"):
        memory.import_from("/nowhere/at/all")


def test_a_log_of_ours_is_read_without_what_is_dead(memory, sid, folder, tmp_path):
    memory.add_memory(sid, id="a", content="stays")
    memory.add_memory(sid, id="b", content="goes")
    memory.update_memory(sid, "a", content="stays longer")
    memory.delete(sid, ids=["b"])
    memory.close()
    with opened(tmp_path / "other") as other:
        report = other.import_from(folder / "memory.jsonl")
        assert (report.layout, report.skipped) == ("jsonl", {"deleted": 1})
        assert [(e.id, e.content) for e in other.get_entries(sid)] == [("a", "stays longer")]


def test_a_memory_is_no_folder_of_files_to_import(memory, root, tmp_path):
    memory.write_node("topics/tea", "I like tea", user_id="u1")
    memory.search_nodes("tea", user_id="u1")
    with opened(tmp_path / "other") as other:
        with pytest.raises(InvalidFormatError, match="export --layout native"):
            other.import_from(root)
        talks = root.parent / "agents" / "bot" / "memory" / "sessions"
        talks.mkdir(parents=True)
        (talks / "s.ndjson").write_bytes(next(iter(talk("hello").values())))
        report = other.import_from(root.parent)
        assert (report.layout, dict(report.stored)) == ("work-agent", {"conversation": 1})
        assert (report.refused, dict(report.skipped)) == ([], {"a memory of mnemolog": 2})


def test_an_import_can_be_awaited(memory, root, tmp_path):
    fill(memory)
    files = dict(memory.export_files("json"))

    async def run():
        async with await AsyncMemory.open(tmp_path / "other", environ={}) as other:
            report = await other.import_from(files)
            return report, await other.export_session("other", "jsonl")

    report, text = asyncio.run(run())
    assert report.sessions == {"created": 2}
    assert text.count("\n") == 2


def same(memory, files, layout=None):
    """What a dry run and the run after it say, which has to be the same; gives the latter."""
    dry, done = (memory.import_from(files, layout, dry_run=is_dry) for is_dry in (True, False))
    dry.dry_run = False
    assert dry == done
    return done


def test_a_dry_run_counts_what_users_own_all_share_and_what_is_hidden(memory, tmp_path):
    fill(memory)
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    text = memory.export_subject(format="jsonl").replace("about u1", f"the token is {secret[:40]}")
    with opened(tmp_path / "empty") as empty:
        done = same(empty, {"export.jsonl": text})
        assert (done.refused_total, done.redactions.total()) == (0, 1)


@pytest.mark.parametrize("decay", [{"a": None}, {"enabled": 10**30}, {"half_life_hours": -5}])
def test_settings_that_cannot_be_used_are_told_by_a_dry_run_too(memory, decay):
    line = b'{"id":"e","type":"note","content":"x"}'
    facts = json.dumps({"session_id": "s", "decay_config": decay})
    done = same(memory, {"s/memory.jsonl": line, "s/metadata.json": facts})
    assert done.stored == {"note": 1}
    assert done.adjusted == {"a session's settings were not taken over": 1}


def test_a_dry_run_of_a_view_says_what_the_view_may_not_do(memory):
    memory.create_session("bob", session_id="taken")
    message = {"role": "user", "content": "hi"}
    for name in ("taken", "free"):
        talk = json.dumps({"id": name, "user": "ann", "messages": [message]})
        for view in (memory.for_user("cid"), memory.for_agent("helper")):
            same(view, {f"{name}.json": talk})
    assert {one.id for one in memory.list_sessions()} == {"taken", "free"}


def test_importing_the_same_at_once_stores_everything_once(root, memory):
    rows = [f'{{"id":"{n}","type":"note","content":"note {n}"}}' for n in range(1200)]
    files = {f"s{n}/memory.jsonl": "\n".join(rows[:600] if n else rows) for n in range(8)}
    start = Barrier(4)

    def run(_):
        with Memory.open(root, environ={}) as mine:
            start.wait(timeout=60)
            return mine.import_from(files, "one-log")

    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(run, range(4)))
    assert [one.refused for one in reports] == [[]] * 4
    assert sum(one.stored.total() for one in reports) == 1200 + 7 * 600
    assert sum(one.revised.total() for one in reports) == 0
    assert all(one.stored.total() + one.present.total() == 1200 + 7 * 600 for one in reports)
    for n in range(8):
        assert len(memory.get_entries(f"s{n}")) == (600 if n else 1200)
