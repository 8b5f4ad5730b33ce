"""The two tools that read and write the graph."""

from collections.abc import Iterator

from mnemolog.errors import NodeConflictError, NodeNotFoundError
from mnemolog.memory import Memory
from mnemolog.model.node import Leaf, Node, NodeReceipt
from mnemolog.policy.blocks import quoted, word
from mnemolog.policy.learning import is_guarded
from mnemolog.tools.answers import Answer, paged
from mnemolog.tools.arguments import Arguments, budget, flag, text
from mnemolog.tools.handlers import Desk, handed

_LONGEST_ADDRESS = 1000
_MOST_NAMES = 1000
_DOUBT = "it repeats what memory told the agent"
_ECHO = "it repeats what memory told you, which goes there only with a person's yes"
_NOTHING = "Nothing is known yet."
_NO_SUCH = "Nothing is known there; call read_knowledge without an address for what there is."
# So many nodes are listed with all their folders at once.
_UNFOLDED = 200


def read_knowledge(desk: Desk, given: Arguments) -> Answer:
    """A node, or the list of them all; of very many, one folder at a time."""
    most = budget(given)
    memory = _theirs(desk)
    address = text(given, "address", longest=_LONGEST_ADDRESS)
    if not address or address.endswith("/"):
        blocks = list(_listed(memory, address))
        nothing = _NO_SUCH if address else _NOTHING
        return handed(desk, paged(blocks, most, given.get("cursor"), nothing))
    try:
        node = memory.read_node(address)
    except NodeNotFoundError as error:
        raise NodeNotFoundError(error.message, advice=_NO_SUCH) from error
    desk.read[node.address] = node.hash
    desk.run.handed.hear(f"{node.title}\n{node.description}")
    return handed(desk, paged([_node(node)], most, given.get("cursor"), "It is empty."))


def write_knowledge(desk: Desk, given: Arguments) -> Answer:
    """Replace a node that this run has read, begin a new one, or append to one."""
    memory = _theirs(desk)
    address = text(given, "address", required=True, longest=_LONGEST_ADDRESS)
    is_more = flag(given, "append")
    change = _append if is_more else _write
    done = change(desk, memory, address, given)
    if done.status == "waiting":
        why = _ECHO if done.reason == _DOUBT else "it is changed only with a person's yes"
        return Answer(f"{word(done.address)} is not changed yet: {why}. It waits; go on without.")
    if is_more and done.status != "created":
        desk.read.pop(done.address, None)  # what stands above the new lines may be news
    else:
        desk.read[done.address] = done.hash
    hidden = f" Hidden as secrets: {', '.join(done.redactions)}." if done.redactions else ""
    return Answer(f"{word(done.address)} {done.status}, version {done.version}.{hidden}")


def _append(desk: Desk, memory: Memory, address: str, given: Arguments) -> NodeReceipt:
    content = text(given, "content", required=True)
    doubt = _doubt(desk, memory, address, content)
    return memory.append_node(address, content, reason=text(given, "reason"), doubt=doubt)


def _write(desk: Desk, memory: Memory, address: str, given: Arguments) -> NodeReceipt:
    content = text(given, "content", required=True)
    title, description = text(given, "title"), text(given, "description")
    return memory.write_node(
        address,
        content,
        title=title or None,
        description=description or None,
        expected=_expected(desk, memory, address),
        reason=text(given, "reason"),
        doubt=_doubt(desk, memory, address, "\n".join((title, description, content))),
    )


def _doubt(desk: Desk, memory: Memory, address: str, said: str) -> str:
    """Why a person is asked first: what memory told goes to these nodes only with a yes."""
    if not is_guarded(address):
        return ""
    try:
        there = memory.read_node(address).text
    except NodeNotFoundError:
        there = ""
    return _DOUBT if desk.run.handed.doubts(said, there) else ""


def _theirs(desk: Desk) -> Memory:
    """The memory, confined to the user of the run's session."""
    return desk.memory.for_user(desk.user_id or desk.memory.settings.knowledge.default_user)


def _expected(desk: Desk, memory: Memory, address: str) -> str:
    """The text that the model has seen; one that it has not must not be replaced."""
    try:
        node = memory.read_node(address)
    except NodeNotFoundError:
        return ""
    if node.address not in desk.read:
        raise NodeConflictError(
            f"The node {word(node.address)} is there, and you have not read it.",
            advice="Call read_knowledge first, or write with `append`.",
        )
    return desk.read[node.address]


def _listed(memory: Memory, path: str) -> Iterator[str]:
    found = memory.folder(path, limit=_MOST_NAMES, unfold=_UNFOLDED)
    for one in found.branches:
        yield f"{word(f'{one.path}/')} {one.nodes} nodes; list them by this address"
    yield from map(_leaf, found.leaves)
    if found.next:
        yield f"There are more than {_MOST_NAMES} names here; search for the others."


def _leaf(leaf: Leaf) -> str:
    told = f": {word(leaf.description)}" if leaf.description else ""
    return f"{word(leaf.address)} {word(leaf.title)}{told}"


def _node(node: Node) -> str:
    lines = [f"{word(node.address)}, version {node.version}", f"Title: {word(node.title)}"]
    if node.description:
        lines.append(f"Description: {word(node.description)}")
    return "\n".join([*lines, *quoted(node.body)])
