"""Knowing: the nodes of the graph, read, written, linked and reverted; see docs/knowledge.md."""

from collections.abc import Iterable
from typing import Any

from mnemolog.errors import NodeNotFoundError, NotAllowedError
from mnemolog.memory.proposing import Change, Proposing
from mnemolog.model import given, plain
from mnemolog.model.ids import check_id
from mnemolog.model.lesson import source_name
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
)
from mnemolog.model.times import to_text
from mnemolog.policy import front_matter
from mnemolog.policy.access import OWNER
from mnemolog.policy.composing import (
    appended,
    composed,
    expect,
    fields_of,
    missing,
    numbered,
    patched,
    text_of,
)
from mnemolog.policy.hunks import hunks
from mnemolog.ports import Wanted

_MOST_DEPTH = 8
_MOST_NAMES = 1000


class Knowing(Proposing):
    """The verbs of nodes."""

    # --- reading

    def read_node(self, address: str, *, user_id: str | None = None) -> Node:
        """A node as it is now; raises `NodeNotFoundError`."""
        return self._shelf.read(self._reads(user_id, address), address)

    def tree(self, user_id: str | None = None, path: str = "") -> list[Leaf]:
        """All nodes of a user, the four files first, then by address; or those below a folder."""
        return self._shelf.tree(self._reads(user_id), path)

    def folder(
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
        user = self._reads(user_id)
        most = min(max(plain.count(limit, "limit") or 0, 1), _MOST_NAMES)
        found = self._shelf.folder(user, path, given.text(after, "after"), most)
        if after or not found.branches or found.nodes > (plain.count(unfold, "unfold") or 0):
            return found
        return found._replace(leaves=tuple(self._shelf.tree(user, path)), branches=(), next="")

    def node_users(self) -> list[str]:
        """The users whose nodes this handle may read."""
        return [one for one in self._shelf.users() if self._may_know(one)]

    def node_links(self, address: str, *, user_id: str | None = None) -> Links:
        """What a node links to, what links to it, and who says its title without a link."""
        return self._shelf.links(self._reads(user_id, address), address)

    def nodes_citing(
        self, session_id: str, entry_id: str, *, user_id: str | None = None
    ) -> list[str]:
        """The addresses of the nodes that rest on an entry; of its session's user if none is
        named."""
        check_id(entry_id, "entry id")
        whose = user_id or self._manifest(session_id).user_id
        return self.citing(source_name(session_id, entry_id), user_id=whose)

    def citing(self, source: str, *, user_id: str | None = None) -> list[str]:
        """The same for a source as nodes name it: `<session>/<entry>`, or `/<entry>`."""
        return self._shelf.citing(self._reads(user_id), given.text(source, "source"))

    def node_versions(self, address: str, *, user_id: str | None = None) -> list[NodeVersion]:
        """Every version of a node, oldest first; a hand edit that was not seen yet becomes one."""
        return self._shelf.versions(self._reads(user_id, address), address)

    def node_diff(
        self,
        address: str,
        old: int | None = None,
        new: int | None = None,
        *,
        user_id: str | None = None,
    ) -> list[Hunk]:
        """Where two versions differ; without numbers, what the last one changed."""
        known = self.node_versions(address, user_id=user_id)
        after = known[-1] if new is None else numbered(known, new, address)
        before = None if old is None else numbered(known, old, address)
        if old is None:
            before = next((one for one in reversed(known) if one.number < after.number), None)
        return hunks((before.text if before else None) or "", after.text or "")

    def graph(
        self, center: str | None = None, *, depth: int = 1, user_id: str | None = None
    ) -> Graph:
        """Nodes and their links: all of them, or those so many links away from a centre."""
        user = self._reads(user_id)
        steps = min(plain.count(depth, "depth") or 0, _MOST_DEPTH)
        leaves, edges = self._shelf.tree(user), self._shelf.edges(user)
        if center is None:
            return Graph(tuple(leaves), tuple(edges))
        near = {self._shelf.read(user, center).address}
        for _ in range(steps):
            near |= {one.target for one in edges if one.source in near} | {
                one.source for one in edges if one.target in near
            }
        chosen = tuple(one for one in edges if one.source in near and one.target in near)
        return Graph(tuple(leaf for leaf in leaves if leaf.address in near), chosen)

    def search_nodes(
        self, text: str, *, user_id: str | None = None, limit: int = 10, **filters: Any
    ) -> list[NodeHit]:
        """The nodes that fit a text best: of one user, or of all that this handle may see."""
        users = None if user_id is None else [self._reads(user_id)]
        hits = self.query(text=text, kinds=["node"], users=users, limit=limit, **filters)
        found: list[NodeHit] = []
        for hit in hits:
            owner = hit.entry.user_id or ""
            try:
                node = self._shelf.read(owner, hit.entry.id)
            except NodeNotFoundError:
                continue  # removed meanwhile
            found.append(NodeHit(node, hit.relevance, hit.why))
        return found

    # --- writing

    def write_node(
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
        said = text_of(text, "text")
        fields = fields_of(title, description, parents)

        def change(node: Node | None) -> str:
            whole = composed(node, said, fields)
            expect(node, address, expected, whole)
            return whole

        return self._written(address, change, user_id, reason, sources, by, plan, doubt)

    def append_node(
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
        said = text_of(text, "text")

        def change(node: Node | None) -> str:
            whole = appended(node, said)
            expect(node, address, expected, whole)
            return whole

        return self._written(address, change, user_id, reason, sources, by, doubt=doubt)

    def patch_node(
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
        wanted, said = text_of(old, "old"), text_of(new, "new", may_be_empty=True)

        def change(node: Node | None) -> str:
            if node is None:
                raise missing(address)
            expect(node, address, expected)
            return front_matter.with_body(node.text, patched(node.body, wanted, said))

        return self._written(address, change, user_id, reason, sources, by)

    def delete_node(
        self,
        address: str,
        *,
        user_id: str | None = None,
        expected: str | None = None,
        reason: str = "",
        by: str | None = None,
    ) -> NodeReceipt:
        """Remove a node; its versions stay, and `revert_node` brings it back."""

        def change(node: Node | None) -> None:
            if node is None:
                raise missing(address)
            expect(node, address, expected)

        return self._written(address, change, user_id, reason, (), by)

    def revert_node(
        self,
        address: str,
        version: int,
        *,
        user_id: str | None = None,
        expected: str | None = None,
        reason: str = "",
    ) -> NodeReceipt:
        """Make an earlier version the text again, as a new version."""
        user = self._writes(user_id)
        wanted = numbered(self._shelf.versions(user, address), version, address)
        why = reason or f"reverted to version {version}"

        def change(node: Node | None) -> str | None:
            # Under the lock once more: an erasure may have cut it since.
            whole = numbered(self._shelf.versions(user, address), version, address).text
            expect(node, address, expected, whole)
            return whole

        return self._written(address, change, user, why, wanted.sources, None)

    def move_node(
        self, address: str, to: str, *, user_id: str | None = None, reason: str = ""
    ) -> NodeReceipt:
        """Give a node another address, with its versions, and mend the links to it."""
        user = self._writes(user_id)
        self._refuse_secret_in(user, to)
        return self._shelf.move(user, address, to, self._version(reason, (), None))

    def _written(
        self,
        address: str,
        change: Change,
        user_id: str | None,
        reason: str,
        sources: Iterable[str],
        by: str | None,
        plan: str = "",
        doubt: str = "",
    ) -> NodeReceipt:
        user = self._writes(user_id)
        self._refuse_secret_in(user, address)
        version = self._version(reason, sources, by, plan)
        proposed = self._proposed(user, address, change, version, doubt)
        if proposed is not None:
            return proposed
        redact = self._redact(self.settings)
        return self._shelf.write(user, address, change, version, redact)

    def _version(
        self, reason: str, sources: Iterable[str], by: str | None, plan: str = ""
    ) -> NodeVersion:
        own = self._viewer.agent or self._viewer.user or "owner"
        return NodeVersion(
            number=0,
            at=to_text(self._clock.now()),
            by=check_id(by, "by") if by is not None and self._viewer == OWNER else own,
            reason=self._reason(reason),
            hash="",
            text=None,
            sources=tuple(given.text(one, "source") for one in plain.several(sources, "sources")),
            plan=given.text(plan, "plan"),
        )

    # --- whose

    def _whose(self, user_id: str | None) -> str:
        given = user_id if user_id is not None else self._viewer.user
        return check_id(given or self.settings.knowledge.default_user, "user id")

    def _reads(self, user_id: str | None, address: str = "") -> str:
        """The user whose nodes are meant, if this handle may read them: else there are none."""
        user = self._whose(user_id)
        if not self._may_know(user):
            if address:
                raise missing(address)
            raise NotAllowedError(f"This view does not include the user {user!r:.80}.")
        return user

    def _may_know(self, user: str) -> bool:
        """The owner, that user's view, and an agent's in whose sight a session of the user is."""
        agent = self._viewer._replace(user=None)
        if agent == OWNER or self._viewer.user not in (None, user):
            return self._viewer.user in (None, user)
        index = self._search_index()
        if index.sessions(Wanted(user_id=user, limit=1), agent):
            return True
        is_default = user == self.settings.knowledge.default_user
        return is_default and any(
            one.manifest.user_id is None for one in index.sessions(Wanted(), agent)
        )

    def _writes(self, user_id: str | None) -> str:
        user = self._whose(user_id)
        is_theirs = self._viewer.user == user and self._may_know(user)
        if self._viewer != OWNER and not is_theirs:
            raise NotAllowedError(
                f"This view cannot write the nodes of the user {user!r:.80}.",
                advice="Use the owner's handle, or `for_user` with that user.",
            )
        return user
