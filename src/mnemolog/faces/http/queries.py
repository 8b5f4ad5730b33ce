"""What routes take in their query: limits, lists, cursors."""

import base64
from typing import Annotated, TypeVar

import msgspec
from litestar.params import QueryParameter

from mnemolog.faces.http.problems import RefusedError

Limit = Annotated[int, QueryParameter(ge=1, le=200, description="Most items; at most 200.")]
Seq = Annotated[int | None, QueryParameter(ge=0, le=2**53)]
Cursor = Annotated[
    str | None, QueryParameter(max_length=4096, description="`next_cursor` of the answer before.")
]
Names = Annotated[
    list[str] | None,
    QueryParameter(description="Any of these; several by commas, or by saying it again."),
]
T = TypeVar("T")


def names(given: list[str] | None) -> list[str] | None:
    """The names in a list that may be written with commas."""
    found = [part.strip() for text in given or () for part in text.split(",")]
    return [name for name in found if name] or None


def sealed(*parts: object) -> str:
    """A place in a list, as a cursor."""
    return base64.urlsafe_b64encode(msgspec.json.encode(parts)).decode().rstrip("=")


def opened(cursor: str | None, kinds: type[T]) -> T | None:
    """What a cursor says; raises a 400 for one that nobody gave out."""
    if cursor is None:
        return None
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return msgspec.json.decode(raw, type=kinds)
    except (ValueError, msgspec.DecodeError):
        raise RefusedError(
            400, "E_CURSOR", "This cursor was not given out by this list.", field="cursor"
        ) from None
