"""Learning: what a distiller is given of a session."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from operator import attrgetter
from urllib.parse import quote

from mnemolog.errors import NodeNotFoundError, SessionError, SessionNotFoundError
from mnemolog.memory.invalidating import log_of
from mnemolog.memory.knowing import Knowing
from mnemolog.memory.planning import Planning
from mnemolog.memory.recalling import Recalling
from mnemolog.model import given
from mnemolog.model.entry import Entry
from mnemolog.model.ids import check_id
from mnemolog.model.lesson import Due, EditPlan, Lesson, Prompt
from mnemolog.model.node import Leaf, Node, NodeHit, NodeVersion
from mnemolog.model.query import KINDS, Query
from mnemolog.model.session import Manifest
from mnemolog.model.times import to_text
from mnemolog.policy import learning, repeating, transcript
from mnemolog.policy.access import OWNER
from mnemolog.policy.blocks import is_node
from mnemolog.policy.learning import Marks
from mnemolog.ports import LogKey, Unlearned, of_own_log
from mnemolog.ports.distiller import NodeReader

# So many entries and nodes are looked at for what was said before.
_NEAREST = 12


class _Nodes:
    """One user's nodes."""

    def __init__(self, memory: Knowing, user_id: str) -> None:
        self._memory = memory
        self._user = user_id

    def read(self, address: str) -> Node | None:
        """A node as it is now, or None; a hand may have written its name in another case."""
        there = self._memory._shelf.spelled(self._user, address)
        try:
            return self._memory.read_node(there, user_id=self._user)
        except NodeNotFoundError:
            return None

    def versions(self, address: str) -> list[NodeVersion]:
        """Every version of a node, oldest first, also of one that was removed."""
        there = self._memory._shelf.spelled(self._user, address)
        try:
            return self._memory.node_versions(there, user_id=self._user)
        except NodeNotFoundError:
            return []

    def tree(self) -> list[Leaf]:
        """All nodes."""
        return self._memory.tree(self._user)

    def citing(self, source: str) -> list[str]:
        """The addresses of the nodes that rest on a source; `/<entry>` means any session's."""
        return self._memory.citing(source, user_id=self._user)

    def search(self, text: str, limit: int = 10) -> list[NodeHit]:
        """The nodes that fit a text best."""
        return self._memory.search_nodes(text, user_id=self._user, limit=limit)


