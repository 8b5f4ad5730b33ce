"""`mnemolog worker`"""

import signal
from typing import TYPE_CHECKING, Any

import click

from mnemolog.faces.cli import exits, screen, words
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.model.lesson import Due
    from mnemolog.worker import Outcome, Preview

_BAD = ("failed", "parked", "conflict", "stale")


@click.command()
@click.option("--once", is_flag=True, help="One tick: learn from what is due now, and end.")
@click.option("--dry-run", is_flag=True, help="Show what would be proposed, and change nothing.")
@click.option(
    "--finished",
    metavar="SESSION",
    multiple=True,
    help="Take a session as finished: it is due now.",
)
@click.option("--retry", metavar="SESSION", multiple=True, help="Try a parked session again.")
@click.option("--status", is_flag=True, help="Show what is due, parked and half done, and end.")
@click.option("--prompt", is_flag=True, help="Begin a prompt of the root's own, or show its place.")
@verb
def worker(
    call: Call,
    once: bool,
    dry_run: bool,
    finished: tuple[str, ...],
    retry: tuple[str, ...],
    status: bool,
    prompt: bool,
) -> int:
    """Turn finished sessions into nodes of the graph.

    Looks every knowledge.tick_seconds for sessions that are due, until Ctrl-C. Several of these at
    once share the work. A session whose distiller fails is tried again later, and parked after
    knowledge.max_attempts failures; --retry takes it up again.

    --prompt writes what the distiller `llm` tells its memory-agents to a file in the root, to be
    edited there; from then on that file is used, and every outcome says so. Removing it brings the
    package's own back.
    """
    if sum((once, dry_run, status, prompt, bool(retry))) > 1:
        raise click.UsageError("Give one of --once, --dry-run, --retry, --status and --prompt.")
    with call.memory(make=prompt) as memory:
        if prompt:
            return _begin_prompt(call, memory)
        for session in finished:
            memory.sleep_session(session)
        if status:
            return _show_status(call, memory)
        if retry:
            return _retry(call, memory, retry)
        if dry_run:
            return _show_proposals(call, memory)
        return _once(call, memory) if once else _run(call, memory)


def _run(call: Call, memory: "Memory") -> int:
    from mnemolog.worker import Worker

    working = Worker(memory, told=lambda outcome: _tell(call, outcome))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not call.as_json:
        seconds = memory.settings.knowledge.tick_seconds
        screen.say(f"Looking for finished sessions every {seconds:g} s; Ctrl-C ends it.", err=True)
    try:
        working.run()
    except KeyboardInterrupt:
        pass  # the one way to end it
    finally:
        working.stop()
    return exits.OK


def _once(call: Call, memory: "Memory") -> int:
    from mnemolog.worker import Worker

    bad = 0
    working = Worker(memory)
    with progress("learning") as bar:
        try:
            outcomes = working.tick()
        finally:
            working.stop()
        for number, outcome in enumerate(outcomes, 1):
            bar(number, len(outcomes))
            with bar.aside():
                _tell(call, outcome)
            bad += outcome.status in _BAD
    if not call.as_json and not outcomes:
        screen.say("Nothing is due.")
    return exits.WARNINGS if bad else exits.OK


def _tell(call: Call, outcome: "Outcome") -> None:
    if call.as_json:
        screen.emit(outcome._asdict())
        return
    style = "warning" if outcome.status in _BAD else "good"
    told = [f"{words.counted(outcome.written, 'node')} written"] if outcome.written else []
    told += [f"{outcome.waiting} to review"] if outcome.waiting else []
    told += [f"{outcome.dropped} dropped"] if outcome.dropped else []
    told += [outcome.error] if outcome.error else []
    told += outcome.remarks
    screen.say((f"{outcome.status:<9}", style), outcome.session_id, "  ", ", ".join(told))


def _show_proposals(call: Call, memory: "Memory") -> int:
    from mnemolog.worker import Distillers, preview

    knowledge = memory.settings.knowledge
    distillers = Distillers(knowledge, prompt=memory.memory_prompt)
    if distillers.is_off:
        return exits.OK
    failed = 0
    with progress("learning") as bar:
        for number, one in enumerate(preview(memory, distillers, knowledge.sessions_per_tick), 1):
            bar(number, None)
            failed += one.proposal is None
            with bar.aside():
                _show_proposal(call, one)
    return exits.WARNINGS if failed else exits.OK


def _show_proposal(call: Call, one: "Preview") -> None:
    if call.as_json:
        screen.emit(one._asdict())
        return
    edits = one.proposal.edits if one.proposal else ()
    found = one.error or words.counted(len(edits), "edit")
    screen.say(
        (one.due.session_id, "strong"), f"  {one.due.cause}, user {one.due.user_id}: {found}"
    )
    for edit in edits:
        screen.say(f"  {edit.address}: ", (edit.reason, "dim"))
        for line in edit.body.splitlines():
            screen.say("    ", line)


def _begin_prompt(call: Call, memory: "Memory") -> int:
    from mnemolog.worker import default_prompt

    is_new = memory.begin_memory_prompt(default_prompt())
    found = memory.memory_prompt()
    assert found is not None
    if call.as_json:
        screen.emit({"path": found.path, "hash": found.hash, "is_new": is_new})
        return exits.OK
    state = "was written; edit it" if is_new else f"is used, sha256 {found.hash}"
    screen.say((found.path, "strong"), f" in the root {state}.")
    if memory.settings.knowledge.distiller != "llm":
        screen.say(f"The distiller here is {memory.settings.knowledge.distiller}; llm uses it.")
    return exits.OK


def _retry(call: Call, memory: "Memory", sessions: tuple[str, ...]) -> int:
    for session in sessions:
        was_parked = memory.retry_session(session)
        if call.as_json:
            screen.emit({"session_id": session, "was_parked": was_parked})
        else:
            state = "is taken up again" if was_parked else "was not parked"
            screen.say((session, "strong"), f" {state}")
    return exits.OK


def _show_status(call: Call, memory: "Memory") -> int:
    due, parked = memory.due_sessions(), memory.parked_sessions()
    plans = [plan.session_id for plan in memory.kept_plans()]
    if call.as_json:
        screen.emit({"due": due, "parked": parked, "plans": plans})
    else:
        _status_table([*due, *parked])
        screen.say(f"{len(due)} due, {len(parked)} parked, {len(plans)} half done")
    return exits.WARNINGS if parked else exits.OK


def _status_table(found: "list[Due]") -> None:
    if not found:
        return
    rows: list[Any] = [
        (one.session_id, one.cause, one.user_id, one.agent_id, one.since, one.error)
        for one in found
    ]
    screen.table(("session", "cause", "user", "agent", "since", "last error"), rows)
