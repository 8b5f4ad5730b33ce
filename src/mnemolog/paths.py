"""The one function that turns an id into a file name, and the names of the root's folders and
files."""

import re
from functools import lru_cache
from hashlib import sha256

SESSIONS = "sessions"
USERS = "users"
SHARED = "shared"
QUARANTINE = "quarantine"
INTENTS = "intents"
RESERVE = "intents/reserve"
ARCHIVE = "archive"
AUDIT = "audit.jsonl"
REDACT_KEY = "redact.key"
INDEX = "index"
NODES = "nodes"
DIRTY = "index/dirty"
# In the folder of a session or of a user.
LOCK = "lock"
ACCESS = "access.jsonl"
PREFERENCES = "preferences.jsonl"
KNOWLEDGE = "knowledge.jsonl"

# Leaves room for the longest ending that we add to a name, below the usual limit of 255 bytes.
MAX_NAME = 200

_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-")
_ENCODED = re.compile(rb"%([0-9a-f]{2})")
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")


@lru_cache(maxsize=1024)
def file_name(identifier: str) -> str:
    """A file name for any id: unique, safe on every disk, the id itself where that is possible.

    Everything but lower-case letters, digits, `_` and `-` is percent-encoded, upper case too, so
    that ids differing only in case stay apart on disks that ignore it. What gets too long becomes
    `%x` and a hash; no encoded id begins like that, because `x` is no hexadecimal digit.
    """
    raw = identifier.encode()
    name = "".join(chr(byte) if byte in _SAFE else f"%{byte:02x}" for byte in raw)
    if _DEVICE.fullmatch(name):
        name = f"%{raw[0]:02x}{name[1:]}"
    return name if len(name) <= MAX_NAME else f"%x{sha256(raw).hexdigest()}"


def id_of(name: str) -> str | None:
    """The id that a file name stands for, where the name still tells it."""
    try:
        raw = _ENCODED.sub(lambda found: bytes([int(found[1], 16)]), name.encode())
        found = raw.decode()
        return found if file_name(found) == name else None
    except UnicodeError:
        return None


def session_folder(session_id: str) -> str:
    """Where a session lives, below the root."""
    return f"{SESSIONS}/{file_name(session_id)}"


def user_folder(user_id: str) -> str:
    """Where a user's own log and notes live, below the root."""
    return f"{USERS}/{file_name(user_id)}"
