"""What the verbs of the archive answer."""

import msgspec


class ArchiveReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """A session that lies in the archive: since when, and how much smaller it is there."""

    session_id: str
    archived_at: str
    original_size_bytes: int
    compressed_size_bytes: int


class IdleArchiving(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions that went into the archive, and why others that are idle did not."""

    archived: tuple[ArchiveReceipt, ...]
    failed: dict[str, str]
