"""The root's own prompt is used only if its size, mode and kind are what they should be."""

import pytest

from mnemolog.errors import SettingsError
from mnemolog.graph.prompts import FILE, MAX_BYTES


def put(tmp_path, content: bytes = b"Learn only names.", mode: int = 0o644):
    path = tmp_path / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_without_one_the_root_says_nothing(real):
    assert real.prompt() is None


def test_it_is_read_as_it_is_with_the_beginning_of_its_hash(real, tmp_path):
    put(tmp_path)
    found = real.prompt()
    assert found is not None
    assert (found.path, found.text, len(found.hash)) == (FILE, "Learn only names.", 12)


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        (b"x" * (MAX_BYTES + 1), 0o600, "more than"),
        (b"x", 0o620, "others may write"),
        (b"x", 0o602, "others may write"),
        (b"\xff", 0o600, "UTF-8"),
        (b" \n", 0o600, "empty"),
    ],
)
def test_one_that_cannot_be_used_is_refused_and_says_why(real, tmp_path, content, mode, why):
    put(tmp_path, content, mode)
    with pytest.raises(SettingsError, match=why):
        real.prompt()


def test_a_link_is_no_prompt(real, tmp_path):
    path = put(tmp_path)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsError, match="no plain file"):
        real.prompt()


def test_beginning_one_never_replaces_what_a_person_wrote(real, tmp_path):
    assert real.begin_prompt("first")
    assert not real.begin_prompt("second")
    assert (tmp_path / FILE).read_text() == "first"
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
