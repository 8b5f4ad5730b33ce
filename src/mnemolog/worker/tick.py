"""One session at a time: lesson, distiller, plan, nodes, and the marker last.

No lock is held while a distiller works. Whatever happens at any point, the session stays due until
its marker has moved, and a plan that was noted is finished before another one is made.
"""

import logging
import time
from binascii import crc32
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock
from typing import Literal, NamedTuple, TypeVar

from mnemolog.errors import (
    ConcurrentModificationError,
    MnemologError,
    NodeConflictError,
    SessionNotFoundError,
    SettingsError,
)
from mnemolog.memory import Memory
from mnemolog.model.lesson import Applied, Due, EditPlan, Lesson, Proposal, checked
from mnemolog.worker.distillers import Distillers
from mnemolog.worker.picking import Picked

_log = logging.getLogger(__name__)

Status = Literal["learned", "nothing", "exempt", "stale", "conflict", "failed", "parked", "gone"]
# So often a session is tried again at once when something came between: others who write to the
# same node are done soon, but an entry that grows may do so for long.
_TRIES = {"stale": 2, "conflict": 8}
_PAUSE = 0.02
_STRIPES = 64

DISTURBED: dict[str, Exception] = {
    "stale": ConcurrentModificationError("What was learned from has changed meanwhile."),
    "conflict": NodeConflictError("A node was written to meanwhile."),
}
"""The outcomes after which a session is tried again, and what they are told as in the end."""

Writing = Callable[[], AbstractContextManager[object]]
"""Surrounds what writes; raises `StoppedError` to give up instead."""

Made = TypeVar("Made")


class StoppedError(Exception):
    """The worker was stopped before anything was written."""


class Outcome(NamedTuple):
    """What became of one session."""

    session_id: str
    status: Status
    written: int = 0
    """How many nodes were written."""
    waiting: int = 0
    """How many edits wait for a person's yes."""
    dropped: int = 0
    """How many edits rested on nothing any more."""
    until: int = 0
    error: str = ""
    remarks: tuple[str, ...] = ()


class Preview(NamedTuple):
    """What would be proposed for a session."""

    due: Due
    proposal: Proposal | None
    error: str = ""


def preview(memory: Memory, distillers: Distillers, limit: int) -> Iterator[Preview]:
    """What the distillers propose for the sessions that are due; nothing is changed."""
    for due in memory.due_sessions(limit):
        lesson = _lesson(memory, distillers, due)
        if lesson is None or not lesson.entries:
            yield Preview(due, Proposal())
            continue
        yield _previewed(memory, distillers, due, lesson)


def _previewed(memory: Memory, distillers: Distillers, due: Due, lesson: Lesson) -> Preview:
    made = tried(lambda: checked(_distilled(memory, distillers, lesson)))
    if isinstance(made, SettingsError):
        raise made
    if isinstance(made, Exception):
        return Preview(due, None, _code(made))
    return Preview(due, made)


