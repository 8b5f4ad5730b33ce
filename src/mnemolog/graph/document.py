"""Documents: a Markdown file becomes a node, and its front matter is kept up.

YAML from strangers is read without aliases, anchors and tags, within limits. What cannot be read is
no reason to lose a document: it is a node whose front matter is flagged.
"""

import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any, NamedTuple

import yaml

from mnemolog.errors import InvalidFormatError, SizeLimitError
from mnemolog.graph.sourcing import cited
from mnemolog.graph.versions import hash_of
from mnemolog.model.node import FILES, Node
from mnemolog.model.times import normalise, to_moment
from mnemolog.policy import front_matter

MAX_BYTES = 1024 * 1024
MAX_FRONT = 64 * 1024
MAX_DEPTH = 8
MAX_DIGITS = 100
MAX_STAMP = 512
"""What a write may add in front, sources apart."""
UNREADABLE = "unreadable-front-matter"
NOT_TEXT = "not-utf-8"

_KNOWN = ("title", "description", "path", "createdAt", "updatedAt", "parents", "refs", "version",
          "sources", "flags")  # fmt: skip
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
# A line as we write it: such front matter needs no YAML.
_PLAIN = re.compile(
    r'([A-Za-z][\w-]{0,63}): (".*"|\[[^\[\]{}]*\]|0|-?[1-9][0-9]{0,17}|true|false|null)'
)
# What YAML takes for a number, and what looks like one.
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0b[01_]+|\.?[0-9][-+.:_0-9eE]*)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_YEAR_10000 = 253_402_300_800_000
_NODES = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
# What PyYAML raises for values that look like numbers or dates and are none.
_TROUBLE = (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError)


class Raw(NamedTuple):
    """A file as it was read: its bytes, and when it was changed in epoch milliseconds."""

    content: bytes
    changed: int

    @property
    def hash(self) -> str:
        """What a write is made against."""
        return hash_of(self.content)


def fields_of(head: str) -> dict[str, Any]:
    """The fields of front matter; raises `InvalidFormatError` for what is not safe or no YAML."""
    if len(head.encode("utf-8", "replace")) > MAX_FRONT:
        raise InvalidFormatError(f"The front matter has more than {MAX_FRONT:,} bytes.")
    plain = _plain_fields(head)
    found = _loaded(head) if plain is None else plain
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidFormatError("The front matter is no mapping.")
    return {str(_simple(name)): _simple(value) for name, value in found.items()}


def _loaded(head: str) -> Any:
    try:
        for _ in _checked(yaml.parse(head, Loader=yaml.CSafeLoader)):
            pass
        return yaml.load(head, Loader=yaml.CSafeLoader)
    except InvalidFormatError:
        raise
    except _TROUBLE as error:
        raise InvalidFormatError(f"The front matter is no YAML: {str(error)[:120]}.") from error


def _plain_fields(head: str) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    for line in head.splitlines():
        match = _PLAIN.fullmatch(line)
        if match is None or match[1] in found:
            return None
        try:
            found[match[1]] = json.loads(match[2], parse_constant=_no_number)
        except ValueError:
            return None
    return found


def _no_number(name: str) -> float:
    raise ValueError(name)


def _checked(events: Iterator[Any]) -> Iterator[Any]:
    """The events of a document, as long as there is nothing in them that could grow or run."""
    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise InvalidFormatError("Front matter must not have anchors or aliases.")
        if getattr(event, "tag", None) is not None:
            raise InvalidFormatError("Front matter must not have tags.")
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
            _check_number(event.value)
        depth += isinstance(event, _NODES) - isinstance(event, _ENDS)
        if depth > MAX_DEPTH:
            raise InvalidFormatError(f"Front matter must not be deeper than {MAX_DEPTH}.")
        yield event


def _check_number(value: str) -> None:
    """Refuse a number that would take long to read, and that nobody could write out again."""
    if len(value) > MAX_DIGITS and _NUMBER.fullmatch(value):
        raise _not_held(f"a number of more than {MAX_DIGITS} digits")


def _not_held(what: str) -> InvalidFormatError:
    return InvalidFormatError(
        f"The front matter has {what}, which JSON does not take.", advice="Put it in quotes."
    )


