"""Redacting what is stored already: the same rules, applied to every line there is."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from mnemolog.errors import (
    ConcurrentModificationError,
    MnemologError,
    NotAllowedError,
    SessionNotFoundError,
)
from mnemolog.memory import run_logs
from mnemolog.memory.forgetting import Forgetting
from mnemolog.memory.purging import named
from mnemolog.model.entry import Entry
from mnemolog.model.forgetting import Redaction
from mnemolog.model.session import Manifest
from mnemolog.policy.drafting import Redact, hide
from mnemolog.ports import SHARED, LogKey, Progress, Write
from mnemolog.settings import Storage

_SAID = ("content", "context", "metadata", "tags", "category", "role", "reason")
_TRIES = 8
# No log gets this large: each holds its own limit, and twice that while it is redacted.
_NO_LIMIT_MB = 1e9


class Redacting(Forgetting):
    """The verb that hides secrets afterwards."""

    def redact(
        self,
        session_id: str | None = None,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Redaction:
        """Hide secrets in what is stored, in one session or everywhere; for the owner alone.

        Each entry concerned gets a new revision under its first timestamp, and the lines before it
        are erased. Sessions whose settings switch redaction off are left alone. So are treated the
        nodes of the users concerned, with their versions and what waits in the review.
        """
        if session_id is not None:
            self._manifest(session_id)
        self._for_owner("redact what is stored")
        kinds: Counter[str] = Counter()
        failed = _Failed(is_strict=session_id is not None)
        every = self._store.sessions(session_id, left_out=failed.left_out)
        found = [one.manifest for one in every]
        changed = sessions = 0
        for done, manifest in enumerate(found, 1):
            count = 0
            with failed.told(LogKey("session", manifest.session_id)):
                count = self._redact_session(manifest, kinds, dry_run)
            changed, sessions = changed + count, sessions + bool(count)
            if progress is not None:
                progress(done, len(found))
        if session_id is None:
            changed += self._redact_beside(kinds, failed, dry_run)
        learned = self._redact_learned(None if session_id is None else found, kinds, dry_run)
        return Redaction(
            entries=changed,
            sessions=sessions,
            kinds=dict(kinds),
            is_dry_run=dry_run,
            nodes=learned.get("nodes", 0),
            versions=learned.get("versions", 0),
            proposals=learned.get("proposals", 0),
            failed=failed.reasons,
        )

    def _redact_learned(
        self, sessions: list[Manifest] | None, kinds: Counter[str], dry_run: bool
    ) -> dict[str, int]:
        """The graphs of the users of these sessions, or of all."""
        redact = self._redact(self.settings)
        if redact is None:
            return {}
        usual = self.settings.knowledge.default_user
        users = None if sessions is None else {one.user_id or usual for one in sessions}
        found = self._keeper.hide_learned(users, redact, dry_run=dry_run)
        kinds.update(found.kinds)
        if found.places and not dry_run:
            count = sum(found.places.values())
            self._keeper.record(self._audited("redact nodes", None, count, "", {}))
        return found.places

    def _redact_session(self, manifest: Manifest, kinds: Counter[str], dry_run: bool) -> int:
        redact = self._redact(self._settings(manifest))
        if redact is None:
            return 0
        log = LogKey("session", manifest.session_id)
        count = self._redact_log(log, redact, kinds, dry_run)
        for run in run_logs.of_session(self._keeper, manifest.session_id):
            with suppress(NotAllowedError):  # it ended meanwhile, and took its notes along
                count += self._redact_log(run, redact, kinds, dry_run)
        facts = {"metadata": manifest.metadata, "preferences": manifest.preferences}
        clean, hidden = redact(facts)
        kinds.update(hidden)
        if dry_run:
            return count + bool(hidden)
        if hidden:
            self._store.change(
                manifest.session_id, lambda now: msgspec.structs.replace(now, **clean)
            )
        self._keeper.change_moved(manifest.session_id, lambda entry: _clean(entry, redact, kinds))
        self._archive_again(manifest)
        return count + bool(hidden)

    def _redact_beside(self, kinds: Counter[str], failed: "_Failed", dry_run: bool) -> int:
        """The shared log, and those of all users."""
        redact = self._redact(self.settings)
        if redact is None:
            return 0
        logs = [SHARED, *(LogKey("user", user) for user in self._keeper.users())]
        count = 0
        for log in logs:
            with failed.told(log):
                count += self._redact_log(log, redact, kinds, dry_run)
        return count

    def _redact_log(self, log: LogKey, redact: Redact, kinds: Counter[str], dry_run: bool) -> int:
        dirty: Counter[str] = Counter()
        last: dict[str, int] = {}
        for line in self._keeper.lines(log):
            subject = line.target or line.id
            last[subject] = line.seq
            hidden: Counter[str] = Counter()
            if _clean(line, redact, hidden) is not line:
                dirty[subject] += 1
                kinds.update(hidden)
        if dirty and not dry_run:
            done = {one for one in dirty if self._revise_clean(log, one, redact)}
            # What a compaction moved out meanwhile has no clean revision; it is cleaned there.
            moved = (
                self._keeper.moved(log.id) if log.kind == "session" and done != set(dirty) else {}
            )
            limits = {one: last[one] for one in dirty if one in done or one not in moved}
            record = self._audited("redact", log.id or None, len(dirty), "", {})
            self._keeper.erase_older(log, limits, record)
        return len(dirty)

    def _revise_clean(self, log: LogKey, identifier: str, redact: Redact) -> bool:
        """Store the clean revision first: a crash then leaves both, and the next run goes on.

        False if there is no entry to revise.
        """
        failed = 0
        while writes := self._clean_writes(log, identifier, redact):
            try:
                self._store.append(log, writes, self._viewer, _unbounded(self.settings.storage))
                return True
            except ConcurrentModificationError:
                failed += 1
                if failed == _TRIES:
                    raise
        return False

    def _clean_writes(self, log: LogKey, identifier: str, redact: Redact) -> list[Write]:
        for entry in self._store.read(log, self._viewer, ids=(identifier,)).entries:
            return [Write(_revision(entry, redact), True, expected_seq=entry.seq)]
        hidden = self._keeper.hidden(log, self._viewer, identifier)
        if not hidden:
            return []
        session_id = hidden[0].entry.session_id
        where = msgspec.structs.replace(self._where(None), session_id=session_id)
        revision = Write(_revision(hidden[0].entry, redact), True)
        marking = self._marking("tombstone", identifier, where, "")
        since = hidden[0].died or marking.entry.timestamp
        return [revision, Write(msgspec.structs.replace(marking.entry, timestamp=since))]


class _Failed:
    """The logs that stood in the way of hiding; they must not keep the others."""

    def __init__(self, *, is_strict: bool) -> None:
        self._is_strict = is_strict
        self.reasons: dict[str, str] = {}

    def left_out(self, name: str, error: MnemologError) -> None:
        """Say why a log cannot be looked at."""
        self.reasons[name] = str(error)

    @contextmanager
    def told(self, log: LogKey) -> Iterator[None]:
        """Say why a log could not be treated, unless it is the only one that was asked for."""
        try:
            yield
        except MnemologError as error:
            if self._is_strict:
                raise
            if not isinstance(error, SessionNotFoundError):  # deleted meanwhile
                self.left_out(named(log), error)


def _unbounded(storage: Storage) -> Storage:
    """Secrets can be hidden in a full log and a full root too: the lines before them go next."""
    return msgspec.structs.replace(storage, max_session_size_mb=_NO_LIMIT_MB, max_root_size_mb=0.0)


def _clean(entry: Entry, redact: Redact, kinds: Counter[str]) -> Entry:
    """The entry with secrets hidden; itself if there are none."""
    fields: dict[str, Any] = {name: getattr(entry, name) for name in _SAID}
    reason = fields.pop("reason")
    before = dict(fields)
    hidden = hide(fields, redact)
    clean, counts = redact(reason or "")
    kinds.update(hidden)
    kinds.update(counts)
    if not hidden and not counts:
        return entry
    changed = {name: value for name, value in fields.items() if value is not before[name]}
    return msgspec.structs.replace(entry, **changed, reason=clean or None)


def _revision(entry: Entry, redact: Redact) -> Entry:
    """The clean entry as if it had always said that: its age counts from when it arrived."""
    clean = _clean(entry, redact, Counter())
    return msgspec.structs.replace(clean, created=entry.timestamp, seq=0, sum="")
