"""What a distiller is given, and what it proposes."""

from typing import Literal, NamedTuple
from urllib.parse import quote

import msgspec

from mnemolog.errors import DistillerError
from mnemolog.model.entry import Entry
from mnemolog.model.node import NodeReceipt

Log = Literal["session", "user", "shared"]
"""Where an entry stands: in a session's log, in a user's own one, or in the one that is shared."""

OWN = "@"
"""What the name of a log begins with that is no session's; in a source no session's name does."""


def source_name(session_id: str, entry_id: str) -> str:
    """How a node names an entry of a session."""
    return f"{quote(session_id, safe='')}/{quote(entry_id, safe='')}"


def own_source_name(user_id: str, entry_id: str) -> str:
    """How a node names an entry of a user's own log; without a user, of the shared one."""
    return f"{OWN}{source_name(user_id, entry_id)}"


class Source(msgspec.Struct, frozen=True, omit_defaults=True):
    """An entry that an edit rests on, in the revision that was read."""

    session_id: str
    """Of a user's own log it is the user's id, of the shared one it is empty."""
    entry_id: str
    seq: int
    origin: str = "agent"
    log: Log = "session"

    @property
    def name(self) -> str:
        """As it stands in a node: `<session>/<entry>`, with odd characters percent-encoded; of a
        user's own log `@<user>/<entry>`, of the shared one `@/<entry>`."""
        named = source_name if self.log == "session" else own_source_name
        return named(self.session_id, self.entry_id)


class Edit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One node as it should be from now on."""

    address: str
    body: str
    title: str | None = None
    """None leaves what is there."""
    description: str | None = None
    expected: str = ""
    """The hash of the text it was made against; empty for a node that is new."""
    reason: str = ""
    sources: tuple[Source, ...] = ()
    """All entries that the new text rests on because of this edit."""
    heard: tuple[str, ...] = ()
    """The origins of all that its maker was told, where it may have used more than it names."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a distiller made of a lesson."""

    edits: tuple[Edit, ...] = ()
    remarks: tuple[str, ...] = ()
    """Why something was not learned; never content."""


def checked(proposal: Proposal) -> Proposal:
    """What a distiller proposed, if it is a proposal that a file can hold."""
    try:
        return msgspec.json.decode(msgspec.json.encode(proposal), type=Proposal)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise DistillerError(
            f"What the distiller proposed cannot be noted: {type(error).__name__}.",
            advice="A proposal has edits and remarks, each made of text that a file can hold.",
        ) from error


class Lesson(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a session that is to be learned from."""

    session_id: str
    user_id: str
    agent_id: str
    """The source agent: the first of the session's agents, or `default`."""
    entries: tuple[Entry, ...]
    """What may be learned from, in order."""
    transcript: str
    until: int
    """The number of the last line that this lesson covers."""
    until_sum: str
    now: str
    log: Log = "session"
    """Whose entries these are; of a log that is no session's, `session_id` is `@` and the user."""

    def source(self, entry: Entry) -> Source:
        """One of the entries, as what an edit rests on."""
        session = entry.session_id or self.session_id
        where = {"session": session, "user": self.user_id, "shared": ""}[self.log]
        return Source(where, entry.id, entry.seq, entry.origin, self.log)


class Prompt(NamedTuple):
    """What a root tells its memory-agents, where it lies, and the beginning of its hash."""

    path: str
    text: str
    hash: str


class EditPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Edits between being made and being applied; named by session and last line, and its sum."""

    v: int
    id: str
    session_id: str
    user_id: str
    until: int
    until_sum: str
    distiller: str
    edits: tuple[Edit, ...]
    log: Log = "session"


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal that needs a person's yes."""

    v: int
    id: str
    user_id: str
    edit: Edit
    distiller: str
    created_at: str
    why: str
    """Why it waits."""

    @property
    def plan(self) -> str:
        """What a node remembers of it: the same text may be proposed, and accepted, again."""
        return f"review-{self.id}-{self.created_at}"


class Applied(NamedTuple):
    """What became of a plan.

    `stale` means that some of what an edit rests on is gone or was revised, `conflict` that
    somebody wrote to a node meanwhile; then the plan is struck out, and the session stays due.
    """

    status: Literal["applied", "stale", "conflict"]
    receipts: tuple[NodeReceipt, ...] = ()
    dropped: int = 0
    """Edits of which nothing is left that they could rest on."""


class Due(msgspec.Struct, frozen=True, kw_only=True):
    """A session, or a log of its own, that should be learned from, or one that is parked."""

    session_id: str
    user_id: str
    agent_id: str
    cause: str
    """`turns`, `reset`, `compacted`, `sleep`, `idle`, `parked` or `exempt`."""
    invalidated: int
    """The marker that must still stand there when the work is done."""
    processed_until: int
    since: str
    attempts: int = 0
    error: str = ""
    log: Log = "session"
    """Else it is a user's own log, or the shared one, and `session_id` is `@` and the user."""
