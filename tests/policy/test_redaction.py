"""The Redactor: placeholders, tags, counts, trees, what is switched on."""

import contextlib
import io
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.errors import SettingsError
from mnemolog.policy.redaction import KINDS, Redactor, own_pattern
from tests.policy import redaction_samples as samples

REDACTOR = Redactor(b"a key of this root")
CHANCE = random.Random(7)
TOKEN = "ghp_" + samples.drawn(CHANCE, samples.WORD, 36)
JWT = ".".join(["eyJ" + samples.drawn(CHANCE, samples.WORD, 30)] * 2 + ["s" * 3 + "7" * 30])
PEM = "\n".join(
    ["-----BEGIN PRIVATE KEY-----"]
    + [samples.drawn(CHANCE, samples.STANDARD, 64) for _ in range(5)]
    + ["-----END PRIVATE KEY-----"]
)


def hidden(text: str) -> str:
    return REDACTOR.text(text).text


@pytest.mark.req("S001-094", "S001-095", "S001-097")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("mail jane.doe@example.com now", "mail [REDACTED:email] now"),
        ("password: hunter2", "password: [REDACTED:password]"),
        ("password = 'hunter2'", "password = '[REDACTED:password]'"),
        ("call +44 20 7946 0958", "call [REDACTED:phone]"),
        ("card 4111 1111 1111 1111", "card [REDACTED:card]"),
        ("SSN 123-45-6789", "SSN [REDACTED:ssn]"),
        ("to GB82 WEST 1234 5698 7654 32", "to [REDACTED:iban]"),
        ("http://me:s3cret!@host/x", "http://me:[REDACTED:password]@host/x"),
    ],
)
def test_what_can_be_guessed_gets_a_placeholder_without_a_tag(text, wanted):
    assert hidden(text) == wanted


@pytest.mark.req("S001-096")
@pytest.mark.parametrize(
    ("kind", "secret"), [("api-key", TOKEN), ("jwt", JWT), ("private-key", PEM)]
)
def test_what_cannot_be_guessed_gets_a_tag_by_which_equals_are_known(kind, secret):
    found = re.fullmatch(
        rf"a (\[REDACTED:{kind}:[0-9a-f]{{6}}\]) b \1", hidden(f"a {secret} b {secret}")
    )
    assert found
    other = Redactor(b"the key of another root").text(secret).text
    assert other.startswith(f"[REDACTED:{kind}:")
    assert other != found[1]


def test_a_short_password_gets_no_tag_and_a_long_random_one_does():
    assert hidden("password=abc123") == "password=[REDACTED:password]"
    long = samples.drawn(random.Random(1), samples.WORD, 32)
    assert re.fullmatch(r"password=\[REDACTED:password:[0-9a-f]{6}\]", hidden(f"password={long}"))


def test_every_kind_but_the_guessable_ones_may_have_a_tag():
    untagged = {name for name, kind in KINDS.items() if not kind.is_tagged}
    assert untagged == {"email", "phone", "card", "iban", "ssn"}


def test_counts_name_kinds_and_never_values():
    found = REDACTOR.text(f"a@b.org, c@d.org, {TOKEN}, password: hunter2")
    assert found.counts == {"email": 2, "api-key": 1, "password": 1}
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize("text", ["", "Nothing to see here.", "key idea: pass the token test"])
def test_a_text_without_secrets_comes_back_as_the_same_object(text):
    found = REDACTOR.text(text)
    assert found.text is text
    assert found.counts == {}


WORDS = [
    "password", "token", "api_key", "secret", "=", ": ", '"', "'", "`", "\n", " ", "\\n", "is ",
    "hunter2", "a@b.org", "@", "://", "user:", TOKEN, JWT[:40], "4111111111111111", "--", "-p ",
    "mysql ", "[REDACTED:email]", "[REDACTED:api-key:3f9a2c]", "[REDACTED", "]", "Bearer ", "is",
    "Authorization: ", "Cookie: a=", "abcdef123456", ";", ",", "+1 212 555 0100", "密码是", "é",
    "-----BEGIN PRIVATE KEY-----", "\ue000", "value", "${X}", "<", ">", "[", "(", PEM, "\\", "}",
]  # fmt: skip
PIECES = st.sampled_from(WORDS)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_redacting_twice_changes_nothing(text):
    once = REDACTOR.text(text)
    again = REDACTOR.text(once.text)
    assert again.text is once.text
    assert again.counts == {}


@pytest.mark.parametrize("count", [2, 5, 40, 20_000])
@pytest.mark.parametrize("number", ["+1 212 555 0100", "+49 30 901820", "(212) 555-0100"])
def test_numbers_without_anything_between_them_are_all_hidden(number, count):
    found = REDACTOR.text(number * count)
    assert found.text == "[REDACTED:phone]" * count
    assert found.counts == {"phone": count}


def test_a_placeholder_shields_nothing_that_is_put_beside_it():
    assert "s3cr3t" not in hidden("password=[REDACTED:password]s3cr3tvalue")
    assert "s3cr3tvalue" not in hidden("[REDACTED:password:s3cr3tvalue]")


