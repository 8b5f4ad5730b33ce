"""Versions of lines and manifests: old ones are read, new ones written, newer ones left alone."""

import gzip
import json

import msgspec
import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidFormatError
from mnemolog.fs.real import RealDisk
from mnemolog.log import lines, manifests
from mnemolog.log.versions import CURRENT, OLDEST, Step, Versions
from mnemolog.model.entry import FORMAT
from mnemolog.ports import SHARED, LogKey
from tests.log import independent
from tests.log.second import SECOND, CountedEntry, open_second

MANIFEST = {
    "v": 1,
    "session_id": "talk",
    "created_at": independent.MOMENT,
    "segments": [{"name": "memory.jsonl"}],
}


@pytest.fixture
def later(root, memory, sid):
    """The root of the session `sid`, with three lines of version 1, opened by version 2."""
    memory.add_many(sid, [{"content": f"line {number}"} for number in range(3)])
    memory.close()
    return open_second(RealDisk(str(root)))


def versions_of(folder):
    return [record["v"] for record in independent.records(folder)]


def manifest_of(folder):
    return json.loads((folder / "manifest.json").read_bytes())


def told(entry):
    return entry.id, entry.seq, entry.content, entry.timestamp, entry.at


def test_the_current_version_is_the_one_that_is_written():
    assert CURRENT.current == FORMAT
    assert SECOND.current == FORMAT + 1


@pytest.mark.req("S002-202")
def test_every_line_and_every_manifest_says_its_version(memory, sid, folder):
    memory.add_memory(sid, content="hello")
    assert versions_of(folder) == [1]
    assert manifest_of(folder)["v"] == 1


@pytest.mark.req("S002-203", "S002-204")
def test_lines_of_the_first_version_are_read_by_the_second(later, folder, sid):
    before = (folder / "memory.jsonl").read_bytes()
    found = later.get_entries(sid)
    assert [(one.content, one.v) for one in found] == [(f"line {n}", 2) for n in range(3)]
    assert all(isinstance(one, CountedEntry) and one.access_count == 0 for one in found)
    assert (folder / "memory.jsonl").read_bytes() == before, "reading rewrites nothing"
    assert later.load_session(sid).preferences == {"counted": True}


@pytest.mark.req("S002-203", "S002-205", "S002-207")
def test_the_first_write_puts_a_line_of_the_second_version_beside_the_first(later, folder, sid):
    later.add_memory(sid, content="new")
    later.add_memory(sid, content="newer")
    assert versions_of(folder) == [1, 1, 1, 2, 2]
    assert [record.get("access_count") for record in independent.records(folder)][-2:] == [0, 0]
    stored = manifest_of(folder)
    assert (stored["v"], stored["markers"]) == (2, {OLDEST: 1})
    assert [one.content for one in later.get_entries(sid)][-2:] == ["new", "newer"]


@pytest.mark.req("S002-207")
def test_changing_a_manifest_writes_it_in_the_second_version(later, folder, sid):
    later.update_session(sid, metadata={"colour": "red"})
    stored = manifest_of(folder)
    assert (stored["v"], stored["markers"], stored["metadata"]) == (
        2,
        {OLDEST: 1},
        {"colour": "red"},
    )
    assert stored["preferences"] == {"counted": True}


def test_a_new_session_is_of_the_second_version_from_the_start(later, root):
    later.create_session(session_id="fresh")
    later.add_memory("fresh", content="new")
    folder = root / "sessions" / "fresh"
    assert versions_of(folder) == [2]
    assert manifest_of(folder)["v"] == 2
    assert "markers" not in manifest_of(folder)


@pytest.mark.req("S002-206", "S002-207")
def test_a_migration_rewrites_every_old_line_and_the_manifest_says_so(later, folder, sid):
    later.add_memory(sid, content="new")
    before = [(one.id, one.seq, one.content) for one in later.get_entries(sid)]
    (done,) = later.migrate()
    assert done == (LogKey("session", sid), "rewritten", {1: 3, 2: 1}, 3, "")
    assert versions_of(folder) == [2, 2, 2, 2]
    stored = manifest_of(folder)
    assert (stored["v"], stored.get("markers", {}), stored["generation"]) == (2, {}, 2)
    assert [(one.id, one.seq, one.content) for one in later.get_entries(sid)] == before
    assert [one.status for one in later.migrate()] == ["current"]


