"""A Markdown file is a node, whatever its front matter is."""

import time

import pytest

from mnemolog.errors import InvalidFormatError, SizeLimitError
from mnemolog.graph import document
from mnemolog.graph.document import Raw
from mnemolog.policy import front_matter
from mnemolog.stores.files import doctor
from tests.graph.world import NOW_MS, USER, by_hand, text_of, write

SEED = """---
title: "Node Title"
description: "Short description"
path: ["category", "subcategory"]
createdAt: 1708000000000
updatedAt: 1708000000000
---

Document content here.
"""


def parsed(text: str | bytes, address: str = "category/subcategory/node"):
    raw = text.encode() if isinstance(text, str) else text
    return document.parse(USER, address, Raw(raw, NOW_MS))


@pytest.mark.req("S003-12", "S003-31", "S003-32", "S003-33", "S003-34")
def test_the_seeds_own_example_is_read_as_it_says():
    node = parsed(SEED)
    assert (node.title, node.description) == ("Node Title", "Short description")
    assert (node.created_at, node.updated_at) == (1708000000000, 1708000000000)
    assert node.path == ("category", "subcategory")
    assert node.body == "Document content here.\n"
    assert (node.flags, node.extra, node.text) == ((), {}, SEED)


@pytest.mark.req("S003-12", "S003-31", "S003-32", "S003-33", "S003-34")
def test_what_is_written_has_the_seeds_front_matter(shelf, disk):
    write(shelf, "category/subcategory/node", "# Node Title\n\nDocument content here.\n")
    assert text_of(disk, "category/subcategory/node") == (
        '---\ntitle: "Node Title"\ndescription: ""\npath: ["category", "subcategory"]\n'
        f"createdAt: {NOW_MS}\nupdatedAt: {NOW_MS}\nversion: 1\n---\n\n"
        "# Node Title\n\nDocument content here.\n"
    )


def test_a_file_without_front_matter_is_a_node_named_by_its_heading_or_its_file():
    assert parsed("# Tea\n\ntext").title == "Tea"
    assert parsed("just text", "drinks/green tea").title == "green tea"
    assert parsed("", "USER.md").title == "USER"
    assert parsed("just text").created_at == NOW_MS


def test_times_are_read_in_milliseconds_and_in_iso_form():
    iso = SEED.replace("createdAt: 1708000000000", "createdAt: 2024-02-15T12:26:40Z")
    assert parsed(iso).created_at == 1708000000000


def test_hand_written_yaml_is_read_and_stays_as_it_is_but_for_what_a_write_changes(shelf, disk):
    hand = (
        "---\n# mine\ntitle: Tea   # a drink\naliases:\n- chai\n- cha\nstars: 4.5\n"
        "nested: {a: [1, 2]}\nupdatedAt: 5\n---\n\nIt is green.\n"
    )
    by_hand(disk, "tea", hand)
    node = shelf.read(USER, "tea")
    assert node.title == "Tea"
    assert node.extra == {"aliases": ["chai", "cha"], "stars": 4.5, "nested": {"a": [1, 2]}}
    write(shelf, "tea", front_matter.with_body(hand, "It is black.\n"))
    after = text_of(disk, "tea")
    assert after.startswith(
        "---\n# mine\ntitle: Tea   # a drink\naliases:\n- chai\n- cha\nstars: 4.5"
    )
    assert after.endswith("\nIt is black.\n")
    assert shelf.read(USER, "tea").extra == node.extra
    assert (shelf.read(USER, "tea").updated_at, shelf.read(USER, "tea").version) == (NOW_MS, 2)


def test_a_hand_written_file_without_front_matter_gets_none_from_a_patch(shelf, disk):
    by_hand(disk, "tea", "green\n")
    write(shelf, "tea", "black\n")
    assert text_of(disk, "tea") == "black\n"


@pytest.mark.parametrize(
    "head",
    [
        "a: &x [1]\nb: *x",
        "title: !!python/object/apply:os.system ['true']",
        "title: !mine x",
        "title: [unclosed",
        "- just\n- a list",
        "title: \x07bell",
        "n: 2026-99-99",
        "n: " + "9" * 5000,
        "deep: " + "[" * 9 + "]" * 9,
        "big: " + "x" * 70_000,
    ],
)
def test_front_matter_that_cannot_be_read_safely_is_flagged_and_nothing_is_lost(shelf, disk, head):
    text = f"---\n{head}\n---\n\n# Tea\n\nIt is green.\n"
    by_hand(disk, "tea", text)
    node = shelf.read(USER, "tea")
    assert node.flags == ("unreadable-front-matter",)
    assert (node.title, node.text) == ("Tea", text)
    write(shelf, "tea", text + "More.\n")
    assert text_of(disk, "tea") == text + "More.\n"


def test_nobody_can_write_front_matter_that_cannot_be_read(shelf):
    with pytest.raises(InvalidFormatError):
        write(shelf, "tea", "---\na: &x 1\nb: *x\n---\n\ntext")
    assert shelf.tree(USER) == []


