"""Addresses: which names a node may have, and the one way from an address to its files."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from mnemolog import paths
from mnemolog.errors import InvalidFormatError, shown
from mnemolog.fs import Disk
from mnemolog.model.ids import check_id
from mnemolog.model.node import FILES

MEMORY = "memory"
VERSIONS = "versions"
REVIEW = "review"
ROOMS = (MEMORY, VERSIONS, REVIEW, *FILES)
"""Everything in a user's folder that belongs to the graph."""
LOCK = "graph.lock"
ENDING = ".md"

MAX_FOLDERS = 8
MAX_NAME = 100

_SIGNS = frozenset(" _-.,()'&+")
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
# Letters and marks that nobody can see.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


class Spot(NamedTuple):
    """Where a node lies, and where its versions do."""

    file: str
    versions: str

    @property
    def folder(self) -> str:
        """The folder that holds the file."""
        return self.file.rpartition("/")[0]


def check(address: object) -> str:
    """The address in its one form, or `InvalidFormatError`; `.md` at the end may be left out."""
    if not isinstance(address, str) or not address:
        raise refused(address, "it is no text, or an empty one")
    if address in FILES:
        return address
    name = unicodedata.normalize("NFC", address).removesuffix(ENDING)
    parts = name.split("/")
    if len(parts) > MAX_FOLDERS + 1:
        raise refused(address, f"it lies more than {MAX_FOLDERS} folders deep")
    for part in parts:
        _check_name(part, address)
    return name


def check_folder(path: object) -> str:
    """A folder of nodes in its one form, or `InvalidFormatError`; empty for the top one."""
    if not isinstance(path, str):
        raise refused(path, "it is no text")
    return check(f"{path.strip('/')}/x").removesuffix("/x") if path.strip("/") else ""


def _check_name(part: str, address: str) -> None:
    if not part or part in (".", ".."):
        raise refused(address, "a part of it is empty, or leads elsewhere")
    if part[0] in ". " or part[-1] in ". " or ".." in part:
        raise refused(address, "a part of it begins or ends with a dot or a space, or has `..`")
    if len(part.encode("utf-8", "replace")) > MAX_NAME:
        raise refused(address, f"a part of it has more than {MAX_NAME} bytes")
    if part.endswith(ENDING) or _DEVICE.fullmatch(part.partition(".")[0].rstrip()):
        raise refused(address, "a part of it ends in `.md`, or is the name of a device")
    if not all(map(_is_allowed, part)) or _UNSEEN.search(part):
        raise refused(address, "it has a sign that not every disk takes")


def _is_allowed(sign: str) -> bool:
    return sign in _SIGNS or unicodedata.category(sign)[0] in "LMN"


def refused(address: object, why: str) -> InvalidFormatError:
    """The error for an address that no node can have."""
    return InvalidFormatError(
        f"{shown(address, 120)} is no address of a node: {why}.",
        advice="Use folders and a name such as `projects/payment system`: letters, digits, space"
        " and _-.,()'&+.",
        field="address",
    )


@lru_cache(maxsize=65_536)
def is_address(address: str) -> bool:
    """Whether a node may have this address, in just this form."""
    try:
        return check(address) == address
    except InvalidFormatError:
        return False


def user_folder(user_id: str) -> str:
    """The folder of a user's graph; the user must be one whose name a folder can tell."""
    folder = paths.user_folder(check_id(user_id, "user id"))
    if paths.id_of(folder.rpartition("/")[2]) is None:
        raise InvalidFormatError(
            f"The user id {user_id!r:.60} is too long for a graph of its own.",
            advice="Use a shorter one.",
            field="user id",
        )
    return folder


def spot(user_id: str, address: str) -> Spot:
    """Where a node lies. There is no other way from an address to a path."""
    folder, name = user_folder(user_id), check(address)
    if name in FILES:
        return Spot(f"{folder}/{name}", f"{folder}/{VERSIONS}/{name}.jsonl")
    return Spot(f"{folder}/{MEMORY}/{name}{ENDING}", f"{folder}/{VERSIONS}/{name}.jsonl")


def users(disk: Disk, *rooms: str) -> list[str]:
    """The users who have nodes, or had; or who have something in one of these rooms."""
    wanted = rooms or (MEMORY, VERSIONS, *FILES)
    found = ((name, paths.id_of(name)) for name in disk.list(paths.USERS))
    return [
        user
        for name, user in found
        if user is not None
        and any(disk.ident(f"{paths.USERS}/{name}/{one}") is not None for one in wanted)
    ]


def check_way(disk: Disk, user_id: str, address: str) -> None:
    """Refuse a node on whose way, or in whose place, stands what it cannot be put into."""
    for path in spot(user_id, address):
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            status = disk.stat("/".join(parts[:depth]))
            if status is None:
                break
            is_way, name = depth < len(parts), parts[depth - 1]
            if status.is_link or status.is_folder != is_way:
                kind = "folder" if is_way else "plain file"
                raise refused(address, f"{name!r:.120} is there already, and is no {kind}")


def check_free(disk: Disk, user_id: str, address: str) -> None:
    """Refuse a new node beside whose name, or on whose way, one stands that differs in case, or
    that it cannot be put into."""
    check_way(disk, user_id, address)
    below = spot(user_id, address).file
    folder = user_folder(user_id)
    for part in below.removeprefix(f"{folder}/").split("/"):
        names = disk.list(folder)
        same = {one for one in names if _folded(one) == _folded(part)}
        if same - {part}:
            raise refused(address, f"{min(same - {part})!r:.120} differs from it only in case")
        if not same:
            return
        folder = f"{folder}/{part}"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def is_respelled(old: str, new: str) -> bool:
    """Whether two addresses in one folder differ only in case."""
    return old.rpartition("/")[0] == new.rpartition("/")[0] and _folded(old) == _folded(new)


def spelled(disk: Disk, user_id: str, address: str) -> str:
    """The address of the node that stands there, however it writes its name; else the one given.

    No two names that differ only in case stand side by side, so there is one at most.
    """
    name = check(address)
    if name in FILES or disk.ident(spot(user_id, name).file) is not None:
        return name
    folder = f"{user_folder(user_id)}/{MEMORY}"
    found: list[str] = []
    for part in f"{name}{ENDING}".split("/"):
        same = [one for one in disk.list(folder) if _folded(one) == _folded(part)]
        if len(same) != 1:
            return name
        folder = f"{folder}/{same[0]}"
        found += same
    there = "/".join(found).removesuffix(ENDING)
    return there if is_address(there) else name
