"""From what the library answers to what the API tells."""

import base64
import re

import msgspec

from mnemolog.faces.http.search_shapes import HitRow, NodeRow, Why, WhyPart
from mnemolog.faces.http.shapes import EntryRow, Knowledge, Provenance, Raw, ReceiptRow, SessionRow
from mnemolog.model.entry import Entry, Receipt
from mnemolog.model.inspecting import Numbered, RawLine, Told
from mnemolog.model.node import NodeHit
from mnemolog.model.query import Hit
from mnemolog.model.session import Session
from mnemolog.model.telling import summary_told

_MATCH = ("lexical", "semantic", "neighbours", "session", "speaker", "lasting")
_WORD = re.compile(r"\w+", re.UNICODE)
_MOST_MARKS = 50
_SHOWN = 4000


def session_row(
    session: Session, numbers: Numbered, quarantined: int, markers: dict[str, object]
) -> SessionRow:
    """A session in the list."""
    summary = numbers.summary
    invalidated, processed = _seq(markers, "invalidated"), _seq(markers, "processed_until")
    return SessionRow(
        id=session.id,
        user_id=session.user_id,
        agent_ids=session.agent_ids,
        state=session.state,
        created_at=session.created_at,
        last_entry_at=session.updated_at,
        mtime=session.updated_at,
        entries=sum(summary.counts.values()),
        by_type=summary.counts,
        size_bytes=summary.size_bytes,
        limit_bytes=numbers.limit_bytes,
        hidden=numbers.hidden,
        quarantined=quarantined,
        knowledge=Knowledge(pending=invalidated > processed, processed_until=processed),
        metadata=session.metadata,
    )


def _seq(markers: dict[str, object], name: str) -> int:
    found = markers.get(name)
    number = found.get("seq") if isinstance(found, dict) else found
    return number if isinstance(number, int) else 0


def entry_row(told: Told) -> EntryRow:
    """An entry with what is known about it."""
    entry = told.entry
    return EntryRow(
        entry=entry,
        place=told.place,
        importance=told.importance,
        decay=told.decay,
        accesses=told.accesses,
        last_access=told.last_access,
        provenance=Provenance(writer=entry.agent_id or entry.role, channel=entry.origin),
        redactions=told.redactions,
        flags=_flags(told),
        revisions=told.revisions,
        hidden_at=told.hidden_at,
        hidden_until=told.hidden_until,
    )


def _flags(told: Told) -> list[str]:
    is_set = {
        "hidden": told.hidden_at is not None,
        "revised": told.revisions > 1,
        "redacted": bool(told.redactions),
        "recalled": told.entry.origin == "recall",
        "tool": told.entry.origin == "tool",
        "imported": told.entry.origin == "import",
        "future": told.entry.is_future,
    }
    return [name for name, is_there in is_set.items() if is_there]


def raw_row(found: RawLine) -> Raw:
    """An exact line as text."""
    try:
        text, encoding = found.line.decode(), "utf-8"
    except UnicodeDecodeError:
        text, encoding = base64.b64encode(found.line).decode(), "base64"
    return Raw(
        line=text,
        encoding=encoding,
        segment=found.segment,
        offset=found.offset,
        bytes=len(found.line),
        sum_ok=found.sum_ok,
    )


def receipt_row(receipt: Receipt) -> ReceiptRow:
    """What became of a write."""
    return msgspec.convert(msgspec.structs.asdict(receipt), ReceiptRow)


def entry_hit(hit: Hit, text: str, scorer: str) -> HitRow:
    """An entry that was found."""
    shown = summary_told(hit.entry.content)[:_SHOWN]
    return HitRow(
        kind="entry",
        entry=hit.entry,
        node=None,
        text=shown,
        relevance=hit.relevance,
        highlights=highlights(shown, text),
        why=why(hit.why, hit.relevance, scorer),
    )


def node_hit(found: NodeHit, text: str, scorer: str) -> HitRow:
    """A node that was found."""
    node, relevance = found.node, found.relevance
    shown = node.body[:_SHOWN]
    return HitRow(
        kind="node",
        entry=None,
        node=NodeRow(
            user=node.user_id,
            path=node.address,
            title=node.title,
            description=node.description,
            updated_at=node.updated_at,
        ),
        text=shown,
        relevance=relevance,
        highlights=highlights(shown, text),
        why=why(found.why, relevance, scorer),
    )


def highlights(shown: str, asked: str) -> list[tuple[int, int]]:
    """Where words of the question stand in a text; a word counts by how it begins."""
    starts = {word.casefold()[:4] for word in _WORD.findall(asked[:1000]) if len(word) > 2}
    found = [
        (match.start(), match.end())
        for match in _WORD.finditer(shown)
        if len(match[0]) > 2 and match[0].casefold()[:4] in starts
    ]
    return found[:_MOST_MARKS]


def why(parts: dict[str, float], relevance: float, scorer: str) -> Why:
    """What a relevance is made of, in parts that give it when they are put together again."""
    known = {name: float(value) for name, value in parts.items()}
    if scorer == "product":
        return Why(scorer=scorer, mode="product", parts=_factors(known, relevance))
    if scorer == "weighted":
        weights = {"match": 0.4, "decay": 0.3, "importance": 0.2, "access": 0.1}
        found = [_part(name, known.get(name, 0.0), weight) for name, weight in weights.items()]
        return Why(scorer=scorer, mode="sum", parts=_scaled(found, relevance))
    return Why(scorer=scorer, mode="sum", parts=_recalled(known, relevance))


def _recalled(known: dict[str, float], relevance: float) -> list[WhyPart]:
    """Nine tenths of the match, by what it came from; the rest is age, weight and use."""
    match = known.get("match", known.get("final", relevance))
    evidence = {name: known.get(name, 0.0) for name in _MATCH}
    total = sum(evidence.values())
    if total <= 0:
        evidence, total = {"match": match}, match
    share = 0.9 * match / total if total > 0 else 0.0
    found = [_part(name, raw, share) for name, raw in evidence.items() if raw > 0]
    rest = max(0.0, relevance - sum(one.contribution for one in found))
    prior = sum(known.get(name, 0.0) for name in ("decay", "importance", "access")) / 3
    found.append(WhyPart(name="prior", raw=prior, weight=0.1 * match, contribution=rest))
    return _scaled(found, relevance)


def _part(name: str, raw: float, weight: float) -> WhyPart:
    return WhyPart(name=name, raw=raw, weight=weight, contribution=raw * weight)


def _scaled(parts: list[WhyPart], relevance: float) -> list[WhyPart]:
    """Rounded, so that they sum up to what is shown as the relevance."""
    total = sum(one.contribution for one in parts)
    by = relevance / total if total > relevance and total > 0 else 1.0
    for one in parts:
        one.contribution = round(one.contribution * by, 6)
    return parts


def _factors(known: dict[str, float], relevance: float) -> list[WhyPart]:
    names = ("importance", "decay", "match")
    made = 1.0
    found = []
    for name in names:
        value = known.get(name, 1.0)
        made *= value
        found.append(WhyPart(name=name, raw=value, weight=1.0, contribution=round(value, 6)))
    recency = relevance / made if made > 0 else 1.0
    found.append(WhyPart(name="recency", raw=recency, weight=1.0, contribution=round(recency, 6)))
    return found


def excerpt(entry: Entry) -> str:
    """The beginning of what an entry says."""
    return summary_told(entry.content)[:200]
