"""Every error that mnemolog raises, in one tree.

    MnemologError
    ├── StorageError
    │   ├── StorageIOError                E_STORAGE_IO       (also an OSError)
    │   ├── StorageFullError              E_STORAGE_FULL     (also an OSError)
    │   └── CorruptionError               E_STORAGE_CORRUPT
    ├── ConcurrencyError
    │   ├── LockTimeoutError              E_LOCK_TIMEOUT     (also a TimeoutError)
    │   └── ConcurrentModificationError   E_CONCURRENT_MOD
    ├── InputError
    │   ├── InvalidFormatError            E_INVALID_FORMAT   (also a ValueError)
    │   ├── SchemaInvalidError            E_SCHEMA_INVALID   (also a ValueError)
    │   ├── SizeLimitError                E_SIZE_LIMIT
    │   ├── NotAllowedError               E_NOT_ALLOWED      (also a PermissionError)
    │   ├── SettingsError                 E_SETTINGS         (also a ValueError)
    │   └── EntryNotFoundError            E_ENTRY_NOT_FOUND  (also a LookupError)
    ├── SessionError
    │   ├── SessionNotFoundError          E_SESSION_NOT_FOUND (also a LookupError)
    │   ├── SessionExistsError            E_SESSION_EXISTS
    │   ├── SessionArchivedError          E_SESSION_ARCHIVED
    │   └── SessionCorruptError           E_SESSION_CORRUPT
    ├── QueryError
    │   ├── QueryTimeoutError             E_QUERY_TIMEOUT    (also a TimeoutError)
    │   └── InvalidQueryError             E_INVALID_QUERY    (also a ValueError)
    └── KnowledgeError
        ├── NodeNotFoundError             E_NODE_NOT_FOUND   (also a LookupError)
        ├── NodeConflictError             E_NODE_CONFLICT
        └── DistillerError                E_DISTILLER

An error says what was refused and, in `advice`, what to do about it. `details` holds
the numbers and names for programs. No error text ever quotes an entry's content.
"""

import difflib
from collections.abc import Iterable
from typing import ClassVar


def shown(value: object, most: int = 60) -> str:
    """A value as an error may quote it: short, and never the inside of something large."""
    if value is None or isinstance(value, bool | int | float | str):
        is_huge = isinstance(value, int) and abs(value) >= 10**100
        text = "a huge number" if is_huge else repr(value)
        return text if len(text) <= most else f"{text[: most - 1]}…"
    return kind_of(value)


def kind_of(value: object) -> str:
    """The type of a value, with its article: `a list`, `an object`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def nearest(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that a wrong one is perhaps a slip of the pen for."""
    near = difflib.get_close_matches(name[:100], known, 3, alike)
    # Two fingers that come in the wrong order are likelier than another name about as alike.
    return min(near, key=lambda one: sorted(one) != sorted(name), default=None)


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """The advice for a name that is not known: the nearest one, else what is said `otherwise`."""
    near = nearest(name, known)
    return f"Did you mean {near!r}?" if near else otherwise


