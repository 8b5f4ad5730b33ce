"""How differences read: lines that go and lines that come, in colours on a terminal."""

from typing import TYPE_CHECKING

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call

if TYPE_CHECKING:
    from mnemolog.model.node import Hunk

_STYLES = {"-": "error", "+": "good"}


def say_hunks(call: Call, hunks: "list[Hunk]") -> None:
    """Show where two texts differ."""
    for hunk in hunks:
        if call.as_json:
            screen.emit(hunk._asdict())
            continue
        screen.say((f"@@ -{hunk.old_start} +{hunk.new_start} @@", "note"))
        for line in hunk.lines:
            style = _STYLES.get(line[:1])
            screen.say((line, style) if style else line)
    if not hunks and not call.as_json:
        screen.say("They do not differ.")
