"""The review, and the worker."""

from typing import Any

import msgspec
from litestar import get, post
from litestar.params import FromPath, JSONBody

from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.node_rows import hunk_rows, known, written
from mnemolog.faces.http.node_shapes import (
    DueRow,
    Judged,
    ProposalRow,
    Proposals,
    Ticked,
    WorkerFacts,
    Written,
)
from mnemolog.memory import Memory


@get("/review", sync_to_thread=True)
def review(caller: Asking) -> Proposals:
    """What waits for a person's yes, with what it would change."""
    memory = known(caller, "review")
    found = memory.proposals()
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
        )
        for one in found
    ]
    return Proposals(items=rows, total=len(rows))


@post("/review/{proposal_id:str}", sync_to_thread=True, status_code=200)
def judge(caller: Asking, proposal_id: FromPath[str], data: JSONBody[Judged]) -> Written:
    """Accept a proposal, with another text if one is given, or reject it."""
    memory: Memory = known(caller, "review")
    verbs: Any = memory
    if data.verdict == "reject":
        verbs.reject_proposal(proposal_id, data.reason)
        caller.publish("review", id=proposal_id)
        return Written(
            path="", status="rejected", version=0, hash="", redactions=(), reason=data.reason
        )
    done = verbs.accept_proposal(proposal_id, data.body)
    caller.publish("review", id=proposal_id)
    return written(caller, "", done)


@get("/worker", sync_to_thread=True)
def worker(caller: Asking) -> WorkerFacts:
    """What the worker does, what waits for it, and what it gave up."""
    caller.owner("see the worker")
    memory = known(caller, "worker")
    own = caller.house.worker
    return WorkerFacts(
        state="working" if own.busy else "idle",
        last_tick=caller.house.last_tick,
        tick_seconds=memory.settings.knowledge.tick_seconds,
        busy=own.busy,
        queue=[_due(one) for one in memory.due_sessions(limit=200)],
        parked=[_due(one) for one in memory.parked_sessions()[:200]],
    )


def _due(one: Any) -> DueRow:
    names = DueRow.__struct_fields__
    return DueRow(**{name: getattr(one, name) for name in names})


@post("/worker/tick", sync_to_thread=True, status_code=200)
def tick(caller: Asking) -> Ticked:
    """Let the worker look for due sessions now."""
    caller.owner("move the worker")
    known(caller, "worker")
    return Ticked(done=caller.house.tick())


@post("/worker/parked/{session_id:str}/retry", sync_to_thread=True, status_code=200)
def retry(caller: Asking, session_id: FromPath[str]) -> dict[str, bool]:
    """Try a parked session again."""
    caller.owner("move the worker")
    return {"retried": bool(known(caller, "worker").retry_session(session_id))}


ROUTES = [review, judge, worker, tick, retry]
