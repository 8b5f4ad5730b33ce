"""Replanting: the files of a user's graph, out of one root and into another, byte for byte.

A node and its versions belong together. One that is there already with the same versions, or with
versions that go on from those, stays as it is. Where a node here is another text, nothing of that
user's graph is taken: nothing is ever merged blindly.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec

from mnemolog import fs
from mnemolog.errors import InvalidFormatError
from mnemolog.fs import Disk
from mnemolog.graph import addresses, catalogue, replacing, review
from mnemolog.graph.shelf import FilesShelf
from mnemolog.model.lesson import Waiting
from mnemolog.model.node import FILES
from mnemolog.ports import LogKey
from mnemolog.ports.moving import Taken
from mnemolog.stores.files.feed import mark_nodes
from mnemolog.stores.files.moving.errands import Errand

_MOST = 256 * 1024 * 1024
_VERSIONS = ".jsonl"
_NEW = ".tmp"


class GraphFile(NamedTuple):
    """A file of a graph: its path below the user's folder, and its bytes."""

    path: str
    content: bytes


class _DiffersError(Exception):
    """Something else is there."""


# --- out


def graphs_of(disk: Disk) -> list[str]:
    """The users who have anything that belongs to a graph."""
    return addresses.users(disk, *addresses.ROOMS)


def files_of(disk: Disk, user_id: str) -> Iterator[GraphFile]:
    """Every file: each node before its versions, then versions of what is gone, and the review."""
    folder = addresses.user_folder(user_id)
    known = [address for address, _ in catalogue.files(disk, user_id)]
    gone = sorted(set(_versioned(disk, f"{folder}/{addresses.VERSIONS}", "")) - set(known))
    for address in (*known, *gone):
        for path in addresses.spot(user_id, address):
            yield from _file(disk, folder, path)
    for name in disk.list(review.folder_of(user_id)):
        for one in _file(disk, folder, f"{review.folder_of(user_id)}/{name}"):
            with suppress(InvalidFormatError):  # what nobody can read waits for nobody
                _check(user_id, one)
                yield one


def _versioned(disk: Disk, folder: str, prefix: str) -> Iterator[str]:
    for name in disk.list(folder):
        status = disk.stat(f"{folder}/{name}")
        if status is not None and status.is_folder:
            yield from _versioned(disk, f"{folder}/{name}", f"{prefix}{name}/")
        address = f"{prefix}{name.removesuffix(_VERSIONS)}"
        if name.endswith(_VERSIONS) and addresses.is_address(address):
            yield address


def _file(disk: Disk, folder: str, path: str) -> Iterator[GraphFile]:
    status = disk.stat(path)
    if status is not None and status.is_regular:
        with suppress(FileNotFoundError):
            yield GraphFile(path.removeprefix(f"{folder}/"), fs.read_all(disk, path))


def strange_files(disk: Disk, user_id: str) -> list[str]:
    """Files beside nodes that are none: pictures, the settings of an editor."""
    folder = addresses.user_folder(user_id)
    known = {f"{folder}/{one.path}" for one in files_of(disk, user_id)}
    return [path for path in replacing.files(disk, user_id) if path not in known]


# --- in


def joined(user_id: str, pieces: Iterable[tuple[str, bytes]]) -> Iterator[GraphFile]:
    """The files that pieces make; refuses what cannot be a file of this user's graph."""
    seen: set[str] = set()
    current, content = "", b""
    for path, piece in pieces:
        if path != current:
            if current:
                yield _check(user_id, GraphFile(current, content))
            if path in seen:
                raise InvalidFormatError("it holds the same file twice")
            seen.add(path)
            current, content = path, b""
        content += piece
        if len(content) > _MOST:
            raise InvalidFormatError("a file of a graph is too long")
    if current:
        yield _check(user_id, GraphFile(current, content))


def _check(user_id: str, file: GraphFile) -> GraphFile:
    if file.path.startswith(f"{addresses.REVIEW}/"):
        is_fine = _waits_there(user_id, file)
    else:
        folder = addresses.user_folder(user_id)
        address = address_of(file.path)
        spots = addresses.spot(user_id, address) if address else ()
        is_fine = f"{folder}/{file.path}" in spots
    if not is_fine:
        raise InvalidFormatError("it names no file of a graph")
    return file


