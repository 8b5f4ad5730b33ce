"""`mnemolog sessions`"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from mnemolog.faces.cli import screen, words
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.model.session import Session

# As many as a person looks through; each costs a look at its whole log.
SHOWN = 100

COLUMNS = ("id", "user", "agents", "state", "updated", "entries", "size")


@click.command()
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    help=f"At most N; a table has {SHOWN} unless told otherwise.",
)
@click.option("--state", metavar="STATE", help="Only those that are active, idle or archived.")
@verb
def sessions(call: Call, limit: int | None, state: str | None) -> None:
    """List sessions, last changed first."""
    with call.memory() as memory:
        found = memory.list_sessions(state=state)
        most = limit or (len(found) if call.as_json else SHOWN)
        rows = rows_of(call, memory, found[:most])
        if call.as_json:
            for row in rows:
                screen.emit(row)
            return
        screen.table(COLUMNS, map(_cells, rows), nothing="There are no sessions.")
        if len(found) > most:
            screen.say(f"and {len(found) - most:,} more; --limit shows them", err=True)


def rows_of(call: Call, memory: "Memory", found: list["Session"]) -> Iterator[dict[str, Any]]:
    """Each with its numbers; one that cannot be read, or is gone by now, costs no other its row."""
    from mnemolog.errors import SessionError, SessionNotFoundError, StorageError

    for one in found:
        try:
            yield _row(memory, one)
        except SessionNotFoundError:
            continue  # deleted since the list was made
        except (SessionError, StorageError) as error:
            text = f"{one.id} is not listed: {error}"
            screen.warn(text, as_json=call.as_json)


def _row(memory: "Memory", session: "Session") -> dict[str, Any]:
    import msgspec

    numbers = memory.get_statistics(session.id)
    facts: dict[str, Any] = msgspec.to_builtins(session)
    return {**facts, "entries": numbers.total_entries, "size_bytes": numbers.size_bytes}


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        row["id"],
        row["user_id"] or "",
        ", ".join(row["agent_ids"]),
        row["state"],
        words.moment(row["updated_at"]),
        f"{row['entries']:,}",
        words.size(row["size_bytes"]),
    ]
