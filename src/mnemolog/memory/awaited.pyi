"""What `AsyncMemory` and `AsyncRun` await, for type checkers and editors; there is no such module.

Printed by `python -m mnemolog.memory.stub`.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Unpack

from mnemolog.layouts.contract import FileSource
from mnemolog.memory.exporting import ExportReport
from mnemolog.memory.forgetting import Criteria
from mnemolog.memory.import_report import ImportReport
from mnemolog.memory.run import Cleared, Run
from mnemolog.memory.writing import Writing
from mnemolog.model.archiving import ArchiveReceipt, IdleArchiving
from mnemolog.model.context import Context
from mnemolog.model.entry import Entry, Receipt, Warned
from mnemolog.model.forgetting import (
    Compaction,
    Deletion,
    Erasure,
    Redaction,
    Restored,
    Verification,
)
from mnemolog.model.inspecting import (
    Bucket,
    DecayCurve,
    FileFact,
    Meant,
    Numbered,
    PurgeRuns,
    RawLine,
    Revision,
    Timeline,
    Told,
)
from mnemolog.model.lesson import Applied, Due, EditPlan, Lesson, Log, Prompt, Proposal, Waiting
from mnemolog.model.maintenance import Maintenance, Purge
from mnemolog.model.node import (
    Folder,
    Graph,
    Hunk,
    Leaf,
    Links,
    Node,
    NodeHit,
    NodeReceipt,
    NodeVersion,
    SimilarNodes,
)
from mnemolog.model.query import Hits, Query
from mnemolog.model.session import Session, Statistics
from mnemolog.model.shapes import Conversation, Decision, Finding, Preference
from mnemolog.policy.compartments import Compartment, Room
from mnemolog.policy.echoes import Handed
from mnemolog.ports import Progress
from mnemolog.ports.distiller import NodeReader
from mnemolog.ports.keeping import Audited, LeftRun
from mnemolog.ports.moving import BackedUp, Exported, Imported, Migrated
from mnemolog.settings import Settings

class MemoryVerbs:
    """The verbs of `Memory`, awaited."""

    async def accept_proposal(
        self, proposal_id: str, text: str | None = None, *, expected: str | None = None
    ) -> NodeReceipt:
        """Write what was proposed, or another text instead, and take it out of the review.

        If the node changed since the proposal was made, `NodeConflictError` says so; give a `text`
        that is made of both. `expected` is the hash of the node that the person saw; without it, a
        text of one's own takes the place of whatever is there.
        """

    async def add_conversation(
        self,
        session_id: str,
        message: Mapping[str, Any] | None = None,
        /,
        **fields: Unpack[Conversation],
    ) -> Receipt:
        """Add a message: `role`, `content`, `agent_id`, `context`, `metadata`, …"""

    async def add_decision(
        self,
        session_id: str,
        decision_record: Mapping[str, Any] | None = None,
        /,
        **fields: Unpack[Decision],
    ) -> Receipt:
        """Add a decision: `decision`, `rationale`, `made_by`, `approved_by`, `impact`, …"""

    async def add_finding(
        self,
        session_id: str,
        finding: Mapping[str, Any] | None = None,
        /,
        **fields: Unpack[Finding],
    ) -> Receipt:
        """Add a finding: `description`, `severity`, `evidence`, `recommendation`, `status`, …"""

    async def add_many(
        self, session_id: str, entries: Iterable[Mapping[str, Any]]
    ) -> list[Receipt]:
        """Add several entries with one write and one sync; none is stored if one is refused."""

    async def add_memory(
        self, session_id: str, entry: Mapping[str, Any] | None = None, /, **fields: Any
    ) -> Receipt:
        """Add one entry, given as a dictionary, as keywords, or both."""

    async def append_node(
        self,
        address: str,
        text: str,
        *,
        user_id: str | None = None,
        expected: str | None = None,
        reason: str = "",
        sources: Iterable[str] = (),
        by: str | None = None,
        doubt: str = "",
    ) -> NodeReceipt:
        """Add lines at the end of a node, or begin it with them; with a `doubt` they wait."""

    async def apply_plan(self, plan: EditPlan) -> Applied:
        """Write a plan's edits to the nodes, or into the review; safe to repeat.

        Whatever the outcome but `applied`, the plan is struck out: it has to be made anew.
        """

    async def archive_idle(
        self, now: datetime | str | None = None, progress: Progress | None = None
    ) -> IdleArchiving:
        """Archive every session without a write for more than `archive.after_idle_days`."""

    async def archive_session(
        self, session_id: str, progress: Progress | None = None
    ) -> ArchiveReceipt:
        """Move a session to the archive, where it is still listed, read and searched.

        A write brings it back, unless `archive.auto_restore` is off.
        """

    async def audit(self) -> list[Audited]:
        """What was deleted, erased, purged, compacted and backed up; for the owner alone."""

    async def backup(
        self,
        target_file: str | os.PathLike[str],
        *,
        with_keys: bool = False,
        progress: Progress | None = None,
    ) -> BackedUp:
        """Write everything that is not derived to one new `tar.gz`, while writers go on.

        Of every log it holds at least what was acknowledged before it began. Keys and tokens are
        left out unless asked for. `mnemolog backup restore` makes a root of it again.
        """

    async def begin_memory_prompt(self, text: str) -> bool:
        """Put such a text there for people to edit; False if there is one, which stays."""

    async def brought_back(
        self, session_id: str, log: Log = "session"
    ) -> AbstractContextManager[None]:
        """Have a session out of the archive for a while, if it lies there."""

    async def check_allowed(self, verb: str) -> None:
        """Refuse a verb as it would itself, where it is not for this view; nothing is done."""

    async def citing(self, source: str, *, user_id: str | None = None) -> list[str]:
        """The same for a source as nodes name it: `<session>/<entry>`, or `/<entry>`."""

    async def clear_session(self, session_id: str, *, reason: str = "") -> Deletion:
        """Hide everything in a session that this handle may delete; its facts stay."""

    async def close(self) -> None:
        """Sync what is not synced yet and let go of all files; the handle stays usable."""

    async def close_session(self, session_id: str) -> Session:
        """Say that a session is finished: it is idle until the next entry."""

    async def compact_session(self, session_id: str) -> Compaction:
        """Rewrite a session's log without what nobody needs; not for agents.

        Superseded revisions go, and what was deleted longer ago than it can be undone. What has
        become irrelevant moves to the archive, where `get_memory` and
        `query(include_archived=True)` still find it.
        """

    async def context(
        self,
        session_id: str | None = None,
        query: str = "",
        *,
        max_tokens: int = ...,
        run: Run | None = None,
        quiet: bool = False,
    ) -> Context:
        """Assemble what a model should know now, as marked data within a budget of tokens.

        First the profile (the preferences in force), then the run's notes and the plan, then the
        entries and nodes that fit the query best: of all sessions of the session's user, or without
        a session of all that this handle may see. Where not everything fits, long ones come as the
        passages that bear on the query. What is shown `quiet`ly does not count as recalled.
        """

    async def context_compacted(self, session_id: str) -> bool:
        """Say that an agent's context was cut short; True if there is something to learn from."""

    async def create_session(
        self,
        user_id: str | None = None,
        *,
        agent_ids: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        preferences: Mapping[str, Any] | None = None,
        settings: Mapping[str, object] | None = None,
        session_id: str | None = None,
        created_at: object = None,
    ) -> Session:
        """Create a session; an agent's view adds the agent itself to `agent_ids`."""

    async def decay_curves(self, types: Iterable[str], points: int = 49) -> list[DecayCurve]:
        """How much of each type is left as it grows older, by the settings in force."""

    async def delete(
        self, session_id: str | None, criteria: Criteria = None, /, *, reason: str = "", **more: Any
    ) -> Deletion:
        """Hide what all criteria mean: `ids`, `types`, `time_range`, `tags`, `topic`, `agents`, …

        It is gone for every reader at once, and comes back with `undelete` for 30 days. Without a
        session, what users own and what all share is meant; then give `ids` or `user_id`.
        """

    async def delete_memories_by_time_range(
        self, session_id: str, start: object = None, end: object = None
    ) -> int:
        """Hide what happened between two moments, both included; says how many."""

    async def delete_memories_by_topic(self, session_id: str, topic: str) -> int:
        """Hide what carries a topic as its tag or in its context; says how many."""

    async def delete_memory(self, session_id: str, memory_id: str) -> bool:
        """Hide one entry; False if there is none that this handle may delete."""

    async def delete_node(
        self,
        address: str,
        *,
        user_id: str | None = None,
        expected: str | None = None,
        reason: str = "",
        by: str | None = None,
    ) -> NodeReceipt:
        """Remove a node; its versions stay, and `revert_node` brings it back."""

    async def delete_session(
        self,
        session_id: str,
        *,
        reason: str = "",
        verify: bool = False,
        progress: Progress | None = None,
    ) -> Erasure:
        """Remove a session and everything in it for good; not for agents.

        Of one that cannot be read any more nobody can tell what it held, nor prove that it is gone.
        """

    async def due_again(self, plan: EditPlan) -> Due | None:
        """What a plan was made for, as it stands now: None if nothing in it is new."""

    async def due_session(self, session_id: str) -> Due | None:
        """A session as it stands now: None if nothing in it is new, or if it is gone."""

    async def due_sessions(
        self, limit: int | None = None, now: datetime | None = None
    ) -> list[Due]:
        """The sessions to learn from, oldest first; for the owner alone.

        They come from the index, which knows them without looking at each session. What users and
        all share outside of sessions is learned from too: once nobody has added to it for a while,
        or so many lines came as turns make a session due.
        """

    async def end_run(self, session_id: str, run_id: str) -> None:
        """End a run that nobody else will end; not for agents."""

    async def end_turn(self, session_id: str) -> bool:
        """Say that a turn is complete; True if the session is due to be learned from now."""

    async def erase(
        self,
        session_id: str | Sequence[str] | None,
        criteria: Criteria = None,
        /,
        *,
        reason: str = "",
        verify: bool = True,
        progress: Progress | None = None,
        **more: Any,
    ) -> Erasure:
        """Remove what all criteria mean from every file, for good, and look whether it is gone.

        Deleted entries are meant too. It cannot be undone. Several sessions are looked for once, at
        the end. Without a session, what users own and what all share is meant; then give `ids` or
        `user_id`.
        """

    async def export_files(
        self,
        layout: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        warned: Callable[[str], None] = ...,
    ) -> Iterator[tuple[str, bytes]]:
        """The files of an export, one at a time: relative name and content.

        `warned` is told of each session and line that could not be read.
        """

    async def export_index(
        self, session_id: str | None = None, shape: str = "entries"
    ) -> dict[str, Any]:
        """The index of one session, or with None of all that this handle may see, as plain JSON.

        `inverted` goes from words, topics and hours to ids; `entries` from ids to lines, bytes
        and weights, and from tags and types to ids. Built when it is asked for.
        """

    async def export_native(
        self,
        target_path: str | os.PathLike[str],
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        """Write logs to one new file of lines, byte for byte; through gzip if it ends in `.gz`.

        Of one session, of a user with all their sessions and their graph, or of everything there
        is.
        """

    async def export_session(self, session_id: str, format: str = "json") -> str:
        """A session as text: `json`, `jsonl` or `markdown`."""

    async def export_subject(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        format: str = "json",
        warned: Callable[[str], None] = ...,
    ) -> str:
        """Everything about a user, an agent or a session as text; without any, all there is.

        `warned` is told of each session and line that could not be read.
        """

    async def export_to(
        self,
        path: str | os.PathLike[str],
        layout: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        progress: Progress | None = None,
    ) -> ExportReport:
        """Write an export to a new folder, or a new file where the layout has only one."""

    async def folder(
        self,
        path: str = "",
        *,
        user_id: str | None = None,
        after: str = "",
        limit: int = 200,
        unfold: int = 0,
    ) -> Folder:
        """One level of the tree: what lies directly in a folder, folders with their counts first.

        It costs what it shows, however many nodes there are. Of a level with more than `limit`
        names, `next` says what to give as `after` for the rest. A folder with at most `unfold`
        nodes is told whole instead, with those in folders below it.
        """

    async def get_decisions(
        self, session_id: str, filters: Mapping[str, Any] | None = None, /, **more: Any
    ) -> Warned:
        """Decisions: by `impact`, `made_by`, `approved_by`, `tags`, `time_range`, …"""

    async def get_entries(
        self,
        session_id: str,
        filters: Mapping[str, Any] | None = None,
        /,
        *,
        types: Iterable[str] | str | None = None,
        after: int = 0,
        last: int | None = None,
        as_of: object = None,
        **more: Any,
    ) -> Warned:
        """A session's entries in order: of these types, past the number `after`, the `last` few.

        With `as_of`, a time, they are those that were there at that moment, as they were then.
        """

    async def get_findings(
        self, session_id: str, filters: Mapping[str, Any] | None = None, /, **more: Any
    ) -> Warned:
        """Findings: by `severity`, `status`, `category`, `discovered_by`, `tags`, …"""

    async def get_global_statistics(self) -> Statistics:
        """All sessions that this handle may see, in numbers."""

    async def get_memory(self, session_id: str, memory_id: str) -> Entry | None:
        """One entry of the session, of its user or shared, if this handle may see it."""

    async def get_preferences(
        self, session_id: str | None = None, *, user_id: str | None = None
    ) -> Warned:
        """The preferences in force, one for each key: the session's, else the user's, else shared.

        Of several writers the last one counts.
        """

    async def get_statistics(self, session_id: str) -> Statistics:
        """A session in numbers, counted from its log."""

    get_session_stats = get_statistics

    async def graph(
        self, center: str | None = None, *, depth: int = 1, user_id: str | None = None
    ) -> Graph:
        """Nodes and their links: all of them, or those so many links away from a centre."""

    async def growth(self, unit: str) -> dict[str, dict[str, int]]:
        """How many entries of each type were said in each `hour`, `day` or `month`."""

    async def hidden_entries(
        self, session_id: str | None = None, *, skip: int = 0, limit: int | None = None
    ) -> list[Told]:
        """What was deleted and can still be brought back, latest first; of one session or all."""

    async def import_from(
        self,
        source: str | os.PathLike[str] | Mapping[str, bytes | str] | FileSource,
        layout: str | None = None,
        *,
        dry_run: bool = False,
        prefix: str = "",
        progress: Progress | None = None,
    ) -> ImportReport:
        """Import a file, a folder, or files by name; a second time adds nothing.

        Without a `layout` the first that fits is taken. `prefix` is put before the ids of
        sessions. The report counts what was stored, was present, was skipped and was refused.
        """

    async def import_native(
        self,
        path: str | os.PathLike[str],
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        """Read such a file in. All of it is checked before any of it is stored.

        A log that is there already stays as it is; one that ends earlier gets what is missing; one
        that says something else is refused, and the report says why. So is a user's graph of which
        a node here is another text.
        """

    async def keep_plan(self, lesson: Lesson, proposal: Proposal, by: str) -> EditPlan | None:
        """Note durably what is to be written; None if what it rests on changed meanwhile.

        An edit that does not say what it rests on rests on the whole lesson.
        """

    async def kept_plans(self) -> list[EditPlan]:
        """The plans that were noted and not yet struck out."""

    async def known_backups(self) -> tuple[str, ...]:
        """The backups made of this root, told to the owner: they hold what is erased here."""

    async def lease_session(
        self, session_id: str, log: Log = "session"
    ) -> AbstractContextManager[bool]:
        """Hold the work on a session; False inside if another worker does. Ends with its holder."""

    async def lease_user(self, user_id: str) -> AbstractContextManager[bool]:
        """The same for everything that is known of a user, for whoever must not be disturbed."""

    async def left_runs(self, session_id: str | None = None) -> list[LeftRun]:
        """The runs that nobody has ended yet, of a session or of all that this handle may see; not
        for agents."""

    async def lesson_of(self, due: Due, most: int | None = None) -> Lesson | None:
        """What is to be learned from a session; None if that was done meanwhile.

        Everything in it is durable: the line that it ends with can be remembered. Of more than so
        many characters it is the beginning: the rest is due again afterwards.
        """

    async def list_sessions(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        state: str | None = None,
        limit: int | None = None,
    ) -> list[Session]:
        """The sessions this handle may see, last changed first."""

    async def load_session(self, session_id: str) -> Session:
        """A session's facts as they are now."""

    async def maintain(
        self,
        *,
        purge: bool = False,
        confirm: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Maintenance:
        """Purge when the schedule says so, archive idle sessions, compact those that grew large.

        Runs that nobody has ended, and that have been silent for a week, are ended.

        With `purge` it purges at once. Any number of programs may call it: one does the work, the
        others are told so. For the owner.
        """

    async def mark_processed(self, due: Due, until: int, total: str) -> bool:
        """Say that everything up to a line was learned from; False if somebody else did so.

        Lines that came later, and what was said about them, stay: then the session is due again.
        """

    async def memory_prompt(self) -> Prompt | None:
        """What the root tells its memory-agents; None where that is left to the package."""

    async def merge_nodes(
        self, address: str, into: str, *, user_id: str | None = None, reason: str = ""
    ) -> NodeReceipt:
        """Add all that a node says to another one, remove it, and mend the links to it.

        The versions of both stay: `revert_node` of each brings back what was there.
        """

    async def migrate(
        self,
        session_id: str | None = None,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> list[Migrated]:
        """Rewrite the lines of earlier versions of the format, of one session or of all logs.

        Nothing has to be migrated to be read or written to.
        """

    async def minimap(self, session_id: str, most: int = ..., ahead: int = 0) -> list[Bucket]:
        """A session in at most 400 parts: from where to where, when, and of which types.

        `ahead` says by how many minutes the clock is ahead of UTC where its days are told apart.
        """

    async def move_node(
        self, address: str, to: str, *, user_id: str | None = None, reason: str = ""
    ) -> NodeReceipt:
        """Give a node another address, with its versions, and mend the links to it."""

    async def node_diff(
        self,
        address: str,
        old: int | None = None,
        new: int | None = None,
        *,
        user_id: str | None = None,
    ) -> list[Hunk]:
        """Where two versions differ; without numbers, what the last one changed."""

    async def node_links(self, address: str, *, user_id: str | None = None) -> Links:
        """What a node links to, what links to it, and who says its title without a link."""

    async def node_reader(self, user_id: str) -> NodeReader:
        """What a distiller may read of a user's graph."""

    async def node_users(self) -> list[str]:
        """The users whose nodes this handle may read."""

    async def node_versions(self, address: str, *, user_id: str | None = None) -> list[NodeVersion]:
        """Every version of a node, oldest first; a hand edit that was not seen yet becomes one."""

    async def nodes_citing(
        self, session_id: str, entry_id: str, *, user_id: str | None = None
    ) -> list[str]:
        """The addresses of the nodes that rest on an entry; of its session's user if none is
        named."""

    async def note_failure(self, due: Due, error: BaseException) -> bool:
        """Count that learning from a session failed; True if it is parked now.

        Of the error only its code is kept, or the name of its class: never what it says.
        """

    async def numbers(self, session_id: str | None = None) -> Numbered:
        """A session in numbers, or all that this handle may see."""

    async def parked_sessions(self) -> list[Due]:
        """The sessions that nobody learns from any more, because it failed too often."""

    async def patch_node(
        self,
        address: str,
        old: str,
        new: str,
        *,
        user_id: str | None = None,
        expected: str | None = None,
        reason: str = "",
        sources: Iterable[str] = (),
        by: str | None = None,
    ) -> NodeReceipt:
        """Replace a piece of a node's body that stands there exactly once."""

    async def proposal_diff(self, proposal_id: str) -> list[Hunk]:
        """What a proposal changes in the text it was made from; not what came since."""

    async def proposals(self, user_id: str | None = None) -> list[Waiting]:
        """What waits: for one user, or for all whose nodes this handle may write."""

    async def purge(
        self,
        *,
        dry_run: bool = False,
        confirm: bool = False,
        as_of: object = None,
        progress: Progress | None = None,
    ) -> Purge:
        """Hide what is past its retention, erase what was hidden for longer than it can be undone.

        A root's first purge only tells what it would do, until it is confirmed. For the owner.
        With `as_of`, the `purged_at` of a dry run, exactly what that told is purged.
        """

    async def purge_runs(self) -> PurgeRuns:
        """When retention was last applied, and when it is due next; for the owner alone."""

    async def quarantined(self, session_id: str) -> int:
        """How many damaged pieces of a session's log are kept aside."""

    async def query(
        self,
        session_id: str | None = None,
        query: Query | Mapping[str, Any] | str | None = None,
        /,
        **filters: Any,
    ) -> Hits:
        """Search one session, or with None all that this handle may see.

        Takes `text`, `types`, `tags`, `agents`, `users`, `time_range`, `references` with
        `max_depth`, `min_relevance`, `min_importance`, `limit`, `sort` and `scorer`; `kinds` says
        whether entries are searched, nodes, or both. So many of the first hits as `recalls` says
        count as recalled: all, or with 0 none. With `include_archived`, one session's entries that
        compactions moved out are searched too.
        """

    query_memories = query

    async def raw_line(self, session_id: str, memory_id: str) -> RawLine:
        """The exact line of an entry, where it stands, and whether its checksum holds."""

    async def read_node(self, address: str, *, user_id: str | None = None) -> Node:
        """A node as it is now; raises `NodeNotFoundError`."""

    async def readable_audit(self) -> list[Audited]:
        """What can be read of an audit whose chain is broken; for the owner alone."""

    async def rebuild_index(
        self, session_id: str | None = None, *, progress: Progress | None = None
    ) -> int:
        """Throw the index away and read all logs again; says how many entries it holds."""

    async def redact(
        self,
        session_id: str | None = None,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Redaction:
        """Hide secrets in what is stored, in one session or everywhere; for the owner alone.

        Each entry concerned gets a new revision under its first timestamp, and the lines before it
        are erased. Sessions whose settings switch redaction off are left alone. So are treated the
        nodes of the users concerned, with their versions and what waits in the review.
        """

    async def reject_proposal(self, proposal_id: str, reason: str = "") -> None:
        """Take a proposal out of the review; that it was rejected stands in the audit."""

    async def reset_session(self, session_id: str) -> bool:
        """Say that an agent begins anew here; True if there is something to learn from."""

    async def restore_session(self, session_id: str) -> Session:
        """Bring a session back from the archive; nothing happens if it is not there."""

    async def retry_session(self, session_id: str) -> bool:
        """Learn from a session again that failed; True if it was parked. `@` and a user's id means
        that user's own log, `@` alone the shared one."""

    async def revert_node(
        self,
        address: str,
        version: int,
        *,
        user_id: str | None = None,
        expected: str | None = None,
        reason: str = "",
    ) -> NodeReceipt:
        """Make an earlier version the text again, as a new version."""

    async def revisions(self, session_id: str, memory_id: str) -> list[Revision]:
        """Every line about an entry that is still there, oldest first."""

    async def search_by_time_range(
        self, session_id: str | None, start: Any, end: Any, **filters: Any
    ) -> Hits:
        """Entries between two moments, both included, newest first unless `sort` says otherwise."""

    async def search_by_topic(self, session_id: str | None, topic: str, **filters: Any) -> Hits:
        """Entries with this tag, with a tag below it, or with this topic in their context."""

    async def search_by_type(self, session_id: str | None, type: str, **filters: Any) -> Hits:
        """Entries of one type."""

    async def search_nodes(
        self, text: str, *, user_id: str | None = None, limit: int = 10, **filters: Any
    ) -> list[NodeHit]:
        """The nodes that fit a text best: of one user, or of all that this handle may see."""

    async def session_files(self, session_id: str) -> list[FileFact]:
        """The files that make up a session, as they are on disk."""

    async def session_markers(self, session_id: str) -> dict[str, Any]:
        """What is noted about a session beside its entries: how far it was learned from, …"""

    async def similar_nodes(self, user_id: str | None = None) -> list[SimilarNodes]:
        """Pairs of a user's nodes that are perhaps the same, the surest first."""

    async def sleep_session(self, session_id: str) -> bool:
        """Say that nobody is active here; True if there is something to learn from."""

    async def strike_plan(self, plan: EditPlan) -> None:
        """Forget about a plan: it was applied, or never will be."""

    async def timeline(
        self,
        session_id: str,
        *,
        after: int | None = None,
        before: int | None = None,
        around: int | None = None,
        limit: int = 100,
        types: Iterable[str] | None = None,
        agents: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        text: str = "",
        with_hidden: bool = False,
    ) -> Timeline:
        """A part of a session in the order in which things were first said.

        The first entries after a place, the last before one, or those around one; without any, the
        last. An entry's place never changes, also when it is revised.
        """

    async def told(self, session_id: str, memory_id: str) -> Told:
        """One entry of a session with what is known about it; a hidden one too."""

    async def tree(self, user_id: str | None = None, path: str = "") -> list[Leaf]:
        """All nodes of a user, the four files first, then by address; or those below a folder."""

    async def undelete(
        self,
        session_id: str | None,
        criteria: Mapping[str, Any] | list[str] | None = None,
        /,
        **more: Any,
    ) -> Restored:
        """Bring back what was deleted, as it was; a list of ids will do as criteria."""

    async def update_decay_factors(self, session_id: str) -> dict[str, float]:
        """The decay of each of a session's entries as of now; computed, never stored."""

    async def update_memory(
        self, session_id: str, memory_id: str, *, expected_seq: int | None = None, **changes: Any
    ) -> Receipt:
        """Store a new revision with other `content`, `tags`, `importance`, `status`, `metadata`, …

        With `expected_seq` the change is refused unless that revision is still the current one.
        """

    async def update_preference(
        self,
        session_id: str | None,
        preference: Mapping[str, Any] | None = None,
        /,
        **fields: Unpack[Preference],
    ) -> Receipt:
        """Set a preference by its `key`: for the session, or with `scope` for the user or for all.

        Without a session, give `scope="user"` and `user_id`, or `scope="shared"`.
        """

    async def update_session(
        self,
        session_id: str,
        *,
        agent_ids: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        preferences: Mapping[str, Any] | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> Session:
        """Change a session's facts; objects are merged key by key, `agent_ids` are replaced."""

    async def use_settings(self, settings: Settings) -> None:
        """Go by other settings from now on; views that were made before keep theirs."""

    async def verify_erasure(
        self,
        *,
        ids: Iterable[str] = (),
        text: str | Iterable[str] = (),
        progress: Progress | None = None,
    ) -> Verification:
        """Look for ids and texts in every file, in every form, also inside archives.

        For the owner alone: the answer tells what any file says.
        """

    async def would_forget(
        self,
        session_id: str | None,
        criteria: Mapping[str, Any] | None = None,
        *,
        erase: bool = False,
    ) -> Meant:
        """What a deletion, or with `erase` an erasure, would reach now; None means everything."""

    async def write_node(
        self,
        address: str,
        text: str,
        *,
        user_id: str | None = None,
        title: str | None = None,
        description: str | None = None,
        parents: Iterable[str] | None = None,
        expected: str = "",
        reason: str = "",
        sources: Iterable[str] = (),
        by: str | None = None,
        plan: str = "",
        doubt: str = "",
    ) -> NodeReceipt:
        """Write a node: a body, or a whole document with its front matter.

        `expected` is the hash of the text that this was made against, empty for a new node; if
        another text is there, `NodeConflictError` carries both and nothing is written. With a
        `doubt`, which says why, it waits in the review for a person's yes.
        """

class RunVerbs:
    """The verbs of a run, awaited, and what it is."""

    async def clear(
        self,
        compartment: str,
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
    ) -> Cleared:
        """Remove the notes that fit all of what is given, or all."""

    async def end(self) -> None:
        """End the run: its own notes are overwritten and removed; nothing happens twice."""

    async def get(
        self,
        compartment: str,
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
        is_use: bool = True,
    ) -> Warned:
        """The notes that fit all of what is given, oldest first; each counts as used.

        Unless `is_use` says otherwise: for another look at what was got just now.
        """

    async def is_gone(self) -> bool:
        """Whether it has ended, by whomever, or its session is not there any more."""

    async def notes(self, compartment: str) -> list[Entry]:
        """The notes of a compartment, oldest first; looking at them is not a use."""

    async def room(self, compartment: str) -> Room:
        """How many characters a compartment holds, and how many it may."""

    async def save(
        self,
        compartment: str,
        content: str | Mapping[str, Any],
        *,
        id: str | None = None,
        category: str | None = None,
        tags: Iterable[str] = (),
        metadata: Mapping[str, str] | None = None,
        priority: int | None = None,
        origin: str | None = None,
    ) -> Receipt:
        """Save a note; under an id that is there it takes the place of that note."""

    async def size(self, compartment: str) -> int:
        """How many characters a compartment holds."""

    async def uses(self, compartment: str) -> Counter[str]:
        """How often each note was got."""

    @property
    def memory(self) -> Writing: ...
    @property
    def session_id(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def is_open(self) -> bool: ...
    @property
    def handed(self) -> Handed: ...
    @property
    def compartments(self) -> dict[str, Compartment]: ...
