"""`mnemolog export`"""

from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import exits, screen, words
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.natives import NATIVE, export_native

if TYPE_CHECKING:
    from mnemolog.memory.exporting import ExportReport


@click.command("export")
@click.argument("session", required=False)
@click.option(
    "--layout",
    metavar="NAME",
    default="json",
    help="json (unless told otherwise), jsonl or markdown, as text; work-agent, four-files, "
    "one-log, memory-json or nodes, as files below a folder; native, whole logs in one file.",
)
@click.option("--of", "whose", metavar="USER", help="Everything about this user.")
@click.option("--by", "writer", metavar="AGENT", help="Everything that this agent wrote.")
@click.option(
    "--out",
    metavar="PATH",
    help="A file or folder that does not exist yet; else a text goes to the output.",
)
@verb
def export(
    call: Call,
    session: str | None,
    layout: str,
    whose: str | None,
    writer: str | None,
    out: str | None,
) -> int:
    """Write out a session, what is known of a user, or everything.

    Nothing is ever overwritten: --out must not exist, or be an empty folder. If something could not
    be read, that is said, the rest is written, and the exit code is 10.
    """
    from mnemolog import layouts

    if layout == NATIVE:
        return export_native(call, session, whose, writer, out)
    warnings: list[str] = []
    about = {"session_id": session, "user_id": whose, "agent_id": writer}
    chosen = layouts.named(layout, layouts.WRITABLE).name
    with call.memory() as memory:
        if out is not None:
            with progress("exporting") as bar:
                report = memory.export_to(out, chosen, progress=bar, **about)
            _tell(call, report, out)
            warnings = report.warnings
        elif chosen in layouts.SINGLE:
            text = memory.export_subject(format=chosen, warned=warnings.append, **about)
            _tell_text(call, chosen, text)
        else:
            raise click.UsageError(f"{chosen} consists of several files: say where with --out.")
    for text in warnings:
        screen.warn(text, as_json=call.as_json)
    return exits.WARNINGS if warnings else exits.OK


def _tell_text(call: Call, layout: str, text: str) -> None:
    """The text itself; for a program one object, on one line."""
    import json

    if not call.as_json or layout == "jsonl":
        screen.emit_raw(text.removesuffix("\n").encode())
    else:
        screen.emit(json.loads(text) if layout == "json" else {"layout": layout, "text": text})


def _tell(call: Call, report: "ExportReport", out: str) -> None:
    if call.as_json:
        import msgspec

        screen.emit({"path": out, **msgspec.to_builtins(report)})
        return
    entries, sessions = report.written_entries, words.counted(report.sessions, "session")
    size = words.size(report.size_bytes)
    screen.say(
        (f"{entries:,} entries of {sessions} are in ", "good"),
        out,
        f" ({words.counted(report.files, 'file')}, {size})",
    )
    if report.written_nodes:
        screen.say(f"with {words.counted(report.written_nodes, 'node')} of the graph")
    for why, count in report.left_out.most_common():
        screen.say(("left out: ", "warning"), f"{count:,} × {why}")
