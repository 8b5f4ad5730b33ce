"""`mnemolog show`"""

from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import screen, words
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.options import last_moment

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.model.entry import Entry
    from mnemolog.model.session import Session


@click.command()
@click.argument("session")
@click.argument("entry", required=False)
@click.option("--raw", is_flag=True, help="The exact line of each entry, as the log holds it.")
@click.option(
    "--as-of",
    metavar="TIME",
    callback=last_moment,
    help="The entries as they stood at this time (ISO 8601; a date means its end, in UTC).",
)
@verb
def show(call: Call, session: str, entry: str | None, raw: bool, as_of: str | None) -> None:
    """Show a session, or one of its entries.

    A session is shown with its facts and entries, an ENTRY with all its fields.
    """
    if raw and as_of is not None:
        raise click.UsageError("--raw shows the log as it is; leave out --as-of.")
    with call.memory() as memory:
        loaded = memory.load_session(session)
        if entry is None:
            found, warnings = _all(memory, session, as_of)
        else:
            found, warnings = [entry_of(memory, session, entry, as_of)], ()
        if raw:
            _show_raw(call.root, loaded, found)
        elif entry is not None:
            _show_entry(call, found[0])
        else:
            _show_session(call, memory, loaded, found, warnings)
        if not call.as_json or raw:
            for text in warnings:
                screen.warn(text, as_json=call.as_json)


def _all(
    memory: "Memory", session: str, as_of: str | None
) -> "tuple[list[Entry], tuple[str, ...]]":
    found = memory.get_entries(session, as_of=as_of)
    return found, found.warnings


def entry_of(memory: "Memory", session: str, entry: str, as_of: str | None = None) -> "Entry":
    """An entry of a session, as it is or was; raises if there is none."""
    from mnemolog.errors import EntryNotFoundError

    if as_of is None:
        found = memory.get_memory(session, entry)
    else:
        then = memory.get_entries(session, as_of=as_of)
        found = next((one for one in then if one.id == entry), None)
    if found is None:
        raise EntryNotFoundError(
            f"There is no entry {entry!r:.140} in the session {session!r:.140}.",
            advice="`mnemolog log` lists what there is.",
            id=entry,
        )
    return found


def _show_raw(root: str, session: "Session", entries: "list[Entry]") -> None:
    from mnemolog.stores.files import roots

    for line in roots.raw_lines(root, session, entries):
        screen.emit_raw(line)


def _show_entry(call: Call, entry: "Entry") -> None:
    if call.as_json:
        screen.emit(entry)
        return
    import msgspec

    for name, value in msgspec.to_builtins(entry).items():
        if name not in ("content", "v"):
            screen.say((f"{name:<12}", "dim"), words.plain(value))
    words.say_content(entry)


def _show_session(
    call: Call,
    memory: "Memory",
    session: "Session",
    entries: "list[Entry]",
    warnings: tuple[str, ...],
) -> None:
    statistics = memory.get_statistics(session.id)
    if call.as_json:
        told = {"session": session, "statistics": statistics}
        screen.emit({**told, "entries": entries, "warnings": warnings})
        return
    screen.say((session.id, "strong"), "  ", session.state)
    facts = {
        "user": session.user_id or "",
        "agents": ", ".join(session.agent_ids),
        "created": words.moment(session.created_at),
        "updated": words.moment(session.updated_at),
        "metadata": words.plain(session.metadata) if session.metadata else "",
        "preferences": words.plain(session.preferences) if session.preferences else "",
        "settings": words.plain(session.settings) if session.settings else "",
        "entries": f"{statistics.total_entries:,} ({words.size(statistics.size_bytes)})",
    }
    for name, value in facts.items():
        if value:
            screen.say((f"{name:<12}", "dim"), value)
    for entry in entries:
        screen.say()
        words.say_entry(entry)
