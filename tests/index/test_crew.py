"""Two programs that share the work of an index make the same of it as one alone."""

import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.embedders import open_embedder
from mnemolog.index import catch_up, crew, rounds
from mnemolog.index.build import identity_of
from mnemolog.index.crew import Crew, Piece, program
from mnemolog.index.working import Texts, Worked
from mnemolog.stores.files import second
from tests.index.searching import scored, steady

WORDS = "alpha beta gamma delta running cats mice naïve 数据库 the of and auth_flow x1".split()
STATIC = identity_of(open_embedder("static"))

# What a second program may be: each is asked for pieces and does something else.
DIES = "print(sys.argv[1], flush=True); sys.stdin.buffer.read(10); import os; os._exit(1)"
LIES = "print(sys.argv[1], flush=True); sys.stdin.buffer.read(10); print('no' * 9999, flush=True)"
HANGS = "print(sys.argv[1], flush=True); import time; time.sleep(600)"


class Patient(Crew):
    """Leaves everything to the second one that was started."""

    def done(self, pieces: Sequence[Piece]) -> list[Worked]:
        """What became of some pieces."""
        end = time.monotonic() + 120
        while self._thread and self._thread.is_alive() and (self._open or self._away):
            assert time.monotonic() < end, "the second one does nothing"
            time.sleep(0.001)
        return super().done(pieces)


def pieces(count: int = 6, rows: int = 40, words: int = 12) -> list[Texts]:
    source = random.Random(7)
    return [
        Texts([" ".join(source.choices(WORDS, k=words)) for _ in range(rows)], ["tag 2026"] * rows)
        for _ in range(count)
    ]


def worked_by(
    kind: type[Crew], command: Sequence[str], monkeypatch: Any
) -> tuple[list[Worked], list[int | None]]:
    """What a crew makes of some texts, and how its second one ended."""
    started = counted_starts(monkeypatch)
    monkeypatch.setattr(crew, "ENOUGH", 0)
    with kind(open_embedder("static"), command, STATIC) as opened:
        found = opened.done([opened.give(piece) for piece in pieces()])
    return found, [one.poll() for one in started]


