"""The distiller that needs no model: typed entries, and a short list of explicit forms of words."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from mnemolog.distillers.rules import spoken, typed
from mnemolog.distillers.rules.facts import Fact
from mnemolog.distillers.rules.pages import Page, is_named
from mnemolog.model.lesson import Edit, Lesson, Proposal, Source
from mnemolog.model.node import FILES
from mnemolog.ports.distiller import NodeReader

# What a person has to agree to if it comes from such an entry.
_DOUBTFUL = ("tool", "recall")


class Rules:
    """Learns by rules that are written down in docs/knowledge.md."""

    name = "rules"

    def distil(self, lesson: Lesson, nodes: NodeReader) -> Proposal:
        """Edits for every node that something new is known about."""
        facts = list(learned(lesson))
        told = sorted(_told(facts, nodes), key=attrgetter("address"))
        edits: list[Edit] = []
        for address, group in groupby(told, attrgetter("address")):
            edits += _edits(address, list(group), nodes)
        return Proposal(edits=tuple(edits), remarks=_remarks(lesson, facts))


class _Told(NamedTuple):
    """A fact and a page that it changes: its own, or one where it ends another fact."""

    address: str
    fact: Fact

    def change(self, page: Page) -> bool:
        is_home = self.address == self.fact.address
        return page.take(self.fact) if is_home else page.end(self.fact)


def _told(facts: list[Fact], nodes: NodeReader) -> Iterator[_Told]:
    homes = {fact.source.name: fact.address for fact in facts}
    for fact in facts:
        yield _Told(fact.address, fact)
        for given in fact.replaces:
            here = [address for name, address in homes.items() if is_named(given, name)]
            for address in dict.fromkeys([*nodes.citing(given), *here]):
                if address != fact.address:
                    yield _Told(address, fact)


def learned(lesson: Lesson) -> Iterator[Fact]:
    """Every fact that the entries of a lesson state, in their order."""
    for entry in lesson.entries:
        source = Source(entry.session_id or lesson.session_id, entry.id, entry.seq, entry.origin)
        yield from typed.facts(entry, source)
        yield from spoken.facts(entry, source)


def _edits(address: str, told: list[_Told], nodes: NodeReader) -> Iterator[Edit]:
    """One edit, and for a file that is told to every model a second one with what is doubtful."""
    is_guarded = address in FILES
    doubtful = [one for one in told if is_guarded and one.fact.source.origin in _DOUBTFUL]
    sure = [one for one in told if one not in doubtful]
    node = nodes.read(address)
    page = Page.parse(node.body if node else "")
    for part in (sure, doubtful):
        used = [one.fact for one in part if one.change(page)]
        if used:
            yield Edit(
                address=address,
                body=page.render(),
                title=None if node else used[0].title,
                description=None if node else used[0].description,
                expected=node.hash if node else "",
                reason=_reason(used),
                sources=tuple(dict.fromkeys(fact.source for fact in used)),
            )


def _reason(facts: Iterable[Fact]) -> str:
    kinds = [fact.kind for fact in facts]
    counted = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    return ", ".join(f"{count} {kind}" for kind, count in counted.items())


def _remarks(lesson: Lesson, facts: list[Fact]) -> tuple[str, ...]:
    silent = len(lesson.entries) - len({fact.source for fact in facts})
    return (f"{silent} of {len(lesson.entries)} entries state nothing by the rules",)
