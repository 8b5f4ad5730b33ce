"""The shelf: the nodes of all users, as files that people may edit at any time."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from threading import Lock as Mutex
from typing import Literal

import msgspec

from mnemolog.errors import InvalidFormatError, SizeLimitError, StorageError
from mnemolog.fs import Disk
from mnemolog.graph import (
    addresses,
    catalogue,
    cutting,
    document,
    linking,
    links,
    locking,
    merging,
    move_note,
    moving,
    plans,
    prompts,
    review,
    sourcing,
    versions,
)
from mnemolog.graph.catalogue import Card, Catalogue, read_raw
from mnemolog.graph.folders import Folders
from mnemolog.graph.hiding import hidden
from mnemolog.graph.writing import Place
from mnemolog.model.lesson import EditPlan, Prompt, Waiting
from mnemolog.model.node import (
    FILES,
    Folder,
    Leaf,
    Links,
    Node,
    NodeEdge,
    NodeReceipt,
    NodeVersion,
)
from mnemolog.model.times import to_moment, to_text
from mnemolog.policy.composing import missing
from mnemolog.policy.drafting import Redact
from mnemolog.ports import Unread

Change = Callable[[Node | None], str | None]
OnChange = Callable[[str, str], None]
"""Told whose node changed, and which; an empty address stands for any of them."""


def _unwatched(user_id: str, address: str) -> None:
    """Nobody wants to know."""


def _move(old: str, new: str, version: NodeVersion) -> move_note.Move:
    at, by, reason = version.at, version.by, version.reason
    return move_note.Move(v=1, old=old, new=new, at=at, by=by, reason=reason)


class FilesShelf:
    """Nodes as Markdown files below `users/`. Shared safely by threads and processes."""

    def __init__(
        self, disk: Disk, lock_timeout: float = 30.0, on_change: OnChange = _unwatched
    ) -> None:
        self._disk = disk
        self._patience = lock_timeout
        self._on_change = on_change
        self.forget()

    def forget(self) -> None:
        """Start with nothing known, as a forked child must."""
        self._mutex = Mutex()
        self._catalogues: dict[str, tuple[Catalogue, Folders]] = {}

    # --- reading

    def users(self) -> list[str]:
        return addresses.users(self._disk)

    def read(self, user_id: str, address: str) -> Node:
        found = self.find(user_id, address)
        if found is None:
            raise missing(address)
        return found

    def find(self, user_id: str, address: str) -> Node | None:
        """A node as it is now, or None."""
        name = addresses.check(address)
        raw = read_raw(self._disk, addresses.spot(user_id, name).file)
        return None if raw is None else document.parse(user_id, name, raw)

    def spelled(self, user_id: str, address: str) -> str:
        return addresses.spelled(self._disk, user_id, address)

    def cards(self, user_id: str, path: str = "") -> dict[str, Card]:
        """What is known of every node of a user, or below a folder, by address."""
        return self._catalogue(user_id).cards(path)

    def _catalogue(self, user_id: str) -> Catalogue:
        return self._known(user_id)[0]

    def _known(self, user_id: str) -> tuple[Catalogue, Folders]:
        with self._mutex:
            if user_id not in self._catalogues:
                own = Catalogue(self._disk, user_id)
                self._catalogues[user_id] = own, Folders(self._disk, user_id, own)
            return self._catalogues[user_id]

    def tree(self, user_id: str, path: str = "") -> list[Leaf]:
        cards = self.cards(user_id, addresses.check_folder(path))
        return [card.leaf for card in cards.values()]

    def folder(self, user_id: str, path: str, after: str, limit: int) -> Folder:
        return self._known(user_id)[1].level(addresses.check_folder(path), after, limit)

    def citing(self, user_id: str, source: str) -> list[str]:
        is_meant = sourcing.selector([source])
        cards = self.cards(user_id).items()
        return [address for address, card in cards if any(map(is_meant, card.sources))]

    def nodes(self, user_id: str, left_out: Unread | None = None) -> Iterator[Node]:
        for address, _ in catalogue.files(self._disk, user_id):
            try:
                found = self.find(user_id, address)
            except (StorageError, SizeLimitError) as error:
                if left_out is not None:
                    left_out(address, error)
                continue
            if found is not None:
                yield found

    def links(self, user_id: str, address: str) -> Links:
        node = self.read(user_id, address)
        return linking.links(self._catalogue(user_id), node, partial(self._body, user_id))

    def _body(self, user_id: str, address: str) -> str:
        with suppress(StorageError, SizeLimitError):
            found = self.find(user_id, address)
            return found.body if found else ""
        return ""

    def edges(self, user_id: str) -> list[NodeEdge]:
        return linking.edges(self._catalogue(user_id))

    def versions(self, user_id: str, address: str) -> list[NodeVersion]:
        name = addresses.check(address)
        place = self._place(user_id, name)
        raw = read_raw(self._disk, addresses.spot(user_id, name).file)
        history = place.history()
        last = history.last()
        if (raw.hash if raw else "") != ("" if last is None else last.hash):
            with self.locked(user_id):
                _, history = place.look()
        found = history.all()
        if not found:
            self.read(user_id, name)  # raises the error for what never was there
        return found

    # --- writing

    @contextmanager
    def locked(self, user_id: str) -> Iterator[None]:
        """Hold a user's graph; what a crash interrupted is finished first."""
        with locking.locked(self._disk, user_id, self._patience):
            moving.finish(self._disk, user_id, self._place)  # or it is given up
            yield

    def _place(self, user_id: str, address: str) -> Place:
        spot = addresses.spot(user_id, address)
        return Place(self._disk, spot, address, lambda: to_text(datetime.now(UTC)))

    def write(
        self,
        user_id: str,
        address: str,
        change: Change,
        version: NodeVersion,
        redact: Redact | None = None,
    ) -> NodeReceipt:
        name = addresses.check(address)
        with self.locked(user_id):
            receipt = self._write(user_id, name, change, version, redact)
        if receipt.status != "unchanged":
            self._on_change(user_id, name)
        return receipt

    def _write(
        self,
        user_id: str,
        address: str,
        change: Change,
        version: NodeVersion,
        redact: Redact | None,
    ) -> NodeReceipt:
        place = self._place(user_id, address)
        raw, history = place.look()
        before = None if raw is None else document.parse(user_id, address, raw)
        if version.plan and (taken := history.taken(version.plan)) is not None:
            place.settle()
            digest = before.hash if before else ""
            return NodeReceipt(address, "unchanged", taken.number, digest, reason="taken before")
        text = change(before)
        if text is None:
            if raw is None:
                return NodeReceipt(address, "unchanged", 0, "")
            return NodeReceipt(address, "deleted", place.remove(raw, history, version), "")
        text, kinds = hidden(text, redact, before, version.sources)
        if raw is not None and before is not None and text == before.text:
            last = history.last()
            return NodeReceipt(address, "unchanged", last.number if last else 0, raw.hash, kinds)
        text = self._finished(user_id, address, before, text, version, history.highest() + 1)
        number = place.replace(raw, text, history, version)
        digest = versions.hash_of(text)
        if raw is None:
            return NodeReceipt(address, "created", number, digest, kinds)
        return NodeReceipt(address, "updated", number, digest, kinds)

    def _finished(
        self,
        user_id: str,
        address: str,
        before: Node | None,
        text: str,
        version: NodeVersion,
        number: int,
    ) -> str:
        """The text as it is stored: checked, and with what every write notes in front."""
        if before is not None and document.NOT_TEXT in before.flags:
            raise InvalidFormatError(
                f"The node {address!r:.120} is not UTF-8 text, so a write would lose some of it.",
                advice="Save it as UTF-8 first.",
            )
        if before is None:
            addresses.check_free(self._disk, user_id, address)
        document.check_size(address, len(text.encode()))
        if before is None or document.UNREADABLE not in before.flags:
            document.check_writable(text)
        now = int(to_moment(version.at).timestamp() * 1000)
        node = document.parse(user_id, address, document.Raw(text.encode(), now))
        sources = tuple(dict.fromkeys((*node.sources, *version.sources)))
        linking.check_parents(self._catalogue(user_id), node)
        stamped = document.stamped(
            before, text, msgspec.structs.replace(node, sources=sources), number, now
        )
        document.check_size(address, len(stamped.encode()))
        return stamped

    def move(self, user_id: str, address: str, to: str, version: NodeVersion) -> NodeReceipt:
        old, new = addresses.check(address), addresses.check(to)
        if old in FILES or new in FILES:
            raise addresses.refused(address if old in FILES else to, "such a file cannot be moved")
        with self.locked(user_id):
            self._place(user_id, old).look()
            node = self.read(user_id, old)
            if old == new:
                return NodeReceipt(new, "unchanged", 0, node.hash)
            moving.check_target(self._disk, user_id, old, new)
            there = document.parse(user_id, new, document.Raw(node.text.encode(), 0))
            linking.check_parents(self._catalogue(user_id), there, old)
            return self._moved(user_id, _move(old, new, version))

    def merge(self, user_id: str, address: str, into: str, version: NodeVersion) -> NodeReceipt:
        old, new = addresses.check(address), addresses.check(into)
        if old in FILES or new in FILES or old == new:
            raise addresses.refused(address, f"it cannot be merged into {new!r:.120}")
        with self.locked(user_id):
            node = self.read(user_id, new)
            merging.check(node, self.read(user_id, old))
            linking.check_parents(self._catalogue(user_id), node, old)
            titles = {one: card.leaf.title for one, card in self.cards(user_id).items()}
            move = _move(old, new, version)
            names = links.titled(titles, old)
            return self._moved(user_id, msgspec.structs.replace(move, is_merge=True, names=names))

    def _moved(self, user_id: str, move: move_note.Move) -> NodeReceipt:
        move_note.note(self._disk, user_id, move)
        trouble = moving.finish(self._disk, user_id, self._place)
        self._on_change(user_id, "")
        if trouble is not None:
            raise trouble
        settled, history = self._place(user_id, move.new).look()
        last = history.last()
        status: Literal["merged", "moved"] = "merged" if move.is_merge else "moved"
        return NodeReceipt(
            move.new, status, last.number if last else 0, settled.hash if settled else ""
        )

    # --- erasing, plans, the review and the prompt

    def cut(self, user_ids: Collection[str] | None, sources: Collection[str]) -> dict[str, int]:
        cuts = cutting.cut(self._disk, user_ids, sources, self._patience)
        for user in cuts.users:
            self._on_change(user, "")
        return {place: count for place, count in cuts.places.items() if count}

    def keep_plan(self, plan: EditPlan) -> None:
        plans.keep(self._disk, plan)

    def plan(self, plan_id: str) -> EditPlan | None:
        return plans.read(self._disk, plan_id)

    def plans(self) -> list[EditPlan]:
        return plans.all_of(self._disk)

    def strike_plan(self, plan_id: str) -> None:
        plans.strike(self._disk, plan_id)

    def wait(self, waiting: Waiting) -> None:
        with self.locked(waiting.user_id):
            review.put(self._disk, waiting)

    def waiting(self, user_id: str | None = None) -> list[Waiting]:
        users = self._reviewed() if user_id is None else [user_id]
        found = [one for user in users for one in review.all_of(self._disk, user)]
        return sorted(found, key=lambda one: (one.created_at, one.id))

    def _reviewed(self) -> list[str]:
        return addresses.users(self._disk, addresses.REVIEW)

    def settle(self, user_id: str, waiting_id: str) -> None:
        with self.locked(user_id):
            review.take(self._disk, user_id, waiting_id)

    def prompt(self) -> Prompt | None:
        return prompts.read(self._disk)

    def begin_prompt(self, text: str) -> bool:
        return prompts.begin(self._disk, text)
