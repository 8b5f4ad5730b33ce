"""The doctor: looks at everything below a root, says what is wrong, mends what is safe to mend.

Looking changes nothing and takes no lock for longer than a glance. Mending never removes a line of
a log: what it takes out of a session's folder is either a copy, or kept in quarantine.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from mnemolog import paths
from mnemolog.errors import MnemologError, SettingsError, StorageError
from mnemolog.fs import Disk
from mnemolog.fs.mounts import file_system
from mnemolog.fs.real import RealDisk
from mnemolog.graph import prompts
from mnemolog.log.places import SessionPlace
from mnemolog.log.quarantine import name_of
from mnemolog.log.sessions import GONE, NEW
from mnemolog.model.times import to_text
from mnemolog.paths import id_of
from mnemolog.ports import SHARED, Progress, unwatched
from mnemolog.settings import Settings
from mnemolog.stores.files import read_settings
from mnemolog.stores.files.doctor import learning
from mnemolog.stores.files.doctor.archive import check_archive
from mnemolog.stores.files.doctor.findings import Case, Finding, Severity, Tally, case
from mnemolog.stores.files.doctor.graph import Gaze, check_graph
from mnemolog.stores.files.doctor.lines import LineCheck
from mnemolog.stores.files.doctor.privacy import Inspection, check_privacy
from mnemolog.stores.files.doctor.root import (
    Around,
    check_files,
    check_intents,
    check_leftovers,
    check_root,
    check_settings,
)
from mnemolog.stores.files.doctor.sessions import SessionCheck
from mnemolog.stores.files.held import place_of

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


class Outcome(NamedTuple):
    """A finding and what became of it: what was done, or why that failed."""

    finding: Finding
    done: str | None = None
    failed: str | None = None


class Visit:
    """A visit to one root: what to look at, at which moment, and whom to tell how far it got."""

    def __init__(
        self,
        disk: Disk,
        settings: Settings,
        *,
        around: Around | None = None,
        now: datetime | None = None,
        progress: Progress | None = None,
        only_privacy: bool = False,
        only_graph: bool = False,
    ) -> None:
        self.disk = disk
        self.settings = settings
        self.only_privacy = only_privacy
        self.only_graph = only_graph
        self.around = around
        self.now = now or datetime.now(UTC)
        self.tally = Tally()
        self.lock_timeout = settings.concurrency.lock_timeout_ms / 1000
        self.progress = progress or unwatched

    @property
    def now_ns(self) -> int:
        """The moment as the disk counts it."""
        return int(self.now.timestamp() * 1e9)


def visit_root(
    root: str,
    environ: Mapping[str, str],
    progress: Progress | None = None,
    *,
    only_privacy: bool = False,
    only_graph: bool = False,
) -> Visit:
    """A visit to the root in this folder; settings that cannot be used do not prevent it."""
    disk = RealDisk(root)
    if disk.stat("") is None:
        return Visit(disk, Settings(), progress=progress)
    try:
        settings = read_settings(disk, environ)
    except (SettingsError, StorageError):
        settings = Settings()
    around = Around(os.path.abspath(root), *file_system(root))
    return Visit(
        disk,
        settings,
        around=around,
        progress=progress,
        only_privacy=only_privacy,
        only_graph=only_graph,
    )


def examine(visit: Visit) -> Iterator[Finding]:
    """Everything that is wrong below a root, one at a time."""
    return (found.finding for found in _cases(visit))


def repair(visit: Visit) -> Iterator[Outcome]:
    """The same, and each thing that can safely be mended is mended as soon as it is found.

    What cannot be is tried again at the end: work that a crash interrupted may have waited for its
    session to be mended.
    """
    left: list[Case] = []
    for found in _cases(visit):
        outcome = _mended(found)
        if outcome.failed is None:
            yield outcome
        else:
            left.append(found)
    yield from map(_mended, left)


def worst(severities: Iterable[Severity]) -> Severity | None:
    """The worst of all severities; None if there are none."""
    return max(severities, key=SEVERITIES.index, default=None)


def _mended(found: Case) -> Outcome:
    if found.mend is None:
        return Outcome(found.finding)
    try:
        return Outcome(found.finding, done=found.mend())
    except FileNotFoundError:
        return Outcome(found.finding, done="it is gone by now")
    except MnemologError as error:
        return Outcome(found.finding, failed=str(error))


def _cases(visit: Visit) -> Iterator[Case]:
    disk = visit.disk
    if disk.stat("") is None:
        yield case("root_missing", "", "there is no such folder")
        return
    yield from _guarded("", check_settings(disk))
    if visit.only_privacy:
        yield from _privacy_cases(visit)
        return
    if visit.only_graph:
        gaze = Gaze(visit.settings, visit.now, visit.tally)
        yield from _guarded(paths.USERS, check_graph(disk, gaze))
        return
    yield from _guarded("", check_root(disk, visit.around))
    yield from _guarded("", check_files(disk, visit.now_ns))
    yield from _guarded(paths.INTENTS, check_intents(disk))
    yield from _guarded(paths.INTENTS, learning.check_plans(disk, visit.now))
    yield from _guarded(paths.USERS, learning.check_own_logs(disk))
    yield from _guarded(prompts.FILE, learning.check_prompt(disk))
    yield from _guarded(paths.SESSIONS, check_leftovers(disk, visit.now_ns))
    yield from _check_logs(visit)


def _privacy_cases(visit: Visit) -> Iterator[Case]:
    """What concerns privacy alone: who else could read this, and what should be gone by now."""
    files = check_files(visit.disk, visit.now_ns)
    yield from _guarded("", (one for one in files if one.finding.code == "mode_loose"))
    yield from _guarded(paths.INTENTS, check_intents(visit.disk))
    look = Inspection(visit.settings, visit.now, visit.tally)
    yield from _guarded("", check_privacy(visit.disk, look, visit.progress))


def _guarded(path: str, cases: Iterator[Case]) -> Iterator[Case]:
    """What the disk refuses to show is a finding too; the rest is still looked at."""
    try:
        yield from cases
    except StorageError as error:
        yield case("unreadable", path, error.message)


def _check_logs(visit: Visit) -> Iterator[Case]:
    folders = [f"{paths.SESSIONS}/{name}" for name in _names(visit, paths.SESSIONS)]
    users = _names(visit, paths.USERS)
    total = len(folders) + len(users) + 1
    for done, folder in enumerate(folders):
        visit.progress(done, total)
        yield from _guarded(folder, _check_session(visit, folder))
    for done, name in enumerate(users, len(folders)):
        visit.progress(done, total)
        path = f"{paths.USERS}/{name}/{paths.PREFERENCES}"
        log = name_of("user", id_of(name) or name)
        yield from _guarded(path, _check_file_log(visit, log, path))
    shared = place_of(SHARED)
    yield from _guarded(shared.guard, _check_file_log(visit, name_of("shared", ""), shared.guard))
    yield from _guarded(paths.ARCHIVE, check_archive(visit.disk, visit.tally))
    visit.progress(total, total)


def _names(visit: Visit, folder: str) -> list[str]:
    try:
        found = visit.disk.list(folder)
    except StorageError:
        return []  # reported by the look at all files
    return [name for name in found if not name.startswith((NEW, GONE))]


def _check_session(visit: Visit, folder: str) -> Iterator[Case]:
    status = visit.disk.stat(folder)
    if status is None or status.is_link:
        return
    if not status.is_folder:
        yield case("stranger", folder, "it is no session's folder")
        return
    visit.tally.sessions += 1
    visit.tally.logs += 1
    now = to_text(visit.now)
    yield from SessionCheck(visit.disk, folder, visit.tally, visit.lock_timeout, now).cases()
    place = SessionPlace(folder, folder)
    yield from learning.check_session(visit.disk, place, visit.now)


def _check_file_log(visit: Visit, name: str, path: str) -> Iterator[Case]:
    if visit.disk.stat(path) is not None:
        visit.tally.logs += 1
        yield from LineCheck(visit.disk, name, visit.tally).segment(path, is_sealed=False)
