"""`mnemolog delete` and `mnemolog undelete`"""

from typing import Any

import click

from mnemolog.faces.cli import exits, screen
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.choosing import chosen, criteria


@click.command()
@click.argument("session")
@criteria
@click.option("--all", "is_all", is_flag=True, help="Everything in the session.")
@click.option("--reason", default="", metavar="WORDS", help="Why; kept in the audit.")
@verb
def delete(call: Call, session: str, is_all: bool, reason: str, **options: Any) -> None:
    """Hide entries of SESSION at once; `undelete` brings them back for 30 days.

    An entry must meet all that is said about it. To remove the bytes, use `erase`.
    """
    wanted = chosen(**options)
    if is_all == bool(wanted):
        raise click.UsageError("Say which entries are meant, or give --all.")
    with call.memory() as memory:
        if is_all:
            done = memory.clear_session(session, reason=reason)
        else:
            done = memory.delete(session, wanted, reason=reason)
    if call.as_json:
        screen.emit(done)
    else:
        screen.say((f"{done.deleted_count} deleted", "strong"))
        for one in done.ids:
            screen.say("  ", one)
        if done.ids:
            screen.say(f"`mnemolog undelete {session}` brings them back, until ",
                       done.restorable_until)  # fmt: skip


@click.command()
@click.argument("session")
@criteria
@verb
def undelete(call: Call, session: str, **options: Any) -> int:
    """Bring back deleted entries of SESSION; without options, all of them."""
    wanted = chosen(**options) or {"time_range": {"start": 0}}
    with call.memory() as memory:
        done = memory.undelete(session, wanted)
    if call.as_json:
        screen.emit(done)
    else:
        screen.say((f"{len(done.ids)} brought back", "strong"))
        for one in done.ids:
            screen.say("  ", one)
        for one, why in done.refused.items():
            screen.say((f"  {one}: {why}", "warning"))
    return exits.WARNINGS if done.refused else exits.OK
