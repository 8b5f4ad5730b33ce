"""What is there, how it decays, what is recalled; retention, hidden entries, audit, doctor."""

import time
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any

from litestar import get
from litestar.params import FromQuery, QueryParameter

from mnemolog.errors import CorruptionError
from mnemolog.faces.http.asked import unknown
from mnemolog.faces.http.health_shapes import (
    AuditList,
    AuditRow,
    Check,
    Checkup,
    Decaying,
    Decays,
    Fix,
    Recalled,
    RecalledRow,
    RetentionRules,
    Rule,
    Series,
    Totals,
)
from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.metrics import FIGURES
from mnemolog.faces.http.queries import Cursor, Limit, opened, sealed
from mnemolog.faces.http.rows import entry_row, excerpt
from mnemolog.faces.http.shapes import HiddenList
from mnemolog.memory import Memory
from mnemolog.model.entry import TYPES
from mnemolog.model.inspecting import Told
from mnemolog.model.times import normalise, to_text

_SHOWN = 20
_MOST_FINDINGS = 500
_DECAY_POINTS = 49


@get("/stats", sync_to_thread=True)
def stats(caller: Asking) -> Totals:
    """Everything in sight, in numbers."""
    memory = caller.memory
    found = memory.numbers()
    summary = found.summary
    return Totals(
        sessions=found.sessions,
        entries=sum(summary.counts.values()),
        by_type=summary.counts,
        by_agent=summary.agents,
        size_bytes=summary.size_bytes,
        hidden=found.hidden,
        corrupted_lines=summary.damaged,
        redactions=summary.redactions,
        revisions=summary.revisions,
        created_at=found.since,
        updated_at=summary.last_written,
        figures=caller.house.figures.now(memory) if caller.sees_all else {},
    )


@get("/stats/series", sync_to_thread=True)
def series(
    caller: Asking,
    metric: Annotated[str, QueryParameter(max_length=100)] = "entries",
    start: Annotated[str | None, QueryParameter(name="from")] = None,
    end: Annotated[str | None, QueryParameter(name="to")] = None,
    step: Annotated[str, QueryParameter(pattern="^(hour|day|month)$")] = "day",
) -> Series:
    """`entries`: growth by type, by hour, day or month. Else one of the figures since the start."""
    first = None if start is None else normalise(start, "from")
    last = None if end is None else normalise(end, "to")
    if metric == "entries":
        return _growth(caller.memory, first, last, step)
    if metric not in FIGURES:
        known = ("entries", *FIGURES)
        raise unknown(metric, known, f"There is no metric {metric!r:.60}.", "metric")
    caller.owner("see figures of everything")
    # The first is taken a minute after the start, unless somebody asks.
    points = caller.house.figures.series(caller.house.memory, time.time())
    kept = [
        (at, one[metric])
        for one in points
        if (at := _stamp(one["at"])) and (not first or at >= first) and (not last or at <= last)
    ]
    return Series(
        metric=metric, t=[at for at, _ in kept], series={metric: [value for _, value in kept]}
    )


def _stamp(seconds: float) -> str:
    return to_text(datetime.fromtimestamp(seconds, UTC))


def _growth(memory: Memory, first: str | None, last: str | None, step: str) -> Series:
    counts = {
        at: by_type
        for at, by_type in memory.growth(step).items()
        if (not first or at >= first[: len(at)]) and (not last or at <= last[: len(at)])
    }
    kinds = sorted({kind for one in counts.values() for kind in one})
    return Series(
        metric="entries",
        t=list(counts),
        series={kind: [float(one.get(kind, 0)) for one in counts.values()] for kind in kinds},
    )


@get("/stats/decay", sync_to_thread=True)
def decay(caller: Asking) -> Decays:
    """How much of each type is left as it grows older, by the settings in force."""
    return Decays(
        items=[
            Decaying(
                type=one.type,
                half_life_h=one.half_life_hours,
                floor=one.floor,
                points=[(hours, left) for hours, left in one.points],
            )
            for one in caller.memory.decay_curves(TYPES, _DECAY_POINTS)
        ]
    )


