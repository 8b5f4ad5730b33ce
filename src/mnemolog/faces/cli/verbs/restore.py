"""`mnemolog restore`"""

import click

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb


@click.command()
@click.argument("sessions", nargs=-1, required=True)
@verb
def restore(call: Call, sessions: tuple[str, ...]) -> None:
    """Bring SESSIONS back from the archive.

    Reading needs no restoring, and adding to a session restores it by itself.
    """
    with call.memory() as memory, progress("restoring") as bar:
        found = []
        for number, one in enumerate(sessions, 1):
            found.append(memory.restore_session(one))
            bar(number, len(sessions))
    for session in found:
        if call.as_json:
            screen.emit(session)
        else:
            screen.say((session.id, "strong"), "  ", session.state)
