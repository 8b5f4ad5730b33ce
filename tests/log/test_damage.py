"""Torn tails, damaged lines, lines of a newer format: reported, kept, never written over."""

import json

import pytest

from mnemolog.errors import CorruptionError, InvalidFormatError, SessionCorruptError
from mnemolog.log import quarantine
from mnemolog.model.entry import Damage
from mnemolog.ports import LogKey
from mnemolog.testing import SimulatedDisk
from tests.log.independent import build, is_intact, mark, raw_lines, seal


@pytest.fixture
def log(folder):
    return folder / "memory.jsonl"


def contents(memory, sid):
    return [one.content for one in memory.get_entries(sid)]


@pytest.mark.req("S002-137")
@pytest.mark.parametrize("length", [1, 40, 200])
def test_a_torn_tail_is_ignored_and_sealed(memory, sid, log, length):
    torn = build(2, "m2", "never acknowledged " * 10)[:length]
    log.write_bytes(build(1, "m1", "whole") + torn)
    before = memory.get_entries(sid)
    assert [one.content for one in before] == ["whole"]
    assert before.warnings == (), "a write in progress is nobody's fault"
    memory.add_memory(sid, content="next")
    assert contents(memory, sid) == ["whole", "next"]
    whole, sealed, after = log.read_bytes().removesuffix(b"\n").split(b"\n")
    assert sealed == torn
    assert is_intact(whole)
    assert is_intact(after)


def test_a_tail_that_lacks_only_its_newline_is_not_there_until_it_is_sealed(memory, sid, log):
    log.write_bytes(build(1, "m1", "whole") + build(2, "m2", "unterminated").rstrip(b"\n"))
    assert contents(memory, sid) == ["whole"]
    receipt = memory.add_memory(sid, content="next")
    assert receipt.seq == 3
    assert contents(memory, sid) == ["whole", "unterminated", "next"]


def test_a_torn_batch_leaves_its_complete_lines(memory, sid, log):
    log.write_bytes(build(1, "m1", "one") + build(2, "m2", "two") + build(3, "m3", "three")[:-50])
    assert contents(memory, sid) == ["one", "two"]
    assert memory.add_memory(sid, content="next").seq > 2


@pytest.mark.req("S001-156", "S002-105", "S002-129", "S002-130")
def test_a_damaged_line_is_reported_kept_aside_and_reading_goes_on(memory, sid, root, log):
    bad = build(2, "m2", "damaged").replace(b"damaged", b"DAMAGED")
    log.write_bytes(build(1, "m1", "one") + bad + build(3, "m3", "three"))
    found = memory.get_entries(sid)
    assert [one.content for one in found] == ["one", "three"]
    (warning,) = found.warnings
    assert "memory.jsonl" in warning
    assert str(len(build(1, "m1", "one"))) in warning, "where the damage is"
    assert "DAMAGED" not in warning
    assert memory.get_statistics(sid).corrupted_lines == 1
    (kept,) = (root / "quarantine").iterdir()
    assert kept.read_bytes() == bad.rstrip(b"\n")
    assert log.read_bytes().split(b"\n")[1] == bad.rstrip(b"\n"), "and nothing is cut from the log"


def test_damage_is_quarantined_once_however_often_it_is_read(memory, sid, root, log):
    log.write_bytes(b"garbage\n" + build(1, "m1"))
    for _ in range(3):
        assert len(memory.get_entries(sid).warnings) == 1
    memory.close()
    memory.get_entries(sid)
    assert len(list((root / "quarantine").iterdir())) == 1


def test_a_copy_of_damage_that_a_crash_left_in_part_is_made_again(memory, sid, root, log):
    log.write_bytes(b"garbage\n" + build(1, "m1"))
    memory.get_entries(sid)
    (kept,) = (root / "quarantine").iterdir()
    kept.write_bytes(b"\0\0\0bage")
    memory.close()
    memory.get_entries(sid)
    assert kept.read_bytes() == b"garbage"


def test_a_copy_is_synced_before_the_bytes_leave_the_log():
    """Whoever made it may have been killed between writing and syncing."""
    disk, content, seen = SimulatedDisk(), b"garbage", list[tuple[str, str]]()
    disk.mkdir("quarantine")
    damage = Damage(segment="memory.jsonl", offset=0, length=len(content), why="torn")
    path = quarantine.path_of("talk", damage, content)
    disk.open(path, "create").append(content)
    disk.before_operation = lambda operation, path: seen.append((operation, path))
    assert quarantine.keep(disk, "talk", damage, content)
    assert not seen, "a reader finds it there"
    assert quarantine.keep(disk, "talk", damage, content, is_leaving=True)
    assert seen == [("sync", path), ("sync_folder", "quarantine")]


@pytest.mark.req("S001-156")
def test_a_session_with_damage_goes_on_being_written_to(memory, sid, log):
    log.write_bytes(build(1, "m1", "one") + b"garbage\n")
    receipt = memory.add_memory(sid, content="next")
    assert receipt.seq == 3, "a damaged line uses up its number"
    assert contents(memory, sid) == ["one", "next"]


