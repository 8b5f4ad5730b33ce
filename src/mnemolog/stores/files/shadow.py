"""The shadow: a user's nodes as lines of a log, so that the index finds them like entries.

It is derived and lies in `index/nodes/`. Before nodes are searched it is brought up to date: after
a write of ours at once, for hand edits by a look at every file, at most every two seconds. A line
is added only where the content changed; the row of the text before it goes.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import SizeLimitError, StorageError
from mnemolog.fs import Disk
from mnemolog.fs.lock import Lock
from mnemolog.graph import addresses, catalogue, sourcing
from mnemolog.graph.catalogue import RACY_NS, Footprint
from mnemolog.graph.shelf import FilesShelf
from mnemolog.log import lines
from mnemolog.model.entry import FORMAT, Entry
from mnemolog.model.node import Node
from mnemolog.model.times import to_text
from mnemolog.stores.files.feed import FOLDER, dirty_path, mark, nodes_log, place_named

TYPE = "node"
_SECONDS = 2.0
_PATIENCE = 30.0
# Above so many lines for each node that lives, the shadow is written anew.
_SPARE = 1000


class _Known(NamedTuple):
    """A node as its last line tells it."""

    mark: Footprint
    is_settled: bool
    hash: str


_New = tuple[str, Node | None, _Known | None]
"""An address, the node that is there now, and how it will be known."""


class _State:
    """What this process knows of one user's shadow."""

    def __init__(self) -> None:
        self.known: dict[str, _Known] = {}
        self.file: tuple[fs.Ident, int] | None = None
        self.seq = 0
        self.lines = 0
        self.looked = -_SECONDS


