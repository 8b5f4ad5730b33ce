"""How much is found: random secrets of every kind, in places seen and unseen by the rules."""

from collections.abc import Iterable

import pytest

from mnemolog.policy.redaction import Redactor
from tests.policy import redaction_samples as samples
from tests.policy.redaction_samples import Sample

REDACTOR = Redactor(b"k")


def missed(made: Iterable[Sample]) -> tuple[list[Sample], int]:
    everything = list(made)
    return [one for one in everything if leaks(one)], len(everything)


def leaks(sample: Sample) -> bool:
    left = REDACTOR.text(sample.text).text
    return any(line in left for line in sample.secret.replace("\\n", "\n").split("\n"))


@pytest.mark.req("S001-096")
def test_tokens_of_known_vendors_are_found_wherever_they_stand():
    lost, count = missed(samples.tokens_in_places(seed=1))
    assert count > 1000
    assert len(lost) <= 0.01 * count, lost


def test_passwords_and_keys_are_found_under_their_names():
    lost, count = missed(samples.assigned(samples.SEEN, seed=2))
    assert len(lost) <= 0.02 * count, lost


def test_what_needs_no_name_is_found():
    lost, count = missed(samples.others(seed=3))
    assert len(lost) <= 0.02 * count, lost


def test_places_that_no_rule_was_written_for_are_mostly_found():
    """The odd ones: a table with bars, an annotation after its value, the line below a name."""
    lost, count = missed(samples.assigned(samples.UNSEEN, seed=4))
    assert len(lost) <= 0.25 * count, [one.text for one in lost]


def test_a_secret_is_found_in_the_middle_of_a_long_text():
    filler = "Nothing of interest on this line, nor on the next.\n" * 400
    for sample in [*samples.others(seed=5, rounds=1), *samples.assigned(samples.SEEN, 6, rounds=1)]:
        assert not leaks(sample._replace(text=f"{filler}{sample.text}\n{filler}")), sample.text
