"""`mnemolog watch`"""

from itertools import islice
from typing import Any

import click

from mnemolog.faces.cli import asking, screen
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.hits import say_hit


@click.command()
@click.argument("text", required=False)
@click.argument("session", required=False)
@asking.filters
@click.option(
    "--min-relevance", metavar="0..1", type=float, help="Only with this share of TEXT's words."
)
@click.option("--past", is_flag=True, help="Begin with what is there already.")
@click.option(
    "--after",
    metavar="SESSION=SEQ",
    multiple=True,
    help="Go on after this line of a session; the others begin with what is there already.",
)
@click.option("--limit", metavar="N", type=click.IntRange(0), help="Stop after N entries.")
@verb
def watch(
    call: Call,
    text: str | None,
    session: str | None,
    past: bool,
    after: tuple[str, ...],
    limit: int | None,
    **options: Any,
) -> None:
    """Show what is written from now on, until Ctrl-C.

    To one SESSION or to all, by any process. An entry is shown if it passes all options and holds
    a word of TEXT; `auth*` and `*flow` match parts of words.
    """
    wanted = asking.query(text, **options)
    positions = dict(map(_position, after)) if past or after else None
    with call.memory() as memory:
        for hit in islice(memory.watch(wanted, session, positions), limit):
            if call.as_json:
                entry = hit.entry
                place = {"session_id": entry.session_id, "seq": entry.seq}
                screen.emit({**place, "entry": entry, "relevance": hit.relevance, "why": hit.why})
            else:
                say_hit(hit)


def _position(given: str) -> tuple[str, int]:
    session, _, seq = given.rpartition("=")
    if not session or not (seq.isascii() and seq.isdigit()):
        raise click.UsageError("--after wants SESSION=SEQ, for example talk=42.")
    return session, int(seq)
