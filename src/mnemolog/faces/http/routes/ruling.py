"""Settings: what is in force, where it comes from."""

from itertools import pairwise
from threading import Lock
from typing import Annotated, Any, Literal

import msgspec
from litestar import get, patch
from litestar.params import HeaderParameter, JSONBody

from mnemolog.faces.http.house import Asking, Caller
from mnemolog.faces.http.ruling import applies
from mnemolog.settings import KEYS, Settings
from mnemolog.stores.files import roots
from mnemolog.stores.files.serving import config_file

IfMatch = Annotated[
    str | None, HeaderParameter(name="If-Match", max_length=200, description="`hash` of the list.")
]

_CHANGING = Lock()


class SettingRow(msgspec.Struct, kw_only=True):
    """One setting: its value, its default, and where the value comes from."""

    key: str
    value: Any
    default: Any
    origin: str
    permitted: str
    doc: str
    editable: bool
    applies: Literal["now", "restart"]
    """When a change counts: at once, or from the next start."""


class SettingList(msgspec.Struct, kw_only=True):
    """All settings, and what a change is made against."""

    items: list[SettingRow]
    hash: str
    pending: list[str]
    """The keys whose file says something else than what is in force; it counts from the next
    start."""


@get("/settings", sync_to_thread=True)
def settings(caller: Asking) -> SettingList:
    """Every setting with its value, its default and its origin; for the owner."""
    caller.owner("see the settings")
    return _listed(caller)


def _listed(caller: Caller) -> SettingList:
    root = caller.house.root
    layers = {
        "default": Settings().flat(),
        "file": roots.settings_of(root, {}).flat(),
        "environment": roots.settings_of(root, caller.house.environ).flat(),
    }
    running = caller.house.memory.settings.flat()
    return SettingList(
        items=[
            SettingRow(
                key=key.name,
                value=msgspec.to_builtins(running[key.name]),
                default=msgspec.to_builtins(key.default),
                origin=_origin(key.name, layers),
                permitted=key.permitted,
                doc=key.description,
                editable=key.name != "version",
                applies=applies(key.name),
            )
            for key in KEYS.values()
        ],
        hash=config_file.fingerprint(root),
        pending=[name for name, value in layers["environment"].items() if value != running[name]],
    )


@patch("/settings", sync_to_thread=True)
def change_settings(
    caller: Asking, data: JSONBody[dict[str, Any]], if_match: IfMatch = None
) -> SettingList:
    """Set values in `config.toml`; each row says whether they count at once. For the owner."""
    caller.owner("change the settings")
    expected = None if if_match is None else if_match.strip().strip('"')
    house = caller.house
    with _CHANGING:  # of two that read the same file only one may change it
        config_file.change(house.root, data, expected)
        now = roots.settings_of(house.root, house.environ).flat()
        house.ruling.change({key: now[key] for key in data})
    caller.publish("health", settings=True)
    return _listed(caller)


def _origin(name: str, layers: dict[str, dict[str, object]]) -> str:
    changed = [
        after for before, after in pairwise(layers) if layers[before][name] != layers[after][name]
    ]
    return changed[-1] if changed else "default"


ROUTES = [settings, change_settings]
