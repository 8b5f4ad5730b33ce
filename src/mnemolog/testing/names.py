"""The names on a simulated disk: which folder holds what, and which changes are not yet durable.

Folders and files are numbers here. A name stands in one folder and nothing has two names. A change
of names is a `Move`: some slots (folder, name) get a new number, or none, all at once.
"""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

Slot = tuple[int, str]
Table = Mapping[int, Mapping[str, int]]

ROOT = 1


class Move(NamedTuple):
    """A change of names that happens as a whole or not at all; `moved` is what it renames."""

    slots: Mapping[Slot, int | None]
    moved: int | None = None

    def touches(self, folder: int) -> bool:
        """Whether it changes a name directly in this folder."""
        return folder in {parent for parent, _ in self.slots}


class Names(NamedTuple):
    """All names: as they are now, as they are durably, and the moves in between, in order."""

    now: Table
    durable: Table
    moves: tuple[Move, ...] = ()

    def find(self, path: str) -> int | None:
        """The number behind a path, if there is one."""
        found = ROOT
        for part in path.split("/") if path else ():
            names = self.now.get(found)
            if names is None or part not in names:
                return None
            found = names[part]
        return found

    def walk(self) -> list[tuple[str, int]]:
        """Every path and its number, folders before what is in them."""
        found: list[tuple[str, int]] = []
        waiting = [("", ROOT)]
        for prefix, folder in waiting:
            names = self.now[folder]
            for name in sorted(names):
                number = names[name]
                found.append((prefix + name, number))
                if number in self.now:
                    waiting.append((f"{prefix}{name}/", number))
        return found

    def with_folder(self, number: int) -> "Names":
        """A new, empty folder that has no name yet."""
        return self._replace(now={**self.now, number: {}}, durable={**self.durable, number: {}})

    def changed(self, move: Move) -> "Names":
        """After a move that is not synced."""
        return self._replace(now=_applied(self.now, move), moves=(*self.moves, move))

    def synced(self, folder: int) -> "Names":
        """After a sync of one folder: every move that touches it is durable, with both its sides.

        An earlier move that is not has no say any more over a slot that is settled now.
        """
        touching = [move for move in self.moves if move.touches(folder)]
        if not touching:
            return self
        durable, waiting = self.durable, []
        for move in touching:
            durable = _applied(durable, move)
        settled: set[Slot] = set()
        for move in reversed(self.moves):
            if move.touches(folder):
                settled |= move.slots.keys()
            elif left := {slot: to for slot, to in move.slots.items() if slot not in settled}:
                waiting.append(move._replace(slots=left))
        return self._replace(durable=durable, moves=tuple(reversed(waiting)))

    def survived(self, rng: Random, keep: float) -> "Names":
        """A state in which a power loss may leave them: each move is kept or dropped."""
        names = self.durable
        for move in self.moves:
            if rng.random() < keep:
                names = _applied(_without(names, move.moved), move)
        return Names(names, names)


def _applied(table: Table, move: Move) -> Table:
    folders = dict(table)
    for (folder, name), number in move.slots.items():
        names = dict(folders[folder])
        if number is None:
            names.pop(name, None)
        else:
            names[name] = number
        folders[folder] = names
    return folders


def _without(table: Table, moved: int | None) -> Table:
    """What a rename moves has left every place where it was: it never has two names."""
    if moved is None:
        return table
    return {
        folder: {name: number for name, number in names.items() if number != moved}
        for folder, names in table.items()
    }
