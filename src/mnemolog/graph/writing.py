"""Writing: how a text takes its place, whatever happens meanwhile.

1. The new text is written beside the file and synced.
2. Its version is added to the versions and synced.
3. The two files are exchanged in one step. What comes out is looked at: if it is not the text that
   the write was made against, somebody was faster; it is put back, and the write is refused.

A crash leaves the text before or after, and a version for each. Everything here is for the holder
of the graph's lock; people with editors hold no lock, hence the exchange.
"""

from collections.abc import Callable

import msgspec

from mnemolog import fs
from mnemolog.errors import NodeConflictError
from mnemolog.fs import Disk
from mnemolog.fs.swapping import OUT
from mnemolog.graph import document, versions
from mnemolog.graph.addresses import Spot
from mnemolog.graph.catalogue import read_raw
from mnemolog.graph.versions import History
from mnemolog.model.node import NodeVersion
from mnemolog.policy.composing import conflict

NEW = ".tmp"
"""The ending of a text that is being written; left by a crash, it is worth nothing."""
SWAP = ".swap"
"""The ending of a whole text on its way in or out; left by a crash, it may be the only copy."""
HAND = "hand"
# Nobody saves so often while two files are exchanged; what is out in the end becomes a version.
_MOST_EXCHANGES = 64

Stamp = Callable[[], str]
"""Tells the time for a version."""


