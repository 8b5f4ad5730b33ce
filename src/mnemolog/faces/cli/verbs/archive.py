"""`mnemolog archive`"""

from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import exits, screen, words
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.model.archiving import ArchiveReceipt

COLUMNS = ("session", "size", "archived")


@click.command()
@click.argument("sessions", nargs=-1)
@click.option(
    "--idle",
    is_flag=True,
    help="All sessions without a write for longer than archive.after_idle_days.",
)
@verb
def archive(call: Call, sessions: tuple[str, ...], idle: bool) -> int:
    """Move SESSIONS to the archive.

    There they are compressed, and still listed, shown and searched. Adding to one brings it back.
    """
    if idle == bool(sessions):
        raise click.UsageError("Name the sessions to archive, or give --idle.")
    with call.memory() as memory, progress("archiving") as bar:
        if idle:
            found = memory.archive_idle(progress=bar)
            done, failed = list(found.archived), found.failed
        else:
            done, failed = [memory.archive_session(one, bar) for one in sessions], {}
    _tell(call, done)
    for session, why in failed.items():
        screen.warn(f"{session} was not archived: {why}", as_json=call.as_json)
    return exits.WARNINGS if failed else exits.OK


def _tell(call: Call, done: "list[ArchiveReceipt]") -> None:
    if call.as_json:
        for one in done:
            screen.emit(one)
    elif done:
        sizes = ((one.original_size_bytes, one.compressed_size_bytes) for one in done)
        cells = ([words.size(size) for size in pair] for pair in sizes)
        names = (one.session_id for one in done)
        screen.table(COLUMNS, ([name, *pair] for name, pair in zip(names, cells, strict=True)))
    else:
        screen.say("no session has been idle for so long")