@pytest.mark.parametrize(
    "garbage",
    [b"\x00" * 4096, b"{}", b"[1,2]", b"null", b"\xff\xfe", b'{"v":1,"id":"m9"}', b"{" * 5000],
    ids=["zeros", "object", "list", "null", "not-utf8", "no-sum", "brackets"],
)
def test_any_garbage_between_lines_is_skipped(memory, sid, log, garbage):
    log.write_bytes(build(1, "m1", "one") + garbage + b"\n" + build(3, "m3", "three"))
    found = memory.get_entries(sid)
    assert [one.content for one in found] == ["one", "three"]
    assert len(found.warnings) == 1


def test_a_good_line_glued_to_damage_is_salvaged(memory, sid, root, log):
    glued = build(2, "m2", "two").rstrip(b"\n")[:70] + build(3, "m3", "three")
    log.write_bytes(build(1, "m1", "one") + glued + build(4, "m4", "four"))
    found = memory.get_entries(sid)
    assert [one.content for one in found] == ["one", "three", "four"]
    assert len(found.warnings) == 1
    (kept,) = (root / "quarantine").iterdir()
    assert kept.read_bytes() == build(2, "m2", "two")[:70]


def test_a_salvaged_lines_number_is_never_used_again(memory, sid, log):
    glued = build(2, "m2", "two").rstrip(b"\n")[:70] + build(3, "m3", "three")
    log.write_bytes(build(1, "m1", "one") + glued)
    assert memory.add_memory(sid, content="four").seq > 3
    seqs = [one.seq for one in memory.get_entries(sid)]
    assert seqs == sorted(set(seqs))


def test_damage_in_a_users_log_is_reported_with_the_preferences(memory, sid, root):
    memory.update_preference(sid, key="k", value="v", scope="user")
    with (root / "users" / "u1" / "preferences.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    found = memory.get_preferences(sid)
    assert [one.content["value"] for one in found] == ["v"]
    assert len(found.warnings) == 1


def test_a_line_inside_a_content_is_not_mistaken_for_a_line(memory, sid):
    inner = build(9, "inner", "never stored").decode()
    receipt = memory.add_memory(sid, content=inner)
    assert [one.id for one in memory.get_entries(sid)] == [receipt.id]


@pytest.mark.req("S002-105")
def test_an_intact_line_that_is_no_entry_is_reported_too(memory, sid, log):
    strange = seal({"v": 1, "id": "m2", "timestamp": "2026-11-15T09:00:00.000Z", "type": "note",
                    "origin": "agent", "content": [1, 2], "seq": 2})  # fmt: skip
    log.write_bytes(build(1, "m1", "one") + strange + build(3, "m3", "three"))
    found = memory.get_entries(sid)
    assert [one.content for one in found] == ["one", "three"]
    assert len(found.warnings) == 1, "what is skipped is never skipped silently"


def test_a_line_of_a_newer_format_is_read_and_never_written_after(memory, sid, log):
    newer = build(2, "m2", "from the future", v=2, mood="bright")
    log.write_bytes(build(1, "m1", "one") + newer)
    assert contents(memory, sid) == ["one", "from the future"]
    for write in (
        lambda: memory.add_memory(sid, content="no"),
        lambda: memory.update_memory(sid, "m1", tags=["no"]),
        lambda: memory.update_session(sid, metadata={"no": 1}),
    ):
        with pytest.raises(InvalidFormatError, match="newer") as caught:
            write()
        assert "Upgrade" in caught.value.advice
    assert log.read_bytes().endswith(newer)
    assert len(raw_lines(log.parent)) == 2


def test_a_newer_line_is_found_below_damage(memory, sid, log):
    log.write_bytes(build(1, "m1", "new", v=2) + b"garbage\n")
    with pytest.raises(InvalidFormatError, match="newer"):
        memory.add_memory(sid, content="no")


def test_a_manifest_of_a_newer_format_is_read_and_never_written(memory, sid, folder):
    memory.add_memory(sid, content="one")
    path = folder / "manifest.json"
    newer = json.loads(path.read_bytes()) | {"v": 2, "mood": "bright"}
    path.unlink()
    path.write_text(json.dumps(newer))
    assert contents(memory, sid) == ["one"]
    assert memory.load_session(sid).user_id == "u1"
    assert [one.id for one in memory.list_sessions()] == [sid]
    for write in (
        lambda: memory.add_memory(sid, content="no"),
        lambda: memory.update_session(sid, metadata={"no": 1}),
        lambda: memory.close_session(sid),
    ):
        with pytest.raises(InvalidFormatError, match="newer"):
            write()
    assert json.loads(path.read_bytes()) == newer
    assert len(raw_lines(folder)) == 1


def test_a_newer_line_in_a_users_log_is_never_written_after(memory, sid, root):
    memory.update_preference(sid, key="k", value="v", scope="user")
    log = root / "users" / "u1" / "preferences.jsonl"
    log.write_bytes(log.read_bytes() + build(2, "m2", "new", v=2, scope="user"))
    with pytest.raises(InvalidFormatError, match="newer"):
        memory.update_preference(sid, key="k", value="w", scope="user")


@pytest.mark.req("S001-152")
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"v":1}', b"\xff", b'{"v":"x"}'])
def test_a_manifest_that_cannot_be_read_is_a_corrupt_session(memory, sid, folder, content):
    other = memory.create_session().id
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").write_bytes(content)
    for verb in (memory.load_session, memory.get_entries, memory.get_statistics):
        with pytest.raises(SessionCorruptError, match="manifest") as caught:
            verb(sid)
        assert caught.value.advice
    assert [one.id for one in memory.list_sessions()] == [other], "the others are still listed"


