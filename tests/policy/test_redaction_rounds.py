"""What one find hides must not hide another: mixtures of many finds, read once and once more."""

import random
import re
from collections.abc import Iterable
from itertools import chain

import pytest

from mnemolog.policy.redaction import Redactor, redactor
from mnemolog.policy.redaction.assignments import find_assigned
from mnemolog.policy.redaction.commands import find_flags
from mnemolog.policy.redaction.placeholders import covered
from mnemolog.policy.redaction.rules import find_named
from mnemolog.policy.redaction.spans import Span, fold
from tests.policy import redaction_samples as samples
from tests.policy.test_redaction_linear import HOSTILE, lines

REDACTOR = Redactor(b"k")
LINES = lines()
FLAG = re.compile(r"|[^\w\s]*--?[\w-]+=?\W*")
PIECES = [
    "--pass ", "--password=", "-p ", "pw=", "pw=>", "key: ", "token ", "secret=", "pass:", "'", '"',
    "\\", " ", "\n", ":", "=", "; ", "[", "]", "(", ")", "hunter22", "sk-", "+1",
    "0123456789abcdef",
    "[REDACTED:email]", "[REDACTED:password:3f9a2c]", "\ue000", "é", "密码:", "&quot;", "\x1b[1m",
    "a@b.cd", "://u:", "@h.x/", "bearer ", "identified by ", "zip -P ", "is ", "to ", "the ", "`",
    "/root", "PWD=", "null", "changeme", "${X}", "aB3" * 8,
]  # fmt: skip


def mixtures(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    made = [one.text for one in chain(samples.assigned(samples.SEEN, seed), samples.others(seed))]
    mixed = []
    for _ in range(count):
        parts = chance.choices((PIECES, HOSTILE, made), (8, 1, 1))[0]
        mixed.append("".join(chance.choices(parts, k=chance.randint(3, 12))))
        one, at = chance.choice(made), chance.randint(0, 40)
        mixed.append(one[:at] + chance.choice(PIECES) + one[at:])
    return mixed


@pytest.mark.parametrize("seed", range(4))
def test_a_mixture_read_again_has_nothing_left_to_hide(seed):
    for text in mixtures(seed, 700):
        once = REDACTOR.text(text).text
        assert REDACTOR.text(once).text == once, text


@pytest.mark.parametrize("seed", range(4, 8))
def test_names_find_the_same_where_flags_were_read_before_them(seed):
    """A flag inside a value may be left: its own value is not."""
    for text in map(covered, mixtures(seed, 700)):
        folded = fold(text)
        alone = places(chain(find_flags(text, folded), find_assigned(text, folded)))
        left = alone - places(find_named(text, folded))
        rest = "".join(text[at] if at in left else "\0" for at in range(len(text)))
        assert not [part for part in re.split("\0+", rest) if not FLAG.fullmatch(part)], text


def places(spans: Iterable[Span]) -> set[int]:
    return {at for span in spans for at in range(span.start, span.end)}


@pytest.mark.parametrize("seed", range(8, 20))
def test_a_long_text_read_again_in_parts_is_as_one_read_again_as_a_whole(seed, monkeypatch):
    chance = random.Random(seed)
    parts: list[str] = []
    for text in mixtures(seed, 2):
        at = chance.randrange(len(LINES) - 2500)
        parts += *LINES[at : at + chance.randint(1000, 2500)], text
    long = chance.choice(("\n", " ")).join(parts)
    in_parts = REDACTOR.text(long)
    monkeypatch.setattr(redactor, "_REACH", len(long))
    assert in_parts == REDACTOR.text(long)


def test_what_was_hidden_can_bring_together_what_is_then_hidden_in_a_long_text():
    """Two passwords, of which the second is none before the first is gone."""
    twice = next(text for text in mixtures(0, 700) if is_found_twice(text))
    at = len(LINES) // 2
    filler = "\n".join(LINES[:at]), "\n".join(LINES[at:])
    assert REDACTOR.text(twice).text in REDACTOR.text(f"\n{twice}\n".join(filler)).text


def is_found_twice(text: str) -> bool:
    found = REDACTOR._found(text)
    return bool(found) and bool(REDACTOR._found(REDACTOR._replaced(text, found)[0]))


def test_the_values_of_many_samples_are_hidden_side_by_side():
    chance = random.Random(9)
    made = [*samples.assigned(samples.SEEN, 9), *samples.others(9)]
    alone = [one for one in made if one.secret not in REDACTOR.text(one.text).text]
    for _ in range(200):
        some = chance.sample(alone, 6)
        left = REDACTOR.text("\n".join(one.text for one in some)).text
        assert not [one.text for one in some if one.secret in left]
