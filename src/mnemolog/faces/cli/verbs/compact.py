"""`mnemolog compact`"""

import click

from mnemolog.faces.cli import screen, words
from mnemolog.faces.cli.call import Call, verb


@click.command()
@click.argument("sessions", nargs=-1, required=True)
@verb
def compact(call: Call, sessions: tuple[str, ...]) -> None:
    """Rewrite the logs of SESSIONS without what nobody needs.

    What has become irrelevant moves to the archive and is still found there.
    """
    with call.memory() as memory:
        done = [memory.compact_session(one) for one in sessions]
    for one in done:
        if call.as_json:
            screen.emit(one)
        else:
            sizes = f"{words.size(one.before_size)} → {words.size(one.after_size)}"
            screen.say((one.session_id, "strong"), f"  {sizes}")
            screen.say(
                f"  {one.superseded} superseded, {one.dropped} dropped, {one.archived} archived"
            )
