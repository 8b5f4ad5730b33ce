"""The shelf of a root of files, which tells the index what changed."""

from functools import partial

from mnemolog.fs import Disk
from mnemolog.graph.shelf import FilesShelf
from mnemolog.log import forks
from mnemolog.settings import Settings
from mnemolog.stores.files.feed import mark_nodes


def make_shelf(disk: Disk, settings: Settings) -> FilesShelf:
    """The shelf of a root; every write leaves a sign for whoever searches nodes next."""
    patience = settings.concurrency.lock_timeout_ms / 1000
    shelf = FilesShelf(disk, patience, partial(mark_nodes, disk))
    forks.watch(shelf)
    return shelf
