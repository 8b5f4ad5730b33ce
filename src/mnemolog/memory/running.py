"""Runs: an agent's notes by lifetime, around one run of it."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from mnemolog.errors import NotAllowedError
from mnemolog.memory.writing import Writing
from mnemolog.model import plain
from mnemolog.model.entry import Entry, Receipt
from mnemolog.model.ids import check_id
from mnemolog.model.times import to_text
from mnemolog.policy import compartments, drafting
from mnemolog.policy.compartments import Compartment
from mnemolog.policy.filters import has_tag
from mnemolog.ports import LogKey, Write
from mnemolog.ports.keeping import LeftRun

NOTE = "note"


class Running(Writing):
    """The verb that opens a run."""

    def run(
        self,
        session_id: str,
        *,
        run_id: str | None = None,
        agent_id: str | None = None,
        compartments: Iterable[Compartment] = (),
    ) -> "Run":
        """Open a run on a session: its own notes, the session's, and the plan.

        Its own notes end with it. With the `run_id` of a run that crashed, that run goes on.
        """
        self._manifest(session_id)
        view = self if agent_id is None else self.for_agent(agent_id)  # type: ignore[attr-defined]
        view._manifest(session_id)
        identifier = check_id(run_id, "run id") if run_id is not None else f"run_{_random()}"
        view._keeper.begin_run(session_id, identifier)
        return Run(view, session_id, identifier, tuple(compartments))

    def left_runs(self, session_id: str) -> list[LeftRun]:
        """The runs of a session that have notes and no end yet; for the owner alone."""
        self._manifest(session_id)
        self._owner_only("see other runs")
        return list(self._keeper.runs(session_id))

    def end_run(self, session_id: str, run_id: str) -> None:
        """End a run that nobody else will end; for the owner alone."""
        self._manifest(session_id)
        self._owner_only("end other runs")
        self._keeper.end_run(session_id, check_id(run_id, "run id"))


class Run:
    """One run of an agent: notes in compartments, until it ends."""

    def __init__(
        self, memory: Running, session_id: str, run_id: str, own: tuple[Compartment, ...] = ()
    ) -> None:
        self.memory = memory
        self.session_id = session_id
        self.id = run_id
        self.is_open = True
        self._used: Counter[str] = Counter()
        self._settings = memory.settings.compartments
        self.compartments = compartments.standard(self._settings)
        self.compartments.update({one.name: one for one in own})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the run: its own notes are overwritten and removed; nothing happens twice."""
        if self.is_open:
            self.memory._keeper.end_run(self.session_id, self.id)
            self.is_open = False

    def save(
        self,
        compartment: str,
        content: str | Mapping[str, Any],
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        priority: int | None = None,
    ) -> Receipt:
        """Save a note; under an id that is there it takes the place of that note."""
        chosen = self._chosen(compartment)
        record = {
            "type": NOTE,
            "content": content,
            "id": id,
            "category": category,
            "tags": list(tags) or None,
            "metadata": dict(metadata) if metadata else None,
            "priority": 5 if priority is None else priority,
            "compartment": None if chosen.name in ("run", "session") else chosen.name,
        }
        note = {name: value for name, value in record.items() if value is not None}
        compartments.check_rule(chosen, note)
        where = self.memory._where(self.session_id)
        if chosen.scope == "run":
            where = where._replace(run_id=self.id)
        drafted = drafting.draft(note, where)
        compartments.check_room(chosen, self._notes(chosen), drafted.entry, self._settings)
        batch = [(Write(drafted.entry, drafted.is_given), drafted)]
        return self.memory._append(self._log(chosen), batch, where)[0]

    def get(
        self,
        compartment: str,
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
    ) -> list[Entry]:
        """The notes that fit all of what is given, oldest first; each counts as used."""
        chosen = self._chosen(compartment)
        found = [one for one in self._notes(chosen) if _fits(one, id, category, tuple(tags))]
        self._used.update(one.id for one in found)
        if chosen.scope == "session" and found:
            now = to_text(self.memory._clock.now())
            self.memory._keeper.use(self.session_id, [one.id for one in found], now)
        return found

    def uses(self, compartment: str) -> Counter[str]:
        """How often each note was got; of a run's own notes, since the run was opened."""
        if self._chosen(compartment).scope == "run":
            return self._used
        return Counter(self.memory._keeper.used(self.session_id))

    def clear(
        self,
        compartment: str,
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
    ) -> int:
        """Remove the notes that fit all of what is given, or all; says how many."""
        chosen = self._chosen(compartment)
        meant = [one for one in self._notes(chosen) if _fits(one, id, category, tuple(tags))]
        where = self.memory._where(self.session_id)
        self.memory._mark(self._log(chosen), "tombstone", [one.id for one in meant], where, "")
        return len(meant)

    def notes(self, compartment: str) -> list[Entry]:
        """The notes of a compartment, oldest first; looking at them is not a use."""
        return self._notes(self._chosen(compartment))

    def size(self, compartment: str) -> int:
        """How many characters a compartment holds."""
        return sum(map(compartments.size_of, self._notes(self._chosen(compartment))))

    def _chosen(self, name: str) -> Compartment:
        chosen = compartments.named(self.compartments, name)
        if chosen.scope == "run" and not self.is_open:
            raise NotAllowedError(
                f"The run {self.id!r:.140} has ended, and its notes are gone.",
                advice="Open another run on the session.",
            )
        return chosen

    def _log(self, chosen: Compartment) -> LogKey:
        if chosen.scope == "run":
            return LogKey("run", self.session_id, self.id)
        return LogKey("session", self.session_id)

    def _notes(self, chosen: Compartment) -> list[Entry]:
        reading = self.memory._store.read(self._log(chosen), self.memory._viewer, types={NOTE})
        wanted = None if chosen.name in ("run", "session") else chosen.name
        return [one for one in reading.entries if one.compartment == wanted]


def _fits(entry: Entry, id: str | None, category: str | None, tags: tuple[str, ...]) -> bool:
    return (
        (id is None or entry.id == id)
        and (category is None or entry.category == category)
        and (not tags or any(has_tag(entry.tags, tag) for tag in plain.strings(tags, "tags")))
    )


def _random() -> str:
    return os.urandom(8).hex()
