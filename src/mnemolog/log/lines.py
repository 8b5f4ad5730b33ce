"""Lines: how an entry becomes bytes, and how bytes prove that they are still those.

    {"v":1,"id":"mem_…", … ,"seq":42,"sum":"sha256:…"}\\n
    └──────── prefix ──────┘└ under the lock ───────┘

The prefix is encoded and hashed before the lock is taken; only `seq` and the end of the hash are
added under it. `sum` is the SHA-256 of every byte of the line before `,"sum":`. The newline is the
commit mark: without it there is no line.
"""

import re
from hashlib import sha256

import msgspec

from mnemolog.log.versions import CURRENT, MALFORMED, Fields, Versions
from mnemolog.model.entry import FORMAT, MAX_SEQ, Entry
from mnemolog.model.times import is_moment

_SUM = b',"sum":"sha256:'
_SUM_END = b'"}'
_LINE_END = _SUM_END + b"\n"
_SUM_LENGTH = len(_SUM) + 64 + len(_SUM_END)
# Counted once: every line that is read is verified.
_OF_NAME = slice(-_SUM_LENGTH, -64 - len(_SUM_END))
_OF_TOTAL = slice(-64 - len(_SUM_END), -len(_SUM_END))
_START = re.compile(rb'\{"v":\d+,"id":')
_VERSION = re.compile(rb'\{"v":(\d{1,9}),')
_NUMBER = re.compile(rb',"seq":(\d{1,18})$')
_NUMBER_LENGTH = len(b',"seq":') + 18
_MAX_SALVAGE = 64
_HIDDEN = b"[REDACTED:"
_PLACEHOLDER = re.compile(rb"\[REDACTED:([a-z0-9-]{1,64})")
_TARGET = re.compile(rb'"target":("(?:[^"\\]|\\.)+")')
_STAMP = re.compile(rb'"timestamp":"([0-9TZ:.-]{24})"')
# What only lines have that hide nothing: entries, and what brings one back.
_NO_TOMBSTONE = (b'"content":', b'"type":"undelete"')
_NEVER = "9999-12-31T23:59:59.999Z"

_encode = msgspec.json.Encoder().encode


class Draft:
    """An entry, encoded and hashed up to the place where its `seq` will stand."""

    __slots__ = ("_digest", "_prefix")

    def __init__(self, entry: Entry | Fields) -> None:
        self._prefix = _encode(entry)[:-1]
        self._digest = sha256(self._prefix)

    def line(self, seq: int, blanks: int = 0) -> bytes:
        """The finished line, newline included; made longer by blanks that JSON does not mind."""
        number = b',"seq":%d%s' % (seq, b" " * blanks)
        digest = self._digest.copy()
        digest.update(number)
        total = digest.hexdigest().encode()
        return b"".join((self._prefix, number, _SUM, total, _LINE_END))


def verify(line: bytes) -> bytes | None:
    """The line's sum if its bytes are those that were written, else None."""
    if line[_OF_NAME] != _SUM or not line.endswith(_SUM_END):
        return None
    claimed = line[_OF_TOTAL]
    actual = sha256(line[:-_SUM_LENGTH]).hexdigest().encode()
    return claimed if claimed == actual else None


def numbers(line: bytes) -> tuple[int, int] | None:
    """The version and the number of a valid line, as `Draft` writes it; None if they stand
    elsewhere in it, as in lines that something else wrote, or if it is damaged."""
    version = _VERSION.match(line)
    number = _NUMBER.search(line[-_SUM_LENGTH - _NUMBER_LENGTH : -_SUM_LENGTH])
    if version is None or number is None or not verify(line):
        return None
    seq = int(number[1])
    return (int(version[1]), seq) if 0 < seq <= MAX_SEQ else None


def hidden_in(line: bytes) -> tuple[str, ...]:
    """The kinds of the secrets that were hidden in a line, one for each placeholder."""
    if _HIDDEN not in line:
        return ()
    return tuple(kind.decode() for kind in _PLACEHOLDER.findall(line))


def salvage(line: bytes) -> int:
    """Where a valid line begins inside damaged bytes; -1 if nowhere.

    When a page before it is lost, a good line ends up glued to the damage. The number of places
    tried is bounded, so that no content can make reading slow.
    """
    starts = [match.start() for match in _START.finditer(line, 1)]
    for start in reversed(starts[-_MAX_SALVAGE:]):
        if verify(line[start:]):
            return start
    return -1


def hiding(damaged: bytes) -> Entry | None:
    """The tombstone that damaged bytes can still be seen to have been: what somebody hid stays
    hidden. One that does not say since when never expires; nothing else of it counts.

    What was cut off before its end was never acknowledged, and hides nothing.
    """
    named = _TARGET.search(damaged)
    if named is None or _SUM_END not in damaged or any(one in damaged for one in _NO_TOMBSTONE):
        return None
    try:
        target = msgspec.json.decode(named[1], type=str)
    except MALFORMED:
        return None
    stamp = _STAMP.search(damaged)
    since = stamp[1].decode() if stamp and is_moment(stamp[1].decode()) else _NEVER
    return Entry(v=FORMAT, id="", timestamp=since, type="tombstone", origin="user", target=target)


def entry(line: bytes, versions: Versions = CURRENT) -> Entry | None:
    """Decode a whole entry of any version; None if the line is not one of ours."""
    return versions.entry(line)


def valid(line: bytes, versions: Versions = CURRENT) -> Entry | None:
    """The same, unless the bytes are not those that were written."""
    return versions.entry(line) if verify(line) else None


def rewritten(line: bytes, versions: Versions) -> bytes | None:
    """A valid line as today's version writes it, newline included; None if it is no entry.

    Every field stays, also one that nobody knows, and so does its number.
    """
    fields = versions.fields(line)
    if fields is None or versions.entry(line) is None:
        return None
    seq = fields.pop("seq")
    fields.pop("sum")
    return Draft(fields).line(seq)
