"""One append, from entries to bytes: everything that is decided under the lock."""

from collections.abc import Collection, Sequence

import msgspec

from mnemolog.errors import ConcurrentModificationError
from mnemolog.fs import Disk
from mnemolog.log import sessions
from mnemolog.log.fold import Head
from mnemolog.log.lines import Draft
from mnemolog.log.writer import Handle
from mnemolog.model.entry import MARKS, Entry
from mnemolog.policy import quota
from mnemolog.policy.access import Viewer, may_change
from mnemolog.ports import Write
from mnemolog.settings import Storage
from mnemolog.stores.files.held import Held
from mnemolog.stores.files.root_size import RootSize

_NAMES = {
    "session": "The session {!r:.200}",
    "user": "The log of the user {!r:.200}",
    "shared": "The shared log",
    "run": "The run of the session {!r:.200}",
}


class Batch:
    """Entries on their way into a log; encoded and hashed before the lock is taken."""

    def __init__(
        self,
        disk: Disk,
        held: Held,
        writes: Sequence[Write],
        viewer: Viewer,
        storage: Storage,
        root_size: RootSize,
    ) -> None:
        self._disk = disk
        self._root_size = root_size
        self._held = held
        self._writes = writes
        self._viewer = viewer
        self._storage = storage
        self._drafts: list[Draft] = []
        self._given: list[Write] = []
        for write in writes:
            self._drafts.append(Draft(held.versions.latest(write.entry)))
            if write.is_given or write.entry.target:
                self._given.append(write)
        # A mark has a target, so where nothing is given there is none.
        self._are_marks = bool(self._given) and all(one.entry.type in MARKS for one in writes)
        self.seqs: tuple[int, ...] = ()
        self.revised: tuple[bool, ...] = (False,) * len(writes)
        self.warnings: tuple[str, ...] = ()
        self.used = 0
        self.admitted = self.size = 0

    def names(self) -> str:
        """The ids, for an error that must say whose fate is unknown."""
        first = self._writes[0].entry.id
        more = len(self._writes) - 1
        return f"entry {first!r:.140}" + (f" and {more} more" if more else "")

    def compose(self, handle: Handle) -> tuple[bytes, int]:
        """The bytes to append and the last number used in them; refuses what may not be written."""
        if self._given:
            self._check_ids()
        for write in self._writes:
            if write.check is not None:
                write.check(handle.tail.seq)
        if self._held.key.kind == "session":
            is_long = handle.tail.size >= self._storage.segment_bytes
            if is_long or handle.chain.v < self._held.versions.current:
                self._prepare(handle, is_long)
        first = handle.tail.seq + 1
        self.seqs = tuple(range(first, first + len(self._drafts)))
        content = b"".join(map(Draft.line, self._drafts, self.seqs))
        self.size = len(content)
        self._check_size(handle, self.size)
        return content, self.seqs[-1]

    def _prepare(self, handle: Handle, is_long: bool) -> None:
        """Seal a segment that is long enough, or say that lines of a newer version begin."""
        place = sessions.place(self._held.key.id, self._held.versions)
        if is_long:
            sessions.begin_segment(self._disk, place, handle)
        else:
            sessions.raise_version(self._disk, place, handle)

    def _check_ids(self) -> None:
        """Look given ids up; only the writer or the owner may revise an entry."""
        view = self._held.reader.find(*map(_subject, self._given))
        heads = {head.id: head for head in view.heads}
        for write in self._given:
            self._check_one(write, heads.get(_subject(write)))
        moved = self._moved(heads)
        known = {*heads, *moved}
        revised = []
        for number, write in enumerate(self._writes):
            revised.append(write.entry.id in known)
            known.add(write.entry.id)
            if write.entry.id in moved:
                entry = _continued(write.entry, moved[write.entry.id])
                self._drafts[number] = Draft(self._held.versions.latest(entry))
        self.revised = tuple(revised)

    def _moved(self, heads: Collection[str]) -> dict[str, Entry]:
        """What compactions have moved out of that which is given: its id is not free, and what is
        written under it goes on with that entry."""
        missing = [write for write in self._given if _subject(write) not in heads]
        if self._held.key.kind != "session" or not missing:
            return {}
        found, moved = {}, self._held.moved()
        for write in missing:
            one = moved.get(_subject(write))
            if one is not None and not may_change(self._viewer, one.entry):
                raise _taken(write)
            if one is not None:
                found[one.entry.id] = one.entry
        return found

    def _check_one(self, write: Write, head: Head | None) -> None:
        if head is not None and not may_change(self._viewer, head):
            raise _taken(write)
        expected = write.expected_seq
        if expected is not None and (head is None or head.dead or head.seq != expected):
            raise ConcurrentModificationError(
                f"The entry {write.entry.id!r:.140} was changed meanwhile.",
                advice="Read it again and repeat the change.",
                id=write.entry.id,
                expected_seq=expected,
                seq=head.seq if head else None,
            )

    def _check_size(self, handle: Handle, incoming: int) -> None:
        if self._storage.max_root_size_mb:
            limit = self._storage.max_root_bytes
            self._root_size.admit(incoming, limit, is_needed=self._are_marks)
            self.admitted += incoming  # once more if the session went elsewhere meanwhile
        if self._are_marks:
            return  # deleting must be possible in a full log too
        used = handle.sealed_bytes + handle.tail.size
        self.used = used + incoming
        limit = self._storage.max_session_bytes
        if used + incoming <= quota.NEARLY_FULL * limit:
            return
        kind, identifier, _ = self._held.key
        name = _NAMES[kind].format(identifier)
        if quota.check_log(name, used, incoming, limit, **{f"{kind}_id": identifier}):
            share = (used + incoming) / limit
            self.warnings = (f"{name} has used {share:.0%} of its {limit:,} bytes",)


def _subject(write: Write) -> str:
    """The id that a line is about."""
    return write.entry.target or write.entry.id


def _continued(entry: Entry, before: Entry) -> Entry:
    """An entry that goes on with one in the archive: under its first time, in its place."""
    first = before.created or before.timestamp
    return msgspec.structs.replace(entry, created=first, first_seq=before.first_seq or before.seq)


def _taken(write: Write) -> ConcurrentModificationError:
    return ConcurrentModificationError(
        f"The id {write.entry.id!r:.140} is taken by another writer.",
        advice="Choose another id, or leave it out.",
        id=write.entry.id,
    )
