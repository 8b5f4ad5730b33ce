"""`mnemolog node`"""

import shlex
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from mnemolog.faces.cli import consent, screen, words
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.differing import say_hunks
from mnemolog.faces.cli.intake import text_in

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.model.node import NodeReceipt


# So many nodes are shown with all their folders at once.
_UNFOLDED = 200
_PARTS = ("branches", "leaves")


class _Asked(NamedTuple):
    """One use of the verb."""

    call: Call
    memory: "Memory"
    given: tuple[str, ...]
    options: dict[str, Any]

    @property
    def address(self) -> str:
        return self.given[0]


@click.command()
@click.argument("action", metavar="ACTION")
@click.argument("words", nargs=-1)
@click.option("--file", metavar="FILE", type=click.File("rb"), help="The text; - is the input.")
@click.option("--title", metavar="TEXT", help="The node's title.")
@click.option("--description", metavar="TEXT", help="What it is about, in a line.")
@click.option("--expected", metavar="HASH", help="The hash of the text that this is made against.")
@click.option("--reason", metavar="TEXT", default="", help="Why; it stands in the versions.")
@click.option("--limit", metavar="N", type=int, default=10, help="At most N hits.")
@click.option("--level", is_flag=True, help="Of the tree, only what lies directly in a folder.")
@click.option("--after", metavar="NAME", default="", help="Of a long level, what follows NAME.")
@click.option("--yes", is_flag=True, help="Merge without being asked.")
@verb
def node(call: Call, action: str, words: tuple[str, ...], **options: Any) -> int | None:
    """Read and write the nodes of the graph.

    `read ADDRESS`, `tree [FOLDER]`, `search TEXT`, `links ADDRESS`, `versions ADDRESS`, `diff
    ADDRESS [OLD [NEW]]`, `write ADDRESS [TEXT]`, `append ADDRESS [TEXT]`, `patch ADDRESS OLD NEW`,
    `move ADDRESS TO`, `rm ADDRESS`, `revert ADDRESS VERSION`, `similar`, `merge ADDRESS INTO`. A
    text that is not given is read from --file or the input.

    `tree` shows all nodes below a folder; of more than 200, and with --level, one level with the
    count of each folder. With --json it gives all, or one level.

    `similar` tells pairs of nodes that are perhaps the same; `merge` adds the lines of one to the
    other, each once, mends the links and removes it. `revert` of both undoes that.

    --user says whose nodes; without it they are those of knowledge.default_user. A write to a node
    that is there names with --expected the hash that `read --json` showed; if somebody changed the
    node meanwhile, it is refused and nothing is lost.
    """
    if action not in ACTIONS:
        raise click.UsageError(f"ACTION is one of {', '.join(ACTIONS)}.")
    least, most, work = ACTIONS[action]
    if not least <= len(words) <= most:
        takes = f"{least}" if least == most else f"{least} to {most}"
        word = "word" if most == 1 else "words"
        raise click.UsageError(f"`{action}` takes {takes} {word} after it, not {len(words)}.")
    with call.memory(make=action in ("write", "append")) as memory:
        work(_Asked(call, memory, words, options))
    return None


def _read(asked: _Asked) -> None:
    found = asked.memory.read_node(asked.address)
    if asked.call.as_json:
        screen.emit(found)
        return
    for line in found.text.rstrip("\n").split("\n"):
        screen.say(line)


def _tree(asked: _Asked) -> None:
    path, after = (asked.given or ("",))[0], asked.options["after"]
    if asked.call.as_json and not asked.options["level"]:
        for leaf in asked.memory.tree(path=path):
            screen.emit(leaf._asdict())
        return
    unfold = 0 if asked.options["level"] else _UNFOLDED
    found = asked.memory.folder(path, after=after, limit=_UNFOLDED, unfold=unfold)
    if asked.call.as_json:
        parts = {name: [one._asdict() for one in getattr(found, name)] for name in _PARTS}
        screen.emit({**found._asdict(), **parts})
        return
    rows = [(f"{one.path}/", words.counted(one.nodes, "node"), "", "") for one in found.branches]
    rows += [(one.address, one.title, one.description, ", ".join(one.flags))
             for one in found.leaves]  # fmt: skip
    columns = ("address", "title", "description", "flags")
    screen.table(columns, rows, nothing="There are no nodes.")
    if found.next:
        screen.say(f"There are more; --after {shlex.quote(found.next)} goes on.")


def _search(asked: _Asked) -> None:
    user = asked.call.user
    limit = asked.options["limit"]
    hits = asked.memory.search_nodes(asked.given[0], user_id=user, limit=limit)
    for hit in hits:
        if asked.call.as_json:
            screen.emit(hit._asdict())
        else:
            found = hit.node
            screen.say((f"{hit.relevance:.2f}", "good"), "  ", (found.address, "strong"))
            screen.say("      ", screen.one_line(f"{found.title}. {found.description}", 100))
    if not hits and not asked.call.as_json:
        screen.say("Nothing was found.")


