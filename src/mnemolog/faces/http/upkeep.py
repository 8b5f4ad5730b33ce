"""Upkeep by plan: retention, redaction, compaction, versions, the index, repairs."""

import os
from collections import Counter

import msgspec

from mnemolog.faces.http.jobs import Progress
from mnemolog.faces.http.orders import (
    SESSIONS,
    SHOWN,
    Action,
    Done,
    Draft,
    Order,
    confirm_for,
    many,
    marked,
    session_draft,
)


def _plan_retention(order: Order) -> Draft:
    found = order.memory.purge(dry_run=True, as_of=order.at)
    types = Counter(found.tombstoned.by_type) + Counter(found.erased.by_type)
    touched = {*found.tombstoned.by_session, *found.erased.by_session}
    ids = (*found.tombstoned.ids, *found.erased.ids)
    return Draft(
        f"Hide {many(found.tombstoned.count)} past retention, erase {many(found.erased.count)} "
        f"that were hidden for long enough. {_kept(found.spared.count)}".rstrip(),
        sessions=len(touched),
        entries=len(ids),
        by_type=dict(types),
        keeps={"approved": found.spared.count},
        files=found.removed_sessions,
        confirm=confirm_for(len(ids), "click"),
        sample=ids[:SHOWN],
        mark=marked(sorted(ids), found.removed_sessions),
        at=found.purged_at,
    )


def _kept(approved: int) -> str:
    return f"{many(approved, 'approved decision')} kept." if approved else ""


def _retention(order: Order, progress: Progress | None) -> Done:
    done = order.memory.purge(confirm=True, as_of=order.at, progress=progress)
    gone = {"hidden": done.tombstoned.count, "erased": done.erased.count}
    gone["kept"] = done.spared.count
    return {**gone, "removed_sessions": list(done.removed_sessions), "failed": done.failed}, []


def _plan_redact(order: Order) -> Draft:
    found = [order.memory.redact(one, dry_run=True) for one in _chosen(order)]
    kinds: Counter[str] = Counter()
    for one in found:
        kinds.update(one.kinds)
    entries = sum(one.entries for one in found)
    return Draft(
        f"Hide {many(sum(kinds.values()), 'secret')} in {many(entries)} for ever.",
        sessions=sum(one.sessions for one in found),
        entries=entries,
        by_type=dict(kinds),
        confirm=confirm_for(entries, "click"),
        mark=marked(entries, sorted(kinds.items())),
    )


def _chosen(order: Order) -> list[str | None]:
    return [*order.named_sessions] if order.names_sessions else [None]


def _redact(order: Order, progress: Progress | None) -> Done:
    done = [order.memory.redact(one, progress=progress) for one in _chosen(order)]
    return {"redacted": msgspec.to_builtins(done)}, []


def _plan_compact(order: Order) -> Draft:
    order.memory.check_allowed("compact_session")
    draft = session_draft(order, "Compact")
    return draft._replace(sentence=f"{draft.sentence} Superseded lines go.", mark="")


def _compact(order: Order, progress: Progress | None) -> Done:
    done = [order.memory.compact_session(one) for one in order.named_sessions]
    return {"compacted": msgspec.to_builtins(done)}, []


def _plan_reindex(order: Order) -> Draft:
    order.memory.check_allowed("rebuild_index")
    return Draft("Throw the index away and read all logs again. Nothing is lost by it.")


def _reindex(order: Order, progress: Progress | None) -> Done:
    return {"entries": order.memory.rebuild_index(progress=progress)}, []


def _plan_migrate(order: Order) -> Draft:
    found = [log for one in _chosen(order) for log in order.memory.migrate(one, dry_run=True)]
    due = [one for one in found if one.status == "rewritten"]
    lines = sum(one.lines for one in due)
    return Draft(
        f"Rewrite {many(lines, 'line')} of earlier versions in {many(len(due), 'log')}.",
        sessions=len(due),
        entries=lines,
        mark=marked([(one.log, one.lines) for one in due]),
    )


def _migrate(order: Order, progress: Progress | None) -> Done:
    found = [log for one in _chosen(order) for log in order.memory.migrate(one, progress=progress)]
    told = [
        {"kind": one.log.kind, "id": one.log.id, "status": one.status, "lines": one.lines,
         "reason": one.reason}
        for one in found
        if one.status != "current"
    ]  # fmt: skip
    return {"migrated": told, "current": len(found) - len(told)}, []


def _plan_repair(order: Order) -> Draft:
    order.memory.check_allowed("maintain")
    return Draft("Mend what is safe to mend below the root. No line is ever removed.")


def _repair(order: Order, progress: Progress | None) -> Done:
    from mnemolog.stores.files import doctor  # takes longer to load than all other plans

    visit = doctor.visit_root(order.root, os.environ, progress)
    found = list(doctor.repair(visit))
    return {
        "repaired": [one.done for one in found if one.done is not None],
        "failed": [one.failed for one in found if one.failed is not None],
        "left": sum(one.done is None for one in found),
    }, []


UPKEEP: dict[str, Action] = {
    "retention": Action(_plan_retention, _retention, is_job=True),
    "redact": Action(_plan_redact, _redact, is_job=True, selector=SESSIONS),
    "compact": Action(_plan_compact, _compact, is_job=True, selector=SESSIONS),
    "migrate": Action(_plan_migrate, _migrate, is_job=True, selector=SESSIONS),
    "reindex": Action(_plan_reindex, _reindex, is_job=True),
    "repair": Action(_plan_repair, _repair, is_job=True),
}
