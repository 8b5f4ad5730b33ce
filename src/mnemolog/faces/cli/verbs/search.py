"""`mnemolog search`"""

from typing import TYPE_CHECKING, Any

import click

from mnemolog.faces.cli import asking, screen
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.hits import say_hit

if TYPE_CHECKING:
    from mnemolog.model.query import Hits

PENDING = "semantic: pending; not everything is compared by its meaning yet, search again later"


@click.command()
@click.argument("text", required=False)
@click.argument("session", required=False)
@asking.filters
@click.option("--min-relevance", metavar="0..1", type=float, help="Only what is as relevant.")
@click.option("--limit", metavar="N", type=int, help="At most N hits; 20 unless told otherwise.")
@click.option("--sort", metavar="ORDER", help="relevance_desc (default), time_desc or time_asc.")
@click.option("--scorer", metavar="NAME", help="recall (default), weighted or product.")
@click.option("--why", is_flag=True, help="Show what each relevance is made of.")
@verb
def search(call: Call, text: str | None, session: str | None, why: bool, **options: Any) -> None:
    """Search one session, or all of them.

    TEXT is any text: words are matched by their stems and by their meaning, and `auth*` and `*flow`
    match parts of words. With options it may be left out, or empty before a SESSION: whatever
    passes them is found.
    """
    wanted = asking.query(text, **options)
    if not wanted and session is None:
        raise click.UsageError("Give TEXT, or options that narrow the search.")
    with call.memory() as memory:
        tell(call, memory.query(session, wanted), why=why)


def tell(call: Call, hits: "Hits", *, why: bool) -> None:
    """Show hits, and whether something is missing from them."""
    for hit in hits:
        if call.as_json:
            screen.emit(hit)
        else:
            say_hit(hit, why=why)
    if not hits and not call.as_json:
        screen.say("Nothing was found.")
    for note in hits.notes:
        screen.warn(note, as_json=call.as_json)
    if hits.semantic == "pending":
        screen.warn(PENDING, as_json=call.as_json)
