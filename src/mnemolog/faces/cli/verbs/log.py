"""`mnemolog log`"""

import time
from typing import TYPE_CHECKING, Any

import click

from mnemolog.faces.cli import screen, words
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.options import last_moment, names, span

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.model.entry import Warned

INTERVAL = 0.2


@click.command()
@click.argument("session", required=False)
@click.option("--follow", "-f", is_flag=True, help="Go on showing what is written, until Ctrl-C.")
@click.option("--last", metavar="N", type=click.IntRange(0), help="Only the last N entries.")
@click.option("--types", metavar="A,B", help="Only these types.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only with this tag; or any of.")
@click.option("--by", metavar="AGENT", multiple=True, help="Only by this agent; or any of.")
@click.option("--since", metavar="TIME", help="Only from this time on (ISO 8601).")
@click.option(
    "--until",
    metavar="TIME",
    callback=last_moment,
    help="Only up to this time (ISO 8601; a date means its end, in UTC).",
)
@click.option(
    "--as-of",
    metavar="TIME",
    callback=last_moment,
    help="As the log stood at this time (ISO 8601; a date means its end, in UTC).",
)
@click.option(
    "--after", metavar="SEQ", type=click.IntRange(0), default=0, help="Only past this number."
)
@verb
def log(
    call: Call,
    session: str | None,
    follow: bool,
    last: int | None,
    types: str | None,
    as_of: str | None,
    after: int,
    **filters: Any,
) -> None:
    """Show a session's entries in order.

    Without SESSION it is the one that changed last.
    """
    if follow and as_of is not None:
        raise click.UsageError("--as-of looks back; --follow looks ahead.")
    wanted: dict[str, Any] = {"types": names(types), "as_of": as_of, **_filters(**filters)}
    with call.memory() as memory:
        chosen = latest(memory) if session is None else session
        born = memory.load_session(chosen).created_at if follow else ""
        entries = memory.get_entries(chosen, after=after, last=last, **wanted)
        told = _tell(call, entries, set())
        if not (entries or follow or call.as_json):
            screen.say("Nothing was found.", err=True)  # a pipe gets entries and nothing else
        while follow:
            seen = entries.last_seq
            after = max(after, seen)
            time.sleep(INTERVAL)
            before, born = born, memory.load_session(chosen).created_at
            if born != before:  # deleted, and made anew under this id
                after = 0
            entries = memory.get_entries(chosen, after=after, **wanted)
            if entries.last_seq < seen:  # somebody cut it by hand: its next numbers come again
                after = entries.last_seq
            told = _tell(call, entries, told)


def latest(memory: "Memory") -> str:
    """The session that changed last."""
    from mnemolog.errors import SessionNotFoundError

    for one in memory.list_sessions(limit=1):
        return one.id
    raise SessionNotFoundError("There is no session yet.", advice="`mnemolog add` makes one.")


def _filters(
    tags: tuple[str, ...], by: tuple[str, ...], since: str | None, until: str | None
) -> dict[str, Any]:
    """Only what was given: without filters the store can pick the last entries by itself."""
    given = {"tags": list(tags), "agent_id": list(by), "time_range": span(since, until)}
    return {name: value for name, value in given.items() if value}


def _tell(call: Call, entries: "Warned", told: set[str]) -> set[str]:
    """Show entries, and the warnings that were not told before."""
    for entry in entries:
        if call.as_json:
            screen.emit(entry)
        else:
            words.say_entry(entry)
    for text in entries.warnings:
        if text not in told:
            screen.warn(text, as_json=call.as_json)
    return told | set(entries.warnings)
