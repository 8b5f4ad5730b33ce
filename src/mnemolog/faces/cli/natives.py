"""`--layout native` of `export` and `import`: our own form, byte for byte."""

from typing import TYPE_CHECKING

import click

from mnemolog.errors import InputError
from mnemolog.faces.cli import exits, screen, words
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call

if TYPE_CHECKING:
    from mnemolog.memory.backing import Imported

NATIVE = "native"


def export_native(
    call: Call, session: str | None, user: str | None, writer: str | None, out: str | None
) -> int:
    """Write whole logs to one new file."""
    if out is None or writer is not None:
        raise click.UsageError(
            "native goes to a new file, --out, and holds what every agent wrote."
        )
    with call.memory() as memory, progress("exporting") as bar:
        done = memory.export_native(out, session_id=session, user_id=user, progress=bar)
    code = exits.WARNINGS if done.left_out else exits.OK
    if call.as_json:
        screen.emit(done._asdict())
        return code
    screen.say(
        (f"{done.lines:,} lines of {done.logs:,} logs are in ", "good"),
        done.path,
        f" ({words.size(done.bytes)})",
    )
    if done.files:
        screen.say(f"and {done.files:,} files of graphs")
    for folder in done.left_out:
        screen.warn(f"left out: {folder}")
    return code


def import_native(call: Call, path: str, dry_run: bool, prefix: str) -> int:
    """Read such a file in, and say what became of each log."""
    if prefix:
        raise click.UsageError("native keeps every id: --prefix does not go with it.")
    with call.memory(make=not dry_run) as memory, progress("importing") as bar:
        done = memory.import_native(path, dry_run=dry_run, progress=bar)
    _tell(call, done)
    return exits.BRANCHES[InputError] if done.refused else exits.OK


def _tell(call: Call, done: "Imported") -> None:
    if call.as_json:
        logs = [
            {**one._asdict(), "log": {"kind": one.log.kind, "id": one.log.id}} for one in done.logs
        ]
        screen.emit({"layout": NATIVE, "dry_run": done.dry_run, "lines": done.lines, "logs": logs})
        return
    would = "would be " if done.dry_run else ""
    rows = [[one.status, _kind(one.part, one.log.kind), one.log.id, f"{one.lines or one.files:,}"]
            for one in done.logs]  # fmt: skip
    screen.table(("status", "kind", "id", f"lines or files {would}added"), rows)
    for one in done.refused:
        screen.say(
            ("refused: ", "error"), f"{_kind(one.part, one.log.kind)} {one.log.id}: {one.reason}"
        )


def _kind(part: str, kind: str) -> str:
    return "graph" if part == "graph" else kind
