"""The doctor's look at the graph: what nobody finds, and what leads nowhere."""

import json
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from mnemolog import fs, paths
from mnemolog.fs import Disk
from mnemolog.fs.swapping import OUT
from mnemolog.graph import addresses, catalogue, document, linking, move_note, sourcing, writing
from mnemolog.graph.catalogue import Card
from mnemolog.graph.links import Resolver, is_circle
from mnemolog.graph.shelf import FilesShelf
from mnemolog.model.node import FILES
from mnemolog.policy.redaction import Redactor
from mnemolog.policy.similarity import Sketch, similar
from mnemolog.settings import Settings
from mnemolog.stores.files.doctor.findings import Case, Tally, case

STALE_DAYS = 180
UNUSED_DAYS = 30
_DAY = 86_400_000
_LEFT = (writing.NEW, writing.SWAP, OUT)
_FLAGS = {
    document.UNREADABLE: "node_unreadable",
    document.NOT_TEXT: "node_unreadable",
    catalogue.TOO_LONG: "node_long",
    sourcing.ERASED: "node_uncertain",
}


class Gaze(NamedTuple):
    """Under which settings the graph is looked at, when, and what is counted."""

    settings: Settings
    now: datetime
    tally: Tally

    @property
    def now_ms(self) -> int:
        """The moment as front matter counts it."""
        return int(self.now.timestamp() * 1000)


def check_graph(disk: Disk, gaze: Gaze) -> Iterator[Case]:
    """Everything about the nodes of all users that somebody should know."""
    shelf = FilesShelf(disk)
    for user in shelf.users():
        cards = shelf.cards(user)
        gaze.tally.nodes += len(cards)
        yield from _check_move(disk, user)
        yield from _check_cards(user, cards, gaze)
        yield from _check_uses(disk, user, cards, gaze)
        yield from _check_secrets(shelf, user, gaze)
        yield from _check_similar(shelf, user)
        yield from _check_names(disk, addresses.user_folder(user) + f"/{addresses.MEMORY}", "")


def _check_move(disk: Disk, user: str) -> Iterator[Case]:
    path = move_note.path_of(user)
    if disk.ident(path) is not None:
        move = move_note.read(disk, user)
        told = f"of {move.old!r:.120} to {move.new!r:.120}" if move else "that cannot be read"
        yield case("move_left", path, f"a move {told} was not finished, or is under way")


def _check_cards(user: str, cards: dict[str, Card], gaze: Gaze) -> Iterator[Case]:
    known = Resolver({address: card.leaf.title for address, card in cards.items()})
    links = {address: linking.links_of(known, card) for address, card in cards.items()}
    linked = {link.target for own in links.values() for link in own if link.exists}
    above = linking.above(cards)
    for address, card in cards.items():
        path = addresses.spot(user, address).file
        if is_circle(address, above[address], above):
            yield case("node_circle", path, "by its parents it is above itself")
        for flag in card.leaf.flags:
            if flag in _FLAGS:
                yield case(_FLAGS[flag], path, f"it is marked {flag}")
        for target in dict.fromkeys(link.target for link in links[address] if not link.exists):
            yield case("node_dangling", path, f"it links to {target!r:.120}, which is not there")
        if address in FILES:
            continue
        if address not in linked and not any(link.exists for link in links[address]):
            yield case("node_orphan", path, "no link leads to it or away from it")
        if gaze.now_ms - card.leaf.updated_at > STALE_DAYS * _DAY:
            days = (gaze.now_ms - card.leaf.updated_at) // _DAY
            yield case("node_stale", path, f"nobody has changed it for {days:,} days")


def _check_uses(disk: Disk, user: str, cards: dict[str, Card], gaze: Gaze) -> Iterator[Case]:
    used = _used(disk, f"{addresses.user_folder(user)}/{paths.ACCESS}")
    for address, card in cards.items():
        is_old = gaze.now_ms - card.leaf.updated_at > UNUSED_DAYS * _DAY
        if is_old and address not in used and address not in FILES:
            path = addresses.spot(user, address).file
            yield case("node_unused", path, "no search has ever shown it")


def _used(disk: Disk, path: str) -> set[str]:
    found: set[str] = set()
    with suppress(FileNotFoundError):
        for line in fs.read_all(disk, path).split(b"\n"):
            with suppress(ValueError, KeyError, TypeError):
                found.add(str(json.loads(line)["id"]))
    return found


def _check_secrets(shelf: FilesShelf, user: str, gaze: Gaze) -> Iterator[Case]:
    privacy = gaze.settings.privacy
    patterns = [(one.type, one.regex) for one in privacy.redaction_patterns]
    redactor = Redactor(b"", patterns=patterns, rules=privacy.redaction_kinds or None)
    for node in shelf.nodes(user):
        masked = node.text
        for source in node.sources:
            masked = masked.replace(source, "")
        kinds = redactor.text(masked).counts
        if kinds:
            path = addresses.spot(user, node.address).file
            yield case("node_secret", path, f"it seems to hold secrets: {', '.join(kinds)}")


def _check_similar(shelf: FilesShelf, user: str) -> Iterator[Case]:
    sketches = (Sketch(node.address, node.title, node.body) for node in shelf.nodes(user))
    for pair in similar(sketches):
        path = addresses.spot(user, pair.other).file
        told = f"its {pair.why} is like that of {pair.address!r:.120} ({pair.share:.0%})"
        yield case("node_similar", path, told)


def _check_names(disk: Disk, folder: str, prefix: str) -> Iterator[Case]:
    """Files that no node can be, and names that differ only in case or in form."""
    seen: dict[str, str] = {}
    for name in disk.list(folder):
        path = f"{folder}/{name}"
        status = disk.stat(path)
        if name.startswith(".") or status is None:
            continue
        other = seen.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if other != name:
            yield case("node_collision", path, f"{other!r:.120} differs from it only in case")
        if status.is_folder:
            yield from _check_names(disk, path, f"{prefix}{name}/")
        elif name.endswith(_LEFT):
            yield case("node_left", path, "a write was interrupted")
        elif not addresses.is_address(f"{prefix}{name}".removesuffix(addresses.ENDING)):
            yield case("node_name", path, "no node can have this name, so nobody finds it")
        elif not name.endswith(addresses.ENDING):
            yield case("node_name", path, "it is no Markdown file")
