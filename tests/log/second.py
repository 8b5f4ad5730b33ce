"""A second version of the format that nobody has published: every line counts its accesses."""

from typing import Any

from mnemolog import Memory
from mnemolog.fs import Disk
from mnemolog.log.versions import Fields, Step, Versions
from mnemolog.model.entry import Entry
from mnemolog.settings import Settings
from mnemolog.stores import make_redactor
from mnemolog.stores.files import FilesStore
from mnemolog.stores.files.keeper import FilesKeeper
from mnemolog.stores.files.moving.mover import FilesMover
from mnemolog.testing import FixedClock


class CountedEntry(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """An entry as version 2 has it."""

    access_count: int


def counted(fields: Fields) -> Fields:
    return {**fields, "access_count": 0}


def countable(fields: Fields) -> Fields:
    return {**fields, "preferences": {"counted": True, **fields.get("preferences", {})}}


SECOND = Versions(Step(counted, countable), record=CountedEntry)


def open_second(disk: Disk, settings: Settings | None = None, clock: Any = None) -> Memory:
    """A memory as a program of version 2 opens it."""
    chosen = settings or Settings()
    store = FilesStore(disk, chosen, SECOND)
    mover = FilesMover(disk, chosen, None, SECOND)
    keeper = FilesKeeper(disk, store.held, lambda gone: False, make_redactor)
    return Memory(store, chosen, clock or FixedClock(), keeper=keeper, mover=lambda: mover)
