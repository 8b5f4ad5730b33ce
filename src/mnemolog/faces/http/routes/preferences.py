"""Preferences: those in force, and setting one by its key."""

from typing import Annotated, Any, Literal

import msgspec
from litestar import get, post
from litestar.params import JSONBody, QueryParameter

from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.rows import receipt_row
from mnemolog.faces.http.shapes import Body, ReceiptRow
from mnemolog.model.entry import Entry

Name = Annotated[str | None, QueryParameter(max_length=1000)]


class Preferences(msgspec.Struct, kw_only=True):
    """One preference for each key."""

    items: list[Entry]
    warnings: tuple[str, ...]


class NewPreference(Body, omit_defaults=True):
    """What somebody likes: in a session, of a user in all of theirs, or shared by all agents."""

    key: str
    value: Any
    session_id: str | None = None
    user_id: str | None = None
    scope: Literal["session", "user", "shared"] = "session"
    context: Any = None
    confidence: float | None = None
    learned_from: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@get("/preferences", sync_to_thread=True)
def preferences(caller: Asking, session: Name = None, user: Name = None) -> Preferences:
    """The preferences in force, one for each key: the session's, else the user's, else shared."""
    found = caller.memory.get_preferences(session, user_id=user)
    return Preferences(items=list(found), warnings=tuple(found.warnings))


@post("/preferences", sync_to_thread=True)
def set_preference(caller: Asking, data: JSONBody[NewPreference]) -> ReceiptRow:
    """Set a preference by its key; what was set under the key before stays as a revision."""
    given = msgspec.to_builtins(data)
    return receipt_row(caller.memory.update_preference(given.pop("session_id", None), given))


ROUTES = [preferences, set_preference]
