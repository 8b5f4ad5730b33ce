"""Writing nodes and putting files there by hand, in few words."""

from typing import Any

from mnemolog import fs
from mnemolog.errors import NodeConflictError
from mnemolog.fs import Disk
from mnemolog.graph.shelf import FilesShelf
from mnemolog.model.node import Node, NodeReceipt, NodeVersion

USER = "ann"
NOW = "2026-11-15T09:00:00.000Z"
NOW_MS = 1794733200000


def version(**more: Any) -> NodeVersion:
    given = {"number": 0, "at": NOW, "by": "owner", "reason": "", "hash": "", "text": None, **more}
    return NodeVersion(**given)


def write(shelf: FilesShelf, address: str, text: str | None, **more: Any) -> NodeReceipt:
    """Write a whole text, whatever is there."""
    redact = more.pop("redact", None)
    return shelf.write(USER, address, lambda _: text, version(**more), redact)


def write_against(shelf: FilesShelf, address: str, expected: str, text: str) -> NodeReceipt:
    """Write a text that was made against another."""

    def change(node: Node | None) -> str:
        if (node.hash if node else "") != expected:
            raise NodeConflictError("It is another text.", theirs=node.text if node else None)
        return text

    return shelf.write(USER, address, change, version())


def by_hand(disk: Disk, address: str, text: str | bytes) -> None:
    """What an editor does: a new file takes the place of the old one."""
    path = f"users/{USER}/memory/{address}.md"
    disk.mkdir(path.rpartition("/")[0])
    content = text.encode() if isinstance(text, str) else text
    disk.unlink(path)
    fs.write_new(disk, path, content)


def text_of(disk: Disk, address: str) -> str:
    return fs.read_all(disk, f"users/{USER}/memory/{address}.md").decode()


def story(shelf: FilesShelf, address: str) -> list[tuple[int, str, str | None]]:
    """Each version: its number, by whom, and the body."""
    found = shelf.versions(USER, address)
    return [(one.number, one.by, _body(one.text)) for one in found]


def _body(text: str | None) -> str | None:
    return None if text is None else text.rpartition("---\n")[2].strip()
