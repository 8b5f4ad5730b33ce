"""Plans: edits that were made and not yet applied, one file each among the intents."""

from collections.abc import Callable
from contextlib import suppress

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import ConcurrentModificationError
from mnemolog.fs import Disk
from mnemolog.graph.replacing import IsMeant, shredded, swap
from mnemolog.model.lesson import Edit, EditPlan

PREFIX = "plan-"
_ENDING = ".json"
_TRIES = 8


def path_of(plan_id: str) -> str:
    """Where a plan is noted."""
    return f"{paths.INTENTS}/{PREFIX}{paths.file_name(plan_id)}{_ENDING}"


def keep(disk: Disk, plan: EditPlan) -> None:
    """Note a plan durably; one of the same id is replaced."""
    disk.mkdir(paths.INTENTS)
    fs.replace(disk, path_of(plan.id), msgspec.json.encode(plan) + b"\n")


def read(disk: Disk, plan_id: str) -> EditPlan | None:
    """A plan that was noted; None if it is struck out, or cannot be read."""
    return _read(disk, path_of(plan_id))


def all_of(disk: Disk) -> list[EditPlan]:
    """Every plan that waits to be applied."""
    names = [one for one in disk.list(paths.INTENTS) if one.startswith(PREFIX)]
    found = (_read(disk, f"{paths.INTENTS}/{one}") for one in names if one.endswith(_ENDING))
    return [one for one in found if one is not None]


def change(
    disk: Disk, plan_id: str, edited: Callable[[EditPlan], tuple[Edit, ...]], is_meant: IsMeant
) -> int:
    """Give a plan other edits, and overwrite what was there; without any edit it goes. Says how
    many of its edits are others now.

    Two erasures may meet here: what is written always follows from what it takes the place of.
    """
    path = path_of(plan_id)
    for _ in range(_TRIES):
        try:
            before = fs.read_all(disk, path)
            plan = msgspec.json.decode(before, type=EditPlan)
        except (FileNotFoundError, msgspec.DecodeError):
            return 0  # applied meanwhile
        edits = edited(plan)
        others = sum(one not in edits for one in plan.edits)
        if edits == plan.edits or (not edits and shredded(disk, path)):
            return others
        after = msgspec.json.encode(msgspec.structs.replace(plan, edits=edits)) + b"\n"
        with suppress(FileNotFoundError, FileExistsError):  # somebody else is at it
            if edits and swap(disk, path, before, after, is_meant):
                return others
    raise ConcurrentModificationError(
        f"Somebody keeps changing {path!r:.200}.", advice="Try again when that is done."
    )


def strike(disk: Disk, plan_id: str) -> None:
    """Remove a plan, bytes and all."""
    fs.shred(disk, path_of(plan_id))
    if disk.ident(paths.INTENTS) is not None:
        disk.sync_folder(paths.INTENTS)


def _read(disk: Disk, path: str) -> EditPlan | None:
    with suppress(FileNotFoundError, msgspec.DecodeError):
        return msgspec.json.decode(fs.read_all(disk, path), type=EditPlan)
    return None
