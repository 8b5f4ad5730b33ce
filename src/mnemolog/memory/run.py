"""One run of an agent: notes in compartments, until it ends."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from mnemolog.errors import (
    ConcurrentModificationError,
    InvalidFormatError,
    NotAllowedError,
    SessionNotFoundError,
    SizeLimitError,
    StorageError,
)
from mnemolog.memory.writing import Writing
from mnemolog.model.entry import FORMAT, Entry, Receipt, Warned
from mnemolog.model.ids import new_entry_id
from mnemolog.model.times import to_text
from mnemolog.policy import compartments, drafting
from mnemolog.policy.access import may_change
from mnemolog.policy.compartments import NOTE, USE, Compartment, Filter, Room
from mnemolog.policy.drafting import Circumstances
from mnemolog.policy.echoes import Handed
from mnemolog.policy.using import Got, noted
from mnemolog.ports import LogKey, Reading, Write

_FULL = (
    "Every version of a note takes room until the run ends: save in another compartment, or go on"
    " without."
)


class Cleared(NamedTuple):
    """What a clearing did."""

    removed: int
    kept: int = 0
    """Notes of others that were meant too: only their writer or the owner may remove them."""


class Run:
    """Notes by lifetime: of this run, of the session, and the plan; a context manager."""

    memory: Writing
    session_id: str
    id: str
    is_open: bool
    handed: Handed
    """What memory has handed out in this run."""
    compartments: dict[str, Compartment]

    def __init__(
        self, memory: Writing, session_id: str, run_id: str, own: Iterable[Compartment] = ()
    ) -> None:
        self.memory = memory
        self.session_id = session_id
        self.id = run_id
        self.is_open = True
        self._settings = memory.settings.compartments
        self.handed = Handed()
        self.compartments = compartments.known(self._settings, own)
        self._got = Got()

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
            with suppress(SessionNotFoundError):  # it took the notes with it
                self.memory._keeper.end_run(self.session_id, self.id)
            self.is_open = False

    def is_gone(self) -> bool:
        """Whether it has ended, by whomever, or its session is not there any more."""
        try:
            self.memory._manifest(self.session_id)
        except SessionNotFoundError:
            return True
        return self.memory._store.read(self._own_log, self.memory._viewer).summary.last_seq == 0

    def save(
        self,
        compartment: str,
        content: str | Mapping[str, Any],
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, str] | None = None,
        priority: int | None = None,
        origin: str | None = None,
    ) -> Receipt:
        """Save a note; under an id that is there it takes the place of that note."""
        chosen = self._chosen(compartment)
        pairs = compartments.check_metadata(metadata)
        record = {
            "type": NOTE,
            "content": content,
            "id": id,
            "category": category,
            "tags": tags if isinstance(tags, str) else list(tags or ()),
            "metadata": pairs or None,
            "priority": 5 if priority is None else priority,
            "compartment": chosen.mark,
            "origin": origin,
        }
        note = {name: value for name, value in record.items() if value is not None}
        compartments.check_length(chosen, content, pairs, self._settings)
        compartments.check_rule(chosen, note)
        where = self._where(chosen)
        write = drafting.draft(note, where)
        if write.is_given:
            self._refuse_other(chosen, write.entry.id)
        write = write._replace(check=self._room_check(chosen, write.entry))
        try:
            return self.memory._append(self._log(chosen), [write], where)[0]
        except ConcurrentModificationError:
            raise _unusable(chosen, write.entry.id) from None
        except SizeLimitError as error:
            if chosen.scope == "run" and "incoming_bytes" in error.details:
                raise SizeLimitError(error.message, advice=_FULL, **error.details) from error
            raise

    def _room_check(self, chosen: Compartment, note: Entry) -> Callable[[int], None]:
        """Refuse a note that does not fit now, and again under the lock if others wrote since."""
        reading = self._reading(chosen)
        held = [one for one in reading.entries if chosen.holds(one)]
        viewer = self.memory._viewer
        compartments.check_room(chosen, held, note, self._settings, viewer)

        def check(last_seq: int) -> None:
            if last_seq != reading.summary.last_seq:
                held = self._notes(chosen)
                compartments.check_room(chosen, held, note, self._settings, viewer)

        return check

    def get(
        self,
        compartment: str,
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
        is_use: bool = True,
    ) -> Warned:
        """The notes that fit all of what is given, oldest first; each counts as used.

        Unless `is_use` says otherwise: for another look at what was got just now.
        """
        chosen = self._chosen(compartment)
        wanted = Filter.of(id, category, tags)
        reading = self._reading(chosen)
        found = [one for one in reading.entries if chosen.holds(one) and wanted.fits(one)]
        if found and is_use:
            self._use(chosen, [one.id for one in found])
        return Warned(iter(found), tuple(map(str, reading.damage)))

    def uses(self, compartment: str) -> Counter[str]:
        """How often each note was got."""
        if self._chosen(compartment).scope == "run":
            return self._own_uses()
        return Counter(use.id for use in self.memory._keeper.uses(self.session_id))

    def clear(
        self,
        compartment: str,
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
    ) -> Cleared:
        """Remove the notes that fit all of what is given, or all."""
        chosen = self._chosen(compartment)
        wanted = Filter.of(id, category, tags)
        meant = [one for one in self._notes(chosen) if wanted.fits(one)]
        mine = [one.id for one in meant if may_change(self.memory._viewer, one)]
        where = self._where(chosen)
        self.memory._mark(self._log(chosen), "tombstone", mine, where, "")
        if chosen.scope == "session" and mine:
            self._tell_audit(len(mine))
        return Cleared(len(mine), len(meant) - len(mine))

    def notes(self, compartment: str) -> list[Entry]:
        """The notes of a compartment, oldest first; looking at them is not a use."""
        return self._notes(self._chosen(compartment))

    def size(self, compartment: str) -> int:
        """How many characters a compartment holds."""
        return self.room(compartment).used

    def room(self, compartment: str) -> Room:
        """How many characters a compartment holds, and how many it may."""
        chosen = self._chosen(compartment)
        return compartments.room_in(chosen, self._notes(chosen), self._settings)

    def _tell_audit(self, count: int) -> None:
        memory = self.memory
        if memory._settings(memory._manifest(self.session_id)).privacy.audit_deletions:
            record = memory._audited("delete", self.session_id, count, "", {"ids": count})
            memory._keeper.record(record)

    def _chosen(self, name: str) -> Compartment:
        chosen = compartments.named(self.compartments, name)
        if chosen.scope == "run" and not self.is_open:
            raise NotAllowedError(
                f"The run {self.id!r:.140} has ended, and its notes are gone.",
                advice="Open another run on the session.",
            )
        return chosen

    def _where(self, chosen: Compartment) -> Circumstances:
        where = self.memory._where(self.session_id)
        if chosen.scope != "run":
            return where
        return msgspec.structs.replace(where, run_id=self.id)

    @property
    def _own_log(self) -> LogKey:
        return LogKey("run", self.session_id, self.id)

    def _log(self, chosen: Compartment) -> LogKey:
        return self._own_log if chosen.scope == "run" else LogKey("session", self.session_id)

    def _reading(self, chosen: Compartment) -> Reading:
        self.memory._manifest(self.session_id)
        return self.memory._store.read(self._log(chosen), self.memory._viewer, types={NOTE})

    def _notes(self, chosen: Compartment) -> list[Entry]:
        return [one for one in self._reading(chosen).entries if chosen.holds(one)]

    def _refuse_other(self, chosen: Compartment, id: str) -> None:
        """Nothing but a note of the compartment may be replaced by one."""
        reading = self.memory._store.read(self._log(chosen), self.memory._viewer, ids=(id,))
        for one in reading.entries:
            if not chosen.holds(one):
                raise _unusable(chosen, id)

    # --- how often notes were got: beside the log for the session's, in its own file for a run's

    def _use(self, chosen: Compartment, ids: list[str]) -> None:
        now = self.memory._clock.now()
        if chosen.scope == "session":
            self.memory._keeper.use(self.session_id, ids, to_text(now))
            return
        due = self._got.take(ids, now)
        if not due:
            return
        where = self._where(chosen)
        line = Entry(
            v=FORMAT,
            id=new_entry_id(now),
            session_id=self.session_id,
            timestamp=to_text(now),
            type="event",
            scope="run",
            origin=self.memory._viewer.origin,
            agent_id=self.memory._viewer.agent,
            run_id=self.id,
            category=USE,
            content={"ids": list(due), "times": list(due.values())},
        )
        relaxed = msgspec.structs.replace(where.storage, durability="os")
        with suppress(StorageError, SizeLimitError):  # losing some is allowed
            self.memory._store.append(
                self._log(chosen), [Write(line)], self.memory._viewer, relaxed
            )

    def _own_uses(self) -> Counter[str]:
        lines = self.memory._store.read(self._own_log, self.memory._viewer, types={"event"}).entries
        return noted(one.content for one in lines if one.category == USE) + self._got.unnoted()


def _unusable(chosen: Compartment, id: str) -> InvalidFormatError:
    """The same for every id that is taken: whose it is, and for what, is not for everybody."""
    return InvalidFormatError(
        f"The id {id!r:.140} cannot be used for a note of {chosen.name!r}.",
        advice="Choose another id, or leave it out.",
        field="id",
    )
