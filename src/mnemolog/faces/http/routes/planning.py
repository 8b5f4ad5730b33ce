"""Plans, undoing, jobs, proofs."""

from typing import Any

import msgspec
from litestar import get, post
from litestar.params import FromPath, JSONBody

from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.jobs import Job, Progress, Work
from mnemolog.faces.http.plans import Outcome, Plan
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.http.proofs import proof
from mnemolog.faces.http.shapes import Confirmed, NewPlan, Restored, Undone, Verify
from mnemolog.faces.http.undos import undone


@post("/plans", sync_to_thread=True)
def make_plan(caller: Asking, data: JSONBody[NewPlan]) -> Plan:
    """Work out what an action would reach; with `run`, do it if nothing has to be confirmed."""
    plan = caller.house.plans.make(
        caller.memory, caller.reach, data.action, data.selector, data.options
    )
    if not data.run:
        return plan
    if plan.confirm != "none":
        raise RefusedError(
            400,
            "E_CONFIRM",
            "This has to be confirmed, so it cannot be run at once.",
            advice="Make the plan without `run`, show it, and run that plan.",
            field="run",
        )
    outcome = caller.house.plans.run(plan.plan_id, caller.reach, True)
    caller.publish("hidden", restored=0)
    return msgspec.structs.replace(plan, outcome=outcome)


@post("/plans/{plan_id:str}/run", sync_to_thread=True, status_code=200)
def run_plan(caller: Asking, plan_id: FromPath[str], data: JSONBody[Confirmed]) -> Outcome:
    """Do what was planned; 409 with the new plan if the world changed meanwhile."""
    outcome = caller.house.plans.run(plan_id, caller.reach, data.confirm)
    caller.publish("hidden", restored=0)
    return outcome


@post("/undo/{undo_id:str}", sync_to_thread=True, status_code=200)
def undo(caller: Asking, undo_id: FromPath[str]) -> Undone:
    """Bring back what a plan hid; also after a restart, for as long as it can be restored."""
    done = undone(caller.memory, undo_id)
    caller.publish("hidden", ids=done["ids"][:100], restored=len(done["ids"]))
    return Undone(ids=done["ids"], refused=done["refused"])


@post("/hidden/restore", sync_to_thread=True, status_code=200)
def restore(caller: Asking, data: JSONBody[Restored]) -> Undone:
    """Bring hidden entries of a session back, however they were hidden."""
    done = caller.memory.undelete(data.session_id, data.ids)
    caller.publish("hidden", ids=list(done.ids)[:100], restored=len(done.ids))
    return Undone(ids=list(done.ids), refused=dict(done.refused))


@get("/jobs", sync_to_thread=False)
def list_jobs(caller: Asking) -> dict[str, list[Job]]:
    """The jobs, latest first."""
    return {"items": caller.house.jobs.all(caller.reach)}


@get("/jobs/{job_id:str}", sync_to_thread=False)
def get_job(caller: Asking, job_id: FromPath[str]) -> Job:
    """How far a job is, and what came of it."""
    return caller.house.jobs.get(job_id, caller.reach)


@post("/jobs/{job_id:str}/cancel", sync_to_thread=False, status_code=200)
def cancel_job(caller: Asking, job_id: FromPath[str]) -> Job:
    """Stop a job, if nothing would be left half done."""
    return caller.house.jobs.cancel(job_id, caller.reach)


@post("/verify", sync_to_thread=True, status_code=202)
def verify(caller: Asking, data: JSONBody[Verify]) -> Job:
    """Look for ids and texts in every file; for the owner."""
    memory = caller.owner("look into every file")
    if not data.ids and not data.text:
        raise RefusedError(400, "E_SCHEMA_INVALID", "Give ids or text that should be gone.")

    def call(progress: Progress) -> dict[str, Any]:
        found = memory.verify_erasure(ids=data.ids, text=data.text, progress=progress)
        return {"proof": proof([found], memory.known_backups())}

    return caller.house.jobs.begin(Work("verify", "files", call), caller.reach)


ROUTES = [make_plan, run_plan, undo, restore, list_jobs, get_job, cancel_job, verify]
