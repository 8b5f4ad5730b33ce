"""`mnemolog hook`"""

import json
import os
import sys
from typing import Any

import click

from mnemolog.errors import InvalidFormatError, StorageIOError
from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call, verb

PROGRAMS = ("claude-code",)
_LONGEST = 16 * 1024 * 1024


class HarmlessCommand(click.Command):
    """A command that a host program runs: words that it does not know are no failure either."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the words; a mistake in them is told, and ends well."""
        try:
            return super().make_context(*args, **extra)
        except click.UsageError as error:
            screen.warn(f"nothing was recorded: {screen.one_line(error.format_message())}")
            raise click.exceptions.Exit(0) from error


@click.command(cls=HarmlessCommand)
@click.argument("program", metavar="PROGRAM", type=click.Choice(PROGRAMS))
@verb
def hook(call: Call, program: str) -> None:
    """Record a session of another program, from its own hooks.

    PROGRAM is claude-code. What happened comes as JSON on standard input, and the transcript that
    it names is stored, each message once. Whatever goes wrong is told on standard error, and the
    exit code stays 0: a memory that cannot be written is no reason to stop the work.
    """
    try:
        _record(call, program, _event(sys.stdin.buffer.read(_LONGEST + 1)))
    except Exception as error:
        screen.warn(f"nothing was recorded: {error}")


def _event(told: bytes) -> dict[str, Any]:
    try:
        found = json.loads(told) if len(told) <= _LONGEST else None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        path = found.get("transcript_path")
        if isinstance(path, str) and path:
            return found
    raise InvalidFormatError("The input is no event with a `transcript_path`.")


def _record(call: Call, layout: str, event: dict[str, Any]) -> None:
    from mnemolog.layouts.folder import FolderSource

    path = os.path.expanduser(event["transcript_path"])
    with call.memory(make=True) as memory:
        try:
            report = memory.import_from(FolderSource(path, is_file=True), layout)
        except StorageIOError:
            if event.get("hook_event_name") == "SessionStart":
                return  # a new session has no transcript yet
            raise
    if report.refused_total:
        reasons = ", ".join(reason for reason, _ in report.reasons.most_common(3))
        screen.warn(f"{report.refused_total:,} lines were not recorded: {reasons}")
