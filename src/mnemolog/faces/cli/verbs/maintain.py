"""`mnemolog maintain`"""

import click

from mnemolog.faces.cli import exits, screen
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb


@click.command()
@click.option("--purge", is_flag=True, help="Purge now, whatever privacy.purge_schedule says.")
@click.option(
    "--confirm", is_flag=True, help="Agree to the first purge; without it that only tells."
)
@click.option("--dry-run", is_flag=True, help="Tell what would be done, and change nothing.")
@verb
def maintain(call: Call, purge: bool, confirm: bool, dry_run: bool) -> int:
    """Purge, archive and compact as the settings say.

    Purging hides what is past its retention (privacy.retention_days), and erases what has been
    hidden for longer than privacy.undelete_days. It runs on schedule once a first purge was
    confirmed. Sessions that are idle go into the archive, large ones are compacted. For a timer:
    several of these at once do no harm.
    """
    if confirm and not purge:
        raise click.UsageError("--confirm agrees to a purge: give --purge too.")
    with call.memory() as memory, progress("maintaining") as bar:
        done = memory.maintain(purge=purge, confirm=confirm, dry_run=dry_run, progress=bar)
    if call.as_json:
        screen.emit(done)
    else:
        for line in done.lines():
            screen.say(line)
    is_whole = not done.failed and not (done.purge and done.purge.failed)
    return exits.OK if is_whole else exits.WARNINGS
