"""What each tool does."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from mnemolog.errors import (
    InvalidFormatError,
    InvalidQueryError,
    MnemologError,
    SchemaInvalidError,
    shown,
)
from mnemolog.memory import Memory
from mnemolog.memory.running import Run
from mnemolog.model.entry import Entry
from mnemolog.model.query import KINDS, Hit, Hits
from mnemolog.model.times import normalise
from mnemolog.policy.blocks import priority, quoted, rendered, word
from mnemolog.policy.repeating import is_spoken
from mnemolog.tools.answers import Answer, paged
from mnemolog.tools.arguments import (
    LONGEST_QUERY,
    MOST_HITS,
    Arguments,
    budget,
    filled,
    flag,
    metadata,
    note_id,
    text,
    texts,
    whole,
)

_USUAL_HITS = 10
# Room for the line that says how many did not fit.
_REST_TOKENS = 20
_FORMS = "Give a time such as 2026-11-15 or 2026-11-15T09:00:00Z, or `last 3 days`."
_SPAN = {"start": "since", "end": "until"}
_NOTHING_FITS = "Nothing fits; try other words."
_ECHO = " Memory told you this before, so nothing is learned from it again."


@dataclass(frozen=True)
class Desk:
    """Where a tool call is worked on: whose memory, and which run."""

    memory: Memory
    run: Run
    read: dict[str, str] = field(default_factory=dict)
    """The hash of each node as this run read it last: what a write is made against."""

    @property
    def session_id(self) -> str:
        """The session that the run is on."""
        return self.run.session_id

    @property
    def user_id(self) -> str | None:
        """The user of that session, if it has one."""
        return self.memory.load_session(self.session_id).user_id


def save_memory(desk: Desk, given: Arguments) -> Answer:
    """Save or replace a note."""
    compartment = text(given, "compartment", required=True)
    content, identifier = text(given, "content", required=True), note_id(given)
    is_there = any(one.id == identifier for one in desk.run.notes(compartment))
    # A note that is revised stays its own.
    is_echo = not is_there and desk.run.handed.knows(content)
    receipt = desk.run.save(
        compartment,
        content,
        id=identifier,
        category=text(given, "category") or None,
        tags=texts(given, "tags"),
        metadata=metadata(given),
        priority=whole(given, "priority", 10),
        origin="recall" if is_echo else None,
    )
    if not desk.run.handed.doubts(content):
        desk.run.handed.clear(content)  # its own words, also when it is told them later
    done = "Replaced" if is_there else "Saved"
    used, limit = desk.run.room(compartment)
    hidden = f" Hidden as secrets: {', '.join(receipt.redactions)}." if receipt.redactions else ""
    return Answer(
        f"{done} in {compartment} as {word(receipt.id)}; {used:,} of {limit:,} characters are"
        f" used.{hidden}{_ECHO if is_echo else ''}"
    )


def get_memory(desk: Desk, given: Arguments) -> Answer:
    """The notes that fit."""
    compartment = text(given, "compartment", required=True)
    most = budget(given)
    is_use = not given.get("cursor")  # the first page has counted them all
    found = desk.run.get(compartment, **_filters(given), is_use=is_use)
    uses = desk.run.uses(compartment) if found else {}
    # By the last change, not the first: what is changed between two pages is shown once more.
    notes = sorted(found, key=attrgetter("seq"))
    blocks = [_note(entry, uses.get(entry.id, 0)) for entry in notes]
    marks = [entry.seq for entry in notes]
    if found.warnings:
        blocks.insert(0, f"{len(found.warnings)} damaged lines were skipped; the rest is whole.")
        marks.insert(0, 0)
    answer = paged(blocks, most, given.get("cursor"), "No memory entries found.", marks)
    own = (one.text for one in found if one.scope == "run")
    return handed(desk, answer, found, own)


def clear_memory(desk: Desk, given: Arguments) -> Answer:
    """Remove the notes that fit."""
    compartment = text(given, "compartment", required=True)
    filled(given, "id", "key", "category", "tags")
    done = desk.run.clear(compartment, **_filters(given))
    told = [f"Cleared {done.removed} from {compartment}."]
    if done.kept:
        told.append(f"{done.kept} more are another agent's and stay.")
    if done.removed and desk.run.compartments[compartment].scope == "session":
        told.append("The owner can undo this for a while.")
    return Answer(" ".join(told))


def search_memory(desk: Desk, given: Arguments) -> Answer:
    """The best entries for a question, of every session of the user that the agent may see."""
    most = budget(given)
    limit = whole(given, "limit", MOST_HITS) or _USUAL_HITS
    hits = _hits(desk, given, limit)
    blocks = [_hit(hit) for hit in hits]
    more = ""
    if len(hits) == limit:
        larger = "" if limit == MOST_HITS else f"a larger `limit` (up to {MOST_HITS}) or "
        more = f"There may be more: search again with {larger}narrower words."
    found = paged(blocks, most, given.get("cursor"), _NOTHING_FITS, more=more)
    return handed(desk, found, [hit.entry for hit in hits])


def _hits(desk: Desk, given: Arguments, limit: int) -> Hits:
    user = desk.user_id
    memory = desk.memory.for_user(user) if user else desk.memory
    span = {side: text(given, name).strip() for side, name in _SPAN.items()}
    _check_order(**span)
    try:
        return memory.query(
            desk.session_id if flag(given, "this_session") else None,
            text=text(given, "query", required=True, longest=LONGEST_QUERY),
            types=texts(given, "types") or None,
            tags=texts(given, "tags") or None,
            time_range={side: at for side, at in span.items() if at} or None,
            limit=limit,
            kinds=KINDS,
        )
    except InvalidQueryError as error:
        raise _in_our_words(error, given) from error


def _check_order(start: str, end: str) -> None:
    """Refuse a span that ends before it begins; a phrase such as `last week` is left alone."""
    with suppress(InvalidFormatError):
        if normalise(start) > normalise(end):
            wrong = "`since` lies after `until`, so that nothing can fit."
            advice = "Exchange them, or leave one out."
            raise SchemaInvalidError(wrong, advice=advice, field="since")


def _in_our_words(error: InvalidQueryError, given: Arguments) -> MnemologError:
    """What is wrong with a span of time, by the names that its ends have in the tool."""
    name = _SPAN.get(str(error.details.get("field")).removeprefix("time_range."))
    if name is None:
        return error
    wrong = f"`{name}` is no time: {shown(given[name])}."
    return SchemaInvalidError(wrong, advice=_FORMS, field=name)


def handed(
    desk: Desk, answer: Answer, entries: Iterable[Entry] = (), own: Iterable[str] = ()
) -> Answer:
    """An answer of which the run knows from now on that it came from memory."""
    spoken = (one.text for one in entries if is_spoken(one))
    desk.run.handed.hear(answer.text, own, spoken)
    return answer


def recall_context(desk: Desk, given: Arguments) -> Answer:
    """One bounded block for a prompt."""
    most = budget(given) - _REST_TOKENS
    query = text(given, "query", longest=LONGEST_QUERY)
    found = desk.memory.context(desk.session_id, query, max_tokens=most, run=desk.run)
    if not found.text and not found.omitted:
        return Answer(_NOTHING_FITS if query else "Nothing is remembered yet.")
    more = ""
    if found.omitted:
        more = f"{found.omitted} more did not fit: raise `max_tokens`, or call search_memory."
    return Answer("\n".join(filter(None, (found.text, more))))


def _note(entry: Entry, uses: int) -> str:
    """A note as a model reads it: every value stands on one line, and what was said is quoted."""
    pairs = (f"{word(name)}={word(value)}" for name, value in entry.metadata.items())
    rows = {
        "Category": word(entry.category) if entry.category else "",
        "Tags": ", ".join(map(word, entry.tags)),
        "Metadata": ", ".join(pairs),
        "Priority": str(priority(entry)),
        "By": word(entry.agent_id) if entry.agent_id else "",
        "Created": entry.timestamp,
        "Updated": entry.written_at,
        "Access Count": str(uses),
    }
    told = (f"{name}: {value}" for name, value in rows.items() if value)
    return "\n".join([f"ID: {word(entry.id)}", "Content:", *quoted(entry.text), *told])


def _hit(hit: Hit) -> str:
    return f"{rendered(hit.entry)}\n  relevance {hit.relevance:.2f}"


def _filters(given: Arguments) -> dict[str, Any]:
    return {
        "id": note_id(given),
        "category": text(given, "category").strip() or None,
        "tags": texts(given, "tags"),
    }