class Learning(Planning, Recalling):
    """The verbs by which a worker reads sessions; for the owner alone."""

    def due_session(self, session_id: str) -> Due | None:
        """A session as it stands now: None if nothing in it is new, or if it is gone."""
        self._for_worker()
        try:
            one = next(self._store.sessions(check_id(session_id, "session id")))
        except SessionError:
            return None
        marks = learning.marks_of(one.manifest.markers)
        is_new = one.last_seq > marks.processed_until
        return self._due(Unlearned(*one, 0), 0) if is_new else None

    def due_again(self, plan: EditPlan) -> Due | None:
        """What a plan was made for, as it stands now: None if nothing in it is new."""
        if given.record(plan, EditPlan, "plan").log == "session":
            return self.due_session(plan.session_id)
        self._for_worker()
        found = self._unlearned_own(log_of(plan))
        return None if found is None else self._due(found, 0)

    def lesson_of(self, due: Due, most: int | None = None) -> Lesson | None:
        """What is to be learned from a session; None if that was done meanwhile.

        Everything in it is durable: the line that it ends with can be remembered. Of more than so
        many characters it is the beginning: the rest is due again afterwards.
        """
        self._for_worker()
        log = log_of(given.record(due, Due, "due"))
        try:
            until, total = self._keeper.settled(log)
            manifest = self._facts(log)
            marks = learning.marks_of(manifest.markers)
            if marks.processed_until != due.processed_until or until <= marks.processed_until:
                return None
            found = self._learnable(log, manifest, marks, until)
            entries = tuple(self._news(manifest.user_id, found))
            if most is not None and (fitting := learning.fitting(entries, most)) < len(entries):
                entries = entries[:fitting]
                until, total = entries[-1].seq, entries[-1].sum
        except SessionNotFoundError:
            return None
        return Lesson(
            session_id=due.session_id,
            user_id=due.user_id,
            agent_id=due.agent_id,
            entries=entries,
            transcript=transcript.of(entries, is_background=learning.is_background(manifest)),
            until=until,
            until_sum=total,
            now=to_text(self._clock.now()),
            log=due.log,
        )

    def _facts(self, log: LogKey) -> Manifest:
        """A session's facts; of another log its markers, which is all there is."""
        if log.kind == "session":
            return self._manifest(log.id)
        return of_own_log(log, self._keeper.markers(log), 0, None, 0).manifest

    def _learnable(
        self, log: LogKey, manifest: Manifest, marks: Marks, until: int
    ) -> tuple[Entry, ...]:
        """The entries up to a line that nobody has learned from, in order."""
        if learning.is_exempt(manifest):
            return ()
        found = list(self._store.read(log, OWNER, after=marks.processed_until).entries)
        found += self._moved_since(manifest, marks.processed_until, {one.id for one in found})
        found.sort(key=attrgetter("seq"))
        chosen = [one for one in found if one.seq <= until and learning.may_learn(one)]
        own = self._memory_agents(chosen) if log.kind != "session" else set()
        return tuple(one for one in chosen if one.session_id not in own)

    def _memory_agents(self, entries: Iterable[Entry]) -> set[str]:
        """The sessions of memory-agents among those in which entries of another log were written:
        nothing is learned from them, wherever their entries lie."""
        found: set[str] = set()
        for session in {one.session_id for one in entries if one.session_id}:
            with suppress(SessionError):  # gone: nobody can tell any more
                if learning.is_exempt(self._store.load(session)):
                    found.add(session)
        return found

    def _news(self, user: str | None, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The entries without what memory has said before, and an agent writes down again."""
        for entry in entries:
            if self._index is None or not repeating.may_repeat(entry):
                yield entry
                continue
            fresh = repeating.news_in(entry, self._nearest(user, entry))
            if fresh is not None:
                yield fresh

    def _nearest(self, user: str | None, entry: Entry) -> repeating.Known:
        """What memory would have shown to somebody who asked for just this."""
        asked = Query(
            text=entry.text,
            kinds=KINDS,
            limit=_NEAREST,
            unowned=self.settings.knowledge.default_user,
            recalls=0,
        )
        viewer = self._viewer._replace(user=user)
        now, decay = self._clock.now(), self.settings.decay
        hits = self._search_index().search(asked, viewer, None, now, decay)
        found = [hit.entry for hit in hits if user is not None or self._is_nobodys(hit)]
        nodes = [one for one in found if is_node(one)]
        return repeating.Known(
            tuple(line for node in nodes for line in self._lines(node, entry)),
            tuple(one for one in found if not is_node(one) and repeating.is_older(one, entry)),
        )

    def _lines(self, node: Entry, entry: Entry) -> Iterator[str]:
        """The lines of a node that do not rest on the entry itself."""
        with suppress(NodeNotFoundError):  # removed meanwhile
            body = self._shelf.read(node.user_id or "", node.id).body
            own = f"/{quote(entry.id, safe='')}"
            yield from (line for line in body.splitlines() if own not in line)

    def node_reader(self, user_id: str) -> NodeReader:
        """What a distiller may read of a user's graph."""
        self._for_worker()
        return _Nodes(self, user_id)

    def memory_prompt(self) -> Prompt | None:
        """What the root tells its memory-agents; None where that is left to the package."""
        self._for_worker()
        return self._shelf.prompt()

    def begin_memory_prompt(self, text: str) -> bool:
        """Put such a text there for people to edit; False if there is one, which stays."""
        self._for_worker()
        return self._shelf.begin_prompt(given.text(text, "text"))
