"""What a plan is made of: who wants what, and what that would reach."""

from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from mnemolog.errors import SchemaInvalidError
from mnemolog.faces.http.asked import unknown
from mnemolog.faces.http.jobs import Progress
from mnemolog.faces.http.undos import Gone
from mnemolog.memory import Memory

MANY = 1000
SESSIONS = ("session_id", "session_ids")
CRITERIA = (
    "ids types tags topic agents time_range category role origin scope run_id user_id severity "
    "status impact key approved_by min_importance"
).split()
SHOWN = 20


class Draft(NamedTuple):
    """What an action would reach at this moment."""

    sentence: str
    sessions: int = 0
    entries: int = 0
    bytes: int = 0
    by_type: Mapping[str, int] = {}
    nodes: int = 0
    keeps: Mapping[str, int] = {}
    files: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    reversible_until: str | None = None
    confirm: str = "click"
    sample: tuple[str, ...] = ()
    mark: str = ""
    at: str | None = None
    """The moment that it was worked out for, where another one would give another plan."""


class Order(NamedTuple):
    """What somebody wants done, and as whom."""

    memory: Memory
    root: str
    selector: Mapping[str, Any]
    options: Mapping[str, Any]
    at: str | None = None
    """The moment that counts; None means now."""

    @property
    def sessions(self) -> list[str]:
        """The sessions that are meant; all in sight where none is named."""
        if self.names_sessions:
            return self.named_sessions
        return [one.id for one in self.memory.list_sessions()]

    @property
    def names_sessions(self) -> bool:
        """Whether it is said which sessions are meant, were it none."""
        return any(self.selector.get(name) is not None for name in SESSIONS)

    @property
    def named_sessions(self) -> list[str]:
        """The sessions that are meant, which must be named."""
        named = [one for one in map(self.selector.get, SESSIONS) if one is not None]
        if len(named) != 1:
            raise SchemaInvalidError(
                "Say once which sessions are meant.", field="selector.session_ids"
            )
        found = [named[0]] if isinstance(named[0], str) else named[0]
        # No names at all must not come to mean everything.
        if not (isinstance(found, list) and found and all(isinstance(one, str) for one in found)):
            raise SchemaInvalidError("session_ids is a list of ids.", field="selector.session_ids")
        return list(dict.fromkeys(found))

    @property
    def criteria(self) -> dict[str, Any]:
        """Which entries are meant."""
        return {name: self.selector[name] for name in CRITERIA if name in self.selector}

    @property
    def is_erasure(self) -> bool:
        """Whether what is cleared is to go for ever."""
        mode = self.options.get("mode", "hide")
        if mode not in ("hide", "erase"):
            raise SchemaInvalidError("A mode is 'hide' or 'erase'.", field="options.mode")
        return bool(mode == "erase")

    @property
    def reason(self) -> str:
        """Why, as the audit keeps it."""
        given = self.options.get("reason", "")
        if not isinstance(given, str):
            raise SchemaInvalidError("A reason is a text.", field="options.reason")
        return given


Done = tuple[dict[str, Any], list[Gone]]
"""A receipt, and what an undo would bring back."""


class Action(NamedTuple):
    """How a plan of one kind is made and run, and what may be said to it."""

    draft: Callable[[Order], Draft]
    run: Callable[[Order, Progress | None], Done]
    is_job: bool = False
    selector: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def check(self, order: Order) -> None:
        """Refuse what would not be listened to: it might narrow what is reached."""
        parts = (("selector", order.selector, self.selector),
                 ("options", order.options, self.options))  # fmt: skip
        for what, given, known in parts:
            for name in given:
                if name not in known:
                    message = f"The {what} of this action has no {name!r:.60}."
                    raise unknown(name, known, message, f"{what}.{name}"[:80])


def many(count: int, noun: str = "entry") -> str:
    """So many of something, in words."""
    plural = {"entry": "entries"}.get(noun, f"{noun}s")
    return f"{count:,} {noun if count == 1 else plural}"


def confirm_for(entries: int, usual: str) -> str:
    """How a plan is confirmed that reaches so many entries."""
    return "count" if entries > MANY else usual


def marked(*parts: object) -> str:
    """What changes when any of these does."""
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def session_draft(order: Order, verb: str) -> Draft:
    """What doing something to whole sessions would reach."""
    facts = [order.memory.load_session(one) for one in order.named_sessions]
    numbers = [order.memory.numbers(one.id).summary for one in facts]
    types: Counter[str] = Counter()
    for one in numbers:
        types.update(one.counts)
    files = [file.name for one in facts for file in order.memory.session_files(one.id)]
    return Draft(
        f"{verb} {named([one.id for one in facts])}: {many(sum(types.values()))}, "
        f"{sum(one.size_bytes for one in numbers):,} bytes.",
        sessions=len(facts),
        entries=sum(types.values()),
        bytes=sum(one.size_bytes for one in numbers),
        by_type=dict(types),
        files=tuple(files[:MANY]),
        mark=marked(
            [(one.id, one.state, n.counts, n.size_bytes, n.revisions)
             for one, n in zip(facts, numbers, strict=True)]
        ),
    )  # fmt: skip


def named(sessions: list[str]) -> str:
    """One session by its id, several by their number."""
    return sessions[0] if len(sessions) == 1 else f"{len(sessions):,} sessions"
