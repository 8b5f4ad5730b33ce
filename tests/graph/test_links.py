"""What counts as a link in a text, and that no text makes looking for them take long."""

import time

import pytest

from mnemolog.graph.links import mended, mentions, said_in

SMALL, LARGE = 40_000, 160_000
RISING = "".join("`" * length + "a" for length in range(1, 61)) + "\n"


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("[[tea]] and [[ tea ]], [[]]", ["tea", "tea"]),
        ("`[[code]]` [[prose]] `[[code]]`", ["prose"]),
        ("``[[code]] ` [[code]]`` [[prose]]", ["prose"]),
        ("``a`[[code]]` [[prose]]", ["prose"]),
        ("`[[prose]]`` [[prose]]", ["prose", "prose"]),
        ("[[prose]] ` never closed [[prose]]", ["prose", "prose"]),
        (f"`[[code]]` {'x' * 5000} `[[code]]` [[prose]]", ["prose"]),
    ],
)
def test_a_link_is_what_stands_outside_of_code(line, targets):
    assert [one.target for one in said_in(line)] == targets
    after = mended(line, "prose", "moved", with_name=True)
    assert after == line.replace("[[prose]]", "[[moved]]")


def seconds(text):
    def once():
        began = time.thread_time()
        list(said_in(text))
        list(mentions(text, "title"))
        mended(text, "tea", "coffee", with_name=True)
        return time.thread_time() - began

    return min(once() for _ in range(3))


@pytest.mark.parametrize("piece", ["[[x]] ", "[[a", "[[a#", "[[a|", RISING, "```a`", "title ["])
def test_time_grows_with_the_length_of_a_hostile_text(piece):
    small, large = (seconds((piece * size)[:size]) for size in (SMALL, LARGE))
    # Four times the text takes about four times as long, not sixteen.
    assert large < max(10 * small, 0.05)
