"""Learning: what a distiller is given of a session."""

from operator import attrgetter

from mnemolog.errors import NodeNotFoundError, SessionError, SessionNotFoundError
from mnemolog.memory.knowing import Knowing
from mnemolog.memory.planning import Planning
from mnemolog.model.entry import Entry
from mnemolog.model.lesson import Due, Lesson
from mnemolog.model.node import Leaf, Node, NodeHit
from mnemolog.model.session import Manifest
from mnemolog.model.times import to_text
from mnemolog.policy import learning, transcript
from mnemolog.policy.access import OWNER
from mnemolog.policy.learning import Marks
from mnemolog.ports import LogKey, Unlearned
from mnemolog.ports.distiller import NodeReader


class _Nodes:
    """One user's nodes."""

    def __init__(self, memory: Knowing, user_id: str) -> None:
        self._memory = memory
        self._user = user_id

    def read(self, address: str) -> Node | None:
        """A node as it is now, or None."""
        try:
            return self._memory.read_node(address, user_id=self._user)
        except NodeNotFoundError:
            return None

    def tree(self) -> list[Leaf]:
        """All nodes."""
        return self._memory.tree(self._user)

    def citing(self, source: str) -> list[str]:
        """The addresses of the nodes that rest on a source; `/<entry>` means any session's."""
        return self._memory.citing(source, user_id=self._user)

    def search(self, text: str, limit: int = 10) -> list[NodeHit]:
        """The nodes that fit a text best."""
        return self._memory.search_nodes(text, user_id=self._user, limit=limit)


class Learning(Planning):
    """The verbs by which a worker reads sessions; for the owner alone."""

    def due_session(self, session_id: str) -> Due | None:
        """A session as it stands now: None if nothing in it is new, or if it is gone."""
        self._only_for_owner()
        try:
            one = next(self._store.sessions(session_id))
        except SessionError:
            return None
        marks = learning.marks_of(one.manifest.markers)
        is_new = one.last_seq > marks.processed_until
        return self._due(Unlearned(*one, 0), 0) if is_new else None

    def lesson_of(self, due: Due) -> Lesson | None:
        """What is to be learned from a session; None if that was done meanwhile.

        Everything in it is durable: the line that it ends with can be remembered.
        """
        self._only_for_owner()
        try:
            until, total = self._keeper.settled(due.session_id)
            manifest = self._manifest(due.session_id)
            marks = learning.marks_of(manifest.markers)
            if marks.processed_until != due.processed_until or until <= marks.processed_until:
                return None
            entries = self._learnable(manifest, marks, until)
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
        )

    def _learnable(self, manifest: Manifest, marks: Marks, until: int) -> tuple[Entry, ...]:
        """The entries up to a line that nobody has learned from, in order."""
        if learning.is_exempt(manifest):
            return ()
        log = LogKey("session", manifest.session_id)
        found = list(self._store.read(log, OWNER, after=marks.processed_until).entries)
        found += self._moved_since(manifest, marks.processed_until, {one.id for one in found})
        found.sort(key=attrgetter("seq"))
        return tuple(one for one in found if one.seq <= until and learning.may_learn(one))

    def node_reader(self, user_id: str) -> NodeReader:
        """What a distiller may read of a user's graph."""
        self._only_for_owner()
        return _Nodes(self, user_id)
