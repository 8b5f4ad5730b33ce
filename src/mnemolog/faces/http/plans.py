"""Plans: a dry run that is shown, and then run as it was shown, or refused if the world changed."""

import secrets
import threading
import time
from collections import OrderedDict
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec

from mnemolog.faces.http.actions import FORGETTING
from mnemolog.faces.http.jobs import Jobs, Progress, Work
from mnemolog.faces.http.orders import Action, Draft, Order
from mnemolog.faces.http.passes import Scope, greediest, utc_now
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.http.undos import undo_id
from mnemolog.faces.http.upkeep import UPKEEP
from mnemolog.memory import Memory
from mnemolog.model.times import to_text

ACTIONS: dict[str, Action] = {**FORGETTING, **UPKEEP}

_LIVES = 900.0
_MOST = 1000


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """How much a plan would reach."""

    sessions: int
    entries: int
    nodes: int
    bytes: int
    by_type: dict[str, int]


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What would be done, in words and numbers."""

    plan_id: str
    action: str
    expires_at: str
    sentence: str
    counts: Counts
    keeps: dict[str, int]
    files: tuple[str, ...]
    unreachable: tuple[str, ...]
    reversible_until: str | None
    confirm: str
    """none, click, or count: then the number of entries has to be sent back."""
    sample: tuple[str, ...]
    outcome: "Outcome | None" = None
    """What came of it, where it was run at once."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a plan: a receipt, or the job that works on it."""

    receipt: dict[str, Any] | None = None
    undo_id: str | None = None
    job_id: str | None = None


class _Made(NamedTuple):
    plan: Plan
    order: Order
    scope: Scope
    mark: str
    until: float


class Plans:
    """The plans of a server; one that nobody runs is forgotten after a while."""

    def __init__(self, root: str, jobs: Jobs) -> None:
        self._root = root
        self._jobs = jobs
        self._mutex = threading.Lock()
        self._made: OrderedDict[str, _Made] = OrderedDict()

    def make(
        self,
        memory: Memory,
        scope: Scope,
        action: str,
        selector: dict[str, Any],
        options: dict[str, Any],
    ) -> Plan:
        """Work out what an action would reach now."""
        if action not in ACTIONS:
            raise RefusedError(
                400,
                "E_ACTION",
                f"There is no action {action!r:.40}.",
                advice=f"Use one of {', '.join(ACTIONS)}.",
            )
        order = Order(memory, self._root, selector, options)
        ACTIONS[action].check(order)
        return self._keep(order, action, scope)

    def run(self, plan_id: str, scope: Scope, confirm: object) -> Outcome:
        """Do what was planned, once, if it still is what was shown; raises a 409."""
        with self._mutex:
            made = self._made.get(plan_id)
        if made is None or made.scope != scope or made.until < time.monotonic():
            raise RefusedError(
                404, "E_PLAN_NOT_FOUND", "There is no such plan any more.", advice="Make it anew."
            )
        _check_confirmed(made.plan, confirm)
        action = ACTIONS[made.plan.action]
        if action.draft(made.order).mark != made.mark:
            again = self._keep(made.order._replace(at=None), made.plan.action, scope)
            raise RefusedError(
                409,
                "E_PLAN_CHANGED",
                "Something changed since this was planned, so nothing was done.",
                advice="Look at the new numbers, and run that plan.",
                plan=msgspec.to_builtins(again),
            )
        with self._mutex:
            if self._made.pop(plan_id, None) is None:
                raise RefusedError(409, "E_PLAN_RUN", "This plan was run already.")
        is_long = action.is_job or made.order.is_erasure
        return self._started(made) if is_long else self._done(made, None)

    def _keep(self, order: Order, action: str, scope: Scope) -> Plan:
        draft = ACTIONS[action].draft(order)
        plan = _plan(action, draft)
        until = time.monotonic() + _LIVES
        made = _Made(plan, order._replace(at=draft.at), scope, draft.mark, until)
        with self._mutex:
            self._made[plan.plan_id] = made
            while len(self._made) > _MOST:
                self._forget_one()
        return plan

    def _forget_one(self) -> None:
        """Forget the oldest plan of whoever has most of them."""
        most = greediest(one.scope for one in self._made.values())
        del self._made[next(name for name, one in self._made.items() if one.scope == most)]

    def _started(self, made: _Made) -> Outcome:
        def call(progress: Progress) -> dict[str, Any]:
            return self._done(made, progress).receipt or {}

        job = self._jobs.begin(Work(made.plan.action, "files", call), made.scope)
        return Outcome(job_id=job.id)

    def _done(self, made: _Made, progress: Progress | None) -> Outcome:
        receipt, gone = ACTIONS[made.plan.action].run(made.order, progress)
        return Outcome(receipt=receipt, undo_id=undo_id(gone))


def _plan(action: str, draft: Draft) -> Plan:
    return Plan(
        plan_id=f"plan_{secrets.token_hex(8)}",
        action=action,
        expires_at=to_text(utc_now() + timedelta(seconds=_LIVES)),
        sentence=draft.sentence,
        counts=Counts(
            sessions=draft.sessions,
            entries=draft.entries,
            nodes=draft.nodes,
            bytes=draft.bytes,
            by_type=dict(draft.by_type),
        ),
        keeps=dict(draft.keeps),
        files=draft.files,
        unreachable=draft.unreachable,
        reversible_until=draft.reversible_until,
        confirm=draft.confirm,
        sample=draft.sample,
    )


def _check_confirmed(plan: Plan, confirm: object) -> None:
    is_number = isinstance(confirm, int) and not isinstance(confirm, bool)
    if plan.confirm == "count" and not (is_number and confirm == plan.counts.entries):
        raise RefusedError(
            400,
            "E_CONFIRM",
            f"This reaches {plan.counts.entries:,} entries and cannot be undone or is a lot.",
            advice="Send their number as `confirm`.",
            field="confirm",
        )
    if plan.confirm == "click" and confirm is not True and confirm != plan.counts.entries:
        raise RefusedError(
            400, "E_CONFIRM", "This has to be confirmed.", advice="Send `confirm`: true.",
            field="confirm",
        )  # fmt: skip
