"""How differences read: lines that go and lines that come, in colours on a terminal."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call
from mnemolog.faces.cli.screen import Part

if TYPE_CHECKING:
    from mnemolog.model.node import Hunk

_STYLES = {"-": "error", "+": "good"}
_MOST = 40


def say_hunks(call: Call, hunks: "list[Hunk]") -> None:
    """Show where two texts differ."""
    for hunk in hunks:
        if call.as_json:
            screen.emit(hunk._asdict())
            continue
        for part in _parts(hunk):
            screen.say(part)
    if not hunks and not call.as_json:
        screen.say("They do not differ.")


def say_conflict(theirs: object, yours: object) -> None:
    """Show what a refused write would have made of the text that is there, in short."""
    from mnemolog.policy.hunks import hunks

    if not isinstance(yours, str) or not isinstance(theirs, str):
        return
    parts = [part for hunk in hunks(theirs, yours) for part in _parts(hunk)]
    screen.say(("- what is there, + what was refused", "dim"), err=True)
    for part in parts[:_MOST]:
        screen.say(part, err=True)
    if len(parts) > _MOST:
        screen.say(
            (f"… and {len(parts) - _MOST:,} lines more; --json has both texts", "dim"), err=True
        )


def _parts(hunk: "Hunk") -> Iterator[Part]:
    yield f"@@ -{hunk.old_start} +{hunk.new_start} @@", "note"
    for line in hunk.lines:
        style = _STYLES.get(line[:1])
        yield (line, style) if style else line