@pytest.mark.req("S001-144")
def test_a_missing_segment_is_corruption_and_says_which(memory, sid, log):
    memory.add_memory(sid, content="one")
    log.unlink()
    memory.close()
    with pytest.raises(CorruptionError, match=r"memory\.jsonl") as caught:
        memory.add_memory(sid, content="two")
    assert "backup" in caught.value.advice
    with pytest.raises(CorruptionError, match="missing"):
        memory.get_entries(sid)


def spoiled(line, piece):
    """A line in which some bytes were lost."""
    assert piece in line
    return line.replace(piece, bytes(len(piece)))


LOST = [
    b'"v":1,"id":"mark_2","session_id":"talk","timestamp":"2026-11-15',
    b"tombstone",
    b"sha256:",
]


@pytest.mark.parametrize("piece", LOST, ids=["front", "type", "end"])
def test_what_was_hidden_stays_hidden_when_the_tombstone_is_damaged(memory, sid, log, piece):
    bad = spoiled(mark(2, "tombstone", "m1"), piece)
    log.write_bytes(build(1, "m1", "a secret plan") + bad)
    assert not memory.query(sid, text="secret plan"), "also to who begins to read there"
    memory.add_memory(sid, id="m3", content="another plan")
    found = memory.get_entries(sid)
    assert [one.id for one in found] == ["m3"]
    assert len(found.warnings) == 1
    assert [hit.entry.id for hit in memory.query(sid, text="secret plan")] == ["m3"]
    memory.rebuild_index()
    assert [hit.entry.id for hit in memory.query(sid, text="secret plan")] == ["m3"]
    assert memory.undelete(sid, ["m1"]).ids == ("m1",), "and can be brought back as ever"
    assert contents(memory, sid) == ["a secret plan", "another plan"]
    assert len(memory.query(sid, text="secret plan")) == 2


@pytest.mark.parametrize("piece", LOST, ids=["front", "type", "end"])
def test_a_rewrite_leaves_damage_behind_and_what_it_hides_hidden(memory, sid, log, clock, piece):
    bad = spoiled(mark(2, "tombstone", "m1"), piece)
    log.write_bytes(build(1, "m1", "a secret plan") + bad + build(3, "m3", "another plan"))
    memory.compact_session(sid)
    assert contents(memory, sid) == ["another plan"]
    assert not memory.get_entries(sid).warnings
    assert [hit.entry.id for hit in memory.query(sid, text="secret plan")] == ["m3"]
    assert memory.undelete(sid, ["m1"]).ids == ("m1",)
    assert contents(memory, sid) == ["a secret plan", "another plan"]


def test_a_rewrite_keeps_hidden_what_a_line_out_of_order_hides(memory, sid, log):
    log.write_bytes(build(9, "m1", "hidden") + mark(2, "tombstone", "m1") + build(3, "m2", "two"))
    assert contents(memory, sid) == ["two"]
    memory.compact_session(sid)
    assert contents(memory, sid) == ["two"]
    assert memory.undelete(sid, ["m1"]).ids == ("m1",)


def test_damage_hides_nothing_that_no_whole_tombstone_named(memory, sid, log):
    for bad in (
        spoiled(build(2, "m2", {"target": "m1"}), b"sha256:"),
        spoiled(mark(2, "undelete", "m1"), b"sha256:"),
        b'{"target":"m\xff1"}\n',
        mark(2, "tombstone", "m1")[:-3] + b"\n",
    ):
        log.write_bytes(build(1, "m1", "one") + bad + build(3, "m3", "three"))
        memory.close()
        assert contents(memory, sid) == ["one", "three"]


def test_damage_in_a_users_log_hides_what_it_hid_before_and_after_it_is_tidied(memory, sid, root):
    for value in ("old " * 400, "new"):
        memory.update_preference(sid, key="k", value=value, scope="user")
    (one,) = memory.get_preferences(sid)
    memory.delete(sid, ids=[one.id])
    log = root / "users" / "u1" / "preferences.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"tombstone"', b'"tombst\0ne"'))
    memory.close()
    assert not memory.get_preferences(sid)
    memory._keeper.tidy(LogKey("user", "u1"), 1, "2026-11-15T10:00:00.000Z")
    assert b"old old" not in log.read_bytes(), "it was rewritten"
    assert not memory.get_preferences(sid)
