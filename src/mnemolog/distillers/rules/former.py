"""What was learned before: by it one knows that a person has changed or removed a line."""

from collections.abc import Callable

from mnemolog.distillers.rules.facts import Fact
from mnemolog.distillers.rules.lines import Line, is_own, line_of
from mnemolog.distillers.rules.pieces import cut
from mnemolog.model.node import Node, NodeVersion
from mnemolog.policy import front_matter
from mnemolog.ports.distiller import NodeReader

Former = Callable[[Fact], Line | None]
"""The line as it was last written of what a fact is about; None if none was."""


def nothing(fact: Fact) -> None:
    """Nothing was learned before."""


def former_lines(nodes: NodeReader, address: str, node: Node | None) -> Former:
    """Look through the versions of a node, though only if it rests on the fact's entry, or was
    removed: they are many."""

    def former(fact: Fact) -> Line | None:
        if node is not None and fact.source.name not in node.sources:
            return None
        return _last_written(nodes.versions(address), fact)

    return former


def _last_written(versions: list[NodeVersion], fact: Fact) -> Line | None:
    """Of all that stands in a version, a plan wrote what did not stand in the one before."""
    last: Line | None = None
    before: list[str] = []
    for version in versions:
        rows = _rows(version, fact.source.name)
        if version.plan:
            fresh = [line_of(row) for row in rows if row not in before]
            own = [one for one in fresh if one is not None and is_own(one, fact)]
            last = next((one for one in own if not one.is_over), own[-1] if own else last)
        before = rows
    return last


def _rows(version: NodeVersion, source: str) -> list[str]:
    if version.text is None or source not in version.text:
        return []
    pieces = cut(front_matter.split(version.text).body).pieces
    return [one.rstrip() for one in pieces if source in one]
