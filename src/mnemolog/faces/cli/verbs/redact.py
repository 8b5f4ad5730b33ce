"""`mnemolog redact`"""

from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import exits, screen
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.model.forgetting import Redaction


@click.command()
@click.argument("session", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would be hidden.")
@verb
def redact(call: Call, session: str | None, dry_run: bool) -> int:
    """Hide secrets in what is stored, in SESSION or everywhere.

    New entries are redacted before they are written; this is for older ones. The nodes of the users
    concerned are treated too, with all their versions and the proposals that wait.
    """
    with call.memory() as memory, progress("redacting") as bar:
        done = memory.redact(session, dry_run=dry_run, progress=bar)
    if call.as_json:
        screen.emit(done)
    else:
        _tell(done)
    return exits.WARNINGS if done.failed else exits.OK


def _tell(done: "Redaction") -> None:
    verb_used = "would be changed" if done.is_dry_run else "changed"
    screen.say((f"{done.entries} entries {verb_used}", "strong"), f" in {done.sessions} sessions")
    if done.nodes or done.versions or done.proposals:
        counts = f"{done.nodes} nodes, {done.versions} versions, {done.proposals} proposals"
        screen.say((counts, "strong"), f" {verb_used}")
    for kind, count in sorted(done.kinds.items()):
        screen.say(f"  {kind}: {count}")
    for name, why in done.failed.items():
        screen.say((f"left out: {name}: {why}", "warning"))
