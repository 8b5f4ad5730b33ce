"""What type checkers know of `AsyncMemory` is what its verbs take and give."""

import ast
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

import mnemolog
from mnemolog import AsyncMemory, Memory
from mnemolog.aio import AsyncRun
from mnemolog.memory.run import Run
from mnemolog.memory.stub import OWN, stub

PACKAGE = Path(mnemolog.__file__).parent
STUB = PACKAGE / "memory" / "awaited.pyi"

USES = """
from mnemolog import AsyncMemory
from mnemolog.model.entry import Entry, Receipt
from mnemolog.model.session import Session


async def use() -> list[Entry]:
    async with await AsyncMemory.open(".mnemolog") as memory:
        session: Session = await memory.create_session("ann", agent_ids=["architect"])
        sid: str = session.id
        receipt: Receipt = await memory.add_conversation(sid, role="user", content="hello")
        await memory.add_decision(sid, made_by="architect", decision="Use PostgreSQL")
        await memory.add_many(sid, [{"type": "note", "content": "x"}])
        one: Entry | None = await memory.get_memory(sid, receipt.id)
        count: int = (await memory.get_session_stats(sid)).total_entries
        await memory.for_agent("architect").update_memory(sid, receipt.id, tags=["a"])
        view = memory.for_agents(["architect"])
        texts: list[str] = [hit.entry.text for hit in await view.query(sid, text="hello")]
        async with memory.run(sid, agent_id="architect") as run:
            kept: Receipt = await run.save("run", "step 1 of 3 done", priority=3)
            notes: list[Entry] = await run.notes("run")
            name: str = run.id
            await memory.context("What is there?", run=run.sync)
        async for hit in memory.watch({"text": "hello"}, poll=0.1):
            texts.append(hit.entry.text)
        with await memory.lease_session(sid) as is_ours:
            done: bool = is_ours
        with await memory.brought_back(sid):
            await memory.for_user("ann").delete_memory(sid, receipt.id)
        print(one, count, texts, kept, name, done, memory.settings.storage, memory.sync.settings)
        await memory.close()
        return [*notes, *await memory.get_entries(sid, types="note", last=3)]
"""

# What is wrong, and what is said of it.
WRONG = {
    "await memory.create_session(user_id=7)": "arg-type",
    "await memory.query(7)": "arg-type",
    "await memory.get_memory('talk')": "call-arg",
    "await memory.add_decision('talk', decided_by='ann')": "call-arg",
    "len(memory.list_sessions())": "arg-type",
    "await memory.forget_all()": "attr-defined",
    "memory.run('talk', id='r')": "call-arg",
    "memory.watch(poll='soon')": "arg-type",
    "await memory.run('talk').save('run')": "call-arg",
    "memory.run('talk').id.real": "attr-defined",
}


def checked(folder: Path, program: str) -> list[str]:
    """What mypy says of a program that uses the package, without the last line."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "program.py"],
        cwd=folder, env={"MYPYPATH": str(PACKAGE.parent)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert not done.stderr
    return done.stdout.splitlines()[:-1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("typed")


def test_the_stub_is_what_the_verbs_print():
    printed = subprocess.run(
        [sys.executable, "-m", "mnemolog.memory.stub"], capture_output=True, check=True
    ).stdout.decode()
    assert printed == stub()
    assert STUB.read_text(encoding="utf-8") == printed, (
        "run: python -m mnemolog.memory.stub > src/mnemolog/memory/awaited.pyi"
    )


def names(kind: type) -> set[str]:
    return {name for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))}


def told_names(told: ast.ClassDef) -> set[str]:
    """The verbs of a class of the stub, those too that are another name of one."""
    others = (one.targets[0] for one in told.body if isinstance(one, ast.Assign))
    own = {one.name for one in told.body if isinstance(one, ast.AsyncFunctionDef)}
    return own | {ast.unparse(one) for one in others}


def test_every_verb_is_in_the_stub_unless_it_stands_in_the_class_itself():
    memory, run = (one for one in ast.parse(stub()).body if isinstance(one, ast.ClassDef))
    assert told_names(memory) == names(Memory) - OWN
    assert told_names(run) == names(Run)
    assert names(Memory) & set(vars(AsyncMemory)) == OWN
    assert not names(Run) & set(vars(AsyncRun))


def test_the_stub_takes_what_the_verbs_take():
    memory, run = (one for one in ast.parse(stub()).body if isinstance(one, ast.ClassDef))
    for kind, told in ((Memory, memory), (Run, run)):
        for one in told.body:
            if isinstance(one, ast.AsyncFunctionDef):
                given = one.args
                listed = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs]
                found = [each.arg for each in [*listed, given.kwarg] if each]
                assert found == [*signature(getattr(kind, one.name)).parameters]


def test_a_run_has_what_the_stub_says_that_it_has(memory, sid):
    (told,) = (one for one in ast.parse(stub()).body if getattr(one, "name", "") == "RunVerbs")
    assert isinstance(told, ast.ClassDef)
    facts = {one.name for one in told.body if isinstance(one, ast.FunctionDef)}
    with memory.run(sid) as run:
        assert facts == {name for name in vars(run) if name[0] != "_"}


def test_a_program_that_uses_the_awaited_verbs_passes(folder):
    assert checked(folder, USES) == []


def test_what_does_not_fit_is_refused(folder):
    lines = [f"    {line}" for line in WRONG]
    head = "from mnemolog import AsyncMemory\n\nasync def use(memory: AsyncMemory) -> None:\n"
    said = checked(folder, head + "\n".join(lines) + "\n")
    errors = [line for line in said if ": error: " in line]
    told = [(line.split(":")[1], line.rpartition("[")[2].rstrip("]")) for line in errors]
    assert told == [(str(number), kind) for number, kind in enumerate(WRONG.values(), 4)]
