"""Whatever a thing is called, the rules find it a name that every disk takes."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mnemolog.distillers.rules.facts import slug
from mnemolog.graph import addresses
from mnemolog.worker import Worker
from tests.worker.scribes import open_memory

DEVICES = ["con", "NUL", "Aux", "prn", "com1", "lpt9", "com\u0663", "\u3164", "con\u3164", "ﾠ"]


@settings(deadline=None)
@given(st.text() | st.sampled_from(DEVICES))
@example("ä" * 40)  # longer in bytes than in letters
def test_every_slug_is_a_name_of_a_node(name):
    address = f"topics/{slug(name)}"
    assert addresses.check(address) == address
    assert slug(name) == slug(name)
    assert len(slug(name).encode()) <= 64


@pytest.mark.parametrize("name", ["Payment system", "c-3po", "straße", "日本", "unnamed", "icon"])
def test_a_slug_is_its_own_slug(name):
    assert slug(slug(name)) == slug(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("☕", "🍵"), ("a" * 70, "a" * 71), ("the same beginning " * 5 + "b", "con"),
        ("the same beginning " * 5 + "b", "the same beginning " * 5 + "c"),
        ("con", "con 1"), ("\u3164", "unnamed"), ("日本" * 40, "日本" * 41),
        ("C", "C++"), ("C++", "C#"), ("f#", "F"), ("notepad++ style", "notepad style"),
    ],
)  # fmt: skip
def test_other_names_have_other_slugs(one, other):
    assert slug(one) != slug(other)


@pytest.mark.parametrize(
    ("name", "known"),
    [("a+b", "a-b"), ("issue #12", "issue-12"), ("C++ style", "c-plus-plus-style"), ("#", None)],
)
def test_only_a_sign_behind_a_name_is_spelled_out(name, known):
    assert slug(name) == known or (known is None and slug(name).startswith("unnamed-"))


def test_a_preference_for_one_language_ends_none_for_its_namesake(tmp_path: Path):
    memory = open_memory(tmp_path)
    memory.create_session(session_id="s", user_id="u", agent_ids=["a"])
    for key in ("C++ style", "C# style"):
        memory.update_preference("s", key=key, value=f"as {key} books have it")
    memory.reset_session("s")
    assert [done.status for done in Worker(memory).tick()] == ["learned"]
    text = memory.read_node("USER.md", user_id="u").text
    assert "as C++ style books have it" in text
    assert "as C# style books have it" in text
    assert "~~" not in text


@pytest.mark.parametrize("tag", ["con", "projects.nul", "people.aux", "\u3164", "people.\uffa0"])
def test_an_odd_name_keeps_nothing_of_its_session_from_being_learned(tmp_path: Path, tag):
    memory = open_memory(tmp_path)
    memory.create_session(session_id="s", user_id="u", agent_ids=["a"])
    memory.add_decision("s", made_by="a", decision="Use it for all", rationale="r", tags=[tag])
    memory.add_decision("s", made_by="a", decision="Another plain one", rationale="r", tags=["db"])
    said = "My sister is called Con. My name is Ines."
    memory.add_conversation("s", role="user", content=said, agent_id="a")
    memory.reset_session("s")
    assert [done.status for done in Worker(memory).tick()] == ["learned"]
    found = [leaf.address for leaf in memory.tree("u")]
    assert {"USER.md", "decisions/db", "people/con_"} < set(found)
    assert len(found) == 4