def _links(asked: _Asked) -> None:
    found = asked.memory.node_links(asked.address)
    if asked.call.as_json:
        screen.emit({
            "outgoing": [one._asdict() for one in found.outgoing],
            "backlinks": [one._asdict() for one in found.backlinks],
            "mentions": [one._asdict() for one in found.mentions],
        })  # fmt: skip
        return
    for out in found.outgoing:
        missing = "" if out.exists else "  (nothing is there)"
        screen.say(("→ ", "dim"), out.target, (missing, "warning"))
    for sign, rows in (("← ", found.backlinks), ("~ ", found.mentions)):
        for back in rows:
            screen.say((sign, "dim"), back.address, ("  ", ""), (back.context, "dim"))
    if not (found.outgoing or found.backlinks or found.mentions):
        screen.say("It links to nothing, and nothing links to it or names it.")


def _versions(asked: _Asked) -> None:
    found = asked.memory.node_versions(asked.address)
    if asked.call.as_json:
        for one in found:
            screen.emit(one)
        return
    rows = (
        (str(one.number), words.moment(one.at), one.by, one.reason or "", _size(one.text))
        for one in found
    )
    screen.table(("version", "when", "by", "reason", "size"), rows)


def _size(text: str | None) -> str:
    return "removed" if text is None else f"{len(text.encode()):,}"


def _diff(asked: _Asked) -> None:
    numbers = [_number(one) for one in asked.given[1:]]
    say_hunks(asked.call, asked.memory.node_diff(asked.address, *numbers))


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise click.UsageError(f"{text!r:.40} is no number of a version.") from None


def _write(asked: _Asked) -> None:
    receipt = asked.memory.write_node(
        asked.address,
        _text(asked),
        title=asked.options["title"],
        description=asked.options["description"],
        expected=asked.options["expected"] or "",
        reason=asked.options["reason"],
    )
    _tell(asked, receipt)


def _append(asked: _Asked) -> None:
    _tell(asked, asked.memory.append_node(asked.address, _text(asked), **_guard(asked)))


def _patch(asked: _Asked) -> None:
    old, new = asked.given[1:]
    _tell(asked, asked.memory.patch_node(asked.address, old, new, **_guard(asked)))


def _rm(asked: _Asked) -> None:
    _tell(asked, asked.memory.delete_node(asked.address, **_guard(asked)))


def _revert(asked: _Asked) -> None:
    number = _number(asked.given[1])
    _tell(asked, asked.memory.revert_node(asked.address, number, **_guard(asked)))


def _move(asked: _Asked) -> None:
    reason = asked.options["reason"]
    _tell(asked, asked.memory.move_node(asked.address, asked.given[1], reason=reason))


def _similar(asked: _Asked) -> None:
    pairs = asked.memory.similar_nodes()
    if asked.call.as_json:
        for pair in pairs:
            screen.emit(pair._asdict())
    else:
        rows = ((one.address, one.other, one.why, f"{one.share:.2f}") for one in pairs)
        columns = ("node", "perhaps the same as", "by", "share")
        screen.table(columns, rows, nothing="No two nodes look alike.")


def _merge(asked: _Asked) -> None:
    into = asked.given[1]
    if not asked.options["yes"]:
        consent.ask(asked.call, f"Merge {asked.address} into {into}?", "Nothing was merged")
    reason = asked.options["reason"]
    _tell(asked, asked.memory.merge_nodes(asked.address, into, reason=reason))


def _guard(asked: _Asked) -> dict[str, Any]:
    return {"expected": asked.options["expected"], "reason": asked.options["reason"]}


def _text(asked: _Asked) -> str:
    if len(asked.given) > 1:
        return asked.given[1]
    source: BinaryIO = asked.options["file"] or sys.stdin.buffer
    return text_in(source)


def _tell(asked: _Asked, receipt: "NodeReceipt") -> None:
    if asked.call.as_json:
        screen.emit(receipt._asdict())
        return
    hidden = f"; hidden as secrets: {', '.join(receipt.redactions)}" if receipt.redactions else ""
    parts = (f"{receipt.address} {receipt.status}", "good"), f", version {receipt.version}{hidden}"
    screen.say(*parts)


ACTIONS: dict[str, tuple[int, int, Callable[[_Asked], None]]] = {
    "read": (1, 1, _read),
    "tree": (0, 1, _tree),
    "search": (1, 1, _search),
    "links": (1, 1, _links),
    "versions": (1, 1, _versions),
    "diff": (1, 3, _diff),
    "write": (1, 2, _write),
    "append": (1, 2, _append),
    "patch": (3, 3, _patch),
    "move": (2, 2, _move),
    "rm": (1, 1, _rm),
    "revert": (2, 2, _revert),
    "similar": (0, 0, _similar),
    "merge": (2, 2, _merge),
}
