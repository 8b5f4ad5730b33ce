"""The tools of a memory-agent, and the guard around them: nothing is written before it was read,
nothing outside the graph, and nothing at all until the model has finished."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from pydantic_ai import ModelRetry

from mnemolog.errors import InputError, KnowledgeError, QueryError
from mnemolog.model.lesson import Edit, Lesson, Proposal, Source
from mnemolog.model.node import FILES, Node
from mnemolog.policy import composing, front_matter
from mnemolog.ports.distiller import NodeReader

_HITS = 8
_MOST_ADDRESSES = 500
_LONGEST = 20_000
_MOST_WRITES = 40


@dataclass
class Draft:
    """A node as it will be proposed."""

    body: str
    title: str | None
    description: str | None
    expected: str
    """The hash of the text that the model had read."""
    reason: str
    sources: dict[Source, None]


class Desk:
    """One lesson at work."""

    def __init__(self, lesson: Lesson, nodes: NodeReader) -> None:
        self._lesson = lesson
        self._nodes = nodes
        self._seen: dict[str, str] = {}
        self._drafts: dict[str, Draft] = {}

    @property
    def tools(self) -> list[Callable[..., str]]:
        """What the model may call."""
        offered = (
            self.node_tree,
            self.node_search,
            self.node_read,
            self.node_write,
            self.node_patch,
        )
        return [_telling(one) for one in offered]

    def proposal(self) -> Proposal:
        """What was drafted, as edits; which of the entries made it say so, nobody can tell."""
        heard = tuple(sorted({one.origin for one in self._lesson.entries}))
        edits = tuple(
            Edit(
                address=address, body=draft.body, title=draft.title,
                description=draft.description, expected=draft.expected, reason=draft.reason,
                sources=tuple(draft.sources), heard=heard,
            )
            for address, draft in self._drafts.items()
        )  # fmt: skip
        return Proposal(edits=edits, remarks=() if edits else ("the model wrote nothing",))

    def node_tree(self) -> str:
        """List every node: its address, title and description."""
        rows = [f"{one.address}: {one.title}. {one.description}" for one in self._nodes.tree()]
        rows += [f"{one}: new" for one in self._drafts if self._nodes.read(one) is None]
        return "\n".join(rows[:_MOST_ADDRESSES]) or "There are no nodes yet."

    def node_search(self, query: str) -> str:
        """Find the nodes that fit a question best."""
        hits = self._nodes.search(query, _HITS)
        return "\n".join(f"{hit.node.address}: {hit.node.title}" for hit in hits) or "Nothing fits."

    def node_read(self, address: str) -> str:
        """Read one node. Read a node before you write it."""
        address, node = self._found(address)
        self._seen[address] = _hash(node)
        draft = self._drafts.get(address)
        if draft is not None and draft.expected == _hash(node):
            return draft.body
        said = node.body if node else "There is no such node yet; you may write it."
        if draft is None:
            return said
        del self._drafts[address]  # or it would take away what somebody has just written
        return f"Somebody has changed it; what you wrote is dropped. It reads now:\n{said}"

    def node_write(
        self,
        address: str,
        title: str,
        description: str,
        body: str,
        reason: str,
        sources: list[int],
    ) -> str:
        """Write a whole node, new or replacing the text that you have read.

        Args:
            address: Such as `people/ann` or `USER.md`.
            title: A few words.
            description: One line.
            body: Markdown, one claim a line.
            reason: Why, in a few words.
            sources: The numbers of the entries that the new lines rest on.
        """
        address, node = self._to_write(address)
        self._draft(address, body, node, title, description, reason, sources)
        return f"Noted: {address}."

    def node_patch(self, address: str, old: str, new: str, reason: str, sources: list[int]) -> str:
        """Replace one passage of a node that you have read; it must stand there exactly once.

        Args:
            address: The node.
            old: The passage, exactly as it stands there.
            new: What stands there from now on.
            reason: Why, in a few words.
            sources: The numbers of the entries that the new passage rests on.
        """
        address, node = self._to_write(address)
        before = self._text(address, node)
        if not old or before.count(old) != 1:
            raise ModelRetry(
                f"The passage stands in {address} {before.count(old)} times, not once."
            )
        self._draft(address, before.replace(old, new), node, None, None, reason, sources)
        return f"Noted: {address}."

    def _found(self, address: str) -> tuple[str, Node | None]:
        """What stands at an address, and its name as it is written there or in a draft."""
        node = self._nodes.read(address)
        drafted = (one for one in self._drafts if one.casefold() == address.casefold())
        return node.address if node else next(drafted, address), node

    def _to_write(self, address: str) -> tuple[str, Node | None]:
        """What a write replaces: only what the model has seen, and as it has seen it."""
        if address not in FILES and not _is_address(address):
            raise ModelRetry(
                "An address is folders and a name in lower case, such as `people/ann`, or one of"
                f" {', '.join(FILES)}."
            )
        address, node = self._found(address)
        draft = self._drafts.get(address)
        seen = draft.expected if draft else self._seen.get(address)
        if node is not None and seen is None:
            raise ModelRetry(f"Read {address} before you write it.")
        if (seen or "") != _hash(node):
            raise ModelRetry(f"{address} was changed since you have read it; read it again.")
        if draft is None and len(self._drafts) >= _MOST_WRITES:
            raise ModelRetry("That is enough for one conversation; finish.")
        return address, node

    def _text(self, address: str, node: Node | None) -> str:
        if address in self._drafts:
            return self._drafts[address].body
        return node.body if node else ""

    def _draft(
        self,
        address: str,
        body: str,
        node: Node | None,
        title: str | None,
        description: str | None,
        reason: str,
        sources: list[int],
    ) -> None:
        _check_text(body, title, description)
        cited = self._cited(sources)
        known = self._drafts.get(address)
        self._drafts[address] = Draft(
            body=_with_marks(body, self._text(address, node), [one.name for one in cited]),
            title=title or (known.title if known else None),
            description=description or (known.description if known else None),
            expected=_hash(node),
            reason=" ".join(reason.split())[:200],
            sources={**(known.sources if known else {}), **dict.fromkeys(cited)},
        )

    def _cited(self, numbers: list[int]) -> list[Source]:
        entries = self._lesson.entries
        if not numbers or not all(1 <= number <= len(entries) for number in numbers):
            raise ModelRetry(f"Name the entries it rests on, by numbers from 1 to {len(entries)}.")
        return [self._lesson.source(entries[number - 1]) for number in dict.fromkeys(numbers)]


def _telling(tool: Callable[..., str]) -> Callable[..., str]:
    """The tool, telling the model what it has to do otherwise: its slip is no end of the lesson."""

    @wraps(tool)
    def told(*given: object, **named: object) -> str:
        try:
            return tool(*given, **named)
        except (InputError, KnowledgeError, QueryError) as error:
            raise ModelRetry(str(error)) from error

    return told


def _check_text(body: str, title: str | None, description: str | None) -> None:
    """Refuse now what could not be written later."""
    if len(body) > _LONGEST:
        raise ModelRetry(f"At most {_LONGEST} characters; make several nodes of it.")
    if front_matter.split(body).head is not None:
        raise ModelRetry("Leave the front matter out: title and description are given apart.")
    composing.text_of(body, "body")
    composing.fields_of(title, description, None)


def _hash(node: Node | None) -> str:
    return node.hash if node else ""


def _is_address(address: str) -> bool:
    parts = address.split("/")
    return 2 <= len(parts) <= 8 and all(_is_name(part) for part in parts)


def _is_name(part: str) -> bool:
    plain = part.replace("-", "").replace("_", "").replace(" ", "")
    return bool(plain) and plain.isalnum() and part == part.strip() and len(part) <= 60


def _with_marks(body: str, before: str, names: list[str]) -> str:
    """Every line that is new says what it rests on, so that an erasure finds it."""
    known = set(before.splitlines())
    trusted = {mark for row in known for mark in _marks(row)}
    rows = []
    for row in body.splitlines():
        if row in known or not row.strip() or row.startswith("#"):
            rows.append(row)
        else:
            kept = [mark for mark in _marks(row) if mark in trusted]
            marks = " ".join(dict.fromkeys([*kept, *names]))
            rows.append(f"{row.split('<!--')[0].rstrip()} <!-- {marks} -->")
    return "\n".join(rows).strip("\n") + "\n"


def _marks(row: str) -> list[str]:
    """What a line says it rests on; a model may also copy such a mark, or make one up."""
    return row.partition("<!--")[2].partition("-->")[0].split()
