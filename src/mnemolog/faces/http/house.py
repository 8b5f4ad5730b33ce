"""Everything that requests share: the memory, tokens, jobs, plans, feeds, tickets, figures."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

from litestar import Request
from litestar.di import NamedDependency

from mnemolog.faces.http.door import VISIT, Arrival
from mnemolog.faces.http.feeds import Feeds
from mnemolog.faces.http.jobs import Job, Jobs
from mnemolog.faces.http.metrics import Figures
from mnemolog.faces.http.passes import NOBODY, Desk, Scope, utc_now, view
from mnemolog.faces.http.plans import Plans
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.http.ruling import Ruling, page_tokens_live
from mnemolog.faces.http.tickets import Tickets
from mnemolog.memory import Memory
from mnemolog.model.times import to_text
from mnemolog.settings import Settings
from mnemolog.stores.files import roots
from mnemolog.stores.files.serving.job_file import JobFile
from mnemolog.worker import Worker

ALWAYS = [
    "sessions", "search", "context", "plans", "jobs", "events", "stats", "doctor", "nodes", "review"
]  # fmt: skip
OWNERS = ("worker", "review")


class House:
    """What a server is made of, opened together and closed together."""

    def __init__(
        self,
        memory: Memory,
        root: str,
        desk: Desk,
        figures: Figures,
        environ: Mapping[str, str],
        work_agents: str | None = None,
    ) -> None:
        self.memory = memory
        self.root = root
        self._ident = roots.ident(root)
        self.desk = desk
        self.figures = figures
        self.environ = environ
        self.work_agents = work_agents
        self.ruling = Ruling(memory)
        self.ruling.tell(self._use)
        self.feeds = Feeds(self.view)
        self.jobs = Jobs(JobFile(root), self._tell_job)
        self.plans = Plans(root, self.jobs)
        self.tickets = Tickets()
        self.worker: Worker | None = None
        self.last_tick: str | None = None

    def expect_root(self) -> None:
        """Refuse to take a root that went away for an empty one; raises a 503."""
        if roots.ident(self.root) != self._ident:
            raise RefusedError(
                503,
                "E_ROOT_GONE",
                "The folder of this memory is gone, or another one is in its place.",
                advice="Put it back, or start the server anew.",
            )

    def view(self, scope: Scope) -> Memory:
        """The memory as a scope may see it."""
        return self.ruling.seen(view(self.memory, scope))

    def _use(self, settings: Settings) -> None:
        self.desk = self.desk._replace(lives=page_tokens_live(settings))

    def capabilities(self) -> list[str]:
        """The parts that are there, by name."""
        parts = {
            "worker": self.worker is not None,
            "mcp": find_spec("mcp") is not None,
            "work_agent": self.work_agents is not None,
        }
        return ALWAYS + [name for name, is_there in parts.items() if is_there]

    def _tell_job(self, job: Job, scope: Scope) -> None:
        self.feeds.publish(
            "job",
            scope,
            id=job.id,
            action=job.action,
            state=job.state,
            done=job.done,
            total=job.total,
        )

    def open_worker(self) -> None:
        """Make the worker."""
        self.worker = Worker(self.memory)

    def tick(self) -> int:
        """Let the worker take the sessions that are due; says how many it is done with."""
        if self.worker is None:
            return 0
        done = self.worker.tick(self.memory.settings.knowledge.tick_seconds)
        self.last_tick = to_text(utc_now())
        if done:
            self.feeds.publish("worker", Scope(), done=len(done))
        return len(done)

    def close(self) -> None:
        """End streams, let jobs finish, keep nothing half done."""
        self.feeds.close()
        if self.worker is not None:
            self.worker.stop()
        self.jobs.close()


class _AboutSession(Protocol):
    @property
    def session_id(self) -> str | None: ...


Row = TypeVar("Row", bound=_AboutSession)


class Caller:
    """One request's way to the memory: as whom it asks, and what it may do."""

    def __init__(self, house: House, visit: Arrival) -> None:
        self.house = house
        self.known = visit.known
        self.reach = visit.reach
        self.request_id = visit.request_id

    @property
    def memory(self) -> Memory:
        """The memory as the caller may see it; raises a 401 for one without a token."""
        if self.known.kind == NOBODY:
            raise RefusedError(401, "E_TOKEN", "This needs a token.")
        return self.house.view(self.reach)

    def as_agent(self, agent: str) -> Memory:
        """The memory as one agent of the caller's may see it; raises a 403."""
        if self.reach.agents and agent not in self.reach.agents:
            raise RefusedError(403, "E_SCOPE", "This token does not reach that agent.")
        return self.house.view(Scope(agent, self.reach.user))

    @property
    def is_welcome(self) -> bool:
        """Whether the token that was brought is still good for the same."""
        return self.house.desk.still_accepts(self.known)

    @property
    def sees_all(self) -> bool:
        """Whether the request is narrowed to nobody."""
        return self.known.is_owner and self.reach == Scope()

    def about(self, rows: Sequence[Row]) -> list[Row]:
        """Of rows about sessions those that are in sight, also where only the owner may ask."""
        if self.sees_all:
            return list(rows)
        seen = {one.id for one in self.memory.list_sessions()}
        return [row for row in rows if row.session_id in seen]

    def owner(self, what: str) -> Memory:
        """The memory, for callers who may reach all of it; raises a 403."""
        if not self.known.is_owner:
            raise RefusedError(
                403, "E_SCOPE", f"Only the owner may {what}.", advice="Use the owner's token."
            )
        return self.house.memory

    def capabilities(self) -> list[str]:
        """The parts that are there for this caller; some are the owner's."""
        parts = self.house.capabilities()
        return parts if self.known.is_owner else [one for one in parts if one not in OWNERS]

    def publish(self, topic: str, **body: Any) -> None:
        """Tell whoever follows that something happened."""
        self.house.feeds.publish(topic, self.reach, **body)


Asking = NamedDependency[Caller]
"""The caller, as a route takes it."""


def caller_of(request: Request[Any, Any, Any]) -> Caller:
    """The caller of a request."""
    house: House = request.app.state["house"]
    house.expect_root()
    return Caller(house, request.scope[VISIT])  # type: ignore[literal-required]
