"""How differences read: lines that go and lines that come, in colours on a terminal."""

from typing import TYPE_CHECKING

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call

if TYPE_CHECKING:
    from mnemolog.model.node import Hunk

_STYLES = {"-": "error", "+": "good"}
_MOST_SHOWN = 40
_MOST_COMPARED = 2000


def say_hunks(call: Call, hunks: "list[Hunk]") -> None:
    """Show where two texts differ."""
    for hunk in hunks:
        if call.as_json:
            screen.emit(hunk._asdict())
            continue
        screen.say((f"@@ -{hunk.old_start} +{hunk.new_start} @@", "note"))
        for line in hunk.lines:
            screen.say(_part(line))
    if not hunks and not call.as_json:
        screen.say("They do not differ.")


def say_conflict(theirs: object, yours: object) -> None:
    """Show what a refused write would have made of the text that is there, in short."""
    from difflib import unified_diff

    if not isinstance(yours, str) or not isinstance(theirs, str):
        return
    before, after = (one.splitlines()[:_MOST_COMPARED] for one in (theirs, yours))
    lines = list(unified_diff(before, after, lineterm=""))[2:]  # without the names of files
    screen.say(("- what is there, + what was refused", "dim"), err=True)
    for line in lines[:_MOST_SHOWN]:
        screen.say(_part(line), err=True)
    if len(lines) > _MOST_SHOWN:
        screen.say(("… and more; --json has both texts", "dim"), err=True)


def _part(line: str) -> screen.Part:
    style = _STYLES.get(line[:1])
    return (line, style) if style else line
