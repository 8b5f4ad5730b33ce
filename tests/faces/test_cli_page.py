"""The page docs/cli.md says what the commands say."""

from pathlib import Path

from mnemolog.faces.cli import exits
from mnemolog.faces.cli.app import app
from mnemolog.faces.cli.call import COMMON
from mnemolog.faces.cli.page import page

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_the_page_is_what_the_commands_print():
    advice = "run: python -m mnemolog.faces.cli.page > docs/cli.md"
    assert PAGE.read_text(encoding="utf-8") == page(), advice


def test_every_verb_is_on_the_page_and_takes_the_common_options():
    assert len(app.commands) >= 9
    for name, command in app.commands.items():
        assert f"## {name}\n" in page()
        assert command.params[-len(COMMON) :] == COMMON
        assert command.get_short_help_str(limit=60).endswith(".")


def test_every_exit_code_is_on_the_page_once():
    codes = [each.code for each in exits.table()]
    assert len(codes) == len(set(codes)) == 13
    for code in codes:
        assert page().count(f"\n| {code} |") == 1
