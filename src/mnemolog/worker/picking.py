"""Picking: which sessions a worker takes, so that several workers share them."""

from collections.abc import Collection, Iterator
from contextlib import ExitStack
from typing import NamedTuple

from mnemolog.memory import Memory
from mnemolog.model.lesson import Due, EditPlan

# Of so many times as many sessions as are wanted, others may be at work on some.
_AHEAD = 8


class Picked(NamedTuple):
    """A session to learn from, and the lease that goes with it; a plan if one was left behind."""

    session_id: str
    lease: ExitStack
    due: Due | None = None
    plan: EditPlan | None = None

    @property
    def user_id(self) -> str:
        """Whose nodes it is for."""
        return self.due.user_id if self.due else self.plan.user_id if self.plan else ""


def pick(memory: Memory, limit: int, busy: Collection[str]) -> Iterator[Picked]:
    """What a crash left behind first, then due sessions, oldest first; whoever takes one has to
    close its lease."""
    taken = set(busy)
    for plan in memory.kept_plans():
        if len(taken) - len(busy) < limit and plan.session_id not in taken:
            lease = _leased(memory, plan)
            if lease is not None:
                taken.add(plan.session_id)
                yield Picked(plan.session_id, lease, plan=plan)
    for due in memory.due_sessions(limit * _AHEAD + len(busy)):
        if len(taken) - len(busy) >= limit:
            return
        if due.session_id not in taken:
            lease = _leased(memory, due)
            if lease is not None:
                taken.add(due.session_id)
                yield Picked(due.session_id, lease, due)


def _leased(memory: Memory, work: Due | EditPlan) -> ExitStack | None:
    """The lease, unless somebody else is at work on the session."""
    lease = ExitStack()
    if lease.enter_context(memory.lease_session(work.session_id, work.log)):
        return lease
    lease.close()
    return None
