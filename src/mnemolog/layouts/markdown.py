"""Sessions as text for people."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from mnemolog.layouts.contract import Bundle, FileOut, Layout, LeftOut, SessionOut
from mnemolog.model.entry import Entry
from mnemolog.model.session import Session

# What an entry is about needs no name before it.
_MAIN = ("decision", "description")


def write(bundle: Bundle) -> Iterator[FileOut | LeftOut]:
    """One page with everything."""
    about = ", ".join(f"{_one_line(name)} {_one_line(value)}" for name, value in
                      bundle.subject.items())  # fmt: skip
    parts = [f"# Memory of {about or 'everything'}\n", f"Exported {bundle.exported_at}.\n"]
    for one in bundle.sessions:
        parts += _session(one)
    for user, entries in bundle.users.items():
        parts += [f"## User {_one_line(user)}\n", *_entries(entries)]
    if bundle.shared:
        parts += ["## Shared\n", *_entries(bundle.shared)]
    for user, nodes in bundle.nodes.items():
        parts.append(f"## Knowledge of {_one_line(user)}\n")
        for node in nodes:
            parts += [f"### {_one_line(node.address)}\n", _quoted(node.text)]
    parts += (f"**Left out:** {_one_line(text)}\n" for text in bundle.warnings)
    yield FileOut("export.md", "\n".join(parts).encode())


def _session(one: SessionOut) -> list[str]:
    return [f"## Session {_one_line(one.session.id)}\n", _facts(one.session),
            *(f"**Skipped:** {_one_line(text)}\n" for text in one.warnings),
            *_entries(one.entries), *_runs(one.runs)]  # fmt: skip


def _runs(runs: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    for run, notes in runs.items():
        yield f"### Notes of the open run {_one_line(run)}\n"
        yield from _entries(notes)


def _facts(session: Session) -> str:
    rows: list[tuple[str, Any]] = [
        ("user", session.user_id),
        ("agents", ", ".join(session.agent_ids)),
        ("state", session.state),
        ("created", session.created_at),
        ("updated", session.updated_at),
        ("metadata", session.metadata),
        ("preferences", session.preferences),
        ("settings", session.settings),
    ]
    return "".join(f"- {name}: {_one_line(_plain(value))}\n" for name, value in rows if value)


def _entries(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        who = " ".join(filter(None, (entry.role, entry.agent_id)))
        title = " · ".join(filter(None, (entry.timestamp, entry.type, _one_line(who))))
        yield f"### {title}\n"
        yield _quoted(_text(entry.content))
        yield _beside(entry)


def _text(content: str | Mapping[str, Any]) -> str:
    if isinstance(content, str):
        return content
    main = [_plain(content[name]) for name in _MAIN if name in content]
    rest = [f"{name}: {_plain(value)}" for name, value in content.items() if name not in _MAIN]
    return "\n".join((*main, *rest))


def _beside(entry: Entry) -> str:
    rows: list[tuple[str, Any]] = [
        ("id", entry.id),
        ("scope", entry.scope if entry.scope != "session" else None),
        ("origin", entry.origin),
        ("user", entry.user_id),
        ("run", entry.run_id),
        ("compartment", entry.compartment),
        ("category", entry.category),
        ("tags", ", ".join(entry.tags)),
        ("references", ", ".join(entry.references)),
        ("importance", entry.importance),
        ("context", entry.context),
        ("metadata", entry.metadata),
    ]
    told = [(name, value) for name, value in rows if value not in (None, "", {}, ())]
    return "".join(f"- {name}: {_one_line(_plain(value))}\n" for name, value in told)


def _quoted(text: str) -> str:
    """Every line as a quotation, so that no text can pass for a heading of this page."""
    return "".join(f"> {line}\n" for line in text.splitlines() or [""])


def _plain(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _one_line(text: str) -> str:
    return " ".join(text.split())


LAYOUT = Layout("markdown", "Sessions as text for people.", write=write)
