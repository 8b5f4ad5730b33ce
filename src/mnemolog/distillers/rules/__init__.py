"""The distiller that needs no model: typed entries, and a short list of explicit forms of words."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter

from mnemolog.distillers.rules import spoken, typed
from mnemolog.distillers.rules.facts import Fact
from mnemolog.distillers.rules.pages import Page
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
        facts.sort(key=attrgetter("address"))
        edits: list[Edit] = []
        for address, group in groupby(facts, attrgetter("address")):
            edits += _edits(address, list(group), nodes)
        return Proposal(edits=tuple(edits), remarks=_remarks(lesson, facts))


def learned(lesson: Lesson) -> Iterator[Fact]:
    """Every fact that the entries of a lesson state, in their order."""
    for entry in lesson.entries:
        source = Source(entry.session_id or lesson.session_id, entry.id, entry.seq, entry.origin)
        yield from typed.facts(entry, source)
        yield from spoken.facts(entry, source)


def _edits(address: str, facts: list[Fact], nodes: NodeReader) -> Iterator[Edit]:
    """One edit, and for a file that is told to every model a second one with what is doubtful."""
    is_guarded = address in FILES
    sure = [fact for fact in facts if not (is_guarded and fact.source.origin in _DOUBTFUL)]
    doubtful = [fact for fact in facts if fact not in sure]
    node = nodes.read(address)
    page = Page.parse(node.body if node else "")
    for part in (sure, doubtful):
        used = [fact for fact in part if page.take(fact)]
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
