"""A memory on any disk: the simulated one, or the real one with something in between."""

from mnemolog.fs import Disk
from mnemolog.memory import Memory
from mnemolog.ports import Clock
from mnemolog.ports.keeping import Purge
from mnemolog.settings import Settings
from mnemolog.stores import make_redactor
from mnemolog.stores.files import FilesStore
from mnemolog.stores.files.keeper import FilesKeeper
from mnemolog.stores.files.shelves import make_shelf


def open_on(
    disk: Disk,
    settings: Settings | None = None,
    clock: Clock | None = None,
    *,
    purge: Purge = lambda gone: False,
) -> Memory:
    """Open the root on a disk, without an index; `purge` is told what an index would have to do."""
    effective = settings or Settings()
    store = FilesStore(disk, effective)
    keeper = FilesKeeper(disk, store.held, purge, make_redactor)
    return Memory(store, effective, clock, keeper=keeper, shelf=make_shelf(disk, effective))
