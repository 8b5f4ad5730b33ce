"""What to do when the index cannot be used: it is derived, so it is made anew where that helps."""

import errno
import sqlite3

from mnemolog.errors import LockTimeoutError, MnemologError, StorageFullError, StorageIOError

# What SQLite, the system, and numpy raise when files are missing, damaged or too short.
TROUBLE = (sqlite3.Error, OSError, LookupError, OverflowError, TypeError, ValueError)

_LOCKED = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_FULL = {errno.ENOSPC, errno.EDQUOT}
# What the system may be short of; a new index would be so too.
_SHORT = _FULL | {errno.EMFILE, errno.ENFILE, errno.ENOMEM}


def is_damaged(error: Exception) -> bool:
    """Whether throwing the index away and building it again will help."""
    if isinstance(error, sqlite3.OperationalError):
        return str(error).startswith("no such ")  # else it is locked, or the disk is full
    if _of_system(error) in _SHORT:
        return False
    return not isinstance(error, PermissionError)


def lost_its_files(error: Exception) -> bool:
    """Whether SQLite failed at its files, as it does where somebody takes them away."""
    return isinstance(error, sqlite3.Error) and not _is_full(error)


def told(error: Exception) -> MnemologError:
    """The error in our own words."""
    if _of_sqlite(error) in _LOCKED:
        return LockTimeoutError(
            "The index is locked by another process.", advice="Try again; entries are safe."
        )
    if _is_full(error):
        return StorageFullError(
            "No space left for the index.", advice="Free some space; entries are safe."
        )
    if _of_system(error) in _SHORT:
        return StorageIOError(
            f"The index cannot be used now: {error}.", advice="Try again; entries are safe."
        )
    if _of_system(error) == errno.EROFS:
        return StorageIOError(
            "A search keeps its index in the root, and this disk may only be read.",
            advice="Mount it writable, or copy the root to one that is.",
        )
    return StorageIOError(
        f"The index cannot be used: {error}.",
        advice="Make the folder `index` writable, or delete it: it comes back by itself.",
    )


def _is_full(error: Exception) -> bool:
    """Whether there is no room left; SQLite has another word for it beside the database, where a
    process cannot make its room to work in."""
    is_beside = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHMSIZE
    return is_beside or _of_sqlite(error) == sqlite3.SQLITE_FULL or _of_system(error) in _FULL


def _of_sqlite(error: Exception) -> int | None:
    """SQLite's number for an error, without its additions; what we raise ourselves has none."""
    number: int | None = getattr(error, "sqlite_errorcode", None)
    return None if number is None else number & 0xFF


def _of_system(error: Exception) -> int | None:
    return error.errno if isinstance(error, OSError) else None
