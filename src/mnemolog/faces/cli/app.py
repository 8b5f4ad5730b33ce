"""The command with all its verbs, and how errors are told."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from io import StringIO
from itertools import chain
from typing import Any

import click

from mnemolog.errors import MnemologError, NodeConflictError, StorageFullError, did_you_mean
from mnemolog.faces.cli import exits, screen
from mnemolog.faces.cli.advising import advice_of, message_of
from mnemolog.faces.cli.call import COMMON, usage_of
from mnemolog.faces.cli.differing import say_conflict
from mnemolog.faces.cli.verbs.add import add
from mnemolog.faces.cli.verbs.archive import archive
from mnemolog.faces.cli.verbs.audit import audit
from mnemolog.faces.cli.verbs.backup import backup
from mnemolog.faces.cli.verbs.compact import compact
from mnemolog.faces.cli.verbs.context import context
from mnemolog.faces.cli.verbs.delete import delete, undelete
from mnemolog.faces.cli.verbs.demo import demo
from mnemolog.faces.cli.verbs.doctor import doctor
from mnemolog.faces.cli.verbs.edit import edit
from mnemolog.faces.cli.verbs.erase import erase, verify
from mnemolog.faces.cli.verbs.exporting import export
from mnemolog.faces.cli.verbs.hook import hook
from mnemolog.faces.cli.verbs.importing import import_
from mnemolog.faces.cli.verbs.init import init
from mnemolog.faces.cli.verbs.log import log
from mnemolog.faces.cli.verbs.maintain import maintain
from mnemolog.faces.cli.verbs.mcp import mcp
from mnemolog.faces.cli.verbs.migrate import migrate
from mnemolog.faces.cli.verbs.node import node
from mnemolog.faces.cli.verbs.redact import redact
from mnemolog.faces.cli.verbs.reindex import reindex
from mnemolog.faces.cli.verbs.restore import restore
from mnemolog.faces.cli.verbs.review import review
from mnemolog.faces.cli.verbs.runs import runs
from mnemolog.faces.cli.verbs.search import search
from mnemolog.faces.cli.verbs.serve import serve
from mnemolog.faces.cli.verbs.sessions import sessions
from mnemolog.faces.cli.verbs.settings import settings
from mnemolog.faces.cli.verbs.show import show
from mnemolog.faces.cli.verbs.stats import stats
from mnemolog.faces.cli.verbs.token import token
from mnemolog.faces.cli.verbs.watch import watch
from mnemolog.faces.cli.verbs.worker import worker

USAGE_CODE = "E_USAGE"

# What other programs call a verb.
_MEANT = {
    "cat": "show", "config": "settings", "correct": "edit", "find": "search", "forget": "delete",
    "get": "show", "help": "--help", "list": "sessions", "ls": "sessions", "query": "search",
    "remember": "add", "remove": "delete", "rm": "delete", "start": "serve", "status": "stats",
    "undo": "undelete", "update": "edit",
}  # fmt: skip


# As `mnemolog --help` and docs/cli.md show them.
GROUPS: dict[str, tuple[click.Command, ...]] = {
    "Write and read": (init, add, edit, show, log, search, context, watch, sessions, runs, stats),
    "Knowledge": (node, review, worker),
    "Forget": (delete, undelete, erase, verify, redact, audit),
    "Keep": (backup, archive, restore, compact, maintain, migrate, reindex, doctor, settings),
    "Exchange": (export, import_, hook),
    "Serve": (serve, token, mcp, demo),
}


class App(click.Group):
    """A group whose every end is an exit code of the table."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run, tell what went wrong, and leave."""
        given = args[0] if args else extra.get("args")
        words = sys.argv[1:] if given is None else list(given)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows `?`
        sys.exit(self._code(args, {**extra, "standalone_mode": False}, "--json" in words))

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the command line; `--help` is written while that is done."""
        with _output_may_end():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb."""
        with _output_may_end():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs in their groups."""
        for title, verbs in GROUPS.items():
            told = [(f"{one.name or '':<8}", one.get_short_help_str(limit=80)) for one in verbs]
            with formatter.section(title):
                formatter.write_dl(told)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that is meant; of a slip of the pen, the one that may have been meant."""
        is_option = args[0].startswith("-")
        if not (ctx.resilient_parsing or is_option or args[0] in self.commands):
            hint = did_you_mean(_MEANT.get(args[0], args[0]), (*self.commands, "--help"), "")
            ctx.fail(f"There is no command {args[0]!r:.60}. {hint}".strip())
        return super().resolve_command(ctx, args)

    def _code(self, args: tuple[Any, ...], extra: dict[str, Any], as_json: bool) -> int:
        try:
            return super().main(*args, **extra) or exits.OK
        except MnemologError as error:
            tell(error, as_json)
            return exits.code_of(error)
        except click.ClickException as error:
            _tell_usage(error, as_json)
            return error.exit_code
        except click.Abort:
            return exits.INTERRUPTED


@contextmanager
def _output_may_end() -> Iterator[None]:
    """Whoever reads the output may go away, and the disk that it goes to may be full."""
    try:
        yield
    except MnemologError:
        raise  # some are OSErrors too
    except OSError as error:
        if not isinstance(error, BrokenPipeError) and error.errno not in (ENOSPC, EDQUOT):
            raise
        # Nobody takes what is still in the buffer; Python must not try to write it at the end.
        sys.stdout = StringIO()
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(exits.BROKEN_PIPE) from None
        raise StorageFullError(
            f"Could not write the output: {error.strerror}.",
            advice="Free some space there, or write it elsewhere.",
        ) from None


def tell(error: MnemologError, as_json: bool) -> None:
    """Say what was refused, why, and what to do."""
    if as_json:
        told = {"code": error.code, "message": message_of(error), "advice": advice_of(error)}
        screen.emit({**told, "details": error.details}, err=True)
    else:
        told_to_do = f"{message_of(error)} {advice_of(error)}".strip()
        screen.say((f"{error.code}: ", "error"), told_to_do, err=True)
        if isinstance(error, NodeConflictError):
            say_conflict(error.details.get("theirs"), error.details.get("yours"))


def _tell_usage(error: click.ClickException, as_json: bool) -> None:
    if as_json:
        told = {"code": USAGE_CODE, "message": error.format_message(), "advice": _advice(error)}
        screen.emit({**told, "details": {}}, err=True)
    elif error.__class__.__name__ == "NoArgsIsHelpError":
        for line in error.format_message().splitlines():
            screen.say(line, err=True)
    else:
        message = screen.one_line(error.format_message())
        screen.say((f"{USAGE_CODE}: ", "error"), message, err=True)
        screen.say(_advice(error), err=True)


def _advice(error: click.ClickException) -> str:
    """How the verb is written, which most often tells what went wrong, and where there is more."""
    context = getattr(error, "ctx", None)
    if context is None or isinstance(context.command, click.Group):
        return "Try `mnemolog --help`."
    return f"Usage: {usage_of(context.command)}. `{context.command_path} --help` says more."


app = App(
    "mnemolog",
    params=list(COMMON),
    help="Memory for LLM agents that you can read with `cat`.",
    epilog="`mnemolog demo` shows what it does; `mnemolog init` and `mnemolog add TEXT` begin a "
    "memory. `mnemolog COMMAND --help` says more.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
click.version_option(package_name="mnemolog", message="%(prog)s %(version)s")(app)
for each in chain.from_iterable(GROUPS.values()):
    app.add_command(each)