class Learner:
    """Learns from sessions, any number of them at once."""

    def __init__(self, memory: Memory, distillers: Distillers, writing: Writing) -> None:
        self._memory = memory
        self._distillers = distillers
        self._writing = writing
        # Whoever was disturbed tries again in turn with others of the same user.
        self._turns = [Lock() for _ in range(_STRIPES)]

    def learn(self, picked: Picked) -> Outcome:
        """Learn from one session whose lease is held; whatever happens, it says what did."""
        done = tried(lambda: self._done_with(picked))
        if isinstance(done, Outcome):
            return done
        if isinstance(done, SessionNotFoundError):
            return Outcome(picked.session_id, "gone")
        if isinstance(done, SettingsError):  # nobody's failure: it stays due until it is put right
            return Outcome(picked.session_id, "failed", error=_code(done))
        return self._failed(picked, done)

    def _done_with(self, picked: Picked) -> Outcome:
        if picked.plan is None:
            assert picked.due is not None
            return self._learn(picked.due)
        done = self._finish(picked.plan)
        due = self._memory.due_again(picked.plan) if done.status in DISTURBED else None
        return done if due is None else self._learn(due)  # another plan in its place

    def _learn(self, due: Due) -> Outcome:
        """Try until nobody comes between; others of the same user are the most likely to."""
        done = self._try(due)
        if done.status not in DISTURBED:
            return done
        with self._turn(due.user_id):
            tries: Counter[str] = Counter()
            while done.status in DISTURBED and tries[done.status] < _TRIES[done.status]:
                tries[done.status] += 1
                done = self._try(due)
        if done.status not in DISTURBED:
            return done
        is_parked = self._memory.note_failure(due, DISTURBED[done.status])
        error = _code(DISTURBED[done.status])
        return done._replace(status="parked" if is_parked else done.status, error=error)

    @contextmanager
    def _turn(self, user_id: str) -> Iterator[None]:
        """One after the other, in this process and in others; whoever takes too long is passed."""
        patience = time.monotonic() + self._memory.settings.knowledge.time_budget_seconds
        with self._turns[crc32(user_id.encode()) % _STRIPES], ExitStack() as lease:
            while not lease.enter_context(self._memory.lease_user(user_id)):
                if time.monotonic() > patience:
                    break
                lease.close()
                time.sleep(_PAUSE)
            yield

    def _try(self, due: Due) -> Outcome:
        lesson = _lesson(self._memory, self._distillers, due)
        if lesson is None:
            return Outcome(due.session_id, "gone")
        made, by = Proposal(), ""
        if lesson.entries:
            by = self._distillers.of(lesson.agent_id).name
            made = _distilled(self._memory, self._distillers, lesson)
        with self._writing(), self._memory.brought_back(due.session_id, due.log):
            done = self._apply(due, self._memory.keep_plan(lesson, made, by))
        if done.status == "learned" and not made.edits:
            done = done._replace(status="exempt" if due.cause == "exempt" else "nothing")
        return done._replace(remarks=made.remarks)

    def _finish(self, plan: EditPlan) -> Outcome:
        """Go on with a plan that was noted before a crash."""
        due = self._memory.due_again(plan)
        if due is None or plan.until <= due.processed_until:
            self._memory.strike_plan(plan)
            return Outcome(plan.session_id, "learned" if due else "gone", until=plan.until)
        with self._writing(), self._memory.brought_back(due.session_id, due.log):
            return self._apply(due, plan)

    def _apply(self, due: Due, plan: EditPlan | None) -> Outcome:
        if plan is None:
            return Outcome(due.session_id, "stale")
        applied = self._memory.apply_plan(plan) if plan.edits else Applied("applied")
        if applied.status != "applied":
            return Outcome(due.session_id, applied.status)
        self._memory.mark_processed(due, plan.until, plan.until_sum)
        self._memory.strike_plan(plan)
        kinds = [receipt.status for receipt in applied.receipts]
        waiting = kinds.count("waiting")
        written = len(kinds) - waiting
        return Outcome(due.session_id, "learned", written, waiting, applied.dropped, plan.until)

    def _failed(self, picked: Picked, error: Exception) -> Outcome:
        """Count the failure; a disk that cannot even take that is told of by the same code."""
        plan = picked.plan
        due = picked.due if plan is None else tried(lambda: self._memory.due_again(plan))
        if due is None:
            return Outcome(picked.session_id, "gone")
        is_parked = isinstance(due, Due) and tried(lambda: self._memory.note_failure(due, error))
        status: Status = "parked" if is_parked is True else "failed"
        return Outcome(picked.session_id, status, error=_code(error))


def _lesson(memory: Memory, distillers: Distillers, due: Due) -> Lesson | None:
    """What there is to learn, as much of it as the distiller takes at once."""
    lesson = memory.lesson_of(due)
    if lesson is None or not lesson.entries:
        return lesson
    most = getattr(distillers.of(lesson.agent_id), "most_characters", None)
    is_long = most is not None and len(lesson.transcript) > most
    return memory.lesson_of(due, most) if is_long else lesson


def _distilled(memory: Memory, distillers: Distillers, lesson: Lesson) -> Proposal:
    distiller = distillers.of(lesson.agent_id)
    return distiller.distil(lesson, memory.node_reader(lesson.user_id))


def tried(work: Callable[[], Made]) -> Made | Exception:
    """What came of some work, or what went wrong: a distiller of one's own may do anything, and
    so may what it proposes; the others go on."""
    try:
        return work()
    except StoppedError:
        raise
    except Exception as error:
        _log.warning("learning from a session failed: %s", _code(error))
        return error


def _code(error: Exception) -> str:
    return error.code if isinstance(error, MnemologError) else type(error).__name__
