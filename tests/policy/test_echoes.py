"""What a run was handed is known again."""

import pytest

from mnemolog.policy.echoes import Echoes

HANDED = "- Uses **PostgreSQL** since the spring, for its transactions. <!-- s/1 -->\nIt is fast."


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("Uses PostgreSQL since the spring, for its transactions", True),
        ("* it is fast!", True),
        ("Uses PostgreSQL since the spring, for its transactions.\n\nIt is fast.", True),
        ("Uses PostgreSQL since the spring, for its speed", False),
        ("It is fast and it is new.", False),
        ("It is fast.\nIt is new.", False),
        ("fast", False),
        ("", False),
    ],
)
def test_only_what_was_handed_out_is_known(text, is_known):
    echoes = Echoes()
    echoes.hear(HANDED)
    assert echoes.knows(text) is is_known


def test_a_long_text_with_a_word_changed_is_known():
    words = [f"word{one}" for one in range(60)]
    echoes = Echoes()
    echoes.hear(" ".join(words))
    assert echoes.knows(" ".join([*words[:-1], "other"]))
    assert not echoes.knows(" ".join(words[::-1]))


def test_a_runs_own_notes_were_not_known_before():
    echoes = Echoes()
    echoes.hear("mine to keep\nnot mine at all", own=["Mine to keep."])
    assert [echoes.knows(one) for one in ("mine to keep", "not mine at all")] == [False, True]
