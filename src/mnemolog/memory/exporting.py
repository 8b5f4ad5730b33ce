"""Exporting: sessions, subjects and whole memories as files, and what the index knows."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from mnemolog import layouts
from mnemolog.errors import InvalidFormatError, InvalidQueryError, shown
from mnemolog.layouts.contract import NODE, Bundle, FileOut, Layout, LeftOut, SessionOut
from mnemolog.layouts.folder import refuse_existing, write_file, write_folder
from mnemolog.layouts.sources import is_too_long
from mnemolog.memory.subjects import ExportHost, Gathering, Subject
from mnemolog.ports import Progress, exporter_of

_TOO_LONG = "the document is longer than an import reads at once: take jsonl, which has no limit"
INDEX_SHAPES = ("inverted", "entries")


def unheard(_: str) -> None:
    """For those who do not ask what could not be read."""


class ExportReport(msgspec.Struct, kw_only=True):
    """What an export wrote; counts are by type or by reason."""

    layout: str
    sessions: int = 0
    files: int = 0
    size_bytes: int = 0
    entries: Counter[str] = msgspec.field(default_factory=Counter)
    nodes: int = 0
    left_out: Counter[str] = msgspec.field(default_factory=Counter)
    warnings: list[str] = msgspec.field(default_factory=list)

    @property
    def written_entries(self) -> int:
        """How many entries stand in the files: `entries` counts those that are left out too."""
        return sum(self.entries.values()) - self.left_out.total() + self.left_out[NODE]

    @property
    def written_nodes(self) -> int:
        """How many nodes stand in the files."""
        return self.nodes - self.left_out[NODE]


class Exporting(ExportHost):
    """The verbs that hand out."""

    def export_session(self, session_id: str, format: str = "json") -> str:
        """A session as text: `json`, `jsonl` or `markdown`."""
        return self._text(Subject.of(session_id, None, None), format)

    def export_subject(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        format: str = "json",
        warned: Callable[[str], None] = unheard,
    ) -> str:
        """Everything about a user, an agent or a session as text; without any, all there is.

        `warned` is told of each session and line that could not be read.
        """
        return self._text(Subject.of(session_id, user_id, agent_id), format, warned)

    def export_files(
        self,
        layout: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        warned: Callable[[str], None] = unheard,
    ) -> Iterator[tuple[str, bytes]]:
        """The files of an export, one at a time: relative name and content.

        `warned` is told of each session and line that could not be read.
        """
        chosen = layouts.named(layout, layouts.WRITABLE)
        subject = Subject.of(session_id, user_id, agent_id)
        return self._heard(chosen, subject, warned)

    def _heard(
        self, layout: Layout, subject: Subject, warned: Callable[[str], None]
    ) -> Iterator[FileOut]:
        report = ExportReport(layout=layout.name)
        yield from self._files(layout, subject, report, None)
        for text in report.warnings:
            warned(text)

    def export_to(
        self,
        path: str | os.PathLike[str],
        layout: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        progress: Progress | None = None,
    ) -> ExportReport:
        """Write an export to a new folder, or a new file where the layout has only one."""
        chosen = layouts.named(layout, layouts.WRITABLE)
        subject = Subject.of(session_id, user_id, agent_id)
        report = ExportReport(layout=chosen.name)
        target = os.fspath(path)
        if self._kept_by is not None and self._kept_by.holds(os.path.dirname(target) or "."):
            raise InvalidFormatError(
                "An export would lie inside the root itself, where an erasure must reach all.",
                advice="Write it elsewhere.",
            )
        refuse_existing(target, is_file=chosen.name in layouts.SINGLE)
        files = self._files(chosen, subject, report, progress)
        if chosen.name in layouts.SINGLE:
            write_file(target, next(files).content)
        else:
            write_folder(target, files)
        return report

    def export_index(self, session_id: str | None = None, shape: str = "entries") -> dict[str, Any]:
        """The index of one session, or with None of all that this handle may see, as plain JSON.

        `inverted` goes from words, topics and hours to ids; `entries` from ids to lines, bytes
        and weights, and from tags and types to ids. Built when it is asked for.
        """
        if shape not in INDEX_SHAPES:
            raise InvalidQueryError(
                f"There is no index shape {shown(shape)}.",
                advice=f"Use one of {', '.join(INDEX_SHAPES)}.",
            )
        decay = self.settings.decay
        if session_id is not None:
            decay = self._settings(self._manifest(session_id)).decay
        index = exporter_of(self._search_index())
        return index.export(shape, self._viewer, session_id, self._clock.now(), decay)

    def _text(self, subject: Subject, format: str, warned: Callable[[str], None] = unheard) -> str:
        if format not in layouts.SINGLE:
            raise InvalidFormatError(
                f"There is no format {shown(format)} for a text.",
                advice=f"Use one of {', '.join(layouts.SINGLE)}.",
            )
        files = list(self._heard(layouts.named(format, layouts.WRITABLE), subject, warned))
        return files[0].content.decode()

    def _files(
        self, layout: Layout, subject: Subject, report: ExportReport, progress: Progress | None
    ) -> Iterator[FileOut]:
        gathering = Gathering(self, subject, self.export_index)
        bundle = _counted(gathering.bundle(), report, gathering.sessions, progress)
        assert layout.write is not None
        for found in layout.write(bundle):
            if isinstance(found, LeftOut):
                report.left_out[found.why] += 1
                continue
            report.files += 1
            report.size_bytes += len(found.content)
            if layout.name == layouts.JSON and is_too_long(len(found.content)):
                report.warnings.append(_TOO_LONG)
            yield found


def _counted(bundle: Bundle, report: ExportReport, total: int, progress: Progress | None) -> Bundle:
    """The same bundle, whose sessions are counted as they are taken."""
    for entries in (*bundle.users.values(), bundle.shared):
        report.entries.update(entry.type for entry in entries)
    report.nodes = sum(map(len, bundle.nodes.values()))

    def sessions() -> Iterator[SessionOut]:
        for one in bundle.sessions:
            report.sessions += 1
            report.entries.update(entry.type for entry in (*one.entries, *one.notes()))
            report.warnings += (f"{one.session.id}: {text}" for text in one.warnings)
            yield one
            if progress is not None:
                progress(report.sessions, total)
        report.warnings += bundle.warnings

    return bundle._replace(sessions=sessions())
