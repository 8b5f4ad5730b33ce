"""Jobs: work that takes longer than a request may; seen by whoever asked for it."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from mnemolog.errors import MnemologError
from mnemolog.faces.http import logs
from mnemolog.faces.http.advising import advised
from mnemolog.faces.http.passes import Scope, greediest, utc_now
from mnemolog.faces.http.problems import RefusedError
from mnemolog.model.times import to_text
from mnemolog.stores.files.serving.job_file import JobFile

_MOST_KEPT = 200
_MOST_OPEN = 100
# Of these so many are for one scope at most, and so many for nobody but who sees everything.
_MOST_OF_ONE = 20
_FOR_OWNERS = 20
_AT_ONCE = 2
_STOPPABLE = ("verify", "export", "import (dry run)")


class Job(msgspec.Struct, kw_only=True):
    """A piece of work: how far it is, and what came of it."""

    id: str
    action: str
    state: str = "queued"
    """queued, running, done, failed, cancelled or interrupted."""
    step: str = ""
    steps: tuple[str, ...] = ()
    done: int = 0
    total: int = 0
    unit: str = ""
    started_at: str
    ended_at: str | None = None
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None


class Work(NamedTuple):
    """What a job is to do: it is told how to report how far it got."""

    action: str
    unit: str
    call: Callable[["Progress"], dict[str, Any]]


class StoppedError(RefusedError):
    """Somebody no longer wants this work."""

    def __init__(self, message: str) -> None:
        super().__init__(409, "E_CANCELLED", message)


class Progress:
    """Where a job reports, and where it learns that nobody wants it any more."""

    def __init__(self, job: Job, tell: Callable[[Job], None]) -> None:
        self._job = job
        self._tell = tell
        self.is_unwanted = False

    def __call__(self, done: int, total: int) -> None:
        if self.is_unwanted:
            raise StoppedError("The job was cancelled.")
        is_new = total != self._job.total or done * 50 // max(1, total) != self._share
        self._job.done, self._job.total = done, total
        if is_new:
            self._tell(self._job)

    @property
    def _share(self) -> int:
        return self._job.done * 50 // max(1, self._job.total)

    def step(self, name: str) -> None:
        """Say what is done now."""
        self._job.step = name
        self._tell(self._job)


class Jobs:
    """The jobs of a server; what a crash interrupted is reported by the next one."""

    def __init__(self, file: JobFile, tell: Callable[[Job, Scope], None]) -> None:
        self._file = file
        self._tell = tell
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="mnemolog-job")
        self._mutex = threading.Lock()
        self._writing = threading.Lock()
        self._known: OrderedDict[str, tuple[Job, Scope]] = OrderedDict()
        self._progress: dict[str, Progress] = {}
        for facts in file.read():
            with suppress(msgspec.ValidationError):  # not as we write them: nobody needs it
                job = _left(facts)
                self._known[job.id] = (job, Scope())

    def begin(self, work: Work, scope: Scope) -> Job:
        """Put work into the row; raises a 503 if it is long already."""
        job = Job(
            id=f"job_{secrets.token_hex(8)}",
            action=work.action,
            unit=work.unit,
            started_at=to_text(utc_now()),
        )
        progress = Progress(job, lambda one: self._tell(one, scope))
        with self._mutex:
            self._check_room(scope)
            self._known[job.id] = (job, scope)
            self._progress[job.id] = progress
            self._make_room()
        self._keep()
        future = self._pool.submit(self._run, job, work, progress, scope)
        future.add_done_callback(lambda one: self._after(one, job, scope))
        return job

    def _check_room(self, scope: Scope) -> None:
        owners = Scope()
        waiting = [self._known[name][1] for name in self._progress]
        narrowed = [one for one in waiting if one != owners]
        is_busy = scope != owners and (
            waiting.count(scope) >= _MOST_OF_ONE or len(narrowed) >= _MOST_OPEN - _FOR_OWNERS
        )
        if is_busy or len(waiting) >= _MOST_OPEN:
            raise RefusedError(503, "E_BUSY", "Too many jobs wait already.", retry_after=5)

    def _make_room(self) -> None:
        """Forget the oldest of those that ended, of whoever has most of them."""
        over = [name for name in self._known if name not in self._progress]
        while over and len(self._known) > _MOST_KEPT:
            most = greediest(self._known[name][1] for name in over)
            name = next(name for name in over if self._known[name][1] == most)
            over.remove(name)
            del self._known[name]

    def all(self, scope: Scope) -> list[Job]:
        """The jobs of a scope and of those within it, latest first."""
        with self._mutex:
            known = list(self._known.values())
        return [job for job, own in reversed(known) if scope.covers(own)]

    def get(self, job_id: str, scope: Scope) -> Job:
        """One job; raises a 404."""
        with self._mutex:
            found = self._known.get(job_id)
        if found is None or not scope.covers(found[1]):
            raise RefusedError(404, "E_JOB_NOT_FOUND", "There is no such job.")
        return found[0]

    def cancel(self, job_id: str, scope: Scope) -> Job:
        """Stop a job that nothing is lost by; others have to run to their end."""
        job = self.get(job_id, scope)
        with self._mutex:  # it must not begin, or end, between the look and the word
            progress = self._progress.get(job_id)
            if progress is None:
                return job
            if job.state == "running" and job.action not in _STOPPABLE:
                raise RefusedError(
                    409, "E_JOB_RUNS", f"A job that does {job.action} runs to its end."
                )
            progress.is_unwanted = True
        return job

    def close(self) -> None:
        """Wait for what runs; what has not begun is reported as interrupted."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._keep()
        self._file.close()

    def _run(self, job: Job, work: Work, progress: Progress, scope: Scope) -> dict[str, Any]:
        with self._mutex:
            if progress.is_unwanted:
                raise StoppedError("The job was cancelled before it began.")
            job.state = "running"
        self._keep()
        self._tell(job, scope)
        return work.call(progress)

    def _after(self, future: "Future[dict[str, Any]]", job: Job, scope: Scope) -> None:
        """However it ended: what came of it, or why nothing did."""
        job.ended_at = to_text(utc_now())
        error = None if future.cancelled() else future.exception()
        if future.cancelled():
            job.state = "interrupted"
        elif error is None:
            job.state, job.result = "done", future.result()
        else:
            job.state = "cancelled" if isinstance(error, StoppedError) else "failed"
            job.error = _told(error)
        with self._mutex:
            self._progress.pop(job.id, None)
        self._keep()
        self._tell(job, scope)

    def _keep(self) -> None:
        with self._writing:  # whoever writes last has seen what the others did
            with self._mutex:
                jobs = [job for job, _ in self._known.values()]
            facts = [{**msgspec.to_builtins(job), "result": None, "error": None} for job in jobs]
            self._file.write(facts[-_MOST_KEPT:])


def _told(error: BaseException) -> dict[str, Any]:
    if isinstance(error, MnemologError | RefusedError):
        return {"code": error.code, "detail": error.message, "advice": advised(error.advice)}
    logs.unexpected(error)
    return {"code": "E_UNEXPECTED", "detail": type(error).__name__, "advice": "See the log."}


def _left(facts: dict[str, Any]) -> Job:
    """A job of an earlier server; one that had not ended was interrupted."""
    job = msgspec.convert(facts, Job)
    if job.state in ("queued", "running"):
        job.state = "interrupted"
        job.error = {
            "code": "E_INTERRUPTED",
            "detail": "The server ended before this job did.",
            "advice": "What it had begun to erase was finished when the memory was opened again. "
            "Of several sessions others may be left, and nothing else was done: ask for it anew.",
        }
    return job
