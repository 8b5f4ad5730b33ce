"""Linking: who links to whom in a user's graph, as the catalogue knows it."""

from collections.abc import Callable

from mnemolog.errors import KnowledgeError
from mnemolog.graph.bloom import may_say
from mnemolog.graph.catalogue import Card, Catalogue
from mnemolog.graph.links import Resolver, mentions
from mnemolog.graph.links import is_circle as is_above_itself
from mnemolog.model.node import Backlink, Links, Node, NodeEdge, NodeLink

BodyOf = Callable[[str], str]
"""Reads the body of a node that is too long to be kept at hand."""


def _resolver(cards: dict[str, Card]) -> Resolver:
    return Resolver({address: card.leaf.title for address, card in cards.items()})


def links_of(known: Resolver, card: Card) -> list[NodeLink]:
    """What a node links to, by wiki links and by `refs`."""
    found = [
        NodeLink(known.resolve(one.target) or one.target, one.context, _is_there(known, one.target))
        for one in card.said
    ]
    said = {link.target for link in found}
    beside = (one for one in card.refs if one not in said)
    return [*found, *(NodeLink(known.resolve(one) or one, "", _is_there(known, one))
                      for one in beside)]  # fmt: skip


def _is_there(known: Resolver, target: str) -> bool:
    return known.resolve(target) is not None


def links(catalogue: Catalogue, node: Node, body_of: BodyOf) -> Links:
    """What a node links to, what links to it, and who says its title without a link."""
    cards = catalogue.cards()
    known = _resolver(cards)
    back = tuple(
        Backlink(address, card.leaf.title, link.context)
        for address, card in cards.items()
        for link in (links_of(known, card) if address != node.address else ())
        if link.exists and link.target == node.address
    )
    linked = {node.address, *(one.address for one in back)}
    unlinked = tuple(
        Backlink(address, card.leaf.title, line)
        for address, card in cards.items()
        if address not in linked
        for line in mentions(_body(card, node.title, body_of), node.title)
    )
    own = cards.get(node.address)
    return Links(tuple(links_of(known, own)) if own else (), back, unlinked)


def _body(card: Card, title: str, body_of: BodyOf) -> str:
    """What a node says; of a long one nothing, unless it may say the title."""
    if card.body is not None:
        return card.body
    return body_of(card.leaf.address) if card.bloom and may_say(card.bloom, title) else ""


def edges(catalogue: Catalogue) -> list[NodeEdge]:
    """Every link between two nodes, once each."""
    cards = catalogue.cards()
    known = _resolver(cards)
    found: dict[NodeEdge, None] = {}
    for address, card in cards.items():
        for link in links_of(known, card):
            if link.exists and link.target != address:
                found[NodeEdge(address, link.target, "link")] = None
        for parent in card.parents:
            if (above := known.resolve(parent)) is not None:
                found[NodeEdge(address, above, "parent")] = None
    return list(found)


def above(cards: dict[str, Card]) -> dict[str, tuple[str, ...]]:
    """The parents of every node, by address."""
    known = _resolver(cards)
    return {
        address: tuple(known.resolve(one) or one for one in card.parents)
        for address, card in cards.items()
    }


def check_parents(catalogue: Catalogue, node: Node, instead_of: str = "") -> None:
    """Refuse a node that would be above itself, by its parents or by being what `instead_of` was
    to others."""
    if not node.parents:
        return
    cards = catalogue.cards()
    before = _resolver(cards)
    left = {one: card.leaf.title for one, card in cards.items() if one != instead_of}
    known = Resolver({**left, node.address: node.title})

    def meant(parent: str) -> str:
        is_moved = instead_of and before.resolve(parent) == instead_of
        return node.address if is_moved else known.resolve(parent) or parent

    others = {address: tuple(map(meant, cards[address].parents)) for address in left}
    if is_above_itself(node.address, map(meant, node.parents), others):
        raise KnowledgeError(
            f"The parents of {node.address!r:.120} would form a circle.",
            advice="A node must not be above itself; choose other parents.",
            address=node.address,
        )
