"""Events as lines: any JSON object, one a line, with a timestamp."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from mnemolog.errors import InvalidFormatError, SchemaInvalidError
from mnemolog.fs import File
from mnemolog.log.tail import backwards
from mnemolog.model.entry import Damage
from mnemolog.model.plain import plain
from mnemolog.model.times import normalise, to_text
from mnemolog.policy.drafting import Redact

Event = dict[str, Any]
T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Event).decode


class Found(list[T]):
    """A list that also says, in `warnings`, what had to be left out of it."""

    def __init__(self, items: Iterable[T], warnings: Iterable[str] = ()) -> None:
        super().__init__(items)
        self.warnings = tuple(warnings)


class Draft:
    """An event, checked and encoded up to where its timestamp will stand."""

    def __init__(self, event: Mapping[str, Any], redact: Redact) -> None:
        if not isinstance(event, Mapping):
            raise SchemaInvalidError(
                f"An event must be an object, not {type(event).__name__}.",
                advice="Give a dictionary.",
            )
        notes: list[str] = []
        checked: Event = plain(event, "event", notes)
        fields, hidden = redact(checked)
        self.redactions = tuple(hidden)
        if fields.get("timestamp", "") is None:
            del fields["timestamp"]
        self.timestamp = fields.get("timestamp")
        self.warnings = tuple(dict.fromkeys(notes))
        self._encoded = _encode(fields)

    def line(self, now: datetime) -> bytes:
        """The finished line; `now` is that of the lock's holder, so times follow the lines."""
        if self.timestamp is not None:
            return self._encoded + b"\n"
        self.timestamp = to_text(now)
        comma = b"," if len(self._encoded) > len(b"{}") else b""
        stamp = b'"timestamp":' + _encode(self.timestamp)
        return b"".join((self._encoded[:-1], comma, stamp, b"}\n"))


def read(file: File, name: str, limit: int | None) -> Found[Event]:
    """The last events of a file, in order, and what of it could not be read."""
    size = file.size()
    events: list[Event] = []
    damage: list[Damage] = []
    for offset, line in backwards(file, 0, size) if limit != 0 else ():
        is_whole = offset + len(line) < size
        event = _parsed(line) if is_whole else None
        if event is not None:
            events.append(event)
        else:
            why = "not a JSON object" if is_whole else "torn off, or still being written"
            damage.append(Damage(segment=name, offset=offset, length=len(line), why=why))
        if len(events) == limit:
            break
    return Found(reversed(events), map(str, reversed(damage)))


def time_of(event: Event) -> str | None:
    """When an event happened, if it tells that in a way that can be understood."""
    try:
        return normalise(event.get("timestamp"))
    except InvalidFormatError:
        return None


def _parsed(line: bytes) -> Event | None:
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
