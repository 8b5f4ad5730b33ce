"""Moving: a node gets another address, with its versions, and the links to it are mended.

That takes several steps, so it is noted first, in `move.json` beside the graph; so is a merging.
Whoever takes the lock next finishes what a crash interrupted; every step may be done twice.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from mnemolog import fs
from mnemolog.errors import NodeConflictError, SizeLimitError
from mnemolog.fs import Disk
from mnemolog.graph import addresses, catalogue, document, links, merging, versions
from mnemolog.graph.catalogue import read_raw
from mnemolog.graph.noted import Move, path_of
from mnemolog.graph.versions import sync_up
from mnemolog.graph.writing import Place, conflict
from mnemolog.policy import front_matter

_TRIES = 3

PlaceOf = Callable[[str, str], Place]


def check_target(disk: Disk, user_id: str, new: str) -> None:
    """Refuse an address that is taken."""
    raw = read_raw(disk, addresses.spot(user_id, new).file)
    if raw is not None:
        raise conflict(new, "", raw.hash, raw.content.decode("utf-8", "replace"))
    addresses.check_free(disk, user_id, new)


def finish(disk: Disk, user_id: str, place_of: PlaceOf) -> None:
    """Finish the move that was noted, if one was; for the holder of the lock."""
    path = path_of(user_id)
    if disk.ident(path) is None:
        return
    with suppress(msgspec.DecodeError):  # torn: nothing had begun
        move = msgspec.json.decode(fs.read_all(disk, path), type=Move)
        if _done(disk, user_id, move, place_of):
            _mend(disk, user_id, move, place_of)
    disk.unlink(path)
    disk.sync_folder(addresses.user_folder(user_id))


def _done(disk: Disk, user_id: str, move: Move, place_of: PlaceOf) -> bool:
    """Do all but the mending of links; whether it could be done."""
    if move.is_merge:
        old, new = place_of(user_id, move.old), place_of(user_id, move.new)
        return merging.join(old, new, user_id, move)
    if not _move_file(disk, user_id, move):
        return False
    _move_versions(disk, user_id, move)
    _restamp(place_of(user_id, move.new), user_id, move)
    return True


def _move_file(disk: Disk, user_id: str, move: Move) -> bool:
    """Whether the file is where it should be; not if somebody else put one there or took it."""
    old, new = (addresses.spot(user_id, one) for one in (move.old, move.new))
    if disk.ident(old.file) is None:
        return disk.ident(new.file) is not None
    _make(disk, new.folder)
    try:
        disk.place(old.file, new.file)
    except FileExistsError:
        return False
    disk.sync_folder(new.folder)
    disk.sync_folder(old.folder)
    return True


def _move_versions(disk: Disk, user_id: str, move: Move) -> None:
    old, new = (addresses.spot(user_id, one).versions for one in (move.old, move.new))
    if disk.ident(old) is None:
        return
    _make(disk, new.rpartition("/")[0])
    try:
        disk.place(old, new)
    except FileExistsError:  # of a node that was there before: this one's versions come after its
        for one in versions.read(disk, old).all():
            history = versions.read(disk, new)
            number = history.highest() + 1
            versions.append(disk, new, msgspec.structs.replace(one, number=number), history)
        disk.unlink(old)
    disk.sync_folder(new.rpartition("/")[0])
    disk.sync_folder(old.rpartition("/")[0])


def _make(disk: Disk, folder: str) -> None:
    """Make a folder for good, before anything is moved into it: else both could be lost."""
    disk.mkdir(folder)
    sync_up(disk, folder)


def _restamp(place: Place, user_id: str, move: Move) -> None:
    """Note the move as a version, and the new folders in front of the text."""
    reason = ": ".join(filter(None, (f"moved from {move.old}", move.reason)))
    for _ in range(_TRIES):
        raw, history = place.look()
        last = history.last()
        if raw is None or (last is not None and (last.at, last.reason) == (move.at, reason)):
            return
        node = document.parse(user_id, move.new, raw)
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
    for address in known:
        place = place_of(user_id, address)
        for raw, text in _documents(disk, user_id, address):
            after = links.mended(text, move.old, move.new, with_name=not is_other, also=move.names)
            if after != text:
                with suppress(NodeConflictError):
                    _, history = place.look()
                    reason = f"{move.old} {'merged in' if move.is_merge else 'moved '}to {move.new}"
                    place.replace(raw, after, history, move.version(reason))


def _documents(disk: Disk, user_id: str, address: str) -> Iterator[tuple[document.Raw, str]]:
    raw = read_raw(disk, addresses.spot(user_id, address).file)
    if raw is not None and (b"[[" in raw.content or raw.content.startswith(b"---")):
        with suppress(UnicodeDecodeError, SizeLimitError):
            document.check_size(address, len(raw.content))
            yield raw, raw.content.decode()
