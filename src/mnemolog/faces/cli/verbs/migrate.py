"""`mnemolog migrate`"""

from collections import Counter
from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import exits, screen
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.memory.backing import Migrated


@click.command()
@click.argument("session", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would be rewritten, and write nothing.")
@verb
def migrate(call: Call, session: str | None, dry_run: bool) -> int:
    """Rewrite lines of earlier versions of the format.

    Nothing has to be migrated to be read or written to. A session whose turn comes is locked while
    it is rewritten; an interruption leaves it as it was.
    """
    from mnemolog.errors import InputError

    with call.memory() as memory, progress("migrating") as bar:
        done = memory.migrate(session, dry_run=dry_run, progress=bar)
    for one in done:
        _tell(call, one, dry_run)
    if not call.as_json:
        _sum_up(done, dry_run)
    refused = any(one.status == "refused" for one in done)
    return exits.BRANCHES[InputError] if refused else exits.OK


def _tell(call: Call, one: "Migrated", dry_run: bool) -> None:
    if call.as_json:
        log = {"kind": one.log.kind, "id": one.log.id}
        screen.emit({**one._asdict(), "log": log, "dry_run": dry_run})
    elif one.status != "current":
        would = "would be " if dry_run and one.status == "rewritten" else ""
        versions = ", ".join(f"{count:,} of v{v}" for v, count in sorted(one.versions.items()))
        what = one.reason or f"{one.lines:,} lines ({versions})"
        screen.say((f"{would}{one.status:<10}", "strong"), f" {one.log.kind} {one.log.id}: ", what)


def _sum_up(done: "list[Migrated]", dry_run: bool) -> None:
    counts = Counter(one.status for one in done)
    would = "would be " if dry_run else ""
    screen.say(
        (f"{counts['rewritten']:,} logs {would}rewritten", "good"),
        f", {counts['current']:,} are up to date",
    )
