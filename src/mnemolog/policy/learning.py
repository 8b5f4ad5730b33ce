"""When a session is due to be learned from, what of it, and what has to wait for a person.

The markers of a session only grow: `turns` counts completed turns, `invalidated` is the last line
at the moment when the session was last said to be due, `processed_until` the last line that was
learned from. A session is due while the one stands above the other.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any, Literal

import msgspec

from mnemolog.model.entry import Entry
from mnemolog.model.lesson import Edit
from mnemolog.model.node import FILES
from mnemolog.model.session import Manifest
from mnemolog.model.times import shifted, to_text
from mnemolog.settings import Settings

Cause = Literal["turns", "reset", "compacted", "sleep"]

MEMORY_AGENT = "memory-agent"
DEFAULT_AGENT = "default"

_SCOPES = ("session", "user", "shared")
ALWAYS_ASKED = ("SOUL.md", "AGENTS.md")
_SHARED = "shared"
DOUBTFUL = ("tool", "recall")
"""Origins of what nobody vouches for."""
_FACTOR = 4


class Marks(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a session's manifest says about learning from it."""

    turns: int = 0
    turns_seen: int = 0
    """How many turns there were when it was last said to be due."""
    invalidated: int = 0
    invalidated_at: str = ""
    cause: str = ""
    processed_until: int = 0
    processed_sum: str = ""
    attempts: int = 0
    next_try: str = ""
    error: str = ""
    """The code of what failed last; never what it said."""
    is_parked: bool = False

    @property
    def is_due(self) -> bool:
        """Whether somebody said so and nobody has learned from it since."""
        return self.invalidated > self.processed_until


_NAMES = frozenset(Marks.__struct_fields__)


def marks_of(markers: Mapping[str, Any]) -> Marks:
    """The marks among a manifest's markers; all count as unset once one is not what we write."""
    given = {name: value for name, value in markers.items() if name in _NAMES}
    try:
        return msgspec.convert(given, Marks)
    except msgspec.ValidationError:
        return Marks()


def with_marks(markers: Mapping[str, Any], marks: Marks) -> dict[str, Any]:
    """The markers with these marks among them."""
    others = {name: value for name, value in markers.items() if name not in _NAMES}
    return {**others, **msgspec.to_builtins(marks)}


def invalidate(marks: Marks, seq: int, cause: str, now: str) -> Marks:
    """Say that a session is due up to a line; what was said before never shrinks."""
    if seq <= max(marks.invalidated, marks.processed_until):
        return msgspec.structs.replace(marks, turns_seen=marks.turns)
    began = marks.invalidated_at if marks.is_due else now
    return msgspec.structs.replace(
        marks, invalidated=seq, invalidated_at=began, cause=cause, turns_seen=marks.turns
    )


def count_turn(marks: Marks) -> Marks:
    """Count a completed turn."""
    return msgspec.structs.replace(marks, turns=marks.turns + 1)


def advance(marks: Marks, until: int, total: str) -> Marks:
    """Everything up to a line was learned from; failures before that are over."""
    return msgspec.structs.replace(
        marks, processed_until=until, processed_sum=total,
        attempts=0, next_try="", error="", is_parked=False,
    )  # fmt: skip


def fail(marks: Marks, error: str, now: datetime, settings: Settings) -> Marks:
    """Count a failure: wait four times as long as after the one before, in the end for good."""
    attempts = marks.attempts + 1
    minutes = settings.knowledge.retry_minutes * min(_FACTOR ** (attempts - 1), 10**6)
    next_try = shifted(now, minutes=min(minutes, 525_600))
    return msgspec.structs.replace(
        marks, attempts=attempts, error=error, next_try=to_text(next_try),
        is_parked=attempts >= settings.knowledge.max_attempts,
    )  # fmt: skip


def retry(marks: Marks) -> Marks:
    """Forget about failures."""
    return msgspec.structs.replace(marks, attempts=0, next_try="", error="", is_parked=False)


def cache_key(agent_id: str) -> str:
    """Under which name the memory-agent of a source agent is found again."""
    return f"/{MEMORY_AGENT}/{agent_id}"


def is_exempt(manifest: Manifest) -> bool:
    """Whether a session is a memory-agent's own, from which nothing is learned."""
    agent = manifest.metadata.get("agent")
    return isinstance(agent, Mapping) and agent.get("type") == MEMORY_AGENT


def is_background(manifest: Manifest) -> bool:
    """Whether no person talks in a session: `metadata.background`, or an agent of such a type."""
    agent = manifest.metadata.get("agent")
    kind = agent.get("type") if isinstance(agent, Mapping) else None
    return manifest.metadata.get("background") is True or kind == "background"


def ends_turn(entry: Entry) -> bool:
    """Whether an entry ends a turn where nobody says so."""
    return entry.role == "assistant" and entry.type == "conversation"


def is_internal(entry: Entry) -> bool:
    """Whether an entry is a record of the program's own."""
    return entry.metadata.get("internal") is True or entry.category == "internal"


def may_learn(entry: Entry) -> bool:
    """Whether anything may be learned from an entry that lives."""
    is_own = entry.origin != "recall" and not is_internal(entry)
    return is_own and entry.scope in _SCOPES and entry.compartment is None


def fitting(entries: Sequence[Entry], most: int) -> int:
    """How many entries from the first on have no more characters than this; one at least."""
    sizes = accumulate(len(entry.text) for entry in entries)
    return max(1, sum(size <= most for size in sizes))


def is_guarded(address: str) -> bool:
    """Whether what comes from a tool or from memory is written there only with a person's yes."""
    return address in FILES or address.split("/")[0] == _SHARED


def why_waits(edit: Edit) -> str:
    """Why an edit needs a person's yes; empty if it does not."""
    if edit.address in ALWAYS_ASKED:
        return f"{edit.address} is changed only with a person's consent"
    if not is_guarded(edit.address) and all(one.log != "shared" for one in edit.sources):
        return ""
    if doubtful := sorted({one.origin for one in edit.sources} & set(DOUBTFUL)):
        return f"it rests on what came from a {doubtful[0]}"
    heard = sorted(set(edit.heard) & set(DOUBTFUL))
    return f"a model wrote it that was told what came from a {heard[0]}" if heard else ""
