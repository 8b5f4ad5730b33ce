"""Names that nodes may have, and the one way to their files."""

import unicodedata

import pytest

from mnemolog.errors import InvalidFormatError, StorageError
from mnemolog.graph import addresses
from tests.graph.world import USER, by_hand, write

HOSTILE = [
    "", "/", "a//b", "/a", "a/", ".", "..", "../a", "a/../b", "a/..", ".hidden", "a.", " a", "a ",
    "a..b", "a\\b", "a:b", "a*b", "a?b", 'a"b', "a<b", "a|b", "a\nb", "a\0b", "a\tb", "con",
    "NUL", "com1.txt", "a/aux/b", "x" * 101, "é" * 51, "a\u202eb", "a\u200bb", "a\ufe0fb",
    "\u3164", "a#b", "a[b", "a]b", "~", "a%2fb", "\ud800", "/".join("abcdefghij"),
]  # fmt: skip


@pytest.mark.parametrize("address", HOSTILE)
def test_a_hostile_address_is_refused_and_makes_no_file(shelf, disk, address):
    with pytest.raises(InvalidFormatError):
        write(shelf, address, "text")
    with pytest.raises(InvalidFormatError):
        shelf.read(USER, address)
    assert not any(path.endswith(".md") for path in disk.tree())


@pytest.mark.req("S003-30", "S003-39")
@pytest.mark.parametrize(
    "address",
    ["tea", "projects/payment-system", "people/Ann O'Hara", "東京/駅", "हिन्दी", "a/b/c/d/e/f/g/h/i",
     "R&D (2026), v1.2+", "x" * 100],
)  # fmt: skip
def test_an_ordinary_address_is_a_file_below_memory(shelf, disk, address):
    write(shelf, address, "text")
    assert f"users/{USER}/memory/{address}.md" in disk.tree()
    assert [leaf.address for leaf in shelf.tree(USER)] == [address]


def test_the_ending_may_be_left_out_and_the_form_is_nfc(shelf):
    write(shelf, "tea.md", "text")
    write(shelf, unicodedata.normalize("NFD", "café"), "text")
    assert [leaf.address for leaf in shelf.tree(USER)] == ["café", "tea"]
    assert shelf.read(USER, "tea.md").address == "tea"


@pytest.mark.req("S003-35", "S003-36", "S003-37", "S003-38")
def test_the_four_files_lie_beside_memory_and_come_first(shelf, disk):
    for name in ("TOOLS.md", "USER.md", "SOUL.md", "AGENTS.md"):
        write(shelf, name, "text")
    write(shelf, "USER", "a node of that name")
    found = [leaf.address for leaf in shelf.tree(USER)]
    assert found == ["USER.md", "SOUL.md", "AGENTS.md", "TOOLS.md", "USER"]
    assert f"users/{USER}/USER.md" in disk.tree()


def test_two_names_that_differ_only_in_case_cannot_stand_side_by_side(shelf):
    write(shelf, "Tea/green", "text")
    for other in ("tea/black", "Tea/GREEN"):
        with pytest.raises(InvalidFormatError, match="only in case"):
            write(shelf, other, "text")
    assert len(shelf.tree(USER)) == 1


def test_a_user_whose_name_no_folder_can_tell_has_no_graph():
    with pytest.raises(InvalidFormatError, match="too long"):
        addresses.spot("x" * 500, "tea")
    assert addresses.spot("Ann/..", "tea").file == "users/%41nn%2f%2e%2e/memory/tea.md"


def test_a_link_in_the_place_of_a_node_is_never_followed(real, home, tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "tea.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "elsewhere").mkdir()
    (home / "memory" / "folder").symlink_to(tmp_path / "elsewhere")
    assert real.tree(USER) == []
    with pytest.raises((StorageError, LookupError)):
        real.read(USER, "tea")
    with pytest.raises(InvalidFormatError, match="is no folder"):
        write(real, "folder/new", "text")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (tmp_path / "secret.md").read_text() == "secret"


def test_files_with_names_that_no_node_can_have_are_left_out_of_the_tree(shelf, disk):
    by_hand(disk, "good", "text")
    for name in ("what?", ".obsidian/app", "a.md"):
        by_hand(disk, name, "text")
    assert [leaf.address for leaf in shelf.tree(USER)] == ["good"]
