"""The distiller that needs no model: typed entries, and a short list of explicit forms of words."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from mnemolog.distillers.rules import spoken, typed
from mnemolog.distillers.rules.facts import Fact
from mnemolog.distillers.rules.former import former_lines
from mnemolog.distillers.rules.lines import is_named
from mnemolog.distillers.rules.pages import Page
from mnemolog.model.entry import Entry
from mnemolog.model.lesson import Edit, Lesson, Proposal
from mnemolog.model.node import FILES
from mnemolog.policy.learning import DOUBTFUL
from mnemolog.ports.distiller import NodeReader


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
    for fact in facts:
        yield _Told(fact.address, fact)
        elsewhere = [*_replaced(fact, facts, nodes), *_handed_over(fact, facts, nodes)]
        for address in dict.fromkeys(elsewhere):
            if address != fact.address:
                yield _Told(address, fact)


def _replaced(fact: Fact, facts: list[Fact], nodes: NodeReader) -> Iterator[str]:
    """Where the entries are cited that a fact says it takes the place of."""
    for given in fact.replaces:
        yield from nodes.citing(given)
        yield from (one.address for one in facts if is_named(given, one.source.name))


def _handed_over(fact: Fact, facts: list[Fact], nodes: NodeReader) -> Iterator[str]:
    """Whose page says that they are, or do, what somebody else is, or does, from now on."""
    if not (fact.is_one_persons and fact.key):
        return
    yield from (one.address for one in facts if one.key == fact.key)
    for leaf in nodes.tree():
        node = nodes.read(leaf.address) if leaf.address.startswith("people/") else None
        if node and any(line.key == fact.key for line in Page.parse(node.body).lines()):
            yield leaf.address


def learned(lesson: Lesson) -> Iterator[Fact]:
    """Every fact that the entries of a lesson state, in their order."""
    said: list[Fact] = []
    asked = ""
    for entry, following in _with_what_follows(lesson.entries):
        source = lesson.source(entry)
        yield from typed.facts(entry, source)
        if not spoken.is_said_by_user(entry):
            yield from spoken.facts(entry, source)
            asked = entry.text if entry.role == "assistant" else asked
        elif not spoken.takes_back(following):
            said = list(spoken.facts(entry, source, said, asked))
            yield from said
            asked = ""


def _with_what_follows(entries: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """Each entry, and what the user says next."""
    following, found = "", []
    for entry in reversed(entries):
        found.append((entry, following))
        following = entry.text if spoken.is_said_by_user(entry) else following
    yield from reversed(found)


def _edits(address: str, told: list[_Told], nodes: NodeReader) -> Iterator[Edit]:
    """One edit, and for a file that is told to every model a second one with what is doubtful."""
    is_guarded = address in FILES
    doubtful = [one for one in told if is_guarded and one.fact.source.origin in DOUBTFUL]
    sure = [one for one in told if one not in doubtful]
    node = nodes.read(address)
    body = node.body if node else ""
    page = Page.parse(body, former_lines(nodes, address, node))
    for part in (sure, doubtful):
        used = [one.fact for one in part if one.change(page)]
        if body != (body := page.render()):
            yield Edit(
                address=address,
                body=body,
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
    if not silent:
        return ()
    return (f"{silent} of {len(lesson.entries)} entries state nothing by the rules",)
