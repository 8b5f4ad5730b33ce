"""Text in any script comes back exactly; what UTF-8 cannot hold is replaced and told."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemolog.errors import InvalidFormatError
from tests.log.independent import records

TEXTS = [
    "Grüße, 日本語, العربية, עברית, हिन्दी, 👩‍👩‍👧‍👦, 🇩🇪",
    "e\u0301 is not \u00e9",
    'quotes " \\ / \b \f \n \r \t',
    "nul \x00 bell \x07 escape \x1b[31m del \x7f",
    "bidi \u202e override, zero\u200bwidth, bom \ufeff",
    "</script><!-- ' OR 1=1; -- ${x} {{x}} %s %n",
    "line \u2028 paragraph \u2029 next \u0085",
    "\U0010ffff noncharacter \ufffe",
    '{"v":1,"id":"fake"}\n{"v":1}',
]


@pytest.mark.req("S002-140")
@pytest.mark.parametrize("text", TEXTS)
def test_any_text_comes_back_exactly(memory, sid, folder, text):
    receipt = memory.add_memory(
        sid, type="note", content={text: [text, {"inner": text}]}, metadata={"m": text}
    )
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.content == {text: [text, {"inner": text}]}
    assert entry.metadata == {"m": text}
    assert receipt.warnings == ()
    assert records(folder)[0]["metadata"] == {"m": text}, "any JSON reader agrees"


def test_nul_is_kept_escaped(memory, sid, folder):
    memory.add_memory(sid, content="a\0b")
    assert b"\0" not in (folder / "memory.jsonl").read_bytes()
    assert b"\\u0000" in (folder / "memory.jsonl").read_bytes()


@pytest.mark.parametrize("half", ["\ud800", "\udfff", "\udc80"], ids=ascii)  # noqa: PT014
def test_a_lone_surrogate_in_content_becomes_a_replacement_character(memory, sid, half):
    receipt = memory.add_memory(
        sid, type="note", content={"a": f"x{half}y", f"k{half}": 1}, metadata={"b": half}
    )
    assert any("U+FFFD" in warning for warning in receipt.warnings)
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.content == {"a": "x\ufffdy", "k\ufffd": 1}
    assert entry.metadata == {"b": "\ufffd"}


@pytest.mark.req("S001-147")
@pytest.mark.parametrize("bad", ["a\0b", "\ud800"])
@pytest.mark.parametrize("field", ["id", "agent_id", "user_id", "run_id", "role", "category"])
def test_in_names_both_are_refused(memory, sid, field, bad):
    with pytest.raises(InvalidFormatError) as caught:
        memory.add_memory(sid, content="x", **{field: bad})
    assert caught.value.code == "E_INVALID_FORMAT"
    assert caught.value.advice


@pytest.fixture
def unsynced(memory):
    """A session that does not wait for the disk: what is tested is the text."""
    return memory.create_session(settings={"storage.durability": "os"}).id


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(min_size=1).filter(str.strip))
@pytest.mark.req("S002-140")
def test_text_made_of_anything_comes_back(memory, unsynced, text):
    sid = unsynced
    receipt = memory.add_memory(sid, content=text)
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.content == text
