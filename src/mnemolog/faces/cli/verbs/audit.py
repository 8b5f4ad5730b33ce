"""`mnemolog audit`"""

import click

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call, verb

COLUMNS = ("when", "what", "entries", "session", "who", "why")


@click.command()
@click.option("--last", metavar="N", type=click.IntRange(1), help="Only the last N lines.")
@verb
def audit(call: Call, last: int | None) -> None:
    """Show what was deleted, erased, compacted, backed up.

    When, by whom, how many and why, and never what it said. Fails if a line was changed or taken
    out.
    """
    with call.memory() as memory:
        found = memory.audit()
    shown = found[-last:] if last else found
    if call.as_json:
        for line in shown:
            screen.emit(line._asdict())
        return
    screen.table(
        COLUMNS,
        (
            [line.at, line.action, str(line.entries), line.session_id or line.place or "",
             line.actor, line.reason]
            for line in shown
        ),
        nothing="The audit is empty.",
    )  # fmt: skip
