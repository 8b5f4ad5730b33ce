"""Who is asking: the owner, a browser that signed in, or a program with a scoped token."""

import hmac
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from mnemolog.errors import SettingsError, StorageError
from mnemolog.faces.http.problems import RefusedError
from mnemolog.memory import Memory
from mnemolog.stores.files.serving.token_file import Issued, TokenFile

CODE_LIVES = timedelta(minutes=10)
_LOG = logging.getLogger("mnemolog.server")
NOBODY = "nobody"
"""The kind of pass that needs no token, and opens next to nothing."""


class Scope(NamedTuple):
    """What a view of the memory is narrowed to; None means everything."""

    agent: str | None = None
    user: str | None = None
    beside: tuple[str, ...] = ()
    """Further agents: what any of them may see is in sight, and nothing is written."""

    @property
    def agents(self) -> tuple[str, ...]:
        """All agents that are meant; none means everybody."""
        return () if self.agent is None else (self.agent, *self.beside)

    def covers(self, other: "Scope") -> bool:
        """Whether everything in another scope is in this one too."""
        is_agents = not self.agents or bool(other.agents and {*other.agents} <= {*self.agents})
        return is_agents and self.user in (None, other.user)


def greediest(scopes: Iterable[Scope]) -> Scope:
    """The scope that stands there most often: it makes room where room has to be made."""
    return Counter(scopes).most_common(1)[0][0]


class Pass(NamedTuple):
    """A token that was accepted, and what it is good for."""

    id: str
    kind: str
    agents: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    read_only: bool = False
    expires_at: str | None = None

    @property
    def is_owner(self) -> bool:
        """Whether it reaches everything."""
        return self.kind != NOBODY and not self.agents and not self.users

    def narrowed(self, agent: str | None, user: str | None) -> Scope:
        """The scope of one request, which may name an agent and a user; raises a 403.

        Unless one of its agents is named, what any of them may see is meant.
        """
        named = _one(self.users, user, "user")
        if agent is None and len(self.agents) > 1:
            return Scope(self.agents[0], named, self.agents[1:])
        return Scope(_one(self.agents, agent, "agent"), named)


def _one(allowed: tuple[str, ...], wanted: str | None, what: str) -> str | None:
    if not allowed:
        return wanted
    if wanted is None and len(allowed) == 1:
        return allowed[0]
    if wanted in allowed:
        return wanted
    raise (
        which(what)
        if wanted is None
        else RefusedError(
            403, "E_SCOPE", f"This token does not reach that {what}.", advice=_advice(what)
        )
    )


def which(what: str) -> RefusedError:
    """The refusal of a request that could mean several agents or users."""
    return RefusedError(403, "E_SCOPE", f"Which {what} is meant?", advice=_advice(what))


def _advice(what: str) -> str:
    return f"Send `Mnemolog-{what.capitalize()}: …` with one that GET /api/v1/me lists."


def view(memory: Memory, scope: Scope) -> Memory:
    """The memory as a scope may see it."""
    if scope.user is not None:
        memory = memory.for_user(scope.user)
    return memory.for_agents(scope.agents) if scope.agents else memory


def utc_now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


class Desk(NamedTuple):
    """Where tokens are shown and made."""

    owner: str
    file: TokenFile
    lives: timedelta
    now: Callable[[], datetime] = utc_now

    def accepted(self, token: bytes | None) -> Pass | None:
        """What a token is good for; None for one that is unknown, expired or revoked."""
        if token is None:
            return None
        if hmac.compare_digest(token, self.owner.encode()):
            return Pass("owner", "owner")
        return self._found(
            lambda: self.file.find(token.decode("latin-1"), self.now(), ("scoped", "page"))
        )

    def still_accepts(self, known: Pass) -> bool:
        """Whether a token that was accepted is neither expired, revoked nor changed."""
        return known.kind == "owner" or known == self._found(
            lambda: self.file.named(known.id, self.now())
        )

    def _found(self, look: Callable[[], Issued | None]) -> Pass | None:
        try:
            found = look()
        except (SettingsError, StorageError):
            _LOG.error("tokens.toml cannot be read: no token but the owner's is accepted")
            return None
        return None if found is None else _pass(found)

    def new_code(self) -> str:
        """A code that signs a browser in, once and soon."""
        return self.file.issue("code", self.now(), CODE_LIVES)[0]

    def sign_in(self, code: str) -> tuple[str, Pass]:
        """Exchange a code for a token of a page; raises a 401."""
        taken = self.file.take_code(code, self.now())
        if taken is None:
            raise RefusedError(
                401,
                "E_CODE",
                "This sign-in link was used before, or is too old.",
                advice="`mnemolog token link` prints another.",
            )
        token, made = self.file.issue(
            "page",
            self.now(),
            self.lives,
            agents=taken.agents,
            users=taken.users,
            read_only=taken.read_only,
        )
        return token, _pass(made)

    def sign_out(self, known: Pass) -> None:
        """Make a page's token worthless."""
        if known.kind == "page":
            self.file.revoke(known.id)


def _pass(found: Issued) -> Pass:
    return Pass(found.id, found.kind, found.agents, found.users, found.read_only, found.expires_at)
