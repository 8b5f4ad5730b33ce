"""The key of the tags in placeholders: one for a root, whoever comes first, and never empty."""

import pytest

from mnemolog.fs.real import RealDisk
from mnemolog.log.redacting import Redaction
from mnemolog.policy.redaction import Redactor

# Put together, so that nobody takes it for a live one.
SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6"


def made(key, patterns, kinds):
    return Redactor(key, patterns=patterns, rules=kinds or None)


def hidden(disk) -> str:
    text, counts = Redaction(disk, made).for_rules()(f"the token is {SECRET}")
    assert counts
    return text


class Overtaken(RealDisk):
    """Another program makes the key just before this one gives its own the name."""

    is_late = True

    def _let_another(self) -> None:
        if self.is_late:
            self.is_late = False
            self.theirs = hidden(RealDisk(self.root))

    def rename(self, source, target):
        self._let_another()
        super().rename(source, target)

    def place(self, source, target):
        self._let_another()
        super().place(source, target)


def test_of_two_that_make_the_key_at_once_both_go_by_the_same(tmp_path):
    disk = Overtaken(str(tmp_path))
    assert hidden(disk) == disk.theirs == hidden(RealDisk(str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["redact.key"]


@pytest.mark.parametrize("left", [b"", b"\n", bytes(65)], ids=["empty", "newline", "zeros"])
def test_a_key_that_was_emptied_is_made_anew(tmp_path, left):
    key = tmp_path / "redact.key"
    key.write_bytes(left)
    told = hidden(RealDisk(str(tmp_path)))
    assert len(key.read_bytes().strip()) == 64
    assert told == hidden(RealDisk(str(tmp_path)))
    assert told != made(left, (), ()).tree(f"the token is {SECRET}").value
