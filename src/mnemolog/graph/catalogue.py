"""The catalogue: what is known of every node of a user, read again only where a file changed."""

import time
from collections.abc import Iterator
from contextlib import suppress
from threading import RLock
from typing import NamedTuple

from mnemolog.errors import SizeLimitError, StorageError
from mnemolog.fs import Disk, Ident, Stat
from mnemolog.graph import addresses, document, links
from mnemolog.graph.bloom import bloom_of
from mnemolog.graph.document import Raw
from mnemolog.graph.links import Said
from mnemolog.model.node import FILES, Leaf, Node

TOO_LONG = "too-long"
# A file that was changed so shortly before it was read may change again without a sign.
RACY_NS = 2_000_000_000
"""How long: two seconds, as coarse as the clock of some file systems."""
_SHORT = 4096


class Footprint(NamedTuple):
    """What tells that a file changed, without reading it."""

    ident: Ident
    size: int
    mtime_ns: int


class Card(NamedTuple):
    """A node in the catalogue."""

    mark: Footprint
    is_settled: bool
    hash: str
    leaf: Leaf
    said: tuple[Said, ...] = ()
    parents: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    body: str | None = None
    """What it says, if that is short enough to be kept at hand."""
    bloom: bytes = b""
    """Of a longer one, what tells which words it does not have; none if it was not read."""


def read_raw(disk: Disk, path: str) -> Raw | None:
    """A file and when it was changed; None when there is none."""
    try:
        status = disk.stat(path)
        if status is None or not status.is_regular:
            return None
        file = disk.open(path, "read")
        content = file.read(0, min(file.size(), document.MAX_BYTES + 1))
    except FileNotFoundError:
        return None
    return Raw(content, status.mtime_ns // 1_000_000)


def files(disk: Disk, user_id: str, path: str = "") -> Iterator[tuple[str, Stat]]:
    """The address of every node of a user, the four files first, with a look at its file; or of
    those below a folder."""
    folder = addresses.user_folder(user_id)
    if path:
        place = f"{folder}/{addresses.MEMORY}/{path}"
        depth = addresses.MAX_FOLDERS - path.count("/") - 1
        yield from _below(disk, place, f"{path}/", depth)
        return
    for name in FILES:
        status = disk.stat(f"{folder}/{name}")
        if status is not None and status.is_regular:
            yield name, status
    yield from _below(disk, f"{folder}/{addresses.MEMORY}", "", addresses.MAX_FOLDERS)


def _below(disk: Disk, folder: str, prefix: str, depth: int) -> Iterator[tuple[str, Stat]]:
    """What can be a node by its name and kind; the rest is for `doctor --graph`."""
    for name, status in disk.survey(folder):
        if status.is_folder and depth and not name.startswith("."):
            yield from _below(disk, f"{folder}/{name}", f"{prefix}{name}/", depth - 1)
        elif (address := node_at(prefix, name, status)) is not None:
            yield address, status


def node_at(prefix: str, name: str, status: Stat) -> str | None:
    """The address of what lies below a folder; None if that can be no node."""
    if not status.is_regular or not name.endswith(addresses.ENDING) or name.startswith("."):
        return None
    address = f"{prefix}{name.removesuffix(addresses.ENDING)}"
    return address if addresses.is_address(address) and address not in FILES else None


class Catalogue:
    """The nodes of one user."""

    def __init__(self, disk: Disk, user_id: str) -> None:
        self._disk = disk
        self._user = user_id
        self._cards: dict[str, Card] = {}
        self._mutex = RLock()

    def cards(self, path: str = "") -> dict[str, Card]:
        """Every node, or those below a folder, by address, in the order of a tree, as of now."""
        with self._mutex:
            found = {}
            for address, status in files(self._disk, self._user, path):
                card = self._card(address, Footprint(status.ident, status.size, status.mtime_ns))
                if card is not None:
                    found[address] = card
            self._cards = {**self._cards, **found} if path else found
            return found

    def card(self, address: str) -> Card | None:
        """One node, as of now; None if there is none."""
        with self._mutex:
            status = self._disk.stat(addresses.spot(self._user, address).file)
            if status is None or not status.is_regular:
                return None
            card = self._card(address, Footprint(status.ident, status.size, status.mtime_ns))
            if card is not None:
                self._cards[address] = card
            return card

    def _card(self, address: str, mark: Footprint) -> Card | None:
        known = self._cards.get(address)
        if known is not None and known.mark == mark and known.is_settled:
            return known
        is_settled = time.time_ns() - mark.mtime_ns > RACY_NS
        if mark.size > document.MAX_BYTES:
            title = address.rpartition("/")[2]
            leaf = Leaf(address, title, "", mark.mtime_ns // 1_000_000, (TOO_LONG,))
            return Card(mark, is_settled, "", leaf)
        node = self._read(address)
        return None if node is None else _card_of(node, mark, is_settled)

    def _read(self, address: str) -> Node | None:
        with suppress(StorageError, SizeLimitError):
            raw = read_raw(self._disk, addresses.spot(self._user, address).file)
            return None if raw is None else document.parse(self._user, address, raw)
        return None  # for `doctor --graph` to look at


def _card_of(node: Node, mark: Footprint, is_settled: bool) -> Card:
    leaf = Leaf(node.address, node.title, node.description, node.updated_at, node.flags)
    said = tuple(links.said_in(node.body))
    is_short = len(node.body) <= _SHORT
    return Card(
        mark,
        is_settled,
        node.hash,
        leaf,
        said,
        node.parents,
        node.refs,
        node.sources,
        body=node.body if is_short else None,
        bloom=b"" if is_short else bloom_of(node.body),
    )
