"""The bodies of answers about figures, retention, the audit and the doctor."""

import msgspec


class Totals(msgspec.Struct, kw_only=True):
    """Everything in sight, in numbers."""

    sessions: int
    entries: int
    by_type: dict[str, int]
    by_agent: dict[str, int]
    size_bytes: int
    hidden: int
    corrupted_lines: int
    redactions: dict[str, int]
    revisions: int
    created_at: str | None
    updated_at: str | None
    figures: dict[str, float]


class Series(msgspec.Struct, kw_only=True):
    """Figures over time; `t` are moments."""

    metric: str
    t: list[str]
    series: dict[str, list[float]]


class Decaying(msgspec.Struct, kw_only=True):
    """How one type of entry decays: what is left after so many hours."""

    type: str
    half_life_h: float | None
    floor: float
    points: list[tuple[float, float]]


class Decays(msgspec.Struct, kw_only=True):
    """How each type decays."""

    items: list[Decaying]


class RecalledRow(msgspec.Struct, kw_only=True):
    """An entry and how often it was found or read."""

    session_id: str
    id: str
    type: str
    text: str
    accesses: int


class Recalled(msgspec.Struct, kw_only=True):
    """What is recalled most, and how much never is."""

    most: list[RecalledRow]
    never_share: float
    never_sample: list[RecalledRow]
    looked_at: int


class Rule(msgspec.Struct, kw_only=True):
    """How long one type is kept; None means for ever."""

    type: str
    days: int | None


class RetentionRules(msgspec.Struct, kw_only=True):
    """What is kept for how long, and when that is applied."""

    rules: list[Rule]
    undelete_days: int
    keep_approved_decisions: bool
    auto_purge: bool
    schedule: str
    last_run: str | None
    next_run: str | None


class AuditRow(msgspec.Struct, kw_only=True):
    """That something was done; never what it said."""

    at: str
    actor: str
    action: str
    session_id: str | None
    count: int
    reason: str
    facts: dict[str, int]


class AuditList(msgspec.Struct, kw_only=True):
    """The audit, latest first, and whether its chain holds."""

    items: list[AuditRow]
    next_cursor: str | None
    total: int
    total_exact: bool
    chain_ok: bool
    chain_problem: str


class Fix(msgspec.Struct, kw_only=True):
    """What to do about a finding; `plan` is the action of a plan that does it."""

    command: str
    plan: str | None = None


class Check(msgspec.Struct, kw_only=True):
    """Something that the doctor found."""

    id: str
    level: str
    title: str
    detail: str
    path: str
    fix: Fix


class Checkup(msgspec.Struct, kw_only=True):
    """What the doctor found."""

    checks: list[Check]
    sessions: int
    logs: int
    lines: int
    size_bytes: int
    healthy: bool
