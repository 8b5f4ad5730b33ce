"""`mnemolog runs`"""

from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import consent, screen, words
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.memory.running import LeftRun

ACTIONS = ("list", "end")
COLUMNS = ("session", "run", "agent", "since", "last used", "notes")


@click.command()
@click.argument("action", metavar="[ACTION]", default="list")
@click.argument("session", required=False)
@click.argument("run", required=False)
@click.option("--yes", is_flag=True, help="End it without being asked.")
@verb
def runs(call: Call, action: str, session: str | None, run: str | None, yes: bool) -> None:
    """Look at the runs that are open, and end what a crash left.

    `list` shows them, of all sessions or of SESSION. `end SESSION RUN` ends one: its notes are
    overwritten and removed, and cannot be brought back. Whether somebody still works in a run is
    not known; when it was last used tells most.
    """
    if action not in ACTIONS:
        raise click.UsageError(f"ACTION is one of {', '.join(ACTIONS)}.")
    if (run is not None) != (action == "end"):
        raise click.UsageError("`runs list [SESSION]` shows them, `runs end SESSION RUN` ends one.")
    with call.memory() as memory:
        if session is None or run is None:
            _list(call, memory.left_runs(session))
        else:
            _end(call, memory, _found(memory, session, run), yes)


def _list(call: Call, found: "list[LeftRun]") -> None:
    if call.as_json:
        for one in found:
            screen.emit(_facts(one))
    else:
        screen.table(COLUMNS, map(_cells, found), nothing="No run is open.")


def _facts(one: "LeftRun") -> dict[str, object]:
    return {name: value for name, value in one._asdict().items() if name != "path"}


def _cells(one: "LeftRun") -> list[str]:
    times = words.moment(one.began), words.moment(one.last_written)
    return [one.session_id, one.run_id, one.agent_id or "", *times, f"{one.notes:,}"]


def _found(memory: "Memory", session: str, run: str) -> "LeftRun":
    from mnemolog.errors import EntryNotFoundError, shown

    for one in memory.left_runs(session):
        if one.run_id == run:
            return one
    raise EntryNotFoundError(
        f"The session {shown(session)} has no open run {shown(run)}.",
        advice="`mnemolog runs` lists those that are open.",
        session_id=session,
        run_id=run,
    )


def _end(call: Call, memory: "Memory", one: "LeftRun", yes: bool) -> None:
    much = words.counted(one.notes, "note")
    if not yes:
        used = words.moment(one.last_written)
        question = f"End the run {one.run_id}, last used {used}, and remove its {much} for good?"
        consent.ask(call, question, "Nothing was ended")
    memory.end_run(one.session_id, one.run_id)
    if call.as_json:
        screen.emit({**_facts(one), "status": "ended"})
    else:
        screen.say((f"{one.run_id} ended, {much} removed", "good"))
