"""Ten writers go on while a root is backed up, exported and migrated."""

import subprocess
import sys
from pathlib import Path

from mnemolog import Memory
from mnemolog.fs.real import RealDisk
from mnemolog.stores.files.moving.restoring import restore_root
from tests.log.independent import records
from tests.log.second import open_second
from tests.memory.crowds import Crowd, Noted, acknowledged, check_log

HERE = Path(__file__).parent
SECOND = HERE / "memory" / "second_writers.py"


def test_a_backup_holds_everything_acknowledged_before_it_began(root, tmp_path):
    settings = {"storage.segment_size_mb": 0.005, "concurrency.lock_timeout_ms": 60_000}
    (tmp_path / "noted").touch()
    with Memory.open(root, environ={}, settings=settings) as memory:
        memory.create_session(session_id="talk")
        crowd = Crowd(root, "talk", tmp_path / "noted", name="w", processes=10, threads=1, count=20)
        made: list[tuple[Path, list[Noted]]] = []
        while len(made) < 3:
            before = acknowledged(tmp_path / "noted")
            target = tmp_path / f"{len(made)}.tar.gz"
            memory.backup(target)
            memory.export_native(f"{target}.jsonl")
            made.append((target, before))
        crowd.finish()
    assert len(made[0][1]) < len(acknowledged(tmp_path / "noted")) == 200
    for target, before in made:
        new = tmp_path / f"from {target.name}"
        restore_root(str(target), str(new))
        check_log(new / "sessions" / "talk", before)
        check_prefix(new / "sessions" / "talk", root / "sessions" / "talk")
        with Memory.open(tmp_path / f"in {target.name}", environ={}) as fresh:
            fresh.import_native(f"{target}.jsonl")
        check_log(tmp_path / f"in {target.name}" / "sessions" / "talk", before)
    with Memory.open(new, environ={}) as restored:
        assert restored.add_memory("talk", content="goes on").durable
        first = restored.get_entries("talk")[0]
        assert restored.query("talk", text=first.content)


def check_prefix(copy: Path, whole: Path) -> None:
    """What was copied is exactly how the log began."""
    rows = records(copy)
    assert rows == records(whole)[: len(rows)]


def test_ten_writers_lose_nothing_while_their_log_is_migrated(root, tmp_path):
    with Memory.open(root, environ={}) as memory:
        memory.create_session(session_id="talk")
        memory.add_many("talk", [{"content": f"old {n}", "type": "note"} for n in range(200)])
    noted = tmp_path / "noted"
    arguments = [str(root), "talk", "10", "15", str(noted)]
    crowd = subprocess.Popen(
        [sys.executable, str(SECOND), *arguments],
        cwd=HERE.parent,
        env={"PYTHONPATH": ":".join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    while not acknowledged(noted):
        assert crowd.poll() is None
    second = open_second(RealDisk(str(root)))
    done = second.migrate()
    again = second.migrate()
    _, errors = crowd.communicate(timeout=120)
    assert (crowd.returncode, errors) == (0, "")
    assert [one.status for one in (*done, *again)] == ["rewritten", "current"]
    check_log(root / "sessions" / "talk", acknowledged(noted))
    rows = records(root / "sessions" / "talk")
    assert len(acknowledged(noted)) == 150
    assert len(rows) == 350
    assert {row["v"] for row in rows} == {2}
    assert [row["content"] for row in rows[:200]] == [f"old {n}" for n in range(200)]
