"""What lies beside a log travels with it: what compactions moved out, and the notes of use."""

import json
import shutil
from datetime import timedelta

import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidFormatError
from tests.stores.native_files import MANIFEST, dumped, export, held, log

SECOND = {**MANIFEST, "generation": 2, "markers": {"moved": [2]}}


def beside(root) -> dict[str, bytes]:
    """Everything but the index, the intents and what is made for each root anew."""
    uses = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("access.jsonl")}
    kept = (root / "archive").glob("*.g*.gz")
    gone = {f"archive/{path.name}": path.read_bytes() for path in kept}
    return {**held(root), **uses, **gone}


@pytest.fixture
def aged(root, clock):
    """A session out of which two compactions moved something, hidden things too, with uses."""
    with Memory.open(root, clock=clock, environ={}) as memory:
        memory.create_session("u1", session_id="Über all")
        for number in range(6):
            memory.add_memory(
                "Über all", id=f"m{number}", type="note", content=f"faded {number} 日本",
                importance=0.001 if number % 2 else 0.9,
            )  # fmt: skip
        memory.update_memory("Über all", "m1", content="revised, then faded")
        clock.moment += timedelta(days=400)
        assert memory.compact_session("Über all").archived == 3
        memory.add_memory("Über all", id="late", type="note", content="late", importance=0.001)
        clock.moment += timedelta(days=400)
        assert memory.compact_session("Über all").archived >= 1
        with memory.run("Über all", run_id="open") as run:
            run.save("session", "a note", id="noted")
            for _ in range(3):
                run.get("session")
            yield memory


@pytest.mark.req("S002-100")
@pytest.mark.parametrize("is_archived", [False, True], ids=["live", "archived"])
def test_what_was_moved_out_and_the_uses_come_back_to_the_byte(aged, root, tmp_path, is_archived):
    before = beside(root)
    before = {name: content for name, content in before.items() if "/runs/" not in name}
    assert sum(name.startswith("archive/") for name in before) == 2
    if is_archived:
        aged.end_run("Über all", "open")
        aged.archive_session("Über all")
    done = aged.export_native(tmp_path / "all.jsonl")
    assert (done.logs, done.moved, done.uses, done.left_out) == (1, 4, 12, ())
    aged.close()
    shutil.rmtree(root)
    with Memory.open(root, environ={}) as fresh:
        (taken,) = fresh.import_native(tmp_path / "all.jsonl").logs
        assert (taken.status, taken.moved) == ("stored", 4)
        assert beside(root) == before
        found = fresh.get_memory("Über all", "m1")
        assert found is not None
        assert found.text == "revised, then faded"
        assert fresh.run("Über all").uses("session")["noted"] == 3
        assert fresh.erase("Über all", ids=["m1"]).places["archive"] == 1


def test_importing_twice_counts_no_use_twice_and_adds_only_what_is_missing(aged, root, tmp_path):
    aged.export_native(tmp_path / "all.jsonl")
    before = beside(root)
    assert aged.import_native(tmp_path / "all.jsonl").logs[0].moved == 0
    assert beside(root) == before
    (root / min(name for name in before if name.startswith("archive/"))).unlink()
    (taken,) = aged.import_native(tmp_path / "all.jsonl").logs
    assert (taken.status, taken.moved) == ("present", 3)
    assert beside(root) == before


def test_a_dry_run_stores_nothing_of_what_lies_beside(aged, root, tmp_path, clock):
    aged.export_native(tmp_path / "all.jsonl")
    with Memory.open(tmp_path / "other", clock=clock, environ={}) as other:
        assert other.import_native(tmp_path / "all.jsonl", dry_run=True).logs[0].lines > 0
        assert beside(tmp_path / "other") == {}


def test_a_damaged_file_of_the_archive_is_named_and_left_out(aged, root, tmp_path):
    path = min((root / "archive").glob("*.gz"))
    path.write_bytes(path.read_bytes()[:30])
    done = aged.export_native(tmp_path / "all.jsonl")
    assert done.left_out == (f"archive/{path.name}",)
    assert done.moved == 1


def moved_part(generation: object, **changes: object) -> bytes:
    whole = log([], kind="user", id="x").splitlines()[1]
    end = {**json.loads(whole), **changes}
    return dumped({"mnemolog": "moved", "generation": generation}, end)


USE = {"mnemolog": "use", "id": "a", "at": MANIFEST["created_at"]}
HOSTILE = {
    "of a generation that the manifest does not name": moved_part(3),
    "of a generation that is none": moved_part(0),
    "of a generation with a path": moved_part("../2"),
    "twice": moved_part(2) + moved_part(2),
    "with a wrong sum": moved_part(2, sum="sha256:" + "0" * 64),
    "with a note of use in it": dumped({"mnemolog": "moved", "generation": 2}, USE),
    "uses that are lines": dumped({"mnemolog": "uses"}, {"v": 1, "id": "x"}),
    "uses that do not end": dumped({"mnemolog": "uses"}, USE),
}


@pytest.mark.parametrize("part", HOSTILE.values(), ids=HOSTILE)
def test_whatever_does_not_belong_beside_a_log_is_refused_and_nothing_is_stored(
    memory, root, tmp_path, part
):
    (tmp_path / "x.jsonl").write_bytes(export(log([], SECOND) + part))
    with pytest.raises(InvalidFormatError):
        memory.import_native(tmp_path / "x.jsonl")
    assert beside(root) == {}


def test_only_the_log_of_a_session_has_something_beside_it(memory, root, tmp_path):
    (tmp_path / "x.jsonl").write_bytes(export(log([], kind="user", id="u1") + moved_part(2)))
    with pytest.raises(InvalidFormatError, match="follow the log of a session"):
        memory.import_native(tmp_path / "x.jsonl")


def test_what_was_erased_from_the_archive_does_not_come_back(memory, sid, tmp_path, clock):
    memory.add_memory(sid, id="kept", type="note", content="stays", importance=0.9)
    memory.add_memory(sid, id="faint", type="note", content="words that faded", importance=0.001)
    clock.advance(days=400)
    assert memory.compact_session(sid).archived == 1
    memory.export_native(tmp_path / "before.jsonl")
    memory.erase(sid, ids=["faint"])
    (taken,) = memory.import_native(tmp_path / "before.jsonl").logs
    assert (taken.status, taken.moved) == ("present", 0)
    assert memory.get_memory(sid, "faint") is None
    assert memory.verify_erasure(text="words that faded").clean
