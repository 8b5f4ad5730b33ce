"""Asking before something is done that cannot be undone."""

import sys

import click

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call


def ask(call: Call, question: str, refused: str) -> None:
    """Ask whoever sits there, and raise if they do not agree; a program has to say --yes."""
    if call.as_json or not sys.stdin.isatty():
        raise click.UsageError(f"{refused}: without somebody to ask, give --yes.")
    if not click.confirm(screen.one_line(question)):
        raise click.UsageError(f"{refused}.")