@get("/stats/recalled", sync_to_thread=True)
def recalled(
    caller: Asking, sessions: Annotated[int, QueryParameter(ge=1, le=200)] = 50
) -> Recalled:
    """What was found and read most, and what never was, in the sessions changed last."""
    memory = caller.memory
    found = [
        (session.id, one)
        for session in memory.list_sessions(limit=sessions)
        for one in memory.timeline(session.id, limit=200).entries
    ]
    never = [place for place in found if place[1].accesses == 0]
    most = sorted((place for place in found if place[1].accesses), key=lambda it: -it[1].accesses)
    return Recalled(
        most=[_recalled(*place) for place in most[:_SHOWN]],
        never_share=len(never) / len(found) if found else 0.0,
        never_sample=[_recalled(*place) for place in never[:_SHOWN]],
        looked_at=len(found),
    )


def _recalled(session: str, one: Told) -> RecalledRow:
    entry = one.entry
    return RecalledRow(
        session_id=session,
        id=entry.id,
        type=entry.type,
        text=excerpt(entry),
        accesses=one.accesses,
    )


@get("/retention", sync_to_thread=True)
def retention(caller: Asking) -> RetentionRules:
    """What is kept for how long, and when the next purge is due."""
    memory = caller.owner("see what is kept for how long")
    privacy = memory.settings.privacy
    runs = memory.purge_runs()
    kinds = ("conversation", "decision", "finding", "preference", "default")
    return RetentionRules(
        rules=[Rule(type=one, days=privacy.retention_days.for_type(one)) for one in kinds],
        undelete_days=privacy.undelete_days,
        keep_approved_decisions=privacy.keep_approved_decisions,
        auto_purge=privacy.auto_purge,
        schedule=privacy.purge_schedule,
        last_run=runs.last,
        next_run=runs.next,
    )


@get("/hidden", sync_to_thread=True)
def hidden(
    caller: Asking,
    session_id: Annotated[str | None, QueryParameter(name="session")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> HiddenList:
    """What is hidden, until when it can be brought back; latest first."""
    memory, start = caller.memory, _offset(cursor)
    shown = memory.hidden_entries(session_id, skip=start, limit=limit)
    total = memory.numbers(session_id).hidden
    return HiddenList(
        items=[entry_row(one) for one in shown],
        next_cursor=sealed(start + limit) if total > start + limit else None,
        total=total,
        total_exact=True,
    )


def _offset(cursor: str | None) -> int:
    found = opened(cursor, tuple[int])
    return max(0, found[0]) if found else 0


@get("/audit", sync_to_thread=True)
def audit(caller: Asking, limit: Limit = 50, cursor: Cursor = None) -> AuditList:
    """Who did what, when, to how many and why; and whether the chain of the audit holds."""
    memory = caller.owner("read the audit")
    problem = ""
    try:
        found = memory.audit()
    except CorruptionError as error:
        problem, found = error.message, memory.readable_audit()
    found = caller.about(found)[::-1]
    start = _offset(cursor)
    rows = [
        AuditRow(
            at=one.at,
            actor=one.actor,
            action=one.action,
            session_id=one.session_id,
            count=one.entries,
            reason=one.reason,
            facts=one.criteria,
        )
        for one in found[start : start + limit]
    ]
    return AuditList(
        items=rows,
        next_cursor=sealed(start + limit) if len(found) > start + limit else None,
        total=len(found),
        total_exact=True,
        chain_ok=not problem,
        chain_problem=problem,
    )


@get("/doctor", sync_to_thread=True)
def doctor(caller: Asking, privacy: FromQuery[bool] = False) -> Checkup:
    """Everything that is wrong below the root, and what to do about it."""
    from mnemolog.stores.files import doctor as practice  # hardly ever asked for, and large

    caller.owner("have everything examined")
    visit = practice.visit_root(caller.house.root, caller.house.environ, only_privacy=privacy)
    found = [_check(one) for one in islice(practice.examine(visit), _MOST_FINDINGS)]
    return Checkup(
        checks=found,
        sessions=visit.tally.sessions,
        logs=visit.tally.logs,
        lines=visit.tally.lines,
        size_bytes=visit.tally.size_bytes,
        healthy=not any(one.level in ("warning", "error") for one in found),
    )


def _check(found: Any) -> Check:
    return Check(
        id=found.code,
        level=found.severity,
        title=found.code.replace("_", " "),
        detail=found.what,
        path=found.path,
        fix=Fix(
            command=found.advice.replace("--repair", "`mnemolog doctor --repair`"),
            plan="repair" if "--repair" in found.advice else None,
        ),
    )


ROUTES = [stats, series, decay, recalled, retention, hidden, audit, doctor]
