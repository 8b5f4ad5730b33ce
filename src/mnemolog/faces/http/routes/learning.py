"""The review, the worker, and the moments that give it work."""

import msgspec
from litestar import get, post
from litestar.params import FromPath, JSONBody

from mnemolog.errors import NodeNotFoundError
from mnemolog.faces.http.house import Asking, Caller
from mnemolog.faces.http.node_rows import hunk_rows, written
from mnemolog.faces.http.node_shapes import (
    DueFacts,
    DueRow,
    Judged,
    Moment,
    ProposalRow,
    Proposals,
    Ticked,
    WorkerFacts,
    Written,
)
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.http.queries import Cursor, Limit, opened, sealed
from mnemolog.memory import Memory
from mnemolog.model.lesson import Due, Waiting
from mnemolog.worker import Worker


@get("/review", sync_to_thread=True)
def review(caller: Asking, limit: Limit = 50, cursor: Cursor = None) -> Proposals:
    """What waits for a person's yes, with what it would change; oldest first."""
    memory = caller.memory
    found = memory.proposals()
    # By a place, not by a number: what is judged meanwhile is gone from the list.
    after = opened(cursor, tuple[str, str])
    rest = found if after is None else [one for one in found if _place(one) > after]
    shown = rest[:limit]
    rows = [
        ProposalRow(
            id=one.id,
            user=one.user_id,
            target=one.edit.address,
            title=one.edit.title,
            body=one.edit.body,
            why=one.why,
            reason=one.edit.reason,
            diff=hunk_rows(memory.proposal_diff(one.id)),
            sources=msgspec.to_builtins(list(one.edit.sources)),
            distiller=one.distiller,
            created_at=one.created_at,
            base_hash=one.edit.expected,
            is_overtaken=one.edit.expected != _hash(memory, one),
        )
        for one in shown
    ]
    return Proposals(
        items=rows,
        next_cursor=sealed(*_place(shown[-1])) if len(rest) > limit else None,
        total=len(found),
        total_exact=True,
    )


def _hash(memory: Memory, waiting: Waiting) -> str:
    """The hash of the node as it is; nothing for one that is not there."""
    try:
        return memory.read_node(waiting.edit.address, user_id=waiting.user_id).hash
    except NodeNotFoundError:
        return ""


def _place(waiting: Waiting) -> tuple[str, str]:
    return waiting.created_at, waiting.id


@post("/review/{proposal_id:str}", sync_to_thread=True, status_code=200)
def judge(caller: Asking, proposal_id: FromPath[str], data: JSONBody[Judged]) -> Written:
    """Accept a proposal, with another text if one is given, or reject it."""
    if data.verdict == "reject":
        caller.memory.reject_proposal(proposal_id, data.reason)
        caller.publish("review", id=proposal_id)
        return Written(
            path="", status="rejected", version=0, hash="", redactions=(), reason=data.reason
        )
    done = caller.memory.accept_proposal(proposal_id, data.body, expected=data.expected)
    caller.publish("review", id=proposal_id)
    return written(caller, "", done)


@post("/sessions/{session_id:str}/moments", sync_to_thread=True, status_code=200)
def mark_moment(caller: Asking, session_id: FromPath[str], data: JSONBody[Moment]) -> DueFacts:
    """Say what happened in a session; the worker learns from it once that makes it due."""
    memory = caller.memory
    tell = {
        "turn": memory.end_turn,
        "reset": memory.reset_session,
        "compacted": memory.context_compacted,
        "sleep": memory.sleep_session,
    }[data.what]
    return DueFacts(is_due=tell(session_id))


@get("/worker", sync_to_thread=True)
def worker(caller: Asking) -> WorkerFacts:
    """What the worker does, what waits for it, and what it gave up."""
    memory, own = caller.owner("see the worker"), _worker(caller)
    return WorkerFacts(
        state="working" if own.busy else "idle",
        last_tick=caller.house.last_tick,
        tick_seconds=memory.settings.knowledge.tick_seconds,
        busy=own.busy,
        queue=[_due(one) for one in caller.about(memory.due_sessions(limit=200))],
        parked=[_due(one) for one in caller.about(memory.parked_sessions())[:200]],
    )


def _worker(caller: Caller) -> Worker:
    own = caller.house.worker
    if own is None:
        raise RefusedError(404, "E_NOT_INSTALLED", "There is no worker here.")
    return own


def _due(one: Due) -> DueRow:
    return msgspec.convert(msgspec.to_builtins(one), DueRow)


@post("/worker/tick", sync_to_thread=True, status_code=200)
def tick(caller: Asking) -> Ticked:
    """Let the worker look for due sessions now."""
    caller.owner("move the worker")
    _worker(caller)
    return Ticked(done=caller.house.tick())


@post("/worker/parked/{session_id:str}/retry", sync_to_thread=True, status_code=200)
def retry(caller: Asking, session_id: FromPath[str]) -> dict[str, bool]:
    """Try a parked session again."""
    return {"retried": caller.owner("move the worker").retry_session(session_id)}


ROUTES = [review, judge, mark_moment, worker, tick, retry]
