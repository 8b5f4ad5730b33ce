"""`mnemolog stats`"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from mnemolog.faces.cli import screen, words
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.model.session import Statistics


@click.command()
@click.argument("session", required=False)
@click.option(
    "--index-json",
    "shape",
    metavar="SHAPE",
    help="The index as JSON instead: `inverted` (words, topics and hours to ids) or `entries` "
    "(ids to lines, bytes and weights; tags and types to ids).",
)
@verb
def stats(call: Call, session: str | None, shape: str | None) -> None:
    """Show SESSION in numbers, or all sessions together."""
    with call.memory() as memory:
        if shape is not None:
            _show_index(call, memory.export_index(session, shape))
            return
        if session is None:
            numbers = memory.get_global_statistics()
        else:
            numbers = memory.get_statistics(session)
    if call.as_json:
        screen.emit(numbers)
    else:
        screen.table(("what", "how much"), _rows(numbers))
        for text in numbers.warnings:
            screen.warn(text)


def _show_index(call: Call, index: dict[str, Any]) -> None:
    """Exact for programs, on one line; for people the same with room around it."""
    import msgspec

    line = msgspec.json.encode(index)
    screen.emit_raw(line if call.as_json else msgspec.json.format(line, indent=2))


def _rows(numbers: "Statistics") -> Iterator[tuple[str, str]]:
    if numbers.session_id is None:
        yield "sessions", f"{numbers.sessions:,}"
    else:
        yield "session", numbers.session_id
    yield "entries", f"{numbers.total_entries:,}"
    for name, count in sorted(numbers.by_type.items()):
        yield f"of type {name}", f"{count:,}"
    for name, count in sorted(numbers.by_agent.items()):
        yield f"by {name}", f"{count:,}"
    yield "revisions", f"{numbers.revisions:,}"
    used = numbers.size_bytes / numbers.max_size_bytes if numbers.max_size_bytes else 0
    yield "size", f"{words.size(numbers.size_bytes)} ({used:.1%} of the limit)"
    yield "damaged lines", f"{numbers.corrupted_lines:,}"
    for kind, count in sorted(numbers.redactions.items()):
        yield f"hidden: {kind}", f"{count:,}"
    if numbers.created_at is not None:
        yield "created", words.moment(numbers.created_at)
        yield "updated", words.moment(numbers.updated_at)
