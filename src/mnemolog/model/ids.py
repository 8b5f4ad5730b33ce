"""Ids: which ones are accepted, and how new ones are made."""

import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from mnemolog.errors import InvalidFormatError, SchemaInvalidError, shown

MAX_ID = 1024
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_id(value: object, what: str = "id", *, is_made: bool = False) -> str:
    """Return `value` if it can be an id: any text of 1 to 1,024 characters that UTF-8 can hold.

    `is_made` says that one is made where none is given.
    """
    if not isinstance(value, str) or not value:
        of_object = "Give its `id`." if hasattr(value, "id") else ""
        raise InvalidFormatError(
            f"The {what} must be a non-empty string, not {shown(value)}.",
            advice="Leave it out to have one made." if is_made else of_object,
            field=what,
        )
    if len(value) > MAX_ID:
        raise InvalidFormatError(
            f"The {what} has {len(value)} characters; the limit is {MAX_ID}.", field=what
        )
    if not value.isprintable() and _UNSTORABLE.search(value):
        raise InvalidFormatError(
            f"The {what} contains a NUL or a lone surrogate, which no file can hold.",
            advice="Remove that character.",
            field=what,
        )
    return str.__str__(value)


def check_name(value: object, what: str, *, is_made: bool = False) -> str | None:
    """An optional id-like name (agent, user, run, category, role): None stays None."""
    return None if value is None else check_id(value, what, is_made=is_made)


def check_agents(given: object) -> tuple[str, ...]:
    """Agents without repetition, in order; a single name counts as a list of one."""
    names = [given] if isinstance(given, str) else given
    if isinstance(names, bytes | Mapping) or not isinstance(names, Iterable):
        raise SchemaInvalidError(f"agent_ids must be a list of names, not {shown(given)}.")
    return tuple(dict.fromkeys(check_id(name, "agent id") for name in names))


def new_session_id(now: datetime) -> str:
    """A fresh session id such as `sess-2026-11-15-9f3a1c77d2`."""
    return f"sess-{now:%Y-%m-%d}-{os.urandom(5).hex()}"


def new_entry_id(now: datetime) -> str:
    """A fresh entry id that sorts by time: `mem_` + 48 bits of milliseconds + 64 random bits."""
    return f"mem_{int(now.timestamp() * 1000):012x}{os.urandom(8).hex()}"
