"""`mnemolog settings`"""

import os
from itertools import pairwise
from typing import Any

import click

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call, retired_settings_told, verb


@click.command()
@click.option("--session", metavar="ID", help="With the overrides of this session.")
@verb
def settings(call: Call, session: str | None) -> None:
    """Show the settings in force.

    And where each of them comes from: default, file, environment or session.
    """
    from mnemolog.settings import Settings, written
    from mnemolog.stores.files import roots

    with retired_settings_told(call.as_json):
        in_file = roots.settings_of(call.root, {})
        layers = {
            "default": Settings(),
            "file": in_file,
            "environment": roots.settings_of(call.root, os.environ),
        }
    if session is not None:
        with call.memory() as memory:
            overrides = memory.load_session(session).settings
            layers["session"] = layers["environment"].with_overrides(overrides)
    flat = {source: layer.flat() for source, layer in layers.items()}
    rows = [(key, value, _source(key, flat)) for key, value in list(flat.values())[-1].items()]
    if call.as_json:
        screen.emit({key: {"value": value, "source": source} for key, value, source in rows})
    else:
        shown = ((key, written(value), source) for key, value, source in rows)
        screen.table(("setting", "value", "from"), shown)


def _source(key: str, layers: dict[str, dict[str, Any]]) -> str:
    """The last layer that changed the value."""
    names = list(layers)
    changed = [name for before, name in pairwise(names) if layers[name][key] != layers[before][key]]
    return changed[-1] if changed else names[0]
