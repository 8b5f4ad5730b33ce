"""Who says a title without a link is known without reading every node again."""

import re

import pytest

from mnemolog.graph import catalogue
from mnemolog.graph.bloom import bloom_of, may_say
from mnemolog.graph.shelf import FilesShelf
from tests.graph.world import USER, by_hand

MANY = 300
LONG = 6000


class Counted:
    """A disk that counts the files that are opened."""

    def __init__(self, disk):
        self._disk = disk
        self.opened = []

    def __getattr__(self, name):
        return getattr(self._disk, name)

    def open(self, path, how):
        self.opened.append(path)
        return self._disk.open(path, how)


def long_text(number):
    words = (f"word{(number * 7919 + at * 104729) % 20011}" for at in range(LONG // 8))
    return " ".join(words)


@pytest.fixture
def counted(disk, monkeypatch):
    monkeypatch.setattr(catalogue, "RACY_NS", 0)  # nobody edits meanwhile
    by_hand(disk, "tea", "# Green tea\n\nhot\n")
    for number in range(MANY):
        more = "We drink Green Tea.\n" if number in (7, 70) else "green as tea\n" * (number == 5)
        by_hand(disk, f"notes/{number}", f"{long_text(number)}\n{more}")
    return Counted(disk)


def test_only_those_that_may_say_the_title_are_read(counted):
    shelf = FilesShelf(counted)
    first = shelf.links(USER, "tea")
    assert [one.address for one in first.mentions] == ["notes/7", "notes/70"]
    assert len(counted.opened) >= MANY  # all of them once
    counted.opened.clear()
    assert shelf.links(USER, "tea") == first
    read = [path for path in counted.opened if "/notes/" in path]
    assert {f"users/{USER}/memory/notes/{one}.md" for one in (5, 7, 70)} <= set(read)
    assert len(read) < MANY / 10


def test_a_changed_node_is_read_again_and_no_other(counted):
    shelf = FilesShelf(counted)
    shelf.links(USER, "tea")
    by_hand(counted._disk, "notes/100", f"{long_text(1)}\nNow GREEN TEA too.\n")
    counted.opened.clear()
    found = shelf.links(USER, "tea")
    assert [one.address for one in found.mentions] == ["notes/100", "notes/7", "notes/70"]
    assert len(counted.opened) < MANY / 10


def test_a_title_of_two_letters_is_said_by_chance(disk):
    by_hand(disk, "go", "# Go\n\na language\n")
    by_hand(disk, "walk", "We go now.\n")
    assert FilesShelf(disk).links(USER, "go").mentions == ()


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("Straße", "STRAßE"),
        ("istanbul", "İstanbul"),
        ("ısı", "ISI"),
        ("C++", "c++"),
        ("日本", "日本"),
    ],
)
def test_a_sieve_never_denies_what_a_search_without_case_finds(title, said):
    assert re.search(rf"(?<!\w){re.escape(title)}(?!\w)", said, re.IGNORECASE)
    assert may_say(bloom_of(f"long text with {said} in it"), title)


def test_a_sieve_denies_nearly_all_of_what_is_not_there():
    bloom = bloom_of(" ".join(f"word{one}" for one in range(2000)))
    assert all(may_say(bloom, f"word{one}") for one in range(2000))
    assert sum(may_say(bloom, f"other{one}") for one in range(2000)) < 100
    assert len(bloom) == 4000