def address_of(path: str) -> str:
    """The address of the node that a file belongs to; empty if there can be none."""
    if path in FILES:
        return path
    room, _, name = path.partition("/")
    ending = {addresses.MEMORY: addresses.ENDING, addresses.VERSIONS: _VERSIONS}.get(room, "/")
    address = name.removesuffix(ending) if name.endswith(ending) else ""
    return address if addresses.is_address(address) else ""


def _waits_there(user_id: str, file: GraphFile) -> bool:
    try:
        found = msgspec.json.decode(file.content, type=Waiting)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    path = f"{addresses.user_folder(user_id)}/{file.path}"
    return found.user_id == user_id and path == review.path_of(user_id, found.id)


class Replanting:
    """Takes in one user's graph."""

    def __init__(self, disk: Disk, user_id: str) -> None:
        self._disk = disk
        self._user = user_id
        self._folder = addresses.user_folder(user_id)
        self._log = LogKey("user", user_id)

    def plan(self, files: Iterable[GraphFile]) -> Errand:
        """What would be done; all of the files are looked at."""
        count = size = 0
        why = ""
        for unit in _units(files):
            try:
                missing = self._missing(unit)
            except _DiffersError as error:
                why = why or str(error)
                continue
            count, size = count + len(missing), size + sum(len(one.content) for one in missing)
        if why:
            return Errand(Taken(self._log, "refused", 0, why, part="graph"))
        taken = Taken(self._log, "stored" if count else "present", 0, part="graph", files=count)
        return Errand(taken, size)

    def store(self, files: Iterable[GraphFile], planned: Taken) -> Taken:
        """Do what was planned; refuses what changed since, from there on."""
        if planned.status != "stored":
            for _ in files:
                pass
            return planned
        count, why = 0, ""
        with FilesShelf(self._disk).locked(self._user):
            for unit in _units(files):
                try:
                    for one in () if why else self._missing(unit):
                        self._put(one)
                        count += 1
                except (_DiffersError, FileExistsError) as error:
                    why = str(error)
        mark_nodes(self._disk, self._user)
        return planned._replace(files=count, status="refused" if why else "stored", reason=why)

    def _missing(self, unit: list[GraphFile]) -> list[GraphFile]:
        """The files of a node that are not there; raises if others are."""
        here = {one.path: self._read(one.path) for one in unit}
        for one in unit:
            there = here[one.path]
            goes_on = there is not None and there != one.content and there.startswith(one.content)
            if one.path.startswith(f"{addresses.VERSIONS}/") and goes_on:
                return []  # more happened to it here, and that counts
        for one in unit:
            if here[one.path] not in (None, one.content):
                raise _DiffersError(f"{one.path!r:.120} is another text here")
        return [one for one in unit if here[one.path] is None]

    def _read(self, path: str) -> bytes | None:
        with suppress(FileNotFoundError):
            return fs.read_all(self._disk, f"{self._folder}/{path}")
        return None

    def _put(self, one: GraphFile) -> None:
        if not one.path.startswith(f"{addresses.REVIEW}/"):
            self._check_free(address_of(one.path))
        path = f"{self._folder}/{one.path}"
        folder = path.rpartition("/")[0]
        self._disk.mkdir(folder)
        self._disk.unlink(f"{path}{_NEW}")
        fs.write_new(self._disk, f"{path}{_NEW}", one.content)
        self._disk.place(f"{path}{_NEW}", path)
        fs.sync_up(self._disk, folder)

    def _check_free(self, address: str) -> None:
        try:
            addresses.check_free(self._disk, self._user, address)
        except InvalidFormatError as error:
            raise _DiffersError(error.message) from error


def _units(files: Iterable[GraphFile]) -> Iterator[list[GraphFile]]:
    """Files of one node together, as they follow each other; a proposal by itself."""
    unit: list[GraphFile] = []
    for one in files:
        if unit and (not address_of(one.path) or address_of(one.path) != address_of(unit[0].path)):
            yield unit
            unit = []
        unit.append(one)
    if unit:
        yield unit
