"""Whatever is handed to any verb: one of our own errors, with advice, or it is taken."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.aio import AsyncMemory
from mnemolog.errors import InvalidFormatError, MnemologError, SchemaInvalidError
from tests.memory.wrong_values import WRONG

# What does something, as Python's own objects do: calling what cannot be called is a TypeError.
ACTING = {"progress", "stop", "clock", "environ", "embedder", "settings"}
# These make another handle, or take nothing that could be wrong.
APART = {"open", "close", "use_settings"}

GOOD: dict[str, Any] = {
    "session_id": "talk", "memory_id": "m1", "entry_id": "m1", "user_id": "u1", "agent_id": "a",
    "agent_ids": ["a"], "address": "general", "text": "text", "to": "other", "into": "other",
    "old": "a", "new": "b", "version": 1, "proposal_id": "p", "topic": "t", "type": "note",
    "layout": "own", "format": "json", "run_id": "r", "types": ["note"], "unit": "day",
    "entries": [{"content": "x"}], "verb": "x", "until": 1, "total": "x", "by": "x",
    "error": ValueError("x"), "source": {"x.txt": b"x"},
}  # fmt: skip


def arguments() -> Iterator[tuple[str, str]]:
    for name in dir(Memory):
        verb = getattr(Memory, name)
        if name.startswith("_") or name in APART or not callable(verb):
            continue
        for given in inspect.signature(verb).parameters.values():
            is_named = given.kind not in (given.VAR_KEYWORD, given.VAR_POSITIONAL)
            if is_named and given.name not in {"self", *ACTING}:
                yield name, given.name


def called(verb: Callable[..., Any], wrong: str, bad: object, folder: str) -> None:
    """Call a verb with one argument that is wrong, and take what it gives."""
    good = {**GOOD, **dict.fromkeys(("path", "target_file", "target_path"), f"{folder}/file")}
    positional: list[object] = []
    named: dict[str, object] = {}
    for given in inspect.signature(verb).parameters.values():
        if given.kind in (given.VAR_KEYWORD, given.VAR_POSITIONAL):
            continue
        value = bad if given.name == wrong else given.default
        if value is given.empty:
            value = good.get(given.name)
        if given.kind == given.KEYWORD_ONLY:
            named[given.name] = value
        else:
            positional.append(value)
    taken = verb(*positional, **named)
    if isinstance(taken, AbstractContextManager):
        with taken:
            pass
    elif isinstance(taken, Iterator) and verb.__name__ != "watch":  # that waits for what comes
        list(taken)


@pytest.mark.parametrize(("name", "wrong"), [*arguments()])
def test_a_wrong_argument_is_refused_in_our_own_words_or_does_no_harm(
    memory, tmp_path, name, wrong, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    refused: list[MnemologError] = []
    for bad in WRONG.values():
        with suppress(MnemologError):
            memory.create_session("u1", agent_ids=["a"], session_id="talk")
        with suppress(MnemologError):
            memory.add_memory("talk", id="m1", type="note", content="word")
        try:
            called(getattr(memory, name), wrong, bad, str(tmp_path))
        except MnemologError as error:
            refused.append(error)
    assert [one for one in refused if not one.advice] == []


@pytest.mark.parametrize("bad", WRONG.values(), ids=WRONG)
def test_a_path_that_is_none_opens_no_root(tmp_path, bad, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with suppress(MnemologError):
        Memory.open(bad, environ={}).close()


def test_what_is_awaited_is_refused_in_the_same_words(memory):
    async def refusals() -> list[str]:
        found = []
        for ask in (
            lambda one: one.timeline("talk", limit="x"),
            lambda one: one.decay_curves(["note"], 0),
            lambda one: one.backup(None),
        ):
            with pytest.raises(SchemaInvalidError) as awaited:
                await ask(AsyncMemory(memory))
            with pytest.raises(SchemaInvalidError) as direct:
                ask(memory)
            assert str(awaited.value) == str(direct.value)
            found.append(str(direct.value))
        return found

    memory.create_session(session_id="talk")
    assert len(asyncio.run(refusals())) == 3


def test_a_curve_of_one_point_begins_with_everything(memory):
    (curve,) = memory.decay_curves(["note"], 1)
    assert curve.points == ((0.0, 1.0),)


def test_only_an_id_that_would_be_made_is_advised_to_be_left_out(memory):
    session = memory.create_session("u1", session_id="talk")
    made = "Leave it out to have one made."
    for ask in (
        lambda: memory.create_session(session_id=""),
        lambda: memory.add_memory("talk", id="", content="x"),
        lambda: memory.run("talk", run_id=""),
    ):
        with pytest.raises(InvalidFormatError) as refused:
            ask()
        assert refused.value.advice == made
    for ask in (
        lambda: memory.load_session(""),
        lambda: memory.get_memory("talk", ""),
        lambda: memory.for_user(""),
        lambda: memory.end_run("talk", ""),
    ):
        with pytest.raises(InvalidFormatError) as refused:
            ask()
        assert refused.value.advice not in ("", made)
    with pytest.raises(InvalidFormatError, match=r"not a Session\. Give its `id`"):
        memory.add_conversation(session, role="user", content="x")