def counted_starts(monkeypatch: Any) -> list[subprocess.Popen[bytes]]:
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def noted(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(start(*args, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", noted)
    return started


def plain(found: list[Worked]) -> list[Any]:
    """The same in a form that can be compared; who tells a word first does not matter."""
    forms = {word: term for one in found for word, term in one.forms.items()}
    return [
        forms,
        *(
            [
                *(column.tolist() for column in one.terms),
                one.lengths.tolist(),
                [column.tolist() for column in one.vectors or ()],
            ]
            for one in found
        ),
    ]


def alone() -> list[Any]:
    with Crew(open_embedder("static")) as opened:
        return plain(opened.done([opened.give(piece) for piece in pieces()]))


def test_a_second_program_works_out_the_same(monkeypatch):
    found, ends = worked_by(Patient, second.command("static"), monkeypatch)
    assert plain(found) == alone()
    assert len(ends) == 1, "one was started"
    assert ends[0] is not None, "and is gone"


def test_pieces_that_fit_into_no_pipe_are_worked_out_there_too(monkeypatch):
    monkeypatch.setattr(crew, "ENOUGH", 0)
    large = pieces(3, 8, 40_000)
    assert all(len(" ".join(one.said)) > crew._ROOM for one in large)
    own: list[Texts] = []
    monkeypatch.setattr(crew.Crew, "_work_out", lambda _, piece: own.append(piece.texts))
    with Patient(None, second.command("none"), identity_of(None)) as opened:
        found = opened.done([opened.give(piece) for piece in large])
    assert len(found) == 3
    assert own == [], "the second one did all of them"


@pytest.mark.parametrize("source", [DIES, LIES, "sys.exit(3)", "print('someone else')"])
def test_one_that_dies_or_is_another_one_does_no_harm(source, monkeypatch):
    found, ends = worked_by(Patient, program(source, STATIC), monkeypatch)
    assert plain(found) == alone()
    assert len(ends) == 1
    assert ends[0] is not None


def test_one_that_hangs_is_ended_and_its_piece_done_here(monkeypatch):
    monkeypatch.setattr(crew, "_PATIENCE", 0.2)

    class Ready(Crew):
        def done(self, pieces: Sequence[Piece]) -> list[Worked]:
            while not self._away:
                time.sleep(0.001)
            return super().done(pieces)

    found, ends = worked_by(Ready, program(HANGS, STATIC), monkeypatch)
    assert plain(found) == alone()
    assert ends == [-9]


def test_where_none_can_be_started_one_works_alone(monkeypatch):
    found, ends = worked_by(Crew, ["/nowhere/python"], monkeypatch)
    assert plain(found) == alone()
    assert ends == []


def test_it_ends_when_whoever_asked_is_gone():
    command = second.command("none")
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    written, _ = running.communicate(timeout=120)
    assert written == f"{identity_of(None)}\n".encode()
    assert running.returncode == 0


def test_a_program_that_is_no_python_has_no_second_one(monkeypatch):
    assert second.command("static")[0] == sys.executable
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert second.command("static") == []
    monkeypatch.undo()
    for name in ("/usr/bin/some-server", "", None):
        monkeypatch.setattr(sys, "executable", name)
        assert second.command("static") == []


def fill(root: Path, entries: int) -> None:
    source = random.Random(3)
    with Memory.open(root, settings={"storage.durability": "os"}, environ={}) as memory:
        for number in range(0, entries, 100):
            sid = memory.create_session(session_id=f"s{number}", user_id="u1").id
            texts = [" ".join(source.choices(WORDS, k=9)) for _ in range(min(100, entries))]
            memory.add_many(sid, [{"id": f"m{n}", "content": text, "tags": ["a.b"]}
                                  for n, text in enumerate(texts)])  # fmt: skip
            memory.add_memory(sid, id="m3", content="a later revision, auth* and all")
            memory.delete_memory(sid, "m4")


def content(root: Path) -> dict[str, Any]:
    """Everything that an index holds, but for what names this build of it."""
    with closing(sqlite3.connect(root / "index" / "index.db")) as db, db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE sql > ''")]
        rows = {
            name: db.execute(f"SELECT * FROM {name}").fetchall()
            for name in sorted(tables)
            if not db.execute("SELECT type = 'index' FROM sqlite_master WHERE name = ?",
                              (name,)).fetchone()[0]
        }  # fmt: skip
    rows["meta"] = [row for row in rows["meta"] if row[0] != "build"]
    rows["model"] = [(name, size, embedded) for name, _, size, embedded, *_ in rows["model"]]
    columns = {path.name.split(".")[0]: path.read_bytes() for path in root.glob("index/*.col")}
    return {**rows, **columns}


def test_the_index_of_two_is_that_of_one_to_the_last_byte(root, clock, monkeypatch):
    fill(root, 1200)
    monkeypatch.setattr(rounds, "ROUND", 300)  # several, so that one is read while another waits
    with steady(root, clock) as memory:
        memory.rebuild_index()
        before = scored(memory.query(None, text="running auth* 数据", limit=50))
        assert len(before) == 50
    one = content(root)
    started = counted_starts(monkeypatch)
    monkeypatch.setattr(rounds, "PIECE", 128)
    monkeypatch.setattr(crew, "ENOUGH", 256)
    monkeypatch.setattr(catch_up, "Crew", Patient)
    with Memory.open(root, clock=clock, environ={}) as memory:
        memory.rebuild_index()
    assert len(started) == 1
    two = content(root)
    assert two.keys() == one.keys()
    assert [name for name in one if one[name] != two[name]] == []
    with steady(root, clock) as memory:
        assert scored(memory.query(None, text="running auth* 数据", limit=50)) == before


def test_a_small_store_starts_nothing(root, clock, monkeypatch):
    fill(root, 1000)
    started = counted_starts(monkeypatch)
    with Memory.open(root, clock=clock, environ={}) as memory:
        assert memory.rebuild_index() > 900
        assert memory.query(None, text="alpha")
    assert started == []
