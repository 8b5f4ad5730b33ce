"""What to do when the index cannot be used: it is derived, so it is made anew where that helps."""

import sqlite3

from mnemolog.errors import LockTimeoutError, MnemologError, StorageFullError, StorageIOError

# What SQLite, the system, and numpy raise when files are missing, damaged or too short.
TROUBLE = (sqlite3.Error, OSError, IndexError, TypeError, ValueError)


def is_damaged(error: Exception) -> bool:
    """Whether throwing the index away and building it again will help."""
    if isinstance(error, sqlite3.OperationalError):
        return str(error).startswith("no such ")  # else it is locked, or the disk is full
    return not isinstance(error, PermissionError)


def told(error: Exception) -> MnemologError:
    """The error in our own words."""
    text = str(error)
    if "locked" in text:
        return LockTimeoutError(
            "The index is locked by another process.", advice="Try again; entries are safe."
        )
    if "full" in text or "No space" in text:
        return StorageFullError(
            "No space left for the index.", advice="Free some space; entries are safe."
        )
    return StorageIOError(
        f"The index cannot be used: {text}.",
        advice="Make the folder `index` writable, or delete it: it comes back by itself.",
    )
