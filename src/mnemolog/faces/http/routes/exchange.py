"""Exports and imports: jobs, and tickets for what they made."""

import io
import zipfile
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get, post
from litestar.params import JSONBody, PathParameter

from mnemolog import layouts
from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.jobs import Job, Progress, Work
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.http.shapes import Body
from mnemolog.faces.http.tickets import too_large
from mnemolog.memory import Memory

_MOST = 256 * 1024 * 1024
_TYPES = {
    "json": ("application/json", "json"),
    "jsonl": ("application/x-ndjson", "jsonl"),
    "markdown": ("text/markdown", "md"),
}
_ZIP = ("application/zip", "zip")
KINDS = sorted(kind for kind, _ in (*_TYPES.values(), _ZIP))
"""What a download may be."""


class NewExport(Body):
    """What to hand out: of a session, a user, an agent, or everything in sight."""

    layout: Literal[
        "json", "jsonl", "markdown", "work-agent", "four-files", "one-log", "memory-json", "nodes"
    ] = "json"
    session_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None


class NewImport(Body):
    """Files to take in, by their names."""

    files: dict[str, str]
    layout: str | None = None
    prefix: str = ""
    dry_run: bool = False


@post("/exports", sync_to_thread=True, status_code=202)
def export(caller: Asking, data: JSONBody[NewExport]) -> Job:
    """Export; the job's result holds a ticket for one download."""
    memory, tickets = caller.memory, caller.house.tickets
    if data.session_id is not None:
        memory.load_session(data.session_id)

    def call(progress: Progress) -> dict[str, Any]:
        warnings: list[str] = []
        content, kind, ending = _exported(memory, data, progress, warnings.append)
        name = f"mnemolog-{data.layout}.{ending}"
        ticket = tickets.put(name, kind, content)
        told = {"warnings": warnings} if warnings else {}
        return {"ticket": ticket, "name": name, "bytes": len(content), **told}

    return caller.house.jobs.begin(Work("export", "files", call), caller.reach)


def _exported(
    memory: Memory, data: NewExport, progress: Progress, warned: Callable[[str], None]
) -> tuple[bytes, str, str]:
    about = {"session_id": data.session_id, "user_id": data.user_id, "agent_id": data.agent_id}
    if data.layout in layouts.SINGLE:
        text = memory.export_subject(format=data.layout, warned=warned, **about)
        return (text.encode("utf-8", "surrogatepass"), *_TYPES[data.layout])
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        files = memory.export_files(data.layout, warned=warned, **about)
        for number, (name, content) in enumerate(files, 1):
            packed.writestr(name, content)
            progress(number, number)
            if held.tell() > _MOST:
                raise too_large(_MOST)
    return held.getvalue(), *_ZIP


@post("/imports", sync_to_thread=True, status_code=202)
def import_files(caller: Asking, data: JSONBody[NewImport]) -> Job:
    """Take in what another program wrote; a dry run only reports what would be stored."""
    memory = caller.memory
    if not data.files:
        raise RefusedError(400, "E_SCHEMA_INVALID", "No files were given.", field="files")

    def call(progress: Progress) -> dict[str, Any]:
        found = memory.import_from(
            {name: text.encode("utf-8", "surrogatepass") for name, text in data.files.items()},
            data.layout,
            dry_run=data.dry_run,
            prefix=data.prefix,
            progress=progress,
        )
        return {
            "new": sum(found.stored.values()) + sum(found.revised.values()),
            "same": sum(found.present.values()),
            "refused": [
                {"file": one.file, "line": one.line, "code": one.code, "reason": one.reason}
                for one in found.refused[:200]
            ],
            "report": msgspec.to_builtins(found),
        }

    action = "import (dry run)" if data.dry_run else "import"
    return caller.house.jobs.begin(Work(action, "files", call), caller.reach)


@get("/downloads/{ticket:str}", sync_to_thread=False)
def download(
    caller: Asking, ticket: Annotated[str, PathParameter(max_length=200)]
) -> Response[bytes]:
    """The file of a ticket, once; the ticket is the key to it."""
    held = caller.house.tickets.take(ticket)
    return Response(
        held.content,
        media_type=held.kind,
        headers={"content-disposition": f'attachment; filename="{held.name}"'},
    )


ROUTES = [export, import_files, download]
