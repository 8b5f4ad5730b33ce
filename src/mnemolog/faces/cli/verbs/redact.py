"""`mnemolog redact`"""

import click

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb


@click.command()
@click.argument("session", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would be hidden.")
@verb
def redact(call: Call, session: str | None, dry_run: bool) -> None:
    """Hide secrets in what is stored, in SESSION or everywhere.

    New entries are redacted before they are written; this is for older ones. The nodes of the users
    concerned are treated too, with all their versions and the proposals that wait.
    """
    with call.memory() as memory, progress("redacting") as bar:
        done = memory.redact(session, dry_run=dry_run, progress=bar)
    if call.as_json:
        screen.emit(done)
        return
    verb_used = "would be changed" if dry_run else "changed"
    screen.say((f"{done.entries} entries {verb_used}", "strong"), f" in {done.sessions} sessions")
    if done.nodes or done.versions or done.proposals:
        counts = f"{done.nodes} nodes, {done.versions} versions, {done.proposals} proposals"
        screen.say((counts, "strong"), f" {verb_used}")
    for kind, count in sorted(done.kinds.items()):
        screen.say(f"  {kind}: {count}")
