"""After a reboot, a power loss, a kill: the index is complete, or made so."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from mnemolog import Memory
from tests.index.searching import HERE, ids, leave_mark, reopened, scored, steady
from tests.log.independent import build

KILLED = HERE / "killed.py"


def set_boot(root: Path, value: str) -> None:
    with closing(sqlite3.connect(root / "index" / "index.db")) as db, db:
        changed = db.execute("UPDATE meta SET value = ? WHERE key = 'boot'", (value,)).rowcount
    db.close()
    assert changed == 1


def test_after_a_reboot_a_write_whose_mark_was_lost_is_found(memory, sid, root, folder):
    memory.add_memory(sid, id="m1", content="one")
    assert len(memory.query(sid)) == 1
    memory.close()
    with (folder / "memory.jsonl").open("ab") as file:
        file.write(build(2, "m2", "two"))
    shutil.rmtree(root / "index" / "dirty")
    set_boot(root, "another start of the machine")
    with reopened(root) as again:
        assert sorted(ids(again.query(sid))) == ["m1", "m2"]
        assert sorted(one.id for one in again.list_sessions()) == [sid]


def test_after_a_power_loss_columns_that_never_reached_the_disk_are_noticed(memory, sid, root):
    """The database may have been synced when its neighbours were not: their bytes are zeros."""
    memory.add_many(sid, [{"id": f"m{n}", "content": f"word {n}"} for n in range(20)])
    before = scored(memory.query(sid, text="word"))
    memory.close()
    for path in (root / "index").glob("*.col"):
        path.write_bytes(bytes(path.stat().st_size))
    set_boot(root, "another start of the machine")
    with reopened(root, clock=memory._clock) as again:
        assert sorted(ids(again.query(sid, text="word"))) == sorted(one[0] for one in before)


def test_without_a_reboot_only_marked_logs_are_read(memory, sid, root, folder):
    memory.add_memory(sid, id="m1", content="one")
    with steady(root) as first:
        assert len(first.query(sid)) == 1
    with (folder / "memory.jsonl").open("ab") as file:
        file.write(build(2, "m2", "two"))
    with steady(root) as again:
        assert ids(again.query(sid)) == ["m1"], "nobody said that there is news"
        leave_mark(root, sid)
        assert len(again.query(sid)) == 2


def test_a_reader_killed_again_and_again_leaves_an_index_that_is_complete(memory, root, clock):
    """Readers are killed at random calls of catching up; the next one finds all."""
    done = subprocess.run(
        [sys.executable, str(KILLED), str(root), "14", "7"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["killed"] >= 10, "most of them did not come to their end"
    assert sorted(ids(memory.query(None, limit=1000))) == sorted(told["written"])
    with steady(root, clock) as other:
        kept = rankings(other)
        other.rebuild_index()
        assert rankings(other) == kept


def rankings(memory: Memory) -> list[Any]:
    return [
        sorted(scored(memory.query(session, text=text, limit=1000)))
        for session in ("a", "b", "c")
        for text in ("", "word", "again 7")
    ]
