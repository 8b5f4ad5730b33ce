"""A user's own patterns: what is let through, what is refused, and that the check is right.

The check is tried against a small matcher that counts its steps as `re` would take them.
"""

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mnemolog.errors import SettingsError
from mnemolog.policy.redaction import MAX_PATTERN, Redactor, own_pattern
from mnemolog.policy.redaction.charsets import sre
from mnemolog.policy.redaction.linear import parser

TAKEN = [
    r"TICKET-[0-9]+", r"EMP-\d+", r"\b[A-Z]+-\d{4}", r"(?i)project [a-z]{2,10}", r"^\w+:",
    r"(?:\d{1,3}\.){3}\d{1,3}", r"[\w.]{1,64}@[\w.]{1,64}\.com", r"(?<![a-z])[a-z]+9",
    r"cust_(?P<secret>[a-z0-9]{8})", r"(?:[A-Z]{2}-?){1,8}", r"ACME-[A-Z0-9]+", r"\b\w+\b",
    r"(?:red|blue) \d{2,4}", r"x(?=y)", "小[0-9]{2}",
]  # fmt: skip
REFUSED = [
    r"(a+)+", r"(a|a)*b", r"a*b", r"[A-Z]+-\d{4}", r"\bfoo\w*bar", r"x.*y", r"(.)\1", r"(?s)-.+x",
    r"(?:a{1,50}){1,50}", r"\d+\s\d+", r"-[a-z]+[a-z0-9]+x", r"password[\s:=]+[^\s]+", r"a*", r"x?",
    r"\b[\w.%+-]+@[\w.-]+\.[a-z]{2,}\b", r"(?:a?){30}a{30}", r"(x)?(?(1)y|z)", r"(?=a+b)a",
    r"(?:ab|a|b){1,40}c", "(", "a{5,2}", "",
]  # fmt: skip


@pytest.mark.parametrize("regex", TAKEN)
def test_a_pattern_with_one_way_to_match_is_taken(regex):
    assert own_pattern("thing", regex).kind == "thing"


@pytest.mark.parametrize("regex", REFUSED)
def test_a_pattern_that_could_stall_is_refused_with_advice(regex):
    with pytest.raises(SettingsError) as caught:
        own_pattern("thing", regex)
    assert caught.value.advice
    assert caught.value.details["key"] == "privacy.redaction_patterns"


def test_a_pattern_has_a_greatest_length():
    assert own_pattern("x", "y" * MAX_PATTERN)
    with pytest.raises(SettingsError, match="1,001 characters"):
        own_pattern("x", "y" * (MAX_PATTERN + 1))


@pytest.mark.req("S001-094")
def test_own_patterns_stand_beside_the_rules():
    redactor = Redactor(b"k", patterns={"Ticket Number": "TICKET-[0-9]+"})
    found = redactor.text("TICKET-42 by a@b.org, TICKET-7")
    assert found.text == "[REDACTED:ticket-number] by [REDACTED:email], [REDACTED:ticket-number]"
    assert found.counts == {"ticket-number": 2, "email": 1}
    assert redactor.text(found.text).text is found.text


def test_patterns_may_share_a_name_and_a_group_says_what_is_hidden():
    redactor = Redactor(
        b"k", patterns=[("staff", r"badge (?P<secret>\d{4})"), ("staff", r"STAFF-\d+")], rules=[]
    )
    assert redactor.text("badge 1234, STAFF-9").text == "badge [REDACTED:staff], [REDACTED:staff]"


@pytest.mark.parametrize("name", ["", "---", "x" * 65, "密"])
def test_a_kind_needs_a_name_that_a_placeholder_can_carry(name):
    with pytest.raises(SettingsError):
        own_pattern(name, "x")


# --- an independent matcher that counts


COUNTABLE = 20_000


class TooManyError(Exception):
    pass


class Counter:
    """Tries a parsed pattern at a place of a text in the order of `re`, counting the steps."""

    def __init__(self, text: str, most: int) -> None:
        self.text, self.left = text, most

    def step(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooManyError

    def match(self, nodes: list, at: int, then: Callable[[int], bool]) -> bool:
        self.step()
        if not nodes:
            return then(at)
        (op, given), rest = nodes[0], nodes[1:]
        if op is sre.MAX_REPEAT:
            least, most, inner = given
            return self.repeat(
                list(inner), least, most, at, lambda end: self.match(rest, end, then)
            )
        if op is sre.SUBPATTERN:
            return self.match([*given[3], *rest], at, then)
        if op is sre.BRANCH:
            return any(self.match([*each, *rest], at, then) for each in given[1])
        if op is sre.AT:
            return self.is_edge(at) and self.match(rest, at, then)
        return self.fits(op, given, at) and self.match(rest, at + 1, then)

    def repeat(self, inner: list, least: int, most, at: int, then: Callable[[int], bool]) -> bool:
        self.step()
        endless = most is sre.MAXREPEAT
        if endless or most > 0:
            fewer = most if endless else most - 1

            def again(end: int) -> bool:
                return end > at and self.repeat(inner, max(least - 1, 0), fewer, end, then)

            if self.match(inner, at, again):
                return True
        return least == 0 and then(at)

    def fits(self, op, given, at: int) -> bool:
        if at >= len(self.text):
            return False
        letter = ord(self.text[at])
        if op is sre.LITERAL:
            return letter == given
        if op is sre.NOT_LITERAL:
            return letter != given
        assert op is sre.IN
        return any(_holds(item, letter) for item in given)

    def is_edge(self, at: int) -> bool:
        before, after = self.text[at - 1 : at] if at else "", self.text[at : at + 1]
        return before.isalnum() != after.isalnum()


def _holds(item, letter: int) -> bool:
    op, given = item
    return letter == given if op is sre.LITERAL else given[0] <= letter <= given[1]


def steps(regex: str, text: str, most: int) -> int:
    """The steps to look for the pattern at every place of the text; gives up after `most`."""
    counter = Counter(text, most)
    nodes = list(parser.parse(regex))
    for at in range(len(text)):
        counter.match(nodes, at, lambda end: False)  # never content: the worst there is
    return most - counter.left


def grows_too_fast(regex: str, piece: str) -> bool:
    """Whether four times the text takes more than eight times the steps; a square takes sixteen."""
    try:
        small = steps(regex, (piece * 30)[:30], COUNTABLE)
    except TooManyError:
        assume(False)
    try:
        steps(regex, (piece * 120)[:120], 8 * small)
    except TooManyError:
        return True
    return False


ATOMS = st.sampled_from(["a", "b", "-", "[ab]", "[a-c]", r"\b"])
COUNTS = st.sampled_from(["", "", "+", "*", "?", "{0,2}", "{2}", "{1,4}"])


def with_count(atom: str, count: str) -> str:
    return atom if atom == r"\b" else atom + count


REGEXES = st.recursive(
    st.builds(with_count, ATOMS, COUNTS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.builds(lambda one, other: f"(?:{one}|{other})", inner, inner),
        st.builds(lambda one, count: f"(?:{one}){count}", inner, COUNTS),
    ),
    max_leaves=4,
)
TEXTS = ["a", "ab", "a-", "aab-", "b", "-"]


@settings(max_examples=200, deadline=None)
@given(REGEXES)
def test_whatever_is_taken_takes_steps_in_proportion_to_the_text(regex):
    try:
        own_pattern("x", regex)
    except SettingsError:
        return
    assert not any(grows_too_fast(regex, piece) for piece in TEXTS)


@pytest.mark.parametrize("regex", ["a*b", "[ab]+a-"])
def test_the_counter_sees_what_stalls(regex):
    assert grows_too_fast(regex, "a")
