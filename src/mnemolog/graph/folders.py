"""Folders of nodes: one level of a user's tree, which costs what it shows.

What a folder holds is listed again only when the folder's own time of change says that names came
or went; so the nodes below it are counted by one look at each folder, not at each file.
"""

import time
from bisect import bisect_right
from threading import Lock
from typing import NamedTuple

from mnemolog.fs import Disk, Ident
from mnemolog.graph import addresses
from mnemolog.graph.catalogue import RACY_NS, Catalogue, node_at
from mnemolog.model.node import FILES, Branch, Folder

# The order of one level: the four files, then folders, then nodes.
_FILE, _BRANCH, _LEAF = range(3)

_Key = tuple[int, str]


class _Listing(NamedTuple):
    """What a folder held when it was last listed."""

    ident: Ident
    mtime_ns: int
    is_settled: bool
    nodes: tuple[str, ...]
    folders: tuple[str, ...]


_NOTHING = _Listing((0, 0), 0, False, (), ())


class Folders:
    """The folders of one user."""

    def __init__(self, disk: Disk, user_id: str, catalogue: Catalogue) -> None:
        self._disk = disk
        self._catalogue = catalogue
        self._top = f"{addresses.user_folder(user_id)}/{addresses.MEMORY}"
        self._listings: dict[str, _Listing] = {}
        self._mutex = Lock()

    def level(self, path: str, after: str, limit: int) -> Folder:
        """What lies directly in a folder, from one name on; the top one has the four files too."""
        with self._mutex:
            listing = self._listing(path)
            branches = {one: self._count(_joined(path, one)) for one in listing.folders}
        keys = [(_BRANCH, one) for one in listing.folders if branches[one]]
        keys += [(_LEAF, one) for one in listing.nodes]
        start = bisect_right(keys, _key(after)) if after else 0
        shown = keys[start : start + limit]
        names = [*FILES] if not path and not after else []
        names += [_joined(path, name) for kind, name in shown if kind == _LEAF]
        cards = (self._catalogue.card(name) for name in names)
        return Folder(
            path=path,
            nodes=len(listing.nodes) + sum(branches.values()),
            branches=tuple(
                Branch(_joined(path, name), branches[name])
                for kind, name in shown
                if kind == _BRANCH
            ),
            leaves=tuple(card.leaf for card in cards if card is not None),
            next=_cursor(shown[-1]) if start + limit < len(keys) else "",
        )

    def _count(self, path: str) -> int:
        listing = self._listing(path)
        return len(listing.nodes) + sum(self._count(_joined(path, one)) for one in listing.folders)

    def _listing(self, path: str) -> _Listing:
        place = f"{self._top}/{path}" if path else self._top
        status = self._disk.stat(place)
        if status is None or not status.is_folder:
            self._listings.pop(path, None)
            return _NOTHING
        known = self._listings.get(path, _NOTHING)
        if known.is_settled and (known.ident, known.mtime_ns) == (status.ident, status.mtime_ns):
            return known
        # Read after the look: names that come meanwhile change the time again. A disk that does
        # not tell when a folder changed is asked each time.
        is_settled = 0 < status.mtime_ns < time.time_ns() - RACY_NS
        nodes, folders = self._held(place, path)
        found = _Listing(status.ident, status.mtime_ns, is_settled, nodes, folders)
        self._listings[path] = found
        return found

    def _held(self, place: str, path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        prefix = f"{path}/" if path else ""
        is_deepest = prefix.count("/") >= addresses.MAX_FOLDERS
        nodes: list[str] = []
        folders: list[str] = []
        for name, status in self._disk.survey(place):
            if status.is_folder and not name.startswith("."):
                folders += [] if is_deepest else [name]
            elif (address := node_at(prefix, name, status)) is not None:
                nodes.append(address.removeprefix(prefix))
        return tuple(sorted(nodes)), tuple(folders)


def _joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _key(after: str) -> _Key:
    return (_BRANCH, after[:-1]) if after.endswith("/") else (_LEAF, after)


def _cursor(key: _Key) -> str:
    return f"{key[1]}/" if key[0] == _BRANCH else key[1]