class MnemologError(Exception):
    """The root of the tree; catch it to catch everything mnemolog raises."""

    code: ClassVar[str] = "E_MNEMOLOG"
    usual_advice: ClassVar[str] = ""

    def __init__(self, message: str, *, advice: str = "", **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice or self.usual_advice
        self.details = details

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".strip()


class StorageError(MnemologError):
    """The disk did not do what was asked of it."""


class StorageIOError(StorageError, OSError):
    """Reading or writing failed."""

    code = "E_STORAGE_IO"


class StorageFullError(StorageError, OSError):
    """No space, or no quota, is left on the disk."""

    code = "E_STORAGE_FULL"


class CorruptionError(StorageError):
    """Bytes on disk are not what was written."""

    code = "E_STORAGE_CORRUPT"


class ConcurrencyError(MnemologError):
    """Another writer was in the way."""


class LockTimeoutError(ConcurrencyError, TimeoutError):
    """The lock stayed with somebody else for longer than `lock_timeout_ms`."""

    code = "E_LOCK_TIMEOUT"


class ConcurrentModificationError(ConcurrencyError):
    """The thing to change is no longer what the caller saw, or is not the caller's."""

    code = "E_CONCURRENT_MOD"


class InputError(MnemologError):
    """What was handed in cannot be stored."""

    usual_advice = "Nothing was changed; correct it and try again."


class InvalidFormatError(InputError, ValueError):
    """A value has the wrong form: an id, a timestamp, a tag, a line of JSON."""

    code = "E_INVALID_FORMAT"


class SchemaInvalidError(InputError, ValueError):
    """A record has the wrong shape: a field is missing, unknown or of a wrong type."""

    code = "E_SCHEMA_INVALID"


class SizeLimitError(InputError):
    """An entry or a session would grow past its limit."""

    code = "E_SIZE_LIMIT"


class NotAllowedError(InputError, PermissionError):
    """The caller's view of the memory does not include this."""

    code = "E_NOT_ALLOWED"


class SettingsError(InputError, ValueError):
    """A setting is unknown or has a value that cannot be used."""

    code = "E_SETTINGS"


class EntryNotFoundError(InputError, LookupError):
    """There is no such entry for this caller."""

    code = "E_ENTRY_NOT_FOUND"


class SessionError(MnemologError):
    """A session is not in the state that the call needs."""


class SessionNotFoundError(SessionError, LookupError):
    """There is no such session for this caller."""

    code = "E_SESSION_NOT_FOUND"


def no_session(session_id: str) -> SessionNotFoundError:
    """The one error for a session that does not exist, or not for this caller: they look alike."""
    return SessionNotFoundError(
        f"There is no session {session_id!r:.200}.",
        advice=_what_was_meant(session_id),
        session_id=session_id,
    )


def _what_was_meant(session_id: str) -> str:
    """What to do about the id of no session: most often it is none, but a text or an entry's id."""
    if " " in session_id:
        return "Give the session's id or None first, then `text=`."
    if session_id.startswith(("mem_", "pref_")):
        return "This looks like the id of an entry: name its session first."
    return "`list_sessions` lists what there is."


class SessionExistsError(SessionError):
    """A session with this id exists already."""

    code = "E_SESSION_EXISTS"


def taken_session(session_id: str) -> SessionExistsError:
    """The error for a session that is to be created and is there."""
    return SessionExistsError(
        f"There is already a session {session_id!r:.200}.",
        advice="Load it, or leave the id out to have a new one made.",
        session_id=session_id,
    )


class SessionArchivedError(SessionError):
    """The session lies in the archive and automatic restoring is off."""

    code = "E_SESSION_ARCHIVED"


class SessionCorruptError(SessionError):
    """A session's manifest or segments cannot be read."""

    code = "E_SESSION_CORRUPT"


class QueryError(MnemologError):
    """A query could not be answered."""

    usual_advice = "Change the query and ask again."


class QueryTimeoutError(QueryError, TimeoutError):
    """A query took longer than it was allowed to."""

    code = "E_QUERY_TIMEOUT"


class InvalidQueryError(QueryError, ValueError):
    """A query's filters make no sense; its text is never the reason."""

    code = "E_INVALID_QUERY"


class KnowledgeError(MnemologError):
    """About nodes and what makes them."""


class NodeNotFoundError(KnowledgeError, LookupError):
    """There is no such node, or it is not visible to the caller."""

    code = "E_NODE_NOT_FOUND"


class NodeConflictError(KnowledgeError):
    """Another text is there now than the one a write was made against; both are kept.

    `details` holds `address`, `expected`, `hash` and two whole texts: `theirs`, which is there, and
    `yours`, which would have taken its place; None where there is none.
    """

    code = "E_NODE_CONFLICT"
    usual_advice = "Read the node again, and write what both texts should become."


class DistillerError(KnowledgeError):
    """A distiller could not make anything of a session; the session waits and is tried again."""

    code = "E_DISTILLER"
