"""The small parts: canonical JSON, front matter, lines of chunks, names, the page."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.errors import InvalidFormatError
from mnemolog.layouts import LAYOUTS, canonical, fields, front_matter, parsing, sources
from mnemolog.layouts.contract import Line

PAGE = Path(__file__).parents[2] / "docs" / "exchange.md"


@pytest.mark.req("S002-128")
@pytest.mark.parametrize(
    ("number", "written"),
    [
        (1.0, "1"), (-0.0, "0"), (0.85, "0.85"), (1e-7, "1e-7"), (1e-5, "0.00001"),
        (1e-6, "0.000001"),
        (1.5e-6, "0.0000015"), (1e21, "1e+21"), (1e20, "100000000000000000000"),
        (1.2345678901234567e20, "123456789012345670000"), (-2.5e-9, "-2.5e-9"),
        (123456.789, "123456.789"), (1.7976931348623157e308, "1.7976931348623157e+308"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_javascript_does(number, written):
    assert canonical.javascript_number(number) == written


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_itself(number):
    assert float(canonical.javascript_number(number)) == number


def test_keys_are_sorted_on_every_level_by_their_utf_16_form():
    value = {"b": {"z": 1, "a": [{"d": 1.0, "c": None}]}, "\U0001f642": 1, "\ufb01": "é\n"}
    written = canonical.canonical(value, canonical.javascript_number)
    assert written == '{"b":{"a":[{"c":null,"d":1}],"z":1},"\U0001f642":1,"\ufb01":"é\\n"}'


def test_both_forms_of_numbers_are_right_and_others_are_not():
    entry = {"id": "a", "importance": 1.0}
    assert canonical.is_right(entry, canonical.checksum(entry))
    assert canonical.is_right(entry, canonical._sum(entry, repr))
    assert not canonical.is_right({**entry, "id": "b"}, canonical.checksum(entry))
    assert not canonical.is_right(entry, None)


SIMPLE = """---
title: Plain: with a colon
quoted: 'it''s'
n: 3
path:
  - a
  - "b c"
flow: [x, 2, 'y']
# a comment
nothing:
---
Body
---
rest"""


def test_simple_front_matter_is_read():
    fields, body = front_matter.split(SIMPLE)
    assert fields == {
        "title": "Plain: with a colon", "quoted": "it's", "n": 3, "path": ["a", "b c"],
        "flow": ["x", 2, "y"], "nothing": None,
    }  # fmt: skip
    assert body == "Body\n---\nrest"


@pytest.mark.parametrize(
    "matter",
    ["a: &x 1", "a: *x", "a: |", "a:\n  b: 1", "a: !!python/object:os.system", "just text",
     "a: 1\na: 2", "a: {b: c}", 'a: "open', "- a"],
)  # fmt: skip
def test_front_matter_that_is_not_simple_is_refused(matter):
    with pytest.raises(InvalidFormatError):
        front_matter.split(f"---\n{matter}\n---\n")


def test_front_matter_without_an_end_is_refused():
    with pytest.raises(InvalidFormatError, match="end"):
        front_matter.split("---\ntitle: x\n")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), VALUES), st.text())
def test_what_is_joined_is_split_again(fields, body):
    text = front_matter.join(fields, body)
    assert front_matter.split(text) == (fields, body)


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(1, 30))
def test_lines_do_not_depend_on_how_the_bytes_are_cut(parts, size):
    content = b"\n".join(parts)
    chunks = [content[at : at + size] for at in range(0, len(content), size)]
    expected = content.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    found = list(sources.split(iter(chunks)))
    assert [line.number for line in found] == list(range(1, len(expected) + 1))
    assert [line.content for line in found] == [each.removesuffix(b"\r") for each in expected]


def test_of_a_line_that_is_too_long_nothing_is_kept(monkeypatch):
    monkeypatch.setattr(sources, "MAX_LINE", 10)
    chunks = [b"short\n" + b"x" * 8, b"y" * 8, b"z\nnext\n", b"w" * 11]
    found = list(sources.split(iter(chunks)))
    assert found == [Line(1, b"short"), Line(2, None), Line(3, b"next"), Line(4, None)]


@pytest.mark.parametrize(
    "name", ["../a", "a/../b", "/a", "a//b", "", ".", "a/.", "a\\b", "C:/a", "a\nb", "...", "a/ "]
)
def test_names_that_could_lead_elsewhere_are_refused(name):
    assert not sources.is_safe(name)
    with pytest.raises(InvalidFormatError):
        sources.HeldSource({name: b""})


@pytest.mark.parametrize("name", ["a.md", "a/b c.md", ".work-agent/x", "ä/%41.jsonl", "a..b"])
def test_ordinary_names_are_taken(name):
    assert sources.is_safe(name)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "not JSON"), (b"\xff{}", "not UTF-8"), (b'{"a":NaN}', "NaN"),
        (b'{"a":1,"a":2}', "twice"), (b"[" * 100_000, "deep"), (b"[" * 80 + b"]" * 80, "deep"),
        (b'{"a":' * 70 + b"1" + b"}" * 70, "deep"), (b"9" * 5000, "not JSON"), (b"", "not JSON"),
    ],
)  # fmt: skip
def test_json_that_could_mean_something_else_is_refused(content, why):
    with pytest.raises(InvalidFormatError, match=why):
        parsing.parse(content)


def test_the_page_names_every_layout_as_the_program_does():
    rows = re.findall(r"^\| `([\w-]+)` \| (yes|no) \| (yes|no) \| (.+) \|$", PAGE.read_text(), re.M)
    told = [
        (each.name, "yes" if each.read else "no", "yes" if each.write else "no", each.says)
        for each in LAYOUTS.values()
    ]
    assert rows == told


@pytest.mark.parametrize(("told", "taken"), [(3, 3), (10**9, fields.MOST_USES), (-1, 0), (True, 0)])
def test_so_many_uses_of_an_entry_come_in_and_no_more(told, taken):
    assert fields.uses({"access_count": told})[0] == taken
