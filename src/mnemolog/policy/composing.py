"""Composing: what a write makes of a node's text, and what it refuses."""

from collections.abc import Iterable
from typing import Any

from mnemolog.errors import (
    InvalidFormatError,
    NodeConflictError,
    NodeNotFoundError,
    SchemaInvalidError,
    shown,
)
from mnemolog.model import plain
from mnemolog.model.node import Node, NodeVersion
from mnemolog.policy import front_matter


def text_of(value: object, name: str, *, may_be_empty: bool = False) -> str:
    """A text that a file can hold."""
    if not isinstance(value, str) or not (value or may_be_empty):
        raise SchemaInvalidError(f"`{name}` must be a text that is not empty.", field=name)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidFormatError(
            f"`{name}` has a lone surrogate, which no file can hold.", field=name
        ) from None
    return value


def fields_of(
    title: str | None, description: str | None, parents: Iterable[str] | None
) -> dict[str, Any]:
    """The fields of front matter that were given."""
    given = {"title": title, "description": description}
    fields: dict[str, Any] = {
        name: " ".join(text_of(value, name, may_be_empty=True).split())
        for name, value in given.items()
        if value is not None
    }
    if parents is not None:
        fields["parents"] = plain.several(parents, "parents")
    return fields


def composed(node: Node | None, said: str, fields: dict[str, Any]) -> str:
    """A whole document: one that was given, or the one that is there with another body."""
    is_whole = front_matter.split(said).head is not None
    whole = said if is_whole or node is None else front_matter.with_body(node.text, said)
    return front_matter.with_fields(whole, fields)


def appended(node: Node | None, said: str) -> str:
    """A whole document with lines at its end; if there is none, they begin it."""
    if node is None:
        return said
    end = "" if not node.body or node.text.endswith("\n") else "\n"
    return f"{node.text}{end}{said}" + ("" if said.endswith("\n") else "\n")


def patched(body: str, old: str, new: str) -> str:
    """A body in which a piece that stands there exactly once is another."""
    count = body.count(old)
    if count != 1:
        raise SchemaInvalidError(
            f"The text to replace stands there {count} times, not once.",
            advice="Give a longer piece of it." if count else "Read the node again.",
            field="old",
        )
    return body.replace(old, new)


def expect(node: Node | None, address: str, expected: str | None, yours: str | None = None) -> None:
    """Refuse a write of a text that was made against another; None was made against any."""
    digest = node.hash if node else ""
    if expected is not None and digest != expected:
        raise conflict(address, expected, digest, node.text if node else None, yours)


def conflict(
    address: str, expected: str, digest: str, theirs: str | None, yours: str | None = None
) -> NodeConflictError:
    """The error for a write that was made against another text than the one that is there."""
    return NodeConflictError(
        f"The node {address!r:.120} is not what this write was made against.",
        address=address,
        expected=expected,
        hash=digest,
        theirs=theirs,
        yours=yours,
    )


def missing(address: str) -> NodeNotFoundError:
    """The error for a node that is not there, or not for the caller: they look alike."""
    return NodeNotFoundError(
        f"There is no node {address!r:.120}.",
        advice="`mnemolog node tree` shows what there is.",
        address=address,
    )


def numbered(known: list[NodeVersion], number: int, address: str) -> NodeVersion:
    """One of the versions."""
    found = next((one for one in known if one.number == number), None)
    if found is None:
        raise NodeNotFoundError(
            f"The node {address!r:.120} has no version {shown(number, 20)}.",
            advice="`mnemolog node versions` lists them.",
            address=address,
        )
    return found
