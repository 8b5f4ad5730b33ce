"""Limits: how large an entry and a session may grow."""

from mnemolog.errors import SizeLimitError
from mnemolog.settings import Storage

ENVELOPE_LIMIT = 1024 * 1024
NEARLY_FULL = 0.9
"""A log that fills this share of its limit is worth a warning."""


def check_content(size: int, storage: Storage) -> None:
    """Refuse content of more bytes than an entry may have."""
    limit = storage.max_content_bytes
    if size > limit:
        raise SizeLimitError(
            f"The content has {size:,} bytes; an entry holds at most {limit:,}.",
            advice="Split it over several entries, or store a reference to it.",
            size_bytes=size,
            limit_bytes=limit,
        )


def check_envelope(size: int) -> None:
    """Refuse an entry whose fields beside the content are too large together."""
    if size > ENVELOPE_LIMIT:
        raise SizeLimitError(
            f"Metadata, context, tags and references take {size:,} bytes; "
            f"the limit is {ENVELOPE_LIMIT:,}.",
            size_bytes=size,
            limit_bytes=ENVELOPE_LIMIT,
        )


def check_log(name: str, used: int, incoming: int, limit: int, **details: object) -> bool:
    """Refuse what would grow a log past its limit; True if it gets close to it."""
    if used + incoming > limit:
        raise SizeLimitError(
            f"{name} holds {used:,} bytes; {incoming:,} more would pass its limit of {limit:,}.",
            advice="Write to another session, or raise storage.max_session_size_mb.",
            size_bytes=used,
            incoming_bytes=incoming,
            limit_bytes=limit,
            **details,
        )
    return used + incoming > NEARLY_FULL * limit


def check_root(used: int, incoming: int, limit: int) -> None:
    """Refuse what would grow everything below a root past its limit."""
    if used + incoming > limit:
        raise SizeLimitError(
            f"All logs and the archive hold {used:,} bytes; {incoming:,} more would pass"
            f" the limit of {limit:,}.",
            advice="Delete sessions, let `mnemolog maintain` archive and purge, or raise"
            " storage.max_root_size_mb.",
            size_bytes=used,
            needed_bytes=incoming,
            limit_bytes=limit,
        )