@pytest.mark.req("S002-203", "S002-206")
def test_a_compaction_writes_old_lines_as_todays_whether_they_stay_or_move(
    root, memory, sid, clock
):
    folder = root / "sessions" / sid
    memory.add_memory(sid, id="faded", type="note", content="faded", importance=0.001)
    memory.add_memory(sid, id="kept", type="note", content="kept", importance=0.9)
    memory.add_memory(sid, id="hidden", type="note", content="hidden")
    old = independent.build(4, "odd", "x", novel=7)
    with (folder / "memory.jsonl").open("ab") as file:
        file.write(old)
    memory.close()
    clock.advance(days=400)
    later = open_second(RealDisk(str(root)), clock=clock)
    later.delete(sid, ids=["hidden"])
    assert versions_of(folder) == [1, 1, 1, 1, 2]
    assert later.compact_session(sid).archived == 1
    assert set(versions_of(folder)) == {2}
    assert {record["id"]: record.get("novel") for record in independent.records(folder)}["odd"] == 7
    stored = manifest_of(folder)
    assert (stored["v"], OLDEST in stored["markers"]) == (2, False)
    (gone,) = (root / "archive").glob("*.gz")
    (moved,) = map(json.loads, gzip.decompress(gone.read_bytes()).splitlines())
    assert (moved["id"], moved["v"], moved["access_count"], moved["seq"]) == ("faded", 2, 0, 1)
    assert [one.status for one in later.migrate()] == ["current"]
    assert later.get_entries(sid).warnings == ()


