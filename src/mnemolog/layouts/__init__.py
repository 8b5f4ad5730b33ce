"""Layouts: the ways in which files hold memory, ours and others', as pure functions."""

from mnemolog.errors import InvalidFormatError, shown
from mnemolog.layouts import (
    claude_code,
    four_files,
    markdown,
    mcp_memory,
    memory_json,
    nodes,
    one_log,
    openai,
    own,
    work_agent,
)
from mnemolog.layouts.contract import FileSource, Layout
from mnemolog.layouts.sources import check_document

# In the order in which an import asks them; `native`, whole logs, is none of them.
LAYOUTS = {
    layout.name: layout
    for layout in (
        own.JSON,
        own.JSONL,
        markdown.LAYOUT,
        work_agent.LAYOUT,
        four_files.LAYOUT,
        one_log.LAYOUT,
        memory_json.LAYOUT,
        mcp_memory.LAYOUT,
        claude_code.LAYOUT,
        openai.LAYOUT,
        nodes.LAYOUT,
    )
}
READABLE = tuple(name for name, layout in LAYOUTS.items() if layout.read is not None)
WRITABLE = tuple(name for name, layout in LAYOUTS.items() if layout.write is not None)
JSON = own.JSON.name
# These consist of one file.
SINGLE = (JSON, own.JSONL.name, markdown.LAYOUT.name)


def named(name: object, known: tuple[str, ...]) -> Layout:
    """A layout by its name."""
    if isinstance(name, str) and name in known:
        return LAYOUTS[name]
    raise InvalidFormatError(
        f"There is no layout {shown(name)} for this.", advice=f"Use one of {', '.join(known)}."
    )


def detect(source: FileSource) -> Layout:
    """The first layout that fits a source."""
    for layout in LAYOUTS.values():
        if layout.detect is not None and layout.detect(source):
            return layout
    for name in source.names():
        if name.endswith(".json"):
            check_document(source.size(name))
    raise InvalidFormatError(
        "No known layout fits these files.",
        advice=f"Name one of {', '.join(READABLE)} to have it tried. Whole logs are imported as "
        "`native`.",
    )
