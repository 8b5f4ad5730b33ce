"""The doctor's look at privacy: what should be gone by now, what is not hidden, where copies lie.

Nothing is changed. Open intents and modes belong to it too; `root` looks at those.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from mnemolog import paths
from mnemolog.errors import CorruptionError, SessionError, SettingsError, StorageError
from mnemolog.fs import Disk
from mnemolog.log import audit, moved, sidecars
from mnemolog.log.places import Place, SessionPlace, facts
from mnemolog.log.reader import Reader, View, leave_alone
from mnemolog.model.entry import Entry
from mnemolog.model.session import Manifest
from mnemolog.policy.compaction import Weighed
from mnemolog.policy.retention import Kept, Terms, due
from mnemolog.ports import SHARED, LogKey, Progress
from mnemolog.settings import Settings
from mnemolog.stores.files.census import users
from mnemolog.stores.files.doctor.findings import Case, Tally, case
from mnemolog.stores.files.held import place_of

BACKUP = "backup"


class Inspection(NamedTuple):
    """Under which settings, and when, something is looked at; and how much was."""

    settings: Settings
    now: datetime
    tally: Tally

    def terms(self) -> Terms:
        """How long entries are kept."""
        return Terms(self.settings.privacy, self.now)


def check_privacy(disk: Disk, look: Inspection, progress: Progress) -> Iterator[Case]:
    """What is overdue, where redaction is off, and which backups there are."""
    if not look.settings.privacy.redaction:
        yield case("redaction_off", "config.toml", "secrets are stored as they come, everywhere")
    names = sidecars.session_names(disk)
    own = [place_of(LogKey("user", user)) for user in users(disk)]
    total = len(names) + len(own) + 1
    for done, name in enumerate(names):
        progress(done, total)
        folder = f"{paths.SESSIONS}/{name}"
        yield from _guarded(folder, _check_session(disk, SessionPlace(name, folder), look))
    for done, place in enumerate([*own, place_of(SHARED)], len(names)):
        progress(done, total)
        yield from _guarded(place.guard, _check_log(disk, place, look))
    yield from _check_backups(disk)
    progress(total, total)


def _guarded(path: str, cases: Iterator[Case]) -> Iterator[Case]:
    try:
        yield from cases
    except (SessionError, StorageError) as error:
        yield case("unreadable", path, error.message)


def _check_session(disk: Disk, place: SessionPlace, look: Inspection) -> Iterator[Case]:
    look.tally.sessions += 1
    look.tally.logs += 1
    _, manifest = facts(disk, place)
    own = look._replace(settings=_in_force(look.settings, manifest))
    path = place.archive.guard if manifest.archived_at else place.folder
    if look.settings.privacy.redaction and not own.settings.privacy.redaction:
        yield case("redaction_off", path, "this session stores secrets as they come")
    yield from _overdue(_kept(disk, place, own.terms(), manifest), own.terms(), path)


def _in_force(settings: Settings, manifest: Manifest) -> Settings:
    try:
        return settings.with_overrides(manifest.settings)
    except SettingsError:  # written by another version; a purge refuses this session too
        return settings


def _check_log(disk: Disk, place: Place, look: Inspection) -> Iterator[Case]:
    if disk.ident(place.guard) is not None:
        look.tally.logs += 1
        yield from _overdue(_kept(disk, place, look.terms()), look.terms(), place.guard)


def _kept(disk: Disk, place: Place, terms: Terms, manifest: Manifest | None = None) -> Kept:
    view = Reader(disk, place, leave_alone).view()
    living, hidden = list(_living(view, terms, manifest)), list(_hidden(view))
    if manifest is None:
        return Kept(living, hidden)
    generations = manifest.markers.get("moved", ())
    out = moved.entries(disk, paths.file_name(manifest.session_id), generations)
    if manifest.archived_at is None:
        known = {head.id for head in view.heads}  # those too that `living` leaves out
        out = {name: one for name, one in out.items() if name not in known}
    return Kept(living, hidden, out, manifest.archived_at)


def _living(view: View, terms: Terms, manifest: Manifest | None) -> Iterator[Entry]:
    """The entries that count; outside the archive, only the lines are read that may be overdue."""
    is_archived = manifest is not None and manifest.archived_at is not None
    for head in view.heads:
        if not head.dead and (is_archived or terms.may_be_overdue(head.type, head.first)):
            entry = view.entry(head)
            if entry is not None:
                yield entry


def _hidden(view: View) -> Iterator[Weighed]:
    for head in view.heads:
        entry = view.entry(head) if head.dead else None
        if entry is not None:
            yield Weighed(entry, head.died, head.spot.length)


def _overdue(kept: Kept, terms: Terms, path: str) -> Iterator[Case]:
    found = due(kept, terms)
    if found.is_whole:
        what = f"all of this archived session is past retention: {_counted(found.erase)}"
        yield case("retention_overdue", path, what)
        return
    if found.hide:
        yield case("retention_overdue", path, f"past retention: {_counted(found.hide)}")
    if found.erase:
        what = f"deleted too long ago to be undone, and still there: {_counted(found.erase)}"
        yield case("hidden_overdue", path, what)


def _counted(entries: Iterable[Entry]) -> str:
    counts = Counter(entry.type for entry in entries)
    types = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    noun = "entry" if counts.total() == 1 else "entries"
    return f"{counts.total():,} {noun}" + (f" ({types})" if types else "")


def _check_backups(disk: Disk) -> Iterator[Case]:
    try:
        lines = [line for line in audit.read(disk) if line.action == BACKUP]
    except CorruptionError as error:
        yield case("audit_broken", paths.AUDIT, error.message)
        return
    for place, at in {line.place: line.at for line in lines}.items():
        yield case("backup_known", paths.AUDIT, f"a backup was made on {at[:10]}: {place}")