def test_a_dry_run_counts_and_changes_nothing(later, folder, sid):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (done,) = later.migrate(dry_run=True)
    assert (done.status, done.versions, done.lines) == ("rewritten", {1: 3}, 3)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_migration_tells_how_far_it_got(later):
    later.create_session(session_id="another")
    told = []
    later.migrate(progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_one_session_can_be_migrated_alone(later, root, memory, sid):
    memory.create_session(session_id="other")
    memory.add_memory("other", content="old")
    assert [one.log.id for one in later.migrate(sid)] == [sid]
    assert versions_of(root / "sessions" / "other") == [1]


def test_a_migration_keeps_damage_revisions_and_tombstones(later, root, folder, sid):
    later.update_memory(sid, later.get_entries(sid)[0].id, content="revised")
    log = folder / "memory.jsonl"
    damaged = b'{"v":1,"id":"mem_x","torn'
    log.write_bytes(log.read_bytes() + damaged + b"\n" + independent.mark(6, "tombstone", "m6"))
    before = later.get_entries(sid)
    later.migrate()
    again = open_second(RealDisk(str(root)))
    after = again.get_entries(sid)
    assert list(map(told, after)) == list(map(told, before))
    assert len(after.warnings) == len(before.warnings) == 1
    assert damaged in b"".join(path.read_bytes() for path in folder.glob("*.jsonl"))
    assert again.get_statistics(sid).revisions == 1
    assert again.add_memory(sid, content="after").seq == 7


def test_a_torn_tail_is_sealed_by_a_migration_as_by_the_next_writer(later, folder, sid):
    with (folder / "memory.jsonl").open("ab") as log:
        log.write(b'{"v":1,"id":"mem_torn","ses')
    later.migrate()
    assert [one.seq for one in later.get_entries(sid)] == [1, 2, 3]
    assert later.add_memory(sid, content="after").seq == 5


def test_fields_that_nobody_knows_survive_a_migration(later, folder, sid):
    strange = independent.build(1, "m1", "x", mood="good", metadata={"a": 1.5})
    (folder / "memory.jsonl").write_bytes(strange)
    later.migrate()
    (record,) = independent.records(folder)
    assert (record["mood"], record["metadata"], record["access_count"]) == ("good", {"a": 1.5}, 0)
    assert next(iter(record)) == "v"
    assert list(record)[-2:] == ["seq", "sum"]


def test_logs_of_one_file_are_migrated_too(root, memory):
    memory.update_preference(None, scope="shared", key="k", value="v")
    memory.update_preference(None, scope="user", user_id="u1", key="k", value="v")
    second = open_second(RealDisk(str(root)))
    second.update_preference(None, scope="shared", key="l", value="w")
    done = {one.log: (one.status, one.lines) for one in second.migrate()}
    assert done == {SHARED: ("rewritten", 1), LogKey("user", "u1"): ("rewritten", 1)}
    shared = (root / "shared" / "knowledge.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["v"] for line in shared] == [2, 2]
    assert all(map(independent.is_intact, shared))
    kept = [json.loads(msgspec.json.encode(one)) for one in second.get_preferences(user_id="u1")]
    assert {one["content"]["key"] for one in kept} == {"k", "l"}
    assert {one.status for one in second.migrate()} == {"current"}


def test_a_newer_version_is_read_but_not_written_to(later, root, folder, sid):
    later.add_memory(sid, content="new")
    with Memory.open(root, environ={}) as older:
        assert [one.content for one in older.get_entries(sid)][-1] == "new"
        for refused in (
            lambda: older.add_memory(sid, content="old"),
            lambda: older.update_session(sid, metadata={"a": 1}),
            lambda: older.compact_session(sid),
        ):
            with pytest.raises(InvalidFormatError, match="newer mnemolog"):
                refused()
        assert [one.status for one in older.migrate()] == ["newer"]
    assert versions_of(folder) == [1, 1, 1, 2]


def test_a_newer_version_is_not_written_to_after_its_segment_was_sealed(later, root, folder, sid):
    later.add_memory(sid, content="new")
    later.migrate()
    assert (folder / "memory.g2.2.jsonl").read_bytes() == b"", "no line of version 2 to be seen"
    with Memory.open(root, environ={}) as older, pytest.raises(InvalidFormatError):
        older.add_memory(sid, content="old")


def test_a_log_of_one_file_is_not_written_to_after_a_newer_line(root, memory):
    second = open_second(RealDisk(str(root)))
    second.update_preference(None, scope="shared", key="k", value="v")
    with pytest.raises(InvalidFormatError, match="newer mnemolog"):
        memory.update_preference(None, scope="shared", key="l", value="w")


def test_steps_are_taken_one_after_the_other_from_where_a_line_stands():
    taken = []

    def step(number):
        def up(fields):
            taken.append(number)
            return {**fields, "reason": f"{fields.get('reason', '')}{number}"}

        return Step(up)

    third = Versions(step(1), step(2))

    def reached(version):
        found = third.entry(
            independent.seal({**json.loads(independent.build(1, "m1")), "v": version})
        )
        return found and (found.v, found.reason)

    assert reached(1) == (3, "12")
    assert taken == [1, 2]
    assert reached(2) == (3, "2")
    assert reached(9) == (9, None)


SPELLINGS = [{"schema_version": 1}, {"version": 1}, {"version": "1.0"}, {"v": "1.0"}]


@pytest.mark.req("S002-202")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_versions_of_the_source_documents_are_understood(spelling):
    record = json.loads(independent.build(1, "m1"))
    rest = {name: value for name, value in record.items() if name not in ("v", "sum")}
    found = lines.entry(independent.seal({**spelling, **rest}))
    assert found is not None
    assert (found.v, found.id) == (1, "m1")
    facts = {name: value for name, value in MANIFEST.items() if name != "v"}
    manifest = manifests.parse(json.dumps({**spelling, **facts}).encode(), "sessions/talk")
    assert (manifest.v, manifest.session_id) == (1, "talk")


@pytest.mark.parametrize("version", [0, -1, True, None, 1.5, "one", "", [], {}, "1" * 40])
def test_what_is_no_version_is_no_line_and_no_manifest(version):
    record = json.loads(independent.build(1, "m1"))
    assert lines.entry(independent.seal({**record, "v": version})) is None
    with pytest.raises(Exception, match="cannot be read"):
        manifests.parse(json.dumps({**MANIFEST, "v": version}).encode(), "sessions/talk")
