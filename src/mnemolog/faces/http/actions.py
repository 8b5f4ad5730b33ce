"""Forgetting by plan: each action says what it would reach, and then does exactly that."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec

from mnemolog.faces.http.jobs import Progress
from mnemolog.faces.http.orders import (
    CRITERIA,
    MANY,
    SESSIONS,
    SHOWN,
    Action,
    Done,
    Draft,
    Order,
    confirm_for,
    many,
    marked,
    named,
    session_draft,
)
from mnemolog.faces.http.passes import utc_now
from mnemolog.faces.http.proofs import proof
from mnemolog.faces.http.undos import Gone
from mnemolog.model.forgetting import Erasure
from mnemolog.model.times import to_text

_AT_ONCE = 32 * 1024 * 1024


def _gather(order: Order, *, erase: bool, everything: bool = False) -> Draft:
    criteria = None if everything else order.criteria
    sessions = order.named_sessions if everything else order.sessions
    found = {one: order.memory.would_forget(one, criteria, erase=erase) for one in sessions}
    types: Counter[str] = Counter()
    for meant in found.values():
        types.update(meant.by_type)
    ids = [one for meant in found.values() for one in meant.ids]
    return Draft(
        "",
        sessions=sum(bool(meant.ids) for meant in found.values()),
        entries=len(ids),
        bytes=sum(meant.bytes for meant in found.values()),
        by_type=dict(types),
        sample=tuple(ids[:SHOWN]),
        mark=marked(sorted((name, meant.mark) for name, meant in found.items())),
    )


def _restorable(order: Order) -> str:
    days = order.memory.settings.privacy.undelete_days
    return to_text(utc_now() + timedelta(days=days))


def _plan_delete(order: Order) -> Draft:
    draft = _gather(order, erase=False)
    until = _restorable(order)
    return draft._replace(
        sentence=f"Hide {many(draft.entries)}. Restorable until {until[:10]}.",
        reversible_until=until,
        confirm="none" if draft.entries <= 1 else confirm_for(draft.entries, "click"),
    )


def _delete(order: Order, progress: Progress | None) -> Done:
    gone = []
    for session_id in order.sessions:
        done = order.memory.delete(session_id, order.criteria, reason=order.reason)
        gone.append(Gone(session_id, done.deleted_at, done.ids))
    return {"hidden": sum(len(one.ids) for one in gone)}, gone


def _plan_clear(order: Order) -> Draft:
    draft = _gather(order, erase=order.is_erasure, everything=True)
    where = named(order.named_sessions)
    if order.is_erasure:
        return _forever(order, draft, f"Clear {where}: erase {many(draft.entries)} for ever.")
    until = _restorable(order)
    return draft._replace(
        sentence=f"Clear {where}: hide {many(draft.entries)} ({draft.bytes:,} bytes). "
        f"Restorable until {until[:10]}. Nodes that cite them stay.",
        reversible_until=until,
        confirm=confirm_for(draft.entries, "click"),
    )


def _clear(order: Order, progress: Progress | None) -> Done:
    if order.is_erasure:
        return _erase_ids(order, progress)
    gone = []
    for session_id in order.named_sessions:
        done = order.memory.clear_session(session_id, reason=order.reason)
        gone.append(Gone(session_id, done.deleted_at, done.ids))
    return {"hidden": sum(len(one.ids) for one in gone)}, gone


def _erase_ids(order: Order, progress: Progress | None) -> Done:
    """Everything in some sessions, whose own facts stay."""
    receipts = []
    for session_id in order.named_sessions:
        ids = list(order.memory.would_forget(session_id, None, erase=True).ids)
        if ids:
            done = order.memory.erase(session_id, ids=ids, reason=order.reason, progress=progress)
            receipts.append(done)
    return _erased(receipts), []


def _forever(order: Order, draft: Draft, sentence: str) -> Draft:
    backups = order.memory.known_backups()
    reach = f" {many(len(backups), 'backup')} out of reach." if backups else ""
    return draft._replace(
        sentence=f"{sentence}{reach} Cannot be undone.", unreachable=backups, confirm="count"
    )


def _plan_erase(order: Order) -> Draft:
    draft = _gather(order, erase=True)
    sentence = f"Erase {many(draft.entries)} for ever: log, index, vectors, notes, archive."
    return _forever(order, draft, sentence)


def _erase(order: Order, progress: Progress | None) -> Done:
    return _erased(
        [
            order.memory.erase(some, order.criteria, reason=order.reason, progress=progress)
            for some in _some_at_once(order)
        ]
    ), []


def _some_at_once(order: Order) -> Iterator[list[str]]:
    """The sessions that something is erased from: so many that what it says fits into memory."""
    some: list[str] = []
    size = 0
    for session_id in order.sessions:
        meant = order.memory.would_forget(session_id, order.criteria, erase=True)
        if some and size + meant.bytes > _AT_ONCE:
            yield some
            some, size = [], 0
        if meant.ids:
            some.append(session_id)
            size += meant.bytes
    if some:
        yield some


def _erased(receipts: list[Erasure]) -> dict[str, Any]:
    """The receipts of erasures as one, with the proof."""
    removed: Counter[str] = Counter()
    for one in receipts:
        removed.update(one.places)
    found = [one.verification for one in receipts if one.verification is not None]
    return {
        "erased": sum(one.erased_count for one in receipts),
        "ids": [name for one in receipts for name in one.ids][:MANY],
        "removed": [{"place": name, "lines": count} for name, count in removed.items()],
        "proof": proof(found, (name for one in receipts for name in one.out_of_reach)),
    }


def _plan_delete_session(order: Order) -> Draft:
    order.memory.check_allowed("delete_session")
    draft = session_draft(order, "Delete")
    sentence = f"{draft.sentence} {many(len(draft.files), 'file')} removed for ever."
    return _forever(order, draft, sentence)


def _delete_session(order: Order, progress: Progress | None) -> Done:
    receipts = [
        order.memory.delete_session(one, reason=order.reason, verify=True, progress=progress)
        for one in order.named_sessions
    ]
    return _erased(receipts), []


def _plan_archive(order: Order) -> Draft:
    order.memory.check_allowed("archive_session")
    draft = session_draft(order, "Archive")
    return draft._replace(sentence=f"{draft.sentence} Still read and searched; a write restores.")


def _archive(order: Order, progress: Progress | None) -> Done:
    done = [order.memory.archive_session(one) for one in order.named_sessions]
    return {"archived": msgspec.to_builtins(done)}, []


def _plan_restore(order: Order) -> Draft:
    return session_draft(order, "Restore")


def _restore(order: Order, progress: Progress | None) -> Done:
    done = [order.memory.restore_session(one).id for one in order.named_sessions]
    return {"restored": done}, []


_ENTRIES = (*SESSIONS, *CRITERIA)
_WHY = ("reason",)

FORGETTING: dict[str, Action] = {
    "delete": Action(_plan_delete, _delete, selector=_ENTRIES, options=_WHY),
    "erase": Action(_plan_erase, _erase, is_job=True, selector=_ENTRIES, options=_WHY),
    "clear_session": Action(_plan_clear, _clear, selector=SESSIONS, options=("mode", *_WHY)),
    "delete_session": Action(
        _plan_delete_session, _delete_session, is_job=True, selector=SESSIONS, options=_WHY
    ),
    "archive_session": Action(_plan_archive, _archive, selector=SESSIONS),
    "restore_session": Action(_plan_restore, _restore, selector=SESSIONS),
}
