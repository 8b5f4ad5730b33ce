"""Moving: a node gets another address, with its versions, and the links to it are mended.

That takes several steps, so it is noted first, in `move.json` beside the graph; so is a merging.
Whoever takes the lock next finishes what a crash interrupted; every step may be done twice. What
cannot be finished is given up: the node stays where it was, and nobody else has to wait for it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from mnemolog import fs
from mnemolog.errors import (
    MnemologError,
    NodeConflictError,
    SizeLimitError,
    StorageFullError,
    StorageIOError,
)
from mnemolog.fs import Disk
from mnemolog.graph import addresses, catalogue, document, links, merging, move_note, versions
from mnemolog.graph.catalogue import read_raw
from mnemolog.graph.move_note import Move
from mnemolog.graph.versions import History
from mnemolog.graph.writing import Place
from mnemolog.model.node import NodeVersion
from mnemolog.policy import front_matter
from mnemolog.policy.composing import conflict

_TRIES = 3

PlaceOf = Callable[[str, str], Place]


def check_target(disk: Disk, user_id: str, old: str, new: str) -> None:
    """Refuse an address that is taken, or where no node can be put."""
    before, after = (addresses.spot(user_id, one).file for one in (old, new))
    is_same = disk.ident(after) == disk.ident(before)  # where case does not tell names apart
    raw = None if is_same else read_raw(disk, after)
    if raw is not None:
        raise conflict(new, "", raw.hash, raw.content.decode("utf-8", "replace"))
    is_respelled = addresses.is_respelled(old, new)
    check = addresses.check_way if is_respelled else addresses.check_free
    check(disk, user_id, new)


def finish(disk: Disk, user_id: str, place_of: PlaceOf) -> MnemologError | None:
    """Finish the move that was noted, if one was; for the holder of the lock.

    One that cannot be done is struck out all the same; what stood in its way is handed back.
    """
    if disk.ident(move_note.path_of(user_id)) is None:
        return None
    trouble = None
    try:
        move = move_note.read(disk, user_id)
        if move is not None:
            _do(disk, user_id, move, place_of)
    except StorageFullError:
        raise  # until there is room for it
    except MnemologError as error:
        trouble = error
    move_note.strike(disk, user_id)
    return trouble


def _do(disk: Disk, user_id: str, move: Move, place_of: PlaceOf) -> None:
    if move.is_merge:
        old, new = place_of(user_id, move.old), place_of(user_id, move.new)
        if not merging.join(old, new, user_id, move):
            raise old.conflict("")
    else:
        try:
            _move_files(disk, user_id, move)
        except (FileNotFoundError, FileExistsError):  # a hand was faster
            raise place_of(user_id, move.new).conflict("") from None
        with suppress(StorageIOError, SizeLimitError):  # it has moved all the same
            _restamp(place_of(user_id, move.new), user_id, move)
    _mend(disk, user_id, move, place_of)


def _move_files(disk: Disk, user_id: str, move: Move) -> None:
    """The document and its versions; where the second cannot follow, the first comes back."""
    old, new = (addresses.spot(user_id, one) for one in (move.old, move.new))
    if disk.ident(old.file) is not None:
        check_target(disk, user_id, move.old, move.new)
        _make(disk, new.folder)
        _place(disk, old.file, new.file)
        disk.sync_folder(new.folder)
        disk.sync_folder(old.folder)
    elif disk.ident(new.file) is None:
        raise conflict(move.old, "", "", None)  # somebody took it away
    try:
        _move_versions(disk, old.versions, new.versions)
    except StorageIOError:
        _place(disk, new.file, old.file)
        disk.sync_folder(old.folder)
        raise


def _place(disk: Disk, old: str, new: str) -> None:
    """Give a file another name that is free, or another spelling."""
    is_same = disk.ident(old) == disk.ident(new)
    disk.rename(old, new) if is_same else disk.place(old, new)


def _move_versions(disk: Disk, old: str, new: str) -> None:
    if disk.ident(old) is None:
        return
    folder = new.rpartition("/")[0]
    _make(disk, folder)
    try:
        _place(disk, old, new)
    except FileExistsError:  # of a node that was there before: this one's versions come after its
        _add_versions(disk, old, new)
    disk.sync_folder(folder)
    disk.sync_folder(old.rpartition("/")[0])


def _add_versions(disk: Disk, old: str, new: str) -> None:
    """All in one step, so that a crash leaves all of them there or none."""
    before, added = versions.read(disk, new), versions.read(disk, old).all()
    if _plain(before.all()[-len(added) :]) != _plain(added):
        fs.replace(disk, new, before.content + _lines(before, added))
    disk.unlink(old)


def _plain(found: list[NodeVersion]) -> list[NodeVersion]:
    return [msgspec.structs.replace(one, number=0) for one in found]


def _lines(before: History, added: list[NodeVersion]) -> bytes:
    first = before.highest() + 1
    numbered = (msgspec.structs.replace(one, number=at) for at, one in enumerate(added, first))
    start = b"\n" if before.is_torn else b""
    return start + b"".join(versions.line_of(one) + b"\n" for one in numbered)


def _make(disk: Disk, folder: str) -> None:
    """Make a folder for good, before anything is moved into it: else both could be lost."""
    disk.mkdir(folder)
    fs.sync_up(disk, folder)


def _restamp(place: Place, user_id: str, move: Move) -> None:
    """Note the move as a version, and the new folders in front of the text."""
    reason = ": ".join(filter(None, (f"moved from {move.old}", move.reason)))
    for _ in range(_TRIES):
        raw, history = place.look()
        last = history.last()
        if raw is None or (last is not None and (last.at, last.reason) == (move.at, reason)):
            return
        node = document.parse(user_id, move.new, raw)
        if document.NOT_TEXT in node.flags:
            return  # writing it anew would lose some of it
        text = node.text
        if front_matter.split(text).head is not None and not node.flags:
            fields = {"path": list(node.path), "version": history.highest() + 1}
            text = front_matter.with_fields(text, fields)
        with suppress(NodeConflictError):
            place.replace(raw, text, history, move.version(reason))
            return


def _mend(disk: Disk, user_id: str, move: Move, place_of: PlaceOf) -> None:
    """Let every link to the old address lead to the new one."""
    name = move.old.rpartition("/")[2].casefold()
    known = [one for one, _ in catalogue.files(disk, user_id)]
    is_other = any(one.rpartition("/")[2].casefold() == name for one in known)
    reason = f"{move.old} {'merged in' if move.is_merge else 'moved '}to {move.new}"
    for address in known:
        place = place_of(user_id, address)
        # A file that cannot be read or written keeps its links: the doctor shows them.
        with suppress(NodeConflictError, StorageIOError, FileNotFoundError):
            for raw, text in _documents(disk, user_id, address):
                after = links.mended(
                    text, move.old, move.new, with_name=not is_other, also=move.names
                )
                if after != text:
                    _, history = place.look()
                    place.replace(raw, after, history, move.version(reason))


def _documents(disk: Disk, user_id: str, address: str) -> Iterator[tuple[document.Raw, str]]:
    raw = read_raw(disk, addresses.spot(user_id, address).file)
    if raw is not None and (b"[[" in raw.content or raw.content.startswith(b"---")):
        with suppress(UnicodeDecodeError, SizeLimitError):
            document.check_size(address, len(raw.content))
            yield raw, raw.content.decode()
