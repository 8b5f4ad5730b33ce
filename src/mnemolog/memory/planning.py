"""Plans: how the edits of a distiller reach the graph.

Between reading a session and writing a node anything may happen to either. So a plan is made and
applied under the session's lock, where nobody can delete or erase what it rests on, and a node
takes a plan once, however often a crash makes it be repeated.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from hashlib import sha256

import msgspec

from mnemolog.errors import (
    ConcurrencyError,
    NodeConflictError,
    SessionNotFoundError,
    StorageError,
)
from mnemolog.memory.invalidating import Invalidating, log_of
from mnemolog.memory.knowing import Knowing
from mnemolog.memory.proving import LONGEST_REASON
from mnemolog.model import given
from mnemolog.model.entry import FORMAT, Entry
from mnemolog.model.lesson import (
    Applied,
    Edit,
    EditPlan,
    Lesson,
    Proposal,
    Source,
    Waiting,
    checked,
)
from mnemolog.model.node import NodeReceipt
from mnemolog.model.session import Manifest
from mnemolog.model.times import to_text
from mnemolog.policy import learning
from mnemolog.policy.access import OWNER
from mnemolog.policy.compaction import Weighed
from mnemolog.ports import LogKey


class Planning(Invalidating, Knowing):
    """The verbs by which edits are noted, checked and written; for the owner alone."""

    def keep_plan(self, lesson: Lesson, proposal: Proposal, by: str) -> EditPlan | None:
        """Note durably what is to be written; None if what it rests on changed meanwhile.

        An edit that does not say what it rests on rests on the whole lesson.
        """
        self._for_worker()
        given.record(lesson, Lesson, "lesson")
        given.text(by, "by")
        edits = tuple(
            _with_sources(self._as_it_stands(lesson.user_id, edit), lesson)
            for edit in checked(proposal).edits
        )
        made: list[EditPlan] = []

        def keep() -> None:
            kept = self._living_edits(edits)
            if kept is not None:
                plan = _plan(lesson, kept, by)
                if kept:
                    self._shelf.keep_plan(plan)
                made.append(plan)

        # Under the lock: whoever erases an entry after this finds the plan, and cuts it.
        self._while_still(log_of(lesson), keep)
        return made[0] if made else None

    def _as_it_stands(self, user_id: str, edit: Edit) -> Edit:
        """The edit of the node that is there, which may write its name in another case."""
        address = self._shelf.spelled(user_id, edit.address)
        return msgspec.structs.replace(edit, address=address)

    def kept_plans(self) -> list[EditPlan]:
        """The plans that were noted and not yet struck out."""
        self._for_worker()
        return self._shelf.plans()

    def strike_plan(self, plan: EditPlan) -> None:
        """Forget about a plan: it was applied, or never will be."""
        self._for_worker()
        self._shelf.strike_plan(given.record(plan, EditPlan, "plan").id)

    def apply_plan(self, plan: EditPlan) -> Applied:
        """Write a plan's edits to the nodes, or into the review; safe to repeat.

        Whatever the outcome but `applied`, the plan is struck out: it has to be made anew.
        """
        self._for_worker()
        given.record(plan, EditPlan, "plan")
        done: list[Applied] = []
        with ExitStack() as undone:
            undone.callback(self._shelf.strike_plan, plan.id)
            try:
                self._while_still(log_of(plan), lambda: done.append(self._applied(plan)))
            except NodeConflictError:
                done.append(Applied("conflict"))
            except (StorageError, ConcurrencyError):
                undone.pop_all()  # it can be finished once the disk is better
                raise
            if done[-1].status == "applied":
                undone.pop_all()
        return done[-1]

    def _applied(self, plan: EditPlan) -> Applied:
        kept = self._shelf.plan(plan.id)  # whoever erased something has cut it there
        edits = self._living_edits(kept.edits) if kept else None
        if kept is None or edits is None:
            return Applied("stale")
        grouped = _by_node(edits)
        free = {address: _joined(some) for address, (some, _) in grouped.items() if some}
        if not all(self._is_ready(kept, edit) for edit in free.values()):
            return Applied("conflict")  # before anything is written
        receipts: list[NodeReceipt] = []
        for address, (_, asked) in grouped.items():
            receipts += self._apply_edits(kept, free.get(address), asked)
        return Applied("applied", tuple(receipts), len(kept.edits) - len(edits))

    def _is_ready(self, plan: EditPlan, edit: Edit) -> bool:
        """Whether a node is what an edit was made against, or has taken it already."""
        node = self._there_now(plan.user_id, edit.address)
        there = node.hash if node else ""
        if node is None or there == edit.expected:
            return there == edit.expected
        past = self._shelf.versions(plan.user_id, edit.address)
        return any(version.plan == plan.id for version in past)

    def _apply_edits(
        self, plan: EditPlan, free: Edit | None, asked: list[Edit]
    ) -> Iterator[NodeReceipt]:
        """The edits of one node: what may be written, then what waits for a person's yes."""
        written = None if free is None else self._write_edit(plan, free)
        if written is not None:
            yield written
        for number, edit in enumerate(asked):
            if written is not None:  # it was made to follow what has just been written
                edit = msgspec.structs.replace(edit, expected=written.hash)
            yield self._wait_for_yes(plan, edit, number)

    def _write_edit(self, plan: EditPlan, edit: Edit) -> NodeReceipt:
        return self.write_node(
            edit.address,
            edit.body,
            user_id=plan.user_id,
            title=edit.title,
            description=edit.description,
            expected=edit.expected,
            reason=edit.reason[:LONGEST_REASON],
            sources=[source.name for source in edit.sources],
            by=plan.distiller,
            plan=plan.id,
        )

    def _wait_for_yes(self, plan: EditPlan, edit: Edit, number: int) -> NodeReceipt:
        name = sha256(f"{plan.id}\n{edit.address}\n{number}".encode()).hexdigest()[:24]
        why = learning.why_waits(edit)
        edit, hidden = self._without_secrets(edit)
        self._shelf.wait(
            Waiting(
                v=FORMAT,
                id=name,
                user_id=plan.user_id,
                edit=edit,
                distiller=plan.distiller,
                created_at=to_text(self._clock.now()),
                why=why,
            )
        )
        return NodeReceipt(edit.address, "waiting", 0, edit.expected, hidden, why)

    def _living_edits(self, edits: Iterable[Edit]) -> tuple[Edit, ...] | None:
        """The edits whose sources are as they were read; None if one has lost some of them.

        An edit that has lost all is left out: what was revised is learned from later. One that has
        lost some must be made anew, or what the others say would be lost with it.
        """
        given = tuple(edits)
        living = self._still_there({source for edit in given for source in edit.sources})
        kept: list[Edit] = []
        for edit in given:
            are_there = [(one.name, one.seq) in living for one in edit.sources]
            if all(are_there):
                kept.append(edit)
            elif any(are_there):
                return None
        return tuple(kept)

    def _still_there(self, sources: set[Source]) -> set[tuple[str, int]]:
        """Those of the sources that are there now, by name, each in the revision that is."""
        ids: dict[LogKey, dict[str, Source]] = {}
        for one in sources:
            ids.setdefault(LogKey(one.log, one.session_id), {})[one.entry_id] = one
        return {
            (named[one.id].name, one.seq)
            for log, named in ids.items()
            for one in self._there(log, set(named))
        }

    def _there(self, log: LogKey, ids: set[str]) -> Iterator[Entry]:
        try:
            yield from self._store.read(log, OWNER, ids=ids).entries
            if log.kind == "session":
                moved = self._moved_since(self._store.load(log.id), 0, set())
                yield from (one for one in moved if one.id in ids)
        except SessionNotFoundError:
            return

    def _moved_since(self, manifest: Manifest, seq: int, known: set[str]) -> Iterator[Entry]:
        """What a compaction moved out before anybody had learned from it."""
        if not manifest.markers.get("moved"):
            return

        def is_new(one: Weighed) -> bool:
            return one.died is None and one.entry.seq > seq and one.entry.id not in known

        yield from (one.entry for one in self._moved_out(manifest.session_id, is_new))


