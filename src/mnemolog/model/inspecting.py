"""What looking closely at a session tells."""

from typing import NamedTuple

import msgspec

from mnemolog.model.entry import Entry
from mnemolog.model.session import Summary


class RawLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line exactly as its file holds it."""

    line: bytes
    segment: str
    offset: int
    sum_ok: bool


class Bucket(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a log: from which entry to which, when it began, and what it holds.

    `days` says of each day that begins in it when its first entry was said, and its place.
    """

    from_seq: int
    to_seq: int
    at: str
    by_type: dict[str, int]
    days: dict[str, int]


class FileFact(msgspec.Struct, frozen=True, kw_only=True):
    """One file: its name below the root, its length, mode and last change."""

    name: str
    bytes: int
    mode: str
    modified: str


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """An entry with what is known about it beside its line."""

    entry: Entry
    place: int
    """Where it stands in the order of its log."""
    importance: float
    decay: float
    revisions: int = 1
    accesses: int = 0
    last_access: str | None = None
    hidden_at: str | None = None
    hidden_until: str | None = None
    redactions: tuple[str, ...] = ()


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a session in order, and whether there is more on either side."""

    entries: tuple[Told, ...]
    total: int
    """How many entries the whole session has that fit the filters without looking inside."""
    more_before: bool
    more_after: bool
    warnings: tuple[str, ...] = ()


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One line about an entry: a revision of it, or a mark that it was hidden or brought back."""

    entry: Entry
    kind: str
    at: str


class Meant(msgspec.Struct, frozen=True, kw_only=True):
    """What criteria mean at this moment, before anything is done about it."""

    ids: tuple[str, ...]
    by_type: dict[str, int]
    bytes: int
    mark: str
    """Changes when something else would be meant."""


class DecayCurve(msgspec.Struct, frozen=True, kw_only=True):
    """How much of one type is left after so many hours."""

    type: str
    half_life_hours: float | None
    floor: float
    points: tuple[tuple[float, float], ...]


class PurgeRuns(msgspec.Struct, frozen=True, kw_only=True):
    """When retention was last applied, and when it is due next."""

    last: str | None
    next: str | None


class Numbered(NamedTuple):
    """Sessions in numbers, counted without reading a line."""

    summary: Summary
    hidden: int
    sessions: int
    since: str | None
    """When the first of them began."""
    limit_bytes: int = 0
    """How large a session may grow, where one was asked for."""
