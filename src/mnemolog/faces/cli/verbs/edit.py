"""`mnemolog edit`"""

from typing import Any

import click

from mnemolog.faces.cli import intake, screen, words
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.verbs.show import entry_of


@click.command()
@click.argument("session")
@click.argument("entry")
@click.argument("text", required=False)
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Its tags from now on.")
@click.option("--importance", metavar="0..1", type=float, help="Its weight from now on.")
@click.option("--status", metavar="WORD", help="Of a finding: open, resolved, …")
@verb
def edit(
    call: Call,
    session: str,
    entry: str,
    text: str | None,
    tags: tuple[str, ...],
    importance: float | None,
    status: str | None,
) -> None:
    """Correct an entry of SESSION; what is not given stays.

    TEXT takes the place of what was said, of a decision what was decided, of a finding what was
    found, of a preference its value. Earlier revisions stay in the log until it is compacted; to
    remove what was said from every file, use `erase`.
    """
    given = {"tags": list(tags) or None, "importance": importance, "status": status}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if text is None and not changes:
        raise click.UsageError("Give TEXT, --tag, --importance or --status.")
    with call.memory() as memory:
        before = entry_of(memory, session, entry)
        if text is not None:
            changes["content"] = intake.corrected(before, text)
        receipt = memory.update_memory(session, entry, expected_seq=before.seq, **changes)
    if call.as_json:
        screen.emit(receipt)
    else:
        words.say_receipt(receipt)
