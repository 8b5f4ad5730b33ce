"""Uses count once, wherever the process that noted them is killed."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.index.columns import Columns
from mnemolog.index.index import Index
from mnemolog.stores.files.finder import FilesFinder
from mnemolog.stores.files.uses import Uses
from tests.index.searching import steady


class KilledError(BaseException):
    """The process ended here."""


def killed(*_: object) -> Any:
    raise KilledError


def before_anything(patch: Callable[..., None], finder: FilesFinder) -> None:
    """Before anything was told to anybody."""
    patch(Index, "note", killed)
    finder._flush()


def between_the_note_and_the_file(patch: Callable[..., None], finder: FilesFinder) -> None:
    """The index knows that there will be something, and there is nothing."""
    patch(Uses, "flush", killed)
    finder._flush()


def before_they_are_counted(patch: Callable[..., None], finder: FilesFinder) -> None:
    """They are written down, and nobody has read them."""
    finder._flush()
    killed()


def before_they_reach_the_columns(patch: Callable[..., None], finder: FilesFinder) -> None:
    """They are counted in the database, and not yet in the columns."""
    finder._flush()
    patch(Columns, "update", killed)
    finder.catch_up()


def between_two_columns(patch: Callable[..., None], finder: FilesFinder) -> None:
    """They are in one column, and not in the other."""
    finder._flush()
    update = Columns.update

    def once(self: Columns, name: str, *args: Any) -> None:
        update(self, name, *args) if name == "uses" else killed()

    patch(Columns, "update", once)
    finder.catch_up()


MOMENTS = [before_anything, between_the_note_and_the_file, before_they_are_counted,
           before_they_reach_the_columns, between_two_columns]  # fmt: skip


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.__name__)
def test_uses_count_once_wherever_their_process_was_killed(
    memory, sid, root, folder, clock, monkeypatch, moment
):
    memory.add_memory(sid, id="m1", content="x", importance=0, timestamp="2026-11-01T09:00:00Z")
    memory.query(sid)
    memory.close()
    dying = Memory.open(root, clock=clock, environ={})
    dying.query(sid)
    finder = dying._index._index()  # type: ignore[union-attr]
    with monkeypatch.context() as patched, pytest.raises(KilledError):
        moment(patched.setattr, finder)
    finder._uses.forget()
    noted = [json.loads(line)["id"] for line in (folder / "access.jsonl").read_text().splitlines()]
    with steady(root, clock) as later:
        (counted,) = later.query(sid)
        assert counted.why["decay"] == pytest.approx(0.25 * (1 + 0.1 * len(noted)), abs=1e-6)
        assert counted.why["access"] == 1.0
        later.rebuild_index()
        assert later.query(sid)[0].why == counted.why
    dying.close()
