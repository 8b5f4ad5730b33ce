"""The two tools that read and write the graph."""

from mnemolog.errors import NodeConflictError, NodeNotFoundError
from mnemolog.memory import Memory
from mnemolog.model.node import Leaf, Node
from mnemolog.policy.blocks import quoted, word
from mnemolog.tools.answers import Answer, budget_of, paged
from mnemolog.tools.arguments import Arguments, flag, text
from mnemolog.tools.handlers import Desk, handed

_LONGEST_ADDRESS = 1000


def read_knowledge(desk: Desk, given: Arguments) -> Answer:
    """A node, or the list of them all."""
    budget = budget_of(given.get("max_tokens"))
    memory = _theirs(desk)
    address = text(given, "address", longest=_LONGEST_ADDRESS)
    if not address:
        blocks = [_leaf(one) for one in memory.tree()]
        return paged(blocks, budget, given.get("cursor"), "Nothing is known yet.")
    node = memory.read_node(address)
    desk.read[node.address] = node.hash
    return handed(desk, paged([_node(node)], budget, given.get("cursor"), "It is empty."))


def write_knowledge(desk: Desk, given: Arguments) -> Answer:
    """Replace a node that this run has read, begin a new one, or append to one."""
    memory = _theirs(desk)
    address = text(given, "address", required=True, longest=_LONGEST_ADDRESS)
    content = text(given, "content", required=True)
    reason = text(given, "reason")
    if flag(given, "append"):
        done = memory.append_node(address, content, reason=reason)
    else:
        done = memory.write_node(
            address,
            content,
            title=text(given, "title") or None,
            description=text(given, "description") or None,
            expected=_expected(desk, memory, address),
            reason=reason,
        )
    if done.status == "waiting":
        return Answer(f"{word(done.address)} is changed only with a person's yes; it waits.")
    desk.read[done.address] = done.hash
    hidden = f" Hidden as secrets: {', '.join(done.redactions)}." if done.redactions else ""
    return Answer(f"{word(done.address)} {done.status}, version {done.version}.{hidden}")


def _theirs(desk: Desk) -> Memory:
    """The memory, confined to the user of the run's session."""
    user = desk.memory.load_session(desk.session_id).user_id
    return desk.memory.for_user(user or desk.memory.settings.knowledge.default_user)


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


def _leaf(leaf: Leaf) -> str:
    told = f": {word(leaf.description)}" if leaf.description else ""
    return f"{word(leaf.address)} {word(leaf.title)}{told}"


def _node(node: Node) -> str:
    lines = [f"{word(node.address)}, version {node.version}", f"Title: {word(node.title)}"]
    if node.description:
        lines.append(f"Description: {word(node.description)}")
    return "\n".join([*lines, *quoted(node.body)])
