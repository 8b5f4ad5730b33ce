"""The keeper of a root of files: erasing, compacting, archiving, the audit and the proof."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from mnemolog import paths
from mnemolog.errors import StorageFullError
from mnemolog.fs import Disk
from mnemolog.fs.mounts import lies_below
from mnemolog.fs.real import RealDisk
from mnemolog.log import archive, audit, intents, moved, runs, sessions, settling
from mnemolog.log.redacting import MakeRedactor, Redaction
from mnemolog.log.scan import Scan
from mnemolog.model.entry import Entry
from mnemolog.policy.access import Viewer, may_change
from mnemolog.policy.compaction import Verdict, Weighed
from mnemolog.policy.drafting import Redact
from mnemolog.ports import LogKey, Progress, Unread, Use
from mnemolog.ports.keeping import (
    Archived,
    Audited,
    Compacted,
    Concealed,
    Gone,
    LeftRun,
    Looked,
    Purge,
    Trace,
)
from mnemolog.settings import RedactionPattern
from mnemolog.stores.files import (
    compacting,
    erasing,
    learned,
    naming,
    scanning,
    upkeep,
    uprooting,
)
from mnemolog.stores.files.archiving import Archives, at_home
from mnemolog.stores.files.census import users
from mnemolog.stores.files.feed import log_name, mark
from mnemolog.stores.files.held import Held
from mnemolog.stores.files.moving import grafting
from mnemolog.stores.files.uses import Uses, read_uses

T = TypeVar("T")

# So many ids of any length fit into the reserve of a full disk.
_FEW = 32


class FilesKeeper:
    """Forgets and keeps what lies below one root."""

    def __init__(
        self,
        disk: Disk,
        held: Callable[[LogKey], Held],
        purge: Purge,
        make_redactor: MakeRedactor,
        make_sieve: scanning.MakeSieve | None = None,
    ) -> None:
        self._disk = disk
        self._redaction = Redaction(disk, make_redactor)
        self._held = held
        self._purge = purge
        self._make_sieve = make_sieve
        self._archives = Archives(disk, held)

    def erase(self, log: LogKey, ids: Collection[str], record: Audited) -> Gone:
        held = self._held(log)
        if not held.exists():
            return Gone(0, {})
        limits = dict.fromkeys(ids, held.reader.find().last_seq)
        gone = self._erase(log, limits, record, with_later=True)
        if log.kind == "session":
            held.reader.forget_entries(ids)
        else:
            held.reader.restart()
        return gone

    def erase_older(
        self, log: LogKey, limits: Mapping[str, int], record: Audited, *, is_part: bool = False
    ) -> Gone:
        gone = self._erase(log, limits, record, is_part=is_part)
        self._held(log).reader.restart()
        return gone

    def _erase(self, log: LogKey, limits: Mapping[str, int], record: Audited, **how: bool) -> Gone:
        writer = self._held(log).writer
        try:
            gone = erasing.erase(self._disk, writer, log, limits, record, self._purge, **how)
        except StorageFullError:
            if len(limits) <= _FEW:
                raise
            gone = self._erase_in_portions(log, limits, record, **how)
        return gone

    def _erase_in_portions(
        self, log: LogKey, limits: Mapping[str, int], record: Audited, **how: bool
    ) -> Gone:
        """So few at a time that each intent fits into the reserve of a full disk."""
        lines, places, pairs = 0, Counter[str](), list(limits.items())
        for start in range(0, len(pairs), _FEW):
            some = dict(pairs[start : start + _FEW])
            gone = self._erase(log, some, record._replace(entries=len(some)), **how)
            lines += gone.lines
            places.update(gone.places)
        return Gone(lines, dict(places))

    def _at_home(self, held: Held, work: Callable[[], T]) -> T:
        return at_home(self._disk, held.place, work, held.lock_timeout)

    def in_damage(self, log: LogKey, ids: Collection[str]) -> set[str]:
        held = self._held(log)
        if log.kind == "run":
            return naming.named_in(self._disk, [held.place.guard], ids)
        if not held.exists():
            return set()
        known = held.reader.find(*ids)
        if any(known.entry(head) is None for head in known.heads):
            held.reader.restart()  # it was damaged since it was read
        held.reader.view()  # copies what is damaged
        found = naming.named_in_quarantine(self._disk, held.quarantine, ids)
        return found | naming.named_in_tail(self._disk, held.place, ids)

    def knows(self, log: LogKey, identifier: str) -> bool:
        return bool(self._held(log).reader.find(identifier).heads)

    def lines(self, log: LogKey) -> Iterator[Entry]:
        held = self._held(log)
        if held.exists():
            yield from (fed.entry for fed in Scan(self._disk, held.place, None) if fed.entry.seq)

    def settled(self, log: LogKey) -> tuple[int, str]:
        return settling.settled(self._disk, self._held(log).place)

    def markers(self, log: LogKey) -> dict[str, Any]:
        return learned.read(self._disk, log_name(log))

    def mark(
        self, log: LogKey, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]:
        after = learned.change(self._disk, self._held(log).writer, log_name(log), change)
        mark(self._disk, log_name(log))
        return after

    def remove(self, session_id: str, record: Audited, *, only_archived: bool = False) -> Gone:
        held = self._held(LogKey("session", session_id))
        writer = None if only_archived else held.writer
        places = erasing.remove(self._disk, writer, session_id, record, self._purge)
        return Gone(record.entries, places)

    def hidden(self, log: LogKey, viewer: Viewer, *ids: str) -> list[Weighed]:
        held = self._held(log)
        if not held.exists():
            return []
        view = held.reader.find(*ids) if ids else held.reader.view()
        dead = [head for head in view.heads if head.dead and may_change(viewer, head)]
        read = ((view.entry(head), head) for head in dead)
        return [
            Weighed(entry, head.died, head.spot.length) for entry, head in read if entry is not None
        ]

    def compact(
        self, session_id: str, judge: Callable[[list[Weighed]], Verdict], now: str
    ) -> Compacted:
        held = self._held(LogKey("session", session_id))
        place = sessions.place(session_id, held.versions)

        def work() -> Compacted:
            held.reader.view()  # keeps what is damaged: a rewrite leaves it behind
            return compacting.compact(self._disk, held.writer, place, judge, now)

        done = self._at_home(held, work)
        # What the index counts has changed, though no line was added.
        mark(self._disk, log_name(held.key))
        return done

    def tidy(self, log: LogKey, least: int, now: str) -> Compacted:
        held = self._held(log)
        held.reader.view()  # keeps what is damaged
        done = compacting.tidy(self._disk, held.writer, least, now)
        mark(self._disk, log_name(log))
        return done

    def moved(self, session_id: str, *, is_salvage: bool = False) -> dict[str, Weighed]:
        generations = self._held(LogKey("session", session_id)).manifest().markers.get("moved", ())
        name = paths.file_name(session_id)
        return moved.entries(self._disk, name, generations, is_salvage=is_salvage)

    def change_moved(self, session_id: str, change: Callable[[Entry], Entry]) -> int:
        if not moved.files(self._disk, paths.file_name(session_id)):
            return 0
        held = self._held(LogKey("session", session_id))

        def work() -> int:
            with held.writer.locked():
                return moved.change(self._disk, paths.file_name(session_id), change)

        return self._at_home(held, work)

    def forget_moved(self, session_id: str, ids: Collection[str], before: int) -> int:
        held = self._held(LogKey("session", session_id))

        def work() -> int:
            with held.writer.locked():
                limits = dict.fromkeys(ids, before - 1)
                return moved.forget(self._disk, paths.file_name(session_id), limits)

        return self._at_home(held, work)

    def archive(self, session_id: str, now: str, progress: Progress | None = None) -> Archived:
        return self._archives.archive(session_id, now, progress)

    def restore(self, session_id: str) -> None:
        self._archives.restore(session_id)

    def hide_learned(
        self, user_ids: Collection[str] | None, redact: Redact, *, dry_run: bool = False
    ) -> Concealed:
        purge = erasing.thorough(self._disk, self._purge)
        return uprooting.hide_learned(self._disk, user_ids, redact, purge, dry_run=dry_run)

    def users(self) -> list[str]:
        return users(self._disk)

    def sizes(self, left_out: Unread) -> Iterator[tuple[str, int]]:
        return upkeep.sizes(self._disk, left_out)

    def lease(self, name: str) -> AbstractContextManager[bool]:
        return upkeep.lease(self._disk, name)

    def redaction(
        self, patterns: tuple[RedactionPattern, ...], kinds: tuple[str, ...] = ()
    ) -> Redact:
        return self._redaction.for_rules(patterns, kinds)

    def use(self, session_id: str, ids: Collection[str], at: str) -> None:
        noted = Uses(self._disk)
        noted.note((paths.session_folder(session_id), None, Use(one, at)) for one in ids)
        noted.flush()

    def uses(self, session_id: str) -> list[Use]:
        return read_uses(self._disk, paths.session_folder(session_id), 0)[0]

    def begin_run(self, session_id: str, first: Entry) -> bool:
        held = self._held(LogKey("session", session_id))
        place, run_id = sessions.place(session_id), str(first.run_id)
        return self._at_home(
            held, lambda: runs.begin(self._disk, held.writer, place, run_id, first)
        )

    def end_run(self, session_id: str, run_id: str) -> None:
        held = self._held(LogKey("session", session_id))
        runs.end(self._disk, held.writer, sessions.place(session_id), run_id)
        self._held(LogKey("run", session_id, run_id)).forget()

    def runs(self, session_id: str) -> Iterator[LeftRun]:
        return runs.left(self._disk, sessions.place(session_id))

    def record(self, line: Audited) -> None:
        try:
            audit.record(self._disk, line)
        except StorageFullError:  # it is done already, so it must be told
            intents.spend_reserve(self._disk)
            audit.record(self._disk, line)

    def audited(self, *, is_strict: bool = True) -> Iterator[Audited]:
        return audit.read(self._disk, is_strict=is_strict)

    def holds(self, path: str) -> bool:
        return isinstance(self._disk, RealDisk) and lies_below(path, self._disk.root)

    def scan(
        self,
        needles: Mapping[str, bytes],
        progress: Progress | None = None,
        looked: Looked | None = None,
    ) -> Iterator[Trace]:
        return scanning.scan(self._disk, needles, progress, looked, self._make_sieve)


def finish(disk: Disk, fields: intents.Fields) -> bool:
    """Finish whatever a crash interrupted; False if the intent is none of ours."""
    return (
        erasing.finish(disk, fields)
        or compacting.finish(disk, fields)
        or archive.finish(disk, fields)
        or grafting.finish(disk, fields)
    )
