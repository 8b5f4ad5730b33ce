"""A desk to try a distiller at: entries in, nodes out, kept from lesson to lesson."""

from hashlib import sha256
from typing import Any

from mnemolog.distillers.rules import Rules
from mnemolog.model.entry import Entry
from mnemolog.model.lesson import Lesson, Proposal
from mnemolog.model.node import Leaf, Node, NodeHit, NodeVersion
from mnemolog.ports.distiller import Distiller


class Desk:
    """Applies every edit at once, as a worker would that nobody disturbs."""

    def __init__(self, distiller: Distiller | None = None) -> None:
        self.distiller = distiller or Rules()
        self.nodes: dict[str, Node] = {}
        self.past: dict[str, list[NodeVersion]] = {}
        self.said: list[Entry] = []

    def read(self, address: str) -> Node | None:
        return self.nodes.get(address)

    def versions(self, address: str) -> list[NodeVersion]:
        return self.past.get(address, [])

    def tree(self) -> list[Leaf]:
        return [Leaf(one.address, one.title, one.description, 0) for one in self.nodes.values()]

    def citing(self, source: str) -> list[str]:
        known = ((one.address, f" {one.body} ") for one in self.nodes.values())
        return [address for address, body in known if f"{source} " in body]

    def search(self, text: str, limit: int = 10) -> list[NodeHit]:
        return [NodeHit(node, 1.0, {}) for node in self.nodes.values() if text in node.body][:limit]

    def say(self, content: Any, kind: str = "conversation", **fields: Any) -> str:
        """Something said or noted; returns its source as a node names it."""
        number = len(self.said) + 1
        role = fields.pop("role", "user") if kind == "conversation" else None
        day = fields.pop("day", "2026-11-01")
        entry = Entry(
            v=1, id=fields.pop("id", f"m{number}"), session_id="s", type=kind, content=content,
            timestamp=f"{day}T09:00:00.000Z", seq=number, role=role,
            origin=fields.pop("origin", "user" if role == "user" else "agent"), **fields,
        )  # fmt: skip
        self.said.append(entry)
        return f"s/{entry.id}"

    def learn(self, *entries: Entry) -> Proposal:
        """One lesson with these entries, or with all that was said."""
        told = entries or tuple(self.said)
        lesson = Lesson(
            session_id="s", user_id="u", agent_id="bot", entries=told, transcript="",
            until=told[-1].seq, until_sum="", now="2026-11-15T00:00:00.000Z",
        )  # fmt: skip
        proposal = self.distiller.distil(lesson, self)
        for edit in proposal.edits:
            sources = tuple(one.name for one in edit.sources)
            self._apply(edit.address, edit.body, edit.title, sources, plan=f"plan-{len(self.past)}")
        return proposal

    def _apply(
        self,
        address: str,
        body: str,
        title: str | None,
        sources: tuple[str, ...] = (),
        plan: str = "",
    ) -> None:
        """Write a node; without a plan it is a person who does."""
        before = self.nodes.get(address)
        digest = sha256(body.encode()).hexdigest()
        self.nodes[address] = Node(
            user_id="u", address=address, title=title or (before.title if before else ""),
            description="", body=body, created_at=0, updated_at=0, version=1,
            hash=digest, text=body, sources=(*(before.sources if before else ()), *sources),
        )  # fmt: skip
        version = NodeVersion(
            number=1, at="", by="", reason="", hash=digest, text=body, plan=plan,
        )  # fmt: skip
        self.past.setdefault(address, []).append(version)

    def body(self, address: str) -> str:
        """A node's text, empty if there is none."""
        node = self.nodes.get(address)
        return node.body if node else ""
