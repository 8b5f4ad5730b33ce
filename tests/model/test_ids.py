"""Ids, and the file names that are made of them."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.errors import InvalidFormatError
from mnemolog.model.ids import check_id, new_entry_id, new_session_id
from mnemolog.paths import MAX_NAME, file_name, session_folder, user_folder

IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
DEVICES = "CON PRN AUX NUL COM1 COM9 LPT1 con prn aux nul com1 lpt9 Con nUl".split()


@given(IDS)
def test_a_file_name_is_safe_on_every_disk(identifier):
    name = file_name(identifier)
    assert re.fullmatch(r"[a-z0-9_%-]+", name)
    assert len(name) <= MAX_NAME
    assert not re.fullmatch(r"con|prn|aux|nul|com\d|lpt\d", name)


@given(IDS, IDS)
def test_two_ids_never_share_a_file_name_even_without_case(one, other):
    same = file_name(one).casefold() == file_name(other).casefold()
    assert same == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Session", "session"),
        ("ß", "SS"),
        ("é", "e\u0301"),
        ("a", "а"),
        ("file", "ﬁle"),
        ("x", "x."),
        ("x", "x "),
        ("%41", "A"),
        ("con", "%63on"),
        ("a" * 300, "a" * 301),
        ("A" * 100, "a" * 100),
    ],
)
def test_look_alikes_stay_apart(one, other):
    assert file_name(one).casefold() != file_name(other).casefold()


def test_an_ordinary_id_is_its_own_file_name():
    for plain in ("sess-2026-11-15-9f3a1c77d2", "msg_001", "a", "0", "x" * MAX_NAME):
        assert file_name(plain) == plain


@pytest.mark.parametrize("device", DEVICES)
def test_a_windows_device_is_no_file_name(device):
    assert file_name(device).lower() != device.lower()


@pytest.mark.parametrize("hostile", ["..", ".", "/etc/x", "a/b", "a\\b", "C:\\x", "~", "-rf"])
def test_no_id_leads_out_of_its_folder(hostile):
    for path in (session_folder(hostile), user_folder(hostile)):
        assert path.count("/") == 1
        assert ".." not in path
        assert "\\" not in path


@pytest.mark.parametrize("good", ["x", "..", "/etc/x", "x" * 1024, "日" * 1024, " ", "\n", "\x7f"])
def test_any_text_may_be_an_id(good):
    assert check_id(good) == good


@pytest.mark.req("S001-147")
@pytest.mark.parametrize("bad", ["", "x" * 1025, "a\0", "\ud800", None, 5, b"x", ["x"], True])
def test_what_no_file_can_hold_is_refused(bad):
    with pytest.raises(InvalidFormatError, match="session id") as caught:
        check_id(bad, "session id")
    assert caught.value.details["field"] == "session id"


def test_generated_ids_need_no_encoding():
    now = datetime(2026, 11, 15, tzinfo=UTC)
    for made in (new_session_id(now), new_entry_id(now)):
        assert file_name(made) == made
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,128}", made)
