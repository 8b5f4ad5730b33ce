"""The entry: one immutable record, one line of a log."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from mnemolog.errors import InvalidFormatError, shown
from mnemolog.model.times import is_later

FORMAT = 1

TYPES = ("conversation", "decision", "finding", "preference", "note", "event")
# So far an index counts; a log would be a terabyte long before it gets there.
MAX_SEQ = 2**32 - 1

MARKS = ("tombstone", "undelete", "erased")
SCOPES = ("run", "session", "agent", "user", "shared")
ORIGINS = ("user", "agent", "tool", "recall", "import")

_PLURALS = {f"{name}s": name for name in TYPES}


Number = Annotated[int, msgspec.Meta(ge=1, le=MAX_SEQ)]


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True):
    """One record; the order of the fields is their order in the line."""

    v: int
    id: str
    session_id: str | None = None
    timestamp: str
    at: str | None = None
    created: str | None = None
    first_seq: Number | None = None
    type: str
    scope: str = "session"
    origin: str
    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None
    compartment: str | None = None
    role: str | None = None
    category: str | None = None
    target: str | None = None
    reason: str | None = None
    content: str | dict[str, Any] = ""
    context: dict[str, Any] = {}
    tags: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    importance: float | None = None
    metadata: dict[str, Any] = {}
    seq: Annotated[int, msgspec.Meta(ge=0, le=MAX_SEQ)] = 0
    sum: str = ""

    @property
    def written_at(self) -> str:
        """When this line was written; the same as `timestamp` unless that was given."""
        return self.at or self.timestamp

    @property
    def is_future(self) -> bool:
        """Whether the timestamp lay clearly after the time of writing."""
        return is_later(self.timestamp, self.written_at)

    @property
    def text(self) -> str:
        """Everything in the content that a person would read, in order."""
        content = self.content
        return content if isinstance(content, str) else "\n".join(_texts(content))


class Receipt(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """What became of one write."""

    id: str
    status: str
    durable: bool
    seq: int
    session_id: str | None = None
    redactions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    reason: str | None = None


class Damage(msgspec.Struct, frozen=True, kw_only=True):
    """A line that could not be read: where it is and why; its bytes stay where they are."""

    segment: str
    offset: int
    length: int
    why: str

    def __str__(self) -> str:
        return f"{self.segment} at byte {self.offset}: {self.why} ({self.length} bytes skipped)"


class Warned(list[Entry]):
    """A list of entries that also says, in `warnings`, what had to be skipped.

    What has a number above `last_seq` came after they were read.
    """

    def __init__(
        self, entries: Iterator[Entry], warnings: tuple[str, ...] = (), last_seq: int = 0
    ) -> None:
        super().__init__(entries)
        self.warnings = warnings
        self.last_seq = last_seq


def type_name(value: object) -> str:
    """The canonical, singular name of a type; users may add their own."""
    if isinstance(value, str):
        name = _PLURALS.get(value.lower(), value)
        if name in TYPES or _is_own_type(name):
            return name
    raise InvalidFormatError(
        f"The type {shown(value)} is not valid.",
        advice=f"Use one of {', '.join(TYPES)}, or a name of your own: a lower-case letter, then "
        "up to 31 lower-case letters, digits, '_' or '-'.",
        field="type",
    )


def _is_own_type(name: str) -> bool:
    if name in MARKS or not 1 <= len(name) <= 32 or not name.isascii():
        return False
    body = name.replace("_", "").replace("-", "")
    return name[0].isalpha() and name == name.lower() and body.isalnum()


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
