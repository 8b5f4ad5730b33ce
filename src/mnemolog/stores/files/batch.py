"""One append, from entries to bytes: everything that is decided under the lock."""

from collections.abc import Sequence

from mnemolog.errors import ConcurrentModificationError
from mnemolog.fs import Disk
from mnemolog.log import sessions
from mnemolog.log.fold import Head
from mnemolog.log.lines import Draft
from mnemolog.log.writer import Handle
from mnemolog.policy import quota
from mnemolog.policy.access import Viewer, may_change
from mnemolog.ports import Write
from mnemolog.settings import Storage
from mnemolog.stores.files.held import Held

_NAMES = {
    "session": "The session {!r:.200}",
    "user": "The log of the user {!r:.200}",
    "shared": "The shared log",
}


class Batch:
    """Entries on their way into a log; encoded and hashed before the lock is taken."""

    def __init__(
        self, disk: Disk, held: Held, writes: Sequence[Write], viewer: Viewer, storage: Storage
    ) -> None:
        self._disk = disk
        self._held = held
        self._writes = writes
        self._viewer = viewer
        self._storage = storage
        self._drafts = [Draft(write.entry) for write in writes]
        self.seqs: tuple[int, ...] = ()
        self.revised: tuple[bool, ...] = (False,) * len(writes)
        self.warnings: tuple[str, ...] = ()

    def names(self) -> str:
        """The ids, for an error that must say whose fate is unknown."""
        first = self._writes[0].entry.id
        more = len(self._writes) - 1
        return f"entry {first!r:.140}" + (f" and {more} more" if more else "")

    def compose(self, handle: Handle) -> tuple[bytes, int]:
        """The bytes to append and the last number used in them; refuses what may not be written."""
        self._check_ids()
        if self._held.key.kind == "session" and handle.tail.size >= self._storage.segment_bytes:
            sessions.begin_segment(self._disk, sessions.place(self._held.key.id), handle)
        first = handle.tail.seq + 1
        self.seqs = tuple(range(first, first + len(self._drafts)))
        lines = (draft.line(seq) for draft, seq in zip(self._drafts, self.seqs, strict=True))
        content = b"".join(lines)
        self._check_size(handle, len(content))
        return content, self.seqs[-1]

    def _check_ids(self) -> None:
        """Look given ids up; only the writer or the owner may revise an entry."""
        given = [write for write in self._writes if write.is_given]
        if not given:
            return
        view = self._held.reader.find(*(write.entry.id for write in given))
        heads = {head.id: head for head in view.heads}
        for write in given:
            self._check_one(write, heads.get(write.entry.id))
        known = set(heads)
        revised = []
        for write in self._writes:
            revised.append(write.entry.id in known)
            known.add(write.entry.id)
        self.revised = tuple(revised)

    def _check_one(self, write: Write, head: Head | None) -> None:
        if head is not None and not may_change(self._viewer, head):
            raise ConcurrentModificationError(
                f"The id {write.entry.id!r:.140} is taken by another writer.",
                advice="Choose another id, or leave it out.",
                id=write.entry.id,
            )
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
        used = handle.chain.sealed_bytes + handle.tail.size
        limit = self._storage.max_session_bytes
        if used + incoming <= quota.NEARLY_FULL * limit:
            return
        kind, identifier = self._held.key
        name = _NAMES[kind].format(identifier)
        if quota.check_log(name, used, incoming, limit, **{f"{kind}_id": identifier}):
            share = (used + incoming) / limit
            self.warnings = (f"{name} has used {share:.0%} of its {limit:,} bytes",)
