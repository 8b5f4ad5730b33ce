"""One level of the tree costs what it shows, and tells how many nodes lie below each folder."""

import os
from collections import Counter
from pathlib import Path

import pytest

from mnemolog.errors import InvalidFormatError
from mnemolog.fs.real import RealDisk
from mnemolog.graph import document
from mnemolog.graph.shelf import FilesShelf
from mnemolog.model.node import Branch, Folder

LONG_AGO = 1_700_000_000


def put(home: Path, address: str, text: str = "text\n") -> Path:
    path = home / "memory" / f"{address}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def rest(home: Path) -> None:
    """Let everything have been there for long, so that a look at it settles what it is."""
    for path in (home, *home.rglob("*")):
        os.utime(path, (LONG_AGO, LONG_AGO))


def level(shelf: FilesShelf, path: str = "", after: str = "", limit: int = 100) -> Folder:
    return shelf.folder("ann", path, after, limit)


def shown(found: Folder) -> list[str]:
    return [*(f"{one.path}/" for one in found.branches), *(one.address for one in found.leaves)]


class Counting(RealDisk):
    """A disk that counts how often it is asked."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.calls: Counter[str] = Counter()

    def stat(self, path):
        self.calls["stat"] += 1
        return super().stat(path)

    def survey(self, path):
        self.calls["survey"] += 1
        return super().survey(path)

    def open(self, path, mode):
        self.calls["open"] += 1
        return super().open(path, mode)


def test_a_level_has_the_four_files_then_folders_with_their_counts_then_nodes(real, home):
    for address in ("tea", "people/ann", "people/old/bob", "projects/pay", "a b"):
        put(home, address)
    (home / "USER.md").write_text("me\n")
    found = level(real)
    assert found.branches == (Branch("people", 2), Branch("projects", 1))
    assert [one.address for one in found.leaves] == ["USER.md", "a b", "tea"]
    assert (found.nodes, found.next) == (5, "")
    below = level(real, "people/")
    assert (below.path, below.nodes, shown(below)) == ("people", 2, ["people/old/", "people/ann"])


def test_what_can_be_no_node_is_not_counted(real, home):
    put(home, "folder/node")
    put(home, "folder/.hidden")
    put(home, "folder/bad~name")
    (home / "memory/folder/picture.png").write_bytes(b"x")
    (home / "memory/empty/below").mkdir(parents=True)
    (home / "memory/linked").symlink_to(home / "memory/folder")
    assert level(real).branches == (Branch("folder", 1),)
    assert shown(level(real, "linked")) == shown(level(real, "nowhere")) == []
    with pytest.raises(InvalidFormatError):
        level(real, "../other")


def test_a_long_level_is_told_in_parts_that_have_each_name_once(real, home):
    for number in range(7):
        put(home, f"node-{number}")
        put(home, f"folder-{number}/one")
    seen: list[str] = []
    after, parts = "", 0
    while True:
        found = level(real, after=after, limit=3)
        seen += shown(found)
        after, parts = found.next, parts + 1
        if not after:
            break
    assert seen == [f"folder-{n}/" for n in range(7)] + [f"node-{n}" for n in range(7)]
    assert parts == 5


def test_a_level_that_just_fits_has_no_next_part(real, home):
    for number in range(3):
        put(home, f"node-{number}")
    assert level(real, limit=3).next == ""
    assert level(real, limit=2).next == "node-1"


def test_a_part_goes_on_behind_a_name_that_went_meanwhile(real, home):
    paths = [put(home, f"node-{number}") for number in range(4)]
    found = level(real, limit=2)
    paths[1].unlink()
    assert shown(level(real, after=found.next, limit=2)) == ["node-2", "node-3"]


def test_names_that_come_and_go_by_hand_are_counted_at_once(real, home):
    put(home, "deep/er/one")
    rest(home)
    assert level(real).branches == (Branch("deep", 1),)
    two = put(home, "deep/er/two")
    assert level(real).branches == (Branch("deep", 2),)
    rest(home)
    level(real)
    two.unlink()
    put(home, "deep/other/three")
    put(home, "deep/other/four")
    assert level(real).branches == (Branch("deep", 3),)


def test_a_hand_edit_inside_a_node_is_seen_although_its_folder_did_not_change(real, home):
    path = put(home, "tea", "# Green\n")
    rest(home)
    assert [one.title for one in level(real).leaves] == ["Green"]
    path.write_text("# Black tea\n")
    assert [one.title for one in level(real).leaves] == ["Black tea"]


def test_nodes_of_another_process_are_counted(real, home, tmp_path):
    put(home, "people/ann")
    rest(home)
    level(real)
    other = FilesShelf(RealDisk(str(tmp_path)))
    put(home, "people/bob")
    assert level(other).branches == level(real).branches == (Branch("people", 2),)


@pytest.mark.parametrize("size", [50, 500])
def test_one_level_asks_the_disk_for_what_it_shows_however_many_nodes_there_are(
    home, tmp_path, size, monkeypatch
):
    for number in range(size):
        put(home, f"topics/{number % 5}/node-{number}")
    put(home, "tea")
    rest(home)
    disk = Counting(str(tmp_path))
    shelf = FilesShelf(disk)
    parsed: list[str] = []
    parse = document.parse

    def counted(*given):
        parsed.append(given[1])
        return parse(*given)

    monkeypatch.setattr(document, "parse", counted)
    assert level(shelf).nodes == size + 1
    assert parsed == ["tea"]  # what is not shown is not read
    disk.calls.clear()
    assert level(shelf).nodes == size + 1
    # Each folder once (memory, topics and the five below it), and what is shown: tea and the files.
    assert disk.calls == {"stat": 7 + 5}
    for _ in range(2):  # the first time those that are shown are read
        disk.calls.clear()
        assert len(level(shelf, "topics/3", limit=10).leaves) == 10
    assert disk.calls == {"stat": 1 + 10}


def test_the_whole_tree_below_a_folder_looks_at_nothing_else(home, tmp_path):
    for number in range(20):
        put(home, f"topics/node-{number}")
    put(home, "people/ann")
    disk = Counting(str(tmp_path))
    assert [one.address for one in FilesShelf(disk).tree("ann", "people")] == ["people/ann"]
    assert disk.calls["survey"] == 1