class Place:
    """One node's files, for the holder of the lock."""

    def __init__(self, disk: Disk, spot: Spot, address: str, stamp: Stamp) -> None:
        self._disk = disk
        self._spot = spot
        self._address = address
        self._stamp = stamp

    def look(self) -> tuple[document.Raw | None, History]:
        """The file and its versions, after everything that was not seen yet became a version."""
        self._rescue()
        raw = read_raw(self._disk, self._spot.file)
        history = self.history()
        last = history.last()
        if last is not None and self._is_void(last, history, raw):
            versions.mark(self._disk, self._spot.versions, void=last.number)
            history = self.history()
            last = history.last()
        known = "" if last is None else last.hash
        if (raw.hash if raw else "") != known:
            self._note_hand(raw, history)
            history = self.history()
        return raw, history

    def settle(self) -> None:
        """Make durable what is there: whoever wrote it may have been killed before it was."""
        fs.sync_up(self._disk, self._spot.folder)
        fs.sync_up(self._disk, self._spot.versions.rpartition("/")[0])
        self._disk.open(self._spot.versions, "append").sync()

    def history(self) -> History:
        """The versions as their file tells them."""
        return versions.read(self._disk, self._spot.versions)

    def _is_void(self, last: NodeVersion, history: History, raw: document.Raw | None) -> bool:
        """Whether a crash came between a version and its text."""
        if last.by == HAND or history.is_done(last.number):
            return False
        now = raw.hash if raw else ""
        if now == last.hash:
            return False
        earlier = next((one for one in history.newest() if one.number < last.number), None)
        if now == ("" if earlier is None else earlier.hash):
            return True
        named = document.version_in(raw.content.decode("utf-8", "replace")) if raw else None
        return named is not None and named < last.number and last.text is not None

    def _note_hand(self, raw: document.Raw | None, history: History, reason: str = "") -> None:
        text = None if raw is None else raw.content.decode("utf-8", "replace")
        self.add(history, text, raw.hash if raw else "", NodeVersion(
            number=0, at=self._stamp(), by=HAND, reason=reason, hash="", text=None,
        ))  # fmt: skip

    def add(self, history: History, text: str | None, digest: str, version: NodeVersion) -> int:
        """Add a version durably; its number."""
        number = history.highest() + 1
        done = msgspec.structs.replace(version, number=number, hash=digest, text=text)
        versions.append(self._disk, self._spot.versions, done, history)
        return number

    def _rescue(self) -> None:
        """What a crash left on its way: a text that no version knows was somebody's."""
        path = f"{self._spot.file}{SWAP}"
        out = f"{self._spot.file}{OUT}"
        if self._disk.ident(out) is not None:  # taken out by steps, where two cannot be exchanged
            if self._disk.ident(self._spot.file) is None:
                self._disk.place(out, self._spot.file)
            else:
                self._disk.rename(out, path)
        raw = read_raw(self._disk, path)
        if raw is None:
            return
        history = self.history()
        if not history.knows(raw.hash):
            self._note_hand(raw, history, "found beside the node after an interruption")
        self._disk.unlink(path)

    def replace(self, before: document.Raw | None, text: str, history: History,
                version: NodeVersion) -> int:  # fmt: skip
        """Put a text in the place of the one that it was made against; the version's number."""
        folder = self._spot.folder
        self._disk.mkdir(folder)
        self._disk.unlink(f"{self._spot.file}{NEW}")
        content = text.encode()
        fs.write_new(self._disk, f"{self._spot.file}{NEW}", content)
        number = self.add(history, text, versions.hash_of(content), version)
        try:
            if before is None:
                self._put_in()
            else:
                self._exchange(before.hash, versions.hash_of(content))
        except NodeConflictError as error:
            versions.mark(self._disk, self._spot.versions, void=number)
            error.details["yours"] = text
            raise
        fs.sync_up(self._disk, folder) if before is None else self._disk.sync_folder(folder)
        versions.mark(self._disk, self._spot.versions, done=number)
        self._disk.unlink(f"{self._spot.file}{SWAP}")
        return number

    def _put_in(self) -> None:
        try:
            self._disk.place(f"{self._spot.file}{NEW}", self._spot.file)
        except FileExistsError:
            self._disk.unlink(f"{self._spot.file}{NEW}")
            raise self.conflict("") from None

    def _exchange(self, expected: str, ours: str) -> None:
        """Exchange the files; what comes out must be what was read, or it goes back in."""
        path, swap = self._spot.file, f"{self._spot.file}{SWAP}"
        self._disk.rename(f"{path}{NEW}", swap)
        try:
            self._disk.exchange(swap, path)
        except (FileNotFoundError, FileExistsError):
            self._disk.unlink(swap)
            raise self.conflict(expected) from None
        if self._hash(swap) == expected:
            return
        self._give_back(ours)
        self._disk.sync_folder(self._spot.folder)
        error = self.conflict(expected)
        self._rescue()
        raise error

    def _give_back(self, put_in: str) -> None:
        """Exchange until what was put in last comes out: else it is newer, and goes in again."""
        path, swap = self._spot.file, f"{self._spot.file}{SWAP}"
        for _ in range(_MOST_EXCHANGES):
            theirs = self._hash(swap)
            try:
                self._disk.exchange(swap, path)
            except (FileNotFoundError, FileExistsError):
                return  # removed or replaced by hand meanwhile: that is the latest word
            if self._hash(swap) == put_in:
                return
            put_in = theirs

    def _hash(self, path: str) -> str:
        raw = read_raw(self._disk, path)
        return "" if raw is None else raw.hash

    def remove(self, before: document.Raw, history: History, version: NodeVersion) -> int:
        """Take the file away, if it still is the one that was read; the version's number."""
        path, swap = self._spot.file, f"{self._spot.file}{SWAP}"
        number = self.add(history, None, "", version)
        try:
            self._disk.place(path, swap)
        except FileNotFoundError:
            pass  # gone by another hand
        else:
            if self._hash(swap) != before.hash:
                self._put_back(swap, number)
        self._disk.sync_folder(self._spot.folder)
        versions.mark(self._disk, self._spot.versions, done=number)
        self._disk.unlink(swap)
        return number

    def _put_back(self, swap: str, number: int) -> None:
        try:
            self._disk.place(swap, self._spot.file)
        except FileExistsError:
            self._rescue()
        versions.mark(self._disk, self._spot.versions, void=number)
        raise self.conflict("")

    def conflict(self, expected: str) -> NodeConflictError:
        """The error that carries the text that is there now."""
        raw = read_raw(self._disk, self._spot.file)
        theirs = None if raw is None else raw.content.decode("utf-8", "replace")
        return conflict(self._address, expected, raw.hash if raw else "", theirs)
