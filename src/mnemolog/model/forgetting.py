"""What the verbs of forgetting and keeping answer."""

import msgspec


class Deletion(msgspec.Struct, frozen=True, kw_only=True):
    """What was hidden, and until when it can be brought back."""

    deleted_count: int
    ids: tuple[str, ...]
    deleted_at: str
    criteria: dict[str, int]
    """How many values of each kind were given; never the values."""
    restorable_until: str


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What was brought back, and what could not be, with the reason."""

    ids: tuple[str, ...]
    refused: dict[str, str]


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """Whether something is gone: where it still stands, and how often other entries say it."""

    clean: bool
    files: int
    traces: tuple[str, ...]
    elsewhere: int
    """Places in entries that live: they say the same, and nobody asked for them to go."""
    bytes: int = 0
    """How much was looked through, what was unpacked for it included."""
    places: dict[str, int] = {}
    """For each part of the root that was looked through, how often something was left there."""


class Erasure(msgspec.Struct, frozen=True, kw_only=True):
    """What was removed for good: entries, lines in each kind of place, and the proof."""

    erased_count: int
    ids: tuple[str, ...]
    erased_at: str
    places: dict[str, int]
    out_of_reach: tuple[str, ...] = ()
    """Backups that were made before; they still hold it."""
    verification: Verification | None = None


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """What was hidden in entries that were stored already; never what it said."""

    entries: int
    sessions: int
    kinds: dict[str, int]
    is_dry_run: bool
    nodes: int = 0
    versions: int = 0
    proposals: int = 0
    failed: dict[str, str] = {}
    """The logs in which nothing could be hidden, and why."""


class Compaction(msgspec.Struct, frozen=True, kw_only=True):
    """What a compaction did, in the words that the source documents use for it."""

    session_id: str
    before_size: int
    after_size: int
    removed_count: int
    dropped: int
    archived: int
    superseded: int
    compacted_at: str
