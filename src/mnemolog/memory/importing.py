"""Importing: files of other programs, and our own exports, become sessions and entries."""

import os
from collections.abc import Mapping

from mnemolog import layouts
from mnemolog.errors import InvalidFormatError, shown
from mnemolog.layouts.contract import FileSource
from mnemolog.layouts.folder import FolderSource
from mnemolog.layouts.sources import CountedSource, HeldSource
from mnemolog.memory.import_report import ImportReport
from mnemolog.memory.receiving import ImportHost, Receiver
from mnemolog.model.given import place
from mnemolog.model.ids import check_id
from mnemolog.ports import Progress, unwatched


class Importing(ImportHost):
    """The verb that takes in what others wrote."""

    def import_from(
        self,
        source: str | os.PathLike[str] | Mapping[str, bytes | str] | FileSource,
        layout: str | None = None,
        *,
        dry_run: bool = False,
        prefix: str = "",
        progress: Progress | None = None,
    ) -> ImportReport:
        """Import a file, a folder, or files by name; a second time adds nothing.

        Without a `layout` the first that fits is taken. `prefix` is put before the ids of
        sessions. The report counts what was stored, was present, was skipped and was refused.
        """
        if prefix:
            check_id(prefix, "prefix")
        files = CountedSource(_source(source), progress or unwatched)
        chosen = (
            layouts.detect(files) if layout is None else layouts.named(layout, layouts.READABLE)
        )
        report = ImportReport(layout=chosen.name, dry_run=dry_run)
        receiver = Receiver(self, report, prefix)
        assert chosen.read is not None
        files.begin()
        for left in files.passed_over:
            receiver.take(left)
        for found in chosen.read(files):
            receiver.take(found)
        receiver.finish()
        files.finish()
        if report.is_empty and chosen.detect is not None and not chosen.detect(files):
            raise InvalidFormatError(
                f"Nothing there fits the layout {chosen.name}.",
                advice="A layout is told by the names of its files, such as `.json` and `.jsonl`: "
                "docs/exchange.md lists them.",
            )
        return report


def _source(given: object) -> FileSource:
    if isinstance(given, str | os.PathLike):
        return FolderSource(place(given, "source"))
    if isinstance(given, Mapping):
        return HeldSource(given)
    if isinstance(given, FileSource):
        return given
    raise InvalidFormatError(
        f"An import reads a file, a folder or files by name, not {shown(given)}.",
        advice="Give a path, or a dictionary from names to bytes.",
    )
