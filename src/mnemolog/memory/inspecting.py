"""Inspecting: files, markers, audits, curves; and what would be forgotten."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from math import log
from typing import Any

import msgspec

from mnemolog.errors import SchemaInvalidError, shown
from mnemolog.memory.leafing import Leafing
from mnemolog.model import given, plain
from mnemolog.model.entry import Entry
from mnemolog.model.inspecting import DecayCurve, FileFact, Meant, PurgeRuns
from mnemolog.model.times import local, shifted, to_text
from mnemolog.policy import decay as decaying
from mnemolog.policy import schedule
from mnemolog.policy.selection import EVERYTHING, select
from mnemolog.ports import LogKey
from mnemolog.ports.keeping import Audited
from mnemolog.ports.looking import looker_of

_MOST_POINTS = 10_000


class Inspecting(Leafing):
    """The verbs that look closely; none of them writes to a log."""

    def session_files(self, session_id: str) -> list[FileFact]:
        """The files that make up a session, as they are on disk."""
        self._manifest(session_id)
        return looker_of(self._store).files(session_id)

    def session_markers(self, session_id: str) -> dict[str, Any]:
        """What is noted about a session beside its entries: how far it was learned from, …"""
        return dict(self._manifest(session_id).markers)

    def quarantined(self, session_id: str) -> int:
        """How many damaged pieces of a session's log are kept aside."""
        self._manifest(session_id)
        return looker_of(self._store).quarantined(LogKey("session", session_id))

    def would_forget(
        self,
        session_id: str | None,
        criteria: Mapping[str, Any] | None = None,
        *,
        erase: bool = False,
    ) -> Meant:
        """What a deletion, or with `erase` an erasure, would reach now; None means everything."""
        chosen = EVERYTHING if criteria is None else select(criteria, {})
        found = self._chosen(self._where(session_id), chosen, is_all=erase)
        entries = [entry for each in found.values() for entry in each]
        return _meant(entries)

    def decay_curves(self, types: Iterable[str], points: int = 49) -> list[DecayCurve]:
        """How much of each type is left as it grows older, by the settings in force."""
        decay = self.settings.decay
        found = []
        steps = given.whole(points, "points")
        if not 1 <= steps <= _MOST_POINTS:
            raise SchemaInvalidError(f"points are 1 to {_MOST_POINTS:,}, not {shown(points)}.")
        for kind in plain.strings(types, "types"):
            per_hour = decaying.rate(kind, decay)
            half = log(2) / per_hour if per_hour else None
            span = 8 * half if half else 24.0 * 365
            hours = [span * step / max(1, steps - 1) for step in range(steps)]
            left = tuple((round(at, 3), round(decaying.factor(kind, at, decay), 6)) for at in hours)
            found.append(
                DecayCurve(type=kind, half_life_hours=half, floor=decay.minimum, points=left)
            )
        return found

    def purge_runs(self) -> PurgeRuns:
        """When retention was last applied, and when it is due next; for the owner alone."""
        self._for_owner("see when retention is applied")
        last = self._last_purge()
        privacy = self.settings.privacy
        if not privacy.auto_purge:
            return PurgeRuns(last=last, next=None)
        now = local(self._clock.now())
        return PurgeRuns(last=last, next=_next_run(schedule.parse(privacy.purge_schedule), now))

    def readable_audit(self) -> list[Audited]:
        """What can be read of an audit whose chain is broken; for the owner alone."""
        self._for_owner("read the audit")
        return list(self._keeper.audited(is_strict=False))


def _meant(entries: list[Entry]) -> Meant:
    names = sorted(f"{entry.id} {entry.seq}" for entry in entries)
    return Meant(
        ids=tuple(entry.id for entry in entries),
        by_type=dict(Counter(entry.type for entry in entries)),
        bytes=sum(len(msgspec.json.encode(entry)) for entry in entries),
        mark=sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _next_run(planned: schedule.Schedule, now: datetime) -> str | None:
    """The first scheduled minute after a moment, within a year."""
    last = planned.last(now)
    for days in range(1, 367):
        found = planned.last(shifted(now, days=days))
        if found is not None and found != last:
            return to_text(_first(planned, now, found))
    return None


def _first(planned: schedule.Schedule, now: datetime, found: datetime) -> datetime:
    """The earliest one between a moment and one that is scheduled."""
    while True:
        before = planned.last(shifted(found, minutes=-1))
        if before is None or before <= now:
            return found
        found = before
