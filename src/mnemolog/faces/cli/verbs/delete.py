"""`mnemolog delete` and `mnemolog undelete`"""

from typing import Any

import click

from mnemolog.faces.cli import exits, screen
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.choosing import chosen, criteria, owned


@click.command()
@click.argument("session", required=False)
@criteria
@click.option("--all", "is_all", is_flag=True, help="Everything in the session.")
@click.option("--reason", default="", metavar="WORDS", help="Why; kept in the audit.")
@verb
def delete(call: Call, session: str | None, is_all: bool, reason: str, **options: Any) -> int:
    """Hide entries of SESSION at once; `undelete` brings them back.

    That holds for 30 days, or as long as privacy.undelete_days says. An entry must meet all that is
    said about it. Without SESSION, with --user or --id, what users own and all share is meant. To
    remove the bytes, use `erase`.
    """
    reach, wanted = owned(call, session, chosen(**options))
    if is_all == bool(wanted):
        raise click.UsageError("Say which entries are meant, or give SESSION and --all.")
    with reach.memory() as memory:
        if is_all and session is not None:
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
            screen.say(f"`mnemolog undelete {_where(call, session)}` brings them back, until ",
                       done.restorable_until)  # fmt: skip
    unmet = [one for one in options["ids"] if one not in done.ids]
    for one in unmet:
        screen.warn(f"{one}: no entry that is meant has this id", as_json=call.as_json)
    return exits.WARNINGS if unmet else exits.OK


def _where(call: Call, session: str | None) -> str:
    if session is not None:
        return session
    return "--id ID" if call.user is None else f"--user {call.user}"


@click.command()
@click.argument("session", required=False)
@criteria
@verb
def undelete(call: Call, session: str | None, **options: Any) -> int:
    """Bring deleted entries of SESSION back; without options, all.

    Without SESSION, with --user or --id, what users own and all share is meant.
    """
    reach, wanted = owned(call, session, chosen(**options))
    wanted = wanted or {"time_range": {"start": 0}}
    with reach.memory() as memory:
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
