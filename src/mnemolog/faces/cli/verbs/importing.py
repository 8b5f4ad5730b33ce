"""`mnemolog import`"""

from typing import TYPE_CHECKING

import click

from mnemolog.errors import InputError
from mnemolog.faces.cli import exits, screen, words
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.natives import NATIVE, import_native

if TYPE_CHECKING:
    from mnemolog.memory.import_report import ImportReport

SHOWN = 20


@click.command("import")
@click.argument("path")
@click.option(
    "--layout",
    metavar="NAME",
    help="json, jsonl, work-agent, four-files, one-log, memory-json, mcp-memory, claude-code, "
    "openai or nodes; else the first that fits; or native, whole logs.",
)
@click.option("--dry-run", is_flag=True, help="Read and check everything, write nothing.")
@click.option("--prefix", metavar="TEXT", default="", help="Put this before the ids of sessions.")
@verb
def import_(call: Call, path: str, layout: str | None, dry_run: bool, prefix: str) -> int:
    """Import files of other programs, or of an export.

    PATH is a file or a folder. Whatever is there already stays as it is, so that importing twice
    adds nothing. If something was refused, the exit code is 5, and the rest is stored all the same.
    """
    if layout == NATIVE:
        return import_native(call, path, dry_run, prefix)
    with call.memory(make=not dry_run) as memory, progress("importing") as bar:
        report = memory.import_from(path, layout, dry_run=dry_run, prefix=prefix, progress=bar)
    if call.as_json:
        screen.emit(report)
    else:
        _tell(report)
    return exits.BRANCHES[InputError] if report.refused_total else exits.OK


def _tell(report: "ImportReport") -> None:
    would = "would be " if report.dry_run else ""
    sessions = report.sessions
    screen.say(
        (report.layout, "strong"),
        f": {words.counted(sessions['created'], 'session')} {would}created, ",
        f"{sessions['existing']:,} there already",
    )
    types = sorted({*report.stored, *report.revised, *report.present})
    if types:
        counters = (report.stored, report.revised, report.present)
        rows = [[kind, *(f"{counter[kind]:,}" for counter in counters)] for kind in types]
        screen.table(("type", f"{would}stored", f"{would}revised", "present"), rows)
    asides = (
        ("deleted there and here", report.deleted),
        ("skipped", report.skipped),
        ("redacted", report.redactions),
        ("adjusted", report.adjusted),
        ("refused", report.reasons),
    )
    for name, counter in asides:
        for what, count in counter.most_common():
            screen.say(
                (f"{name}: ", "error" if name == "refused" else "dim"), f"{count:,} × {what}"
            )
    _tell_refused(report)


def _tell_refused(report: "ImportReport") -> None:
    for file, line, reason, code in report.refused[:SHOWN]:
        where = file if line is None else f"{file}, line {line:,}"
        screen.say(f"    {where}: ", reason, (f"  {code}", "dim"))
    if report.refused_total > SHOWN:
        rest = report.refused_total - SHOWN
        screen.say(f"    and {rest:,} more; --json names the first {len(report.refused):,}")