def _with_sources(edit: Edit, lesson: Lesson) -> Edit:
    """The edit with what it rests on; what it says of an entry of another log is taken as read."""
    known = {one.id: lesson.source(one) for one in lesson.entries}
    if not edit.sources:
        return msgspec.structs.replace(edit, sources=tuple(known.values()))
    if lesson.log == "session":
        return edit
    named = tuple(dict.fromkeys(known.get(one.entry_id, one) for one in edit.sources))
    return msgspec.structs.replace(edit, sources=named)


def _plan(lesson: Lesson, edits: tuple[Edit, ...], by: str) -> EditPlan:
    """The same lesson makes a plan of the same name, however often it is repeated.

    The sum of its last line is part of it: a session may be deleted and begun anew under its id.
    """
    of = lesson.session_id if lesson.log == "session" else f"{lesson.log}\n{lesson.user_id}"
    name = sha256(f"{of}\n{lesson.until}\n{lesson.until_sum}".encode()).hexdigest()[:24]
    return EditPlan(
        v=FORMAT,
        id=f"{name}-{lesson.until}",
        session_id=lesson.session_id,
        user_id=lesson.user_id,
        until=lesson.until,
        until_sum=lesson.until_sum,
        distiller=by,
        edits=edits,
        log=lesson.log,
    )


def _by_node(edits: Iterable[Edit]) -> dict[str, tuple[list[Edit], list[Edit]]]:
    """The edits of each node: those that may be written, and those that need a person's yes."""
    found: dict[str, tuple[list[Edit], list[Edit]]] = {}
    for edit in edits:
        free, asked = found.setdefault(edit.address, ([], []))
        (asked if learning.why_waits(edit) else free).append(edit)
    return found


def _joined(edits: list[Edit]) -> Edit:
    """Several edits of one node as one: the last text, on all that they rest on."""
    sources = dict.fromkeys(source for edit in edits for source in edit.sources)
    return msgspec.structs.replace(
        edits[-1],
        title=next((one.title for one in reversed(edits) if one.title), None),
        description=next((one.description for one in reversed(edits) if one.description), None),
        sources=tuple(sources),
    )
