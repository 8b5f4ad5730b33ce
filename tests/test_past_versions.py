"""Every version of the format that was ever written is read forever.

`tests/fixtures/v<N>` was written by the program of that version and is never changed: a root with
revisions, deletions, a torn tail and a damaged line, an export and a backup made before the damage,
and what its reader saw. A new version adds a folder.
"""

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from mnemolog import Memory
from mnemolog.model.entry import FORMAT
from mnemolog.stores.files.moving.restoring import restore_root

FIXTURES = Path(__file__).parent / "fixtures"

every_version = pytest.mark.parametrize("version", range(1, FORMAT + 1))


def expected(version: int) -> dict:
    return json.loads((FIXTURES / f"v{version}" / "expected.json").read_text(encoding="utf-8"))


def as_then(entry, like: dict) -> dict:
    """The fields that the entry had then; it may have more by now."""
    now = json.loads(msgspec.json.encode(entry))
    return {name: now.get(name) for name in like if name != "v"} | {"v": like["v"]}


def check(memory: Memory, wanted: dict, *, is_damaged: bool) -> None:
    assert {one.id for one in memory.list_sessions()} == set(wanted["sessions"])
    for name, facts in wanted["sessions"].items():
        session = memory.load_session(name)
        for field in ("user_id", "metadata", "preferences", "settings", "state", "created_at"):
            assert getattr(session, field) == facts[field]
        assert list(session.agent_ids) == facts["agent_ids"]
        found = memory.get_entries(name)
        if is_damaged or name != "damaged":
            assert [as_then(*pair) for pair in zip(found, facts["entries"], strict=True)] == (
                facts["entries"]
            )
            assert len(found.warnings) == (facts["damaged"] if is_damaged else 0)
            assert memory.get_statistics(name).revisions == facts["revisions"]
    kept = memory.get_preferences(user_id="ann")
    assert [as_then(*pair) for pair in zip(kept, wanted["preferences"], strict=True)] == (
        wanted["preferences"]
    )


@pytest.fixture
def old(tmp_path, version):
    shutil.copytree(FIXTURES / f"v{version}" / "root", tmp_path / "root")
    with Memory.open(tmp_path / "root", environ={}) as memory:
        yield memory


@every_version
@pytest.mark.req("S002-203")
def test_a_root_of_every_past_version_is_read(old, version):
    check(old, expected(version), is_damaged=True)


@every_version
def test_a_root_of_every_past_version_is_written_to(old, version):
    for session in old.list_sessions():
        before = [one.id for one in old.get_entries(session.id)]
        receipt = old.add_memory(session.id, content="today")
        assert receipt.durable
        assert [one.id for one in old.get_entries(session.id)] == [*before, receipt.id]
    assert old.undelete("Deleted & Back", ["n0"]).ids == ("n0",)
    assert old.query("revised", text="PostgreSQL")[0].entry.id == "m2"


@every_version
@pytest.mark.req("S002-206")
def test_a_root_of_every_past_version_is_migrated(old, version):
    assert {one.status for one in old.migrate()} <= {"rewritten", "current"}
    check(old, expected(version), is_damaged=True)


@every_version
def test_an_export_of_every_past_version_is_imported(tmp_path, version):
    with Memory.open(tmp_path / "new", environ={}) as memory:
        report = memory.import_native(FIXTURES / f"v{version}" / "export.jsonl")
        assert {one.status for one in report.logs} == {"stored"}
        check(memory, expected(version), is_damaged=False)


@every_version
def test_a_backup_of_every_past_version_is_restored(tmp_path, version):
    restore_root(str(FIXTURES / f"v{version}" / "backup.tar.gz"), str(tmp_path / "new"))
    with Memory.open(tmp_path / "new", environ={}) as memory:
        check(memory, expected(version), is_damaged=False)
