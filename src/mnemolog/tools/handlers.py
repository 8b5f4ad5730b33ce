"""What each tool does. Arguments come from a model: nothing about them is taken for granted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mnemolog.errors import SchemaInvalidError, shown
from mnemolog.memory import Memory
from mnemolog.memory.running import Run
from mnemolog.model.entry import Entry
from mnemolog.model.query import Hit
from mnemolog.policy.blocks import rendered
from mnemolog.tools.answers import Answer, budget_of, paged

Arguments = Mapping[str, Any]
_MOST = 100


@dataclass(frozen=True)
class Desk:
    """Where a tool call is worked on: whose memory, which session, which run."""

    memory: Memory
    run: Run
    session_id: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "session_id", self.run.session_id)


def save_memory(desk: Desk, given: Arguments) -> Answer:
    """Save or replace a note."""
    compartment = _text(given, "compartment", required=True)
    identifier = _text(given, "id") or _text(given, "key")
    receipt = desk.run.save(
        compartment,
        _text(given, "content", required=True),
        id=identifier or None,
        category=_text(given, "category") or None,
        tags=_texts(given, "tags"),
        metadata=_metadata(given),
        priority=_priority(given),
    )
    word = "Replaced" if receipt.status == "revised" else "Saved"
    hidden = f" Hidden as secrets: {', '.join(receipt.redactions)}." if receipt.redactions else ""
    return Answer(f"{word} in {compartment} as {receipt.id}.{hidden}")


def get_memory(desk: Desk, given: Arguments) -> Answer:
    """The notes that fit."""
    compartment = _text(given, "compartment", required=True)
    budget = budget_of(given.get("max_tokens"))
    found = desk.run.get(compartment, **_filters(given))
    uses = desk.run.uses(compartment)
    blocks = [_note(entry, uses[entry.id]) for entry in found]
    return paged(blocks, budget, given.get("cursor"), "No memory entries found.")


def clear_memory(desk: Desk, given: Arguments) -> Answer:
    """Remove the notes that fit."""
    compartment = _text(given, "compartment", required=True)
    count = desk.run.clear(compartment, **_filters(given))
    scope = desk.run.compartments[compartment].scope
    undo = "" if scope == "run" or not count else " The owner can undo this for a while."
    return Answer(f"Cleared {count} from {compartment}.{undo}")


def search_memory(desk: Desk, given: Arguments) -> Answer:
    """The best entries for a question, of every session that the agent may see."""
    budget = budget_of(given.get("max_tokens"))
    span = {side: _text(given, name) for side, name in (("start", "since"), ("end", "until"))}
    hits = desk.memory.query(
        desk.session_id if given.get("this_session") is True else None,
        text=_text(given, "query", required=True),
        types=_texts(given, "types") or None,
        tags=_texts(given, "tags") or None,
        time_range={side: at for side, at in span.items() if at} or None,
        limit=_limit(given),
    )
    blocks = [_hit(hit) for hit in hits]
    return paged(blocks, budget, given.get("cursor"), "Nothing fits; try other words.")


def recall_context(desk: Desk, given: Arguments) -> Answer:
    """One bounded block for a prompt."""
    budget = budget_of(given.get("max_tokens"))
    found = desk.memory.context(
        desk.session_id, _text(given, "query"), max_tokens=budget, run=desk.run
    )
    if not found.text:
        return Answer("Nothing is remembered yet.")
    more = f"\n{found.omitted} more did not fit." if found.omitted else ""
    return Answer(found.text + more)


def _note(entry: Entry, uses: int) -> str:
    """A note as a model reads it."""
    rows = {
        "ID": entry.id,
        "Content": entry.text,
        "Category": entry.category,
        "Tags": ", ".join(entry.tags),
        "Metadata": ", ".join(f"{name}={value}" for name, value in entry.metadata.items()),
        "Priority": str(round((entry.importance or 0.5) * 10)),
        "Created": entry.timestamp,
        "Updated": entry.written_at,
        "Access Count": str(uses),
    }
    return "\n".join(f"{name}: {value}" for name, value in rows.items() if value)


def _hit(hit: Hit) -> str:
    return f"{rendered(hit.entry)}\n  relevance {hit.relevance:.2f}"


def _filters(given: Arguments) -> dict[str, Any]:
    return {
        "id": _text(given, "id") or None,
        "category": _text(given, "category") or None,
        "tags": _texts(given, "tags"),
    }


def _text(given: Arguments, name: str, *, required: bool = False) -> str:
    value = given.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise SchemaInvalidError(
            f"`{name}` must be a text that is not empty, not {shown(value)}."
            if required
            else f"`{name}` must be a text, not {shown(value)}.",
            advice=f"Call again with `{name}`." if required else "",
            field=name,
        )
    return value


def _texts(given: Arguments, name: str) -> list[str]:
    value = given.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise SchemaInvalidError(f"`{name}` must be a list of texts.", field=name)
    return value


def _metadata(given: Arguments) -> dict[str, str]:
    value = given.get("metadata")
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise SchemaInvalidError(
            "`metadata` must be an object whose values are texts.", field="metadata"
        )
    return value


def _priority(given: Arguments) -> int | None:
    value = given.get("priority")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10:
        raise SchemaInvalidError(
            f"`priority` must be a whole number from 1 to 10, not {shown(value)}.",
            field="priority",
        )
    return value


def _limit(given: Arguments) -> int:
    value = given.get("limit")
    if value is None:
        return 10
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST:
        raise SchemaInvalidError(
            f"`limit` must be a whole number from 1 to {_MOST}.", field="limit"
        )
    return value
