"""`mnemolog reindex`"""

import click

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb


@click.command()
@verb
def reindex(call: Call) -> None:
    """Build the index anew from the logs.

    It holds nothing that the logs do not, and is kept up to date by every search: this is for when
    it is in doubt.
    """
    call.refuse_views("The index is built for everything below the root.")
    logs = 0
    with call.memory() as memory, progress("indexing") as bar:

        def tell(done: int, total: int) -> None:
            nonlocal logs
            logs = total
            bar(done, total)

        lines = memory.rebuild_index(progress=tell)
    if call.as_json:
        screen.emit({"root": call.root, "logs": logs, "indexed": lines})
    else:
        screen.say((f"{lines:,} lines of {logs:,} logs are indexed", "good"))
