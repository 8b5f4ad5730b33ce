"""The doctor's look at learning: sessions that wait for too long, plans that were left, and
what memory-agents are told."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from mnemolog import paths
from mnemolog.errors import SessionError, SettingsError
from mnemolog.fs import Disk
from mnemolog.graph import plans, prompts
from mnemolog.log.places import SessionPlace, open_guard
from mnemolog.model.times import to_text
from mnemolog.policy import learning
from mnemolog.stores.files import learned
from mnemolog.stores.files.doctor.findings import Case, case

# A worker looks every half minute, and a plan is applied as soon as it is made.
_OVERDUE = timedelta(days=1)
_LEFT = timedelta(minutes=10)


def check_session(disk: Disk, place: SessionPlace, now: datetime) -> Iterator[Case]:
    """Whether a session failed too often to be learned from, or waits for a worker."""
    with suppress(SessionError):  # a manifest that cannot be read is told of elsewhere
        marks = learning.marks_of(place.manifest(open_guard(disk, place)).markers)
        if marks.is_parked:
            yield case("session_parked", place.folder, _failures(marks))
        elif marks.is_due and marks.invalidated_at < to_text(now - _OVERDUE):
            what = f"it is due since {marks.invalidated_at} ({marks.cause})"
            yield case("session_overdue", place.folder, what)


def check_own_logs(disk: Disk) -> Iterator[Case]:
    """Whether learning from a user's own log, or from the shared one, failed too often."""
    folders = [paths.SHARED, *(f"{paths.USERS}/{name}" for name in disk.list(paths.USERS))]
    for folder in folders:
        marks = learning.marks_of(learned.read(disk, folder))
        if marks.is_parked:
            yield case("log_parked", f"{folder}/{learned.NAME}", _failures(marks))


def _failures(marks: learning.Marks) -> str:
    return f"learning from it failed {marks.attempts} times, the last time: {marks.error}"


def check_plans(disk: Disk, now: datetime) -> Iterator[Case]:
    """Edits that were made and never applied."""
    oldest = int((now - _LEFT).timestamp() * 1e9)
    for name in disk.list(paths.INTENTS):
        found = disk.stat(f"{paths.INTENTS}/{name}") if name.startswith(plans.PREFIX) else None
        if found is not None and found.mtime_ns < oldest:
            yield case("plan_left", f"{paths.INTENTS}/{name}", "edits that were never applied")


def check_prompt(disk: Disk) -> Iterator[Case]:
    """What the root tells its memory-agents, if it cannot be used."""
    try:
        prompts.read(disk)
    except SettingsError as error:
        yield case("prompt_refused", prompts.FILE, error.message)