class Shadow:
    """Keeps the shadows of all users."""

    def __init__(self, disk: Disk, shelf: FilesShelf) -> None:
        self._disk = disk
        self._shelf = shelf
        self.forget()

    def forget(self) -> None:
        """Start with nothing known, as a forked child must."""
        self._states: dict[str, _State] = {}
        self._looked = -_SECONDS

    def refresh(self) -> None:
        """Bring every shadow up to date: those with a sign at once, all of them now and then."""
        names = self._disk.list(FOLDER)
        users = self._users(names, ".dirty")
        now = time.monotonic()
        if now - self._looked >= _SECONDS or not names:
            self._looked = now
            users += self._shelf.users() + self._users(names, ".jsonl")
        for user in dict.fromkeys(users):
            self._refresh(user)

    def _users(self, names: list[str], ending: str) -> list[str]:
        found = (paths.id_of(one.removesuffix(ending)) for one in names if one.endswith(ending))
        return [user for user in found if user is not None]

    def _refresh(self, user: str) -> None:
        state = self._states.setdefault(user, _State())
        is_dirty = self._disk.ident(dirty_path(user)) is not None
        is_there = self._disk.ident(place_named(nodes_log(user)).guard) is not None
        is_due = not is_there or time.monotonic() - state.looked >= _SECONDS
        if not is_due and not is_dirty:
            return
        self._disk.mkdir(FOLDER)
        with self._locked(user):
            named = self._signs(user) if is_dirty else set()
            self._load(user, state)
            if is_due or "" in named:
                state.looked = time.monotonic()
                news = list(self._news(user, state))
            else:
                news = list(self._named_news(user, state, named))
            if news or not is_there:
                self._add(user, state, news)

    def _signs(self, user: str) -> set[str]:
        """The addresses that were written since; the sign is taken away before it is read."""
        with suppress(FileNotFoundError):
            file = self._disk.open(dirty_path(user), "read")
            self._disk.unlink(dirty_path(user))
            named = file.read(0, file.size()).decode("utf-8", "replace").split("\n")[:-1]
            return set(named) or {""}
        return set()

    @contextmanager
    def _locked(self, user: str) -> Iterator[None]:
        path = place_named(nodes_log(user)).lock
        with suppress(FileExistsError):
            self._disk.open(path, "create")
        lock = Lock(self._disk.open(path, "update"), f"the shadow of {user!r:.80}")
        lock.acquire(time.monotonic() + _PATIENCE)
        try:
            yield
        finally:
            lock.release()

    def _load(self, user: str, state: _State) -> None:
        """Read the shadow, unless it is just as this process left it."""
        status = self._disk.stat(place_named(nodes_log(user)).guard)
        file = None if status is None else (status.ident, status.size)
        if file == state.file and file is not None:
            return
        state.known, state.seq, state.lines, state.file = {}, 0, 0, file
        if file is None:
            return
        for line in fs.read_all(self._disk, place_named(nodes_log(user)).guard).split(b"\n"):
            entry = lines.valid(line)
            if entry is None:
                continue
            state.seq, state.lines = entry.seq, state.lines + 1
            if entry.target is not None:
                state.known.pop(entry.target, None)
            elif (known := _known(entry.metadata)) is not None:
                state.known[entry.id] = known

    def _news(self, user: str, state: _State) -> Iterator[_New]:
        """Every address whose content changed, with the node that is there now."""
        seen: set[str] = set()
        for address, status in catalogue.files(self._disk, user):
            seen.add(address)
            yield from self._new(user, state, address, status)
        for address in set(state.known) - seen:
            yield address, None, None

    def _named_news(self, user: str, state: _State, named: set[str]) -> Iterator[_New]:
        """The same for a few addresses."""
        for address in filter(addresses.is_address, sorted(named)):
            status = self._disk.stat(addresses.spot(user, address).file)
            if status is not None:
                yield from self._new(user, state, address, status)
            elif address in state.known:
                yield address, None, None

    def _new(self, user: str, state: _State, address: str, status: fs.Stat) -> Iterator[_New]:
        now = Footprint(status.ident, status.size, status.mtime_ns)
        known = state.known.get(address)
        if known is not None and known.is_settled and known.mark == now:
            return
        node = self._read(user, address)
        is_settled = time.time_ns() - status.mtime_ns > RACY_NS
        fresh = None if node is None else _Known(now, is_settled, node.hash)
        if fresh is not None and known is not None and known.hash == fresh.hash:
            state.known[address] = fresh
        elif node is not None or known is not None:
            yield address, node, fresh

    def _read(self, user: str, address: str) -> Node | None:
        with suppress(StorageError, SizeLimitError):
            return self._shelf.find(user, address)
        return None

    def _add(self, user: str, state: _State, news: list[_New]) -> None:
        """Add lines in the order in which the nodes were written."""
        path = place_named(nodes_log(user)).guard
        ordered = sorted(news, key=lambda one: (one[1].updated_at if one[1] else 0, one[0]))
        content: list[bytes] = []
        for address, node, fresh in ordered:
            if address in state.known:
                content.append(self._line(state, _gone(user, address)))
                del state.known[address]
            if node is not None and fresh is not None:
                content.append(self._line(state, _entry(node, fresh)))
                state.known[address] = fresh
        self._write(path, b"".join(content))
        if state.lines > 2 * len(state.known) + _SPARE:
            self._disk.unlink(path)  # made anew, without what is void
            state.file = None
            self._load(user, state)
            self._add(user, state, list(self._news(user, state)))
            return
        status = self._disk.stat(path)
        state.file = None if status is None else (status.ident, status.size)
        mark(self._disk, nodes_log(user))

    def _line(self, state: _State, entry: Entry) -> bytes:
        state.seq += 1
        state.lines += 1
        return lines.Draft(entry).line(state.seq)

    def _write(self, path: str, content: bytes) -> None:
        try:
            file = self._disk.open(path, "append")
        except FileNotFoundError:
            file = self._disk.open(path, "create")
        size = file.size()
        if size and file.read(size - 1, 1) != b"\n":
            content = b"\n" + content
        if content and file.append(content) != len(content):
            file.truncate(size)
            raise fs.full("bring the nodes into the index")


def _entry(node: Node, known: _Known) -> Entry:
    body = sourcing.without_comments(node.body)
    told = {"title": node.title, "description": node.description, "body": body}
    return Entry(
        v=FORMAT,
        id=node.address,
        timestamp=to_text(datetime.fromtimestamp(node.updated_at / 1000, UTC)),
        type=TYPE,
        scope="user",
        origin="agent",
        user_id=node.user_id,
        content={name: text for name, text in told.items() if text},
        metadata={
            "hash": known.hash,
            "sources": list(node.sources),  # an erasure finds the line by them
            "mark": [*known.mark.ident, known.mark.size, known.mark.mtime_ns, known.is_settled],
        },
    )


def _gone(user: str, address: str) -> Entry:
    stamp = to_text(datetime.fromtimestamp(0, UTC))
    return Entry(v=FORMAT, id=f"~{address}", timestamp=stamp, type="erased", scope="user",
                 origin="agent", user_id=user, target=address)  # fmt: skip


def _known(metadata: dict[str, Any]) -> _Known | None:
    try:
        device, inode, size, changed, is_settled = metadata["mark"]
        return _Known(Footprint((device, inode), size, changed), bool(is_settled), metadata["hash"])
    except (KeyError, TypeError, ValueError):
        return None


def shown(entry: Entry) -> Entry:
    """A hit as others see it: what a node's file looks like on disk is nobody's concern."""
    if entry.type != TYPE or "mark" not in entry.metadata or entry.scope != "user":
        return entry
    return msgspec.structs.replace(entry, metadata={"hash": entry.metadata.get("hash", "")})