def test_an_alias_bomb_costs_nothing():
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(20)
    )
    started = time.process_time()
    assert parsed(f"---\n{bomb}---\ntext").flags == ("unreadable-front-matter",)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "text",
    [
        "<!--" * 200_000,
        "---\n" + "a " * 30_000 + "\n---\n",
        "---\n" + "a" + " " * 60_000 + "\n---\n",
        "`" * 100_000 + "x" + "``` " * 50_000,
        "[[" * 200_000,
        "# " + "#" * 500_000,
        "---\n" * 100_000,
    ],
    ids=range(7),
)
def test_no_document_is_slow_to_read(shelf, disk, text):
    by_hand(disk, "tea", text)
    started = time.process_time()
    shelf.tree(USER)
    shelf.links(USER, "tea")
    assert time.process_time() - started < 5


def test_a_document_that_is_too_long_is_refused_and_a_hand_made_one_is_flagged(shelf, disk):
    with pytest.raises(SizeLimitError):
        write(shelf, "tea", "x" * (document.MAX_BYTES + 1))
    by_hand(disk, "tea", "x" * (document.MAX_BYTES + 1))
    assert [(leaf.address, leaf.flags) for leaf in shelf.tree(USER)] == [("tea", ("too-long",))]


def test_a_file_that_is_not_utf_8_is_shown_and_never_written_over(shelf, disk):
    by_hand(disk, "tea", b"caf\xe9\n")
    assert shelf.read(USER, "tea").flags == ("not-utf-8",)
    with pytest.raises(InvalidFormatError, match="UTF-8"):
        write(shelf, "tea", "coffee\n")
    assert shelf.read(USER, "tea").text == "caf\ufffd\n"


@pytest.mark.parametrize("value", ["a: b", "---", "a\x85\u2028b", '\\ "x"', "# no", "é🙂", "- a"])
def test_every_title_comes_back_as_it_was_given(shelf, value):
    text = front_matter.with_fields("body\n", {"title": value})
    write(shelf, "tea", text)
    assert shelf.read(USER, "tea").title == " ".join(value.split())


UNHELD = {
    "a huge hexadecimal title": "title: 0x" + "f" * 4000,
    "a huge hexadecimal field": "account: 0x" + "f" * 4000,
    "a huge name of a field": "0x" + "f" * 100 + ": 1",
    "many bits": "bits: 0b" + "1" * 60_000,
    "many digits": "digits: " + "9" * 4000,
    "many digits in a list": "digits: [" + "9" * 4000 + "]",
    "a time of day without end": "time: " + "1:" * 30_000 + "1",
    "no number": "share: .nan",
    "infinity": "share: -.inf",
    "infinity in a list": "share: [1e999]",
    "a day that is none": "day: 9999-99-99",
    "a lone surrogate": 'title: "\\ud800"',
    "a lone surrogate in a list": 'names: ["\\ud800"]',
    "binary": "key: !!binary aGVsbG8=",
    "a set": "names: !!set {a, b}",
    "a list as a name": "? [a, b]\n: c",
    "a deep list": "a: " + "[" * 60_000,
}


@pytest.mark.parametrize("head", UNHELD.values(), ids=UNHELD)
def test_front_matter_that_json_cannot_hold_is_flagged_and_breaks_nothing_else(memory, root, head):
    memory.write_node("t/good", "hello\n", user_id="u1")
    (root / "users/u1/memory/t/bad.md").write_text(f"---\n{head}\n---\nhello\n")
    assert memory.read_node("t/bad", user_id="u1").flags == ("unreadable-front-matter",)
    assert [leaf.title for leaf in memory.tree("u1")] == ["bad", "good"]
    assert len(memory.folder("t", user_id="u1").leaves) == 2
    assert len(memory.search_nodes("hello", user_id="u1")) == 2
    assert memory.node_links("t/good", user_id="u1").outgoing == ()
    visit = doctor.visit_root(str(root), {}, only_graph=True)
    assert "node_unreadable" in [one.code for one in doctor.examine(visit)]
    with pytest.raises(InvalidFormatError):
        memory.write_node("t/new", f"---\n{head}\n---\nhello\n", user_id="u1")
    assert memory.append_node("t/bad", "more\n", user_id="u1").status == "updated"


@pytest.mark.parametrize("year", [253_402_300_800_000, 9_007_199_254_740_991])
def test_a_time_beyond_all_years_is_none(memory, root, year):
    memory.write_node("t/good", "hello\n", user_id="u1")
    (root / "users/u1/memory/t/bad.md").write_text(f"---\nupdatedAt: {year}\n---\nhello\n")
    assert len(memory.search_nodes("hello", user_id="u1")) == 2
    assert memory.read_node("t/bad", user_id="u1").updated_at < 253_402_300_800_000


def test_long_numbers_and_texts_that_begin_like_numbers_are_read():
    head = "account: 123456789012345678901234567890\nsum: 0" + "a1" * 64 + "\nday: 2026-11-15\n"
    node = parsed(f"---\n{head}---\ntext")
    assert node.flags == ()
    assert node.extra["account"] == 123456789012345678901234567890
    assert node.extra["sum"] == "0" + "a1" * 64
