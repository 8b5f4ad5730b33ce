"""Plans: edits that were made and not yet applied, one file each among the intents."""

from contextlib import suppress

import msgspec

from mnemolog import fs, paths
from mnemolog.fs import Disk
from mnemolog.model.lesson import Plan

PREFIX = "plan-"
_ENDING = ".json"


def path_of(plan_id: str) -> str:
    """Where a plan is noted."""
    return f"{paths.INTENTS}/{PREFIX}{paths.file_name(plan_id)}{_ENDING}"


def keep(disk: Disk, plan: Plan) -> None:
    """Note a plan durably; one of the same id is replaced."""
    disk.mkdir(paths.INTENTS)
    fs.replace(disk, path_of(plan.id), msgspec.json.encode(plan) + b"\n")


def read(disk: Disk, plan_id: str) -> Plan | None:
    """A plan that was noted; None if it is struck out, or cannot be read."""
    return _read(disk, path_of(plan_id))


def all_of(disk: Disk) -> list[Plan]:
    """Every plan that waits to be applied."""
    names = [one for one in disk.list(paths.INTENTS) if one.startswith(PREFIX)]
    found = (_read(disk, f"{paths.INTENTS}/{one}") for one in names if one.endswith(_ENDING))
    return [one for one in found if one is not None]


def strike(disk: Disk, plan_id: str) -> None:
    """Remove a plan, bytes and all."""
    fs.shred(disk, path_of(plan_id))
    if disk.ident(paths.INTENTS) is not None:
        disk.sync_folder(paths.INTENTS)


def _read(disk: Disk, path: str) -> Plan | None:
    with suppress(FileNotFoundError, msgspec.DecodeError):
        return msgspec.json.decode(fs.read_all(disk, path), type=Plan)
    return None
