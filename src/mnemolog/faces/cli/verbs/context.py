"""`mnemolog context`"""

import click

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call, verb


@click.command()
@click.argument("text", required=False)
@click.argument("session", required=False)
@click.option(
    "--max-tokens", metavar="N", type=int, default=2000, help="As long at most; 2000 if not given."
)
@verb
def context(call: Call, text: str | None, session: str | None, max_tokens: int) -> None:
    """Show what a model would be told.

    One block for a prompt, as marked data: the preferences in force in SESSION, then what fits TEXT
    best in all sessions of its user. Without a SESSION, all that may be seen is looked at. A token
    is counted as four bytes.
    """
    if text is None:
        raise click.UsageError("Give TEXT, or an empty one before a SESSION.")
    with call.memory() as memory:
        found = memory.context(session, text, max_tokens=max_tokens)
    if call.as_json:
        screen.emit(found)
    elif found.text:
        for line in found.text.split("\n"):
            screen.say(line)
        if found.omitted:
            screen.say((f"{found.omitted:,} more did not fit", "dim"), err=True)
    elif found.omitted:
        screen.say(f"Nothing of {found.omitted:,} fits into --max-tokens {max_tokens}.")
    else:
        screen.say("Nothing was found.")