def _simple(value: Any) -> Any:
    """A value as JSON has it: dates as text, keys as text; what JSON cannot hold is refused."""
    if isinstance(value, dict):
        return {str(_simple(name)): _simple(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_simple(one) for one in value]
    if isinstance(value, date | datetime):
        return value.isoformat()
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise _not_held(f"a number of more than {MAX_DIGITS} digits")
    if isinstance(value, float) and not isfinite(value):
        raise _not_held("a number that is infinite, or none")
    if isinstance(value, int | float | None):
        return value
    if _SURROGATE.search(text := str(value)):
        raise InvalidFormatError("The front matter has a lone surrogate, which no file can hold.")
    return text


def parse(user_id: str, address: str, raw: Raw) -> Node:
    """The node that a file is."""
    check_size(address, len(raw.content))
    flags: tuple[str, ...] = ()
    try:
        text = raw.content.decode()
    except UnicodeDecodeError:
        text, flags = raw.content.decode("utf-8", "replace"), (NOT_TEXT,)
    parts = front_matter.split(text)
    try:
        fields = fields_of(parts.head or "")
    except InvalidFormatError:
        fields, flags = {}, (*flags, UNREADABLE)
    own = _texts(fields.get("flags"))
    return Node(
        user_id=user_id,
        address=address,
        title=_line(fields.get("title")) or _title(parts.body, address),
        description=_line(fields.get("description")),
        body=parts.body,
        created_at=_moment(fields.get("createdAt")) or raw.changed,
        updated_at=_moment(fields.get("updatedAt")) or raw.changed,
        version=_version(fields),
        hash=raw.hash,
        text=text,
        parents=_texts(fields.get("parents")),
        refs=_texts(fields.get("refs")),
        sources=tuple(dict.fromkeys((*_texts(fields.get("sources")), *cited(parts.body)))),
        flags=(*flags, *(one for one in own if one not in flags)),
        extra={name: value for name, value in fields.items() if name not in _KNOWN},
    )


def check_size(address: str, size: int) -> None:
    """Refuse a document that is too long to be one."""
    if size > MAX_BYTES:
        raise SizeLimitError(
            f"The document {address!r:.120} has {size:,} bytes; {MAX_BYTES:,} are the most.",
            advice="Split it into several nodes.",
            address=address,
        )


def check_whole(node: Node) -> None:
    """Refuse a node that is not text, and one whose front matter cannot be read."""
    if {NOT_TEXT, UNREADABLE} & set(node.flags):
        raise InvalidFormatError(
            f"The node {node.address!r:.120} cannot be read as a whole.",
            advice="Correct its front matter, or save it as UTF-8.",
            address=node.address,
        )


def check_writable(text: str) -> None:
    """Refuse front matter that nobody could read again."""
    fields_of(front_matter.split(text).head or "")


def stamped(before: Node | None, text: str, node: Node, number: int, now: int) -> str:
    """The document with what every write notes: version, times, path and sources.

    `node` is what the text says by itself. A file that came without front matter stays without.
    """
    head = front_matter.split(text).head
    if UNREADABLE in node.flags or (before is not None and head is None and not node.sources):
        return text
    has = fields_of(head or "")
    fields: dict[str, Any] = {}
    if before is None or head is None:
        fields |= {"title": node.title, "description": node.description}
    path = [] if node.address in FILES else list(node.path)
    fields |= {"path": path} if has.get("path") != path else {}
    created = now if before is None else node.created_at
    fields |= {} if _moment(has.get("createdAt")) else {"createdAt": created}
    fields |= {"updatedAt": now, "version": number}
    if node.sources and _texts(has.get("sources")) != node.sources:
        fields["sources"] = list(node.sources)
    after = front_matter.with_fields(text, {k: v for k, v in fields.items() if has.get(k) != v})
    return after if _says(after, {**has, **fields}) else text


def _says(text: str, fields: dict[str, Any]) -> bool:
    """Whether a document's front matter is what it should have become."""
    try:
        return fields_of(front_matter.split(text).head or "") == fields
    except InvalidFormatError:
        return False


def version_in(text: str | None) -> int | None:
    """The version that a document names, if it does."""
    try:
        found = fields_of(front_matter.split(text or "").head or "").get("version")
    except InvalidFormatError:
        return None
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _version(fields: dict[str, Any]) -> int:
    found = fields.get("version")
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else 1


def _title(body: str, address: str) -> str:
    found = _HEADING.search(body[:4096])
    name = address.rpartition("/")[2]
    return found[1].strip() if found else name.removesuffix(".md") if address in FILES else name


def _line(value: Any) -> str:
    """A field that is one line of text; a number will do."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())


def _texts(value: Any) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(dict.fromkeys(one for one in given if isinstance(one, str) and one))


def _moment(value: Any) -> int:
    """Epoch milliseconds, from those or from a time as logs write it; 0 if it is neither."""
    if isinstance(value, bool) or value is None:
        return 0
    if isinstance(value, int):
        return value if 0 < value < _YEAR_10000 else 0
    try:
        moment = to_moment(normalise(value, "time"))
        return int(moment.astimezone(UTC).timestamp() * 1000)
    except (InvalidFormatError, ValueError, OverflowError):
        return 0