def test_a_tree_is_searched_in_keys_and_values_at_every_depth():
    tree = {"a": [{"b": ("x", "mail a@b.org")}], "a@b.org": 1, "n": 4, "none": None}
    found = REDACTOR.tree(tree)
    assert found.value == {
        "a": [{"b": ("x", "mail [REDACTED:email]")}], "[REDACTED:email]": 1, "n": 4, "none": None,
    }  # fmt: skip
    assert found.counts == {"email": 2}
    assert tree["a@b.org"] == 1, "what was given is not changed"


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        ({"password": "correct-horse"}, "password"),
        ({"dbPassword": "postgres1"}, "password"),
        ({"headers": {"X-Api-Key": "abcdef123456"}}, "api-key"),
        ({"tokens": ["abcdef123456"]}, "api-key"),
    ],
)
def test_a_value_is_judged_by_its_key(tree, kind):
    assert REDACTOR.tree(tree).counts == {kind: 1}


def test_a_text_that_was_harmless_before_is_judged_by_its_key_all_the_same():
    for _ in range(2):
        assert REDACTOR.tree("xk29qv").value == "xk29qv"
        assert REDACTOR.tree({"password": "xk29qv"}).counts == {"password": 1}


def test_a_short_secret_is_found_however_often_it_comes():
    for _ in range(3):
        assert REDACTOR.text("a@b.org").counts == {"email": 1}


def test_no_more_texts_are_remembered_than_so_many_short_ones():
    redactor = Redactor(b"a key")
    for number in range(3000):
        redactor.text(f"tag{number}")
        redactor.text(f"a long text of many words {number} that nobody says a second time")
    assert len(redactor._harmless) <= 1024
    assert not any("nobody" in text for text in redactor._harmless)


@pytest.mark.parametrize(
    "tree", [{"password": "changeme"}, {"token_limit": "4096"}, {"key": "name"}]
)
def test_a_stand_in_under_such_a_key_stays(tree):
    assert REDACTOR.tree(tree).value is tree


def test_a_known_secret_under_a_key_keeps_its_own_kind():
    found = REDACTOR.tree({"token": JWT})
    assert found.counts == {"jwt": 1}
    assert found.value["token"].startswith("[REDACTED:jwt:")


def test_what_has_nothing_to_hide_is_the_same_object():
    clean, dirty = {"x": ["y"]}, ["a@b.org"]
    tree = {"clean": clean, "dirty": dirty}
    found = REDACTOR.tree(tree)
    assert found.value["clean"] is clean
    assert found.value["dirty"] == ["[REDACTED:email]"]
    assert REDACTOR.tree(clean).value is clean


def test_two_keys_that_are_hidden_do_not_become_one():
    found = REDACTOR.tree({"a@b.org": 1, "c@d.org": 2, "[REDACTED:email]": 3})
    assert found.value == {
        "[REDACTED:email] (2)": 1, "[REDACTED:email] (3)": 2, "[REDACTED:email]": 3,
    }  # fmt: skip


def test_only_the_rules_that_are_on_are_used():
    only = Redactor(b"k", rules=["email"])
    assert only.text("a@b.org password: hunter2").text == "[REDACTED:email] password: hunter2"
    assert only.tree({"password": "hunter2"}).counts == {}
    assert Redactor(b"k", rules=[]).text(f"a@b.org {TOKEN}").counts == {}


@pytest.mark.req("S001-095", "S001-096", "S001-097")
@pytest.mark.parametrize("name", ["email", "api_key", "password", "api-key", "API key"])
def test_the_documents_names_of_rules_are_names_of_rules(name):
    text = f"a@b.org {TOKEN} password: hunter2"
    assert set(Redactor(b"k", rules=[name]).text(text).counts) == {
        name.lower().replace("_", "-").replace(" ", "-")
    }


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(SettingsError, match="private-key"):
        Redactor(b"k", rules=["emails"])


@given(st.text())
def test_any_text_can_be_redacted(text):
    REDACTOR.text(text)


@given(st.text(alphabet=st.characters(), max_size=60))
def test_lone_surrogates_are_no_obstacle(text):
    assert REDACTOR.text(f"{text}\ud800 a@b.org").counts.get("email", 0) >= 1


def test_the_page_lists_every_kind_and_its_advice_holds():
    page = (Path(__file__).parent.parent.parent / "docs" / "redaction.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)
    assert set(rows) >= set(KINDS)
    better = [r"\b[A-Z]+-\d{4}", r"[A-Z]{1,64}-\d{4}", "x.{0,64}y", r"x[^x\n]*y"]
    for regex in [*better, r"\w{1,20}(?:\s\w{1,20}){0,4}", r"\ba+", r"badge (?P<secret>\d{4})"]:
        assert own_pattern("x", regex)


@pytest.mark.req("S002-179")
def test_the_example_of_the_page_prints_what_it_says():
    page = (Path(__file__).parent.parent.parent / "docs" / "redaction.md").read_text("utf-8")
    example = page.split("```python\n")[1].split("```")[0]
    said = re.findall(r"print\(.*?\) +# (.*)", example)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {})
    assert printed.getvalue().splitlines() == said
