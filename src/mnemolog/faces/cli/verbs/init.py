"""`mnemolog init`"""

import click

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call, retired_settings_told, verb


@click.command()
@verb
def init(call: Call) -> None:
    """Make a memory.

    It is made where --root says, else MNEMOLOG_ROOT, else in .mnemolog in this folder.
    """
    from mnemolog.memory import Memory
    from mnemolog.stores.files import roots

    root = call.named_root or roots.full_path(roots.NAME)
    is_new = not roots.is_root(root)
    with retired_settings_told(call.as_json), Memory.open(root):
        pass
    if call.as_json:
        screen.emit({"root": root, "created": is_new})
    elif is_new:
        screen.say(("Made a memory in ", "good"), root)
        screen.say("Next: mnemolog add 'the first thing to remember'")
    else:
        screen.say("There is a memory already in ", root)
