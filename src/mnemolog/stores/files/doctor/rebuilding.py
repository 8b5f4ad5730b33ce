"""Making a session's manifest again from its segments; only names and lines are left to tell."""

from collections.abc import Iterator
from typing import Any

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import SessionCorruptError, SessionError
from mnemolog.fs import Disk
from mnemolog.fs.real import RealDisk
from mnemolog.index import database
from mnemolog.log import lines, manifests, moved, sessions
from mnemolog.log.places import SessionPlace
from mnemolog.log.versions import MALFORMED
from mnemolog.model.entry import FORMAT, Entry
from mnemolog.model.session import Manifest, Segment
from mnemolog.paths import id_of
from mnemolog.stores.files.doctor.lines import each_line
from mnemolog.stores.files.doctor.mending import chains_in, make_lock, set_aside

REBUILT = "rebuilt_at"
_MOST_MISSING = 1000


class _Survey:
    """What the lines of one generation tell."""

    def __init__(self, disk: Disk, folder: str, chain: dict[int, str]) -> None:
        self.lines = 0
        self.last_seq = 0
        self.first_seqs: dict[str, int] = {}
        self.session_ids: list[str] = []
        self.user_ids: list[str] = []
        self.agent_ids: list[str] = []
        self.since: str | None = None
        for name in chain.values():
            for entry in _entries(disk, f"{folder}/{name}"):
                self._take(name, entry)

    def _take(self, name: str, entry: Entry) -> None:
        self.lines += 1
        self.last_seq = max(self.last_seq, entry.seq)
        self.first_seqs.setdefault(name, entry.seq)
        self.since = min(self.since or entry.written_at, entry.written_at)
        for known, one in (
            (self.session_ids, entry.session_id),
            (self.user_ids, entry.user_id),
            (self.agent_ids, entry.agent_id),
        ):
            if one is not None and one not in known:
                known.append(one)


def _entries(disk: Disk, path: str) -> Iterator[Entry]:
    for _, line, _ in each_line(disk.open(path, "read")):
        found = lines.valid(line.rstrip(b"\r"))
        if found is not None:
            yield found


def rebuild(disk: Disk, place: SessionPlace, timeout: float, now: str) -> str:
    """Write a new manifest under the lock; the bad one, and what it leaves out, are kept aside."""
    make_lock(disk, place.folder)
    with sessions.locked(disk, place, timeout):
        names = disk.list(place.folder)
        if manifests.NAME in names and _is_readable(disk, place):
            return "it can be read again"
        chains = chains_in(names)
        surveys = {number: _Survey(disk, place.folder, chain) for number, chain in chains.items()}
        # Of two generations one was given up: the one that nobody wrote to any more.
        chosen = max(surveys, key=lambda number: (surveys[number].last_seq, number))
        survey = surveys[chosen]
        place.name = _session_id(place, survey)
        others = [name for number in chains if number != chosen for name in chains[number].values()]
        for name in others + [manifests.NAME] * (manifests.NAME in names):
            set_aside(disk, place, name)
        archived = moved.generations(disk, paths.file_name(place.name), chosen)
        last = max(*(one.last_seq for one in surveys.values()), _last_moved(disk, place, archived))
        segments = _segments(disk, place.folder, chosen, chains[chosen], survey, last)
        known = _known(disk, place)
        markers = {REBUILT: now, **({"moved": archived} if archived else {})}
        made = _manifest(place.name, chosen, segments, survey, markers)
        manifests.swap(disk, place.folder, made if known is None else _with_facts(made, known))
        for name in others:
            disk.unlink(f"{place.folder}/{name}")
        disk.sync_folder(place.folder)
    return _report(survey, segments, others, known is not None)


def _is_readable(disk: Disk, place: SessionPlace) -> bool:
    try:
        manifests.parse(fs.read_all(disk, place.guard), place.folder)
    except SessionError:
        return False
    return True


def _session_id(place: SessionPlace, survey: _Survey) -> str:
    """The id that belongs to this folder, from its name or from a line."""
    name = place.folder.rpartition("/")[2]
    known = [id_of(name), *survey.session_ids]
    for one in known:
        if one is not None and paths.file_name(one) == name:
            return one
    raise SessionCorruptError(
        f"Neither the name of {place.folder} nor a line in it tells which session it is.",
        advice="Restore the manifest from a backup.",
    )


def _segments(
    disk: Disk, folder: str, generation: int, chain: dict[int, str], survey: _Survey, last: int
) -> tuple[Segment, ...]:
    """The list of segments; a number that is missing becomes an empty file, for numbers count."""
    if max(chain) - len(chain) > _MOST_MISSING:
        raise SessionCorruptError(
            f"{folder} has a segment number {max(chain):,}, and only {len(chain):,} segments.",
            advice="Move the file that is none of the session's away, or restore a backup.",
        )
    found: list[Segment] = []
    next_seq = 1
    for number in range(1, max(chain) + 1):
        name = manifests.segment_name(generation, number)
        if number not in chain:
            disk.open(f"{folder}/{name}", "create")
        is_last = number == max(chain)
        empty_start = last + 1 if is_last else next_seq
        first = survey.first_seqs.get(name, empty_start)
        status = disk.stat(f"{folder}/{name}")
        size = status.size if status is not None else 0
        found.append(Segment(name, first, None if is_last else size))
        next_seq = max(next_seq, first)
    return tuple(found)


def _last_moved(disk: Disk, place: SessionPlace, generations: list[int]) -> int:
    """The last number among the lines that compactions moved out: none is given twice."""
    name = paths.file_name(place.name)
    files = (moved.path_of(name, one) for one in generations)
    read = (moved.read(disk, path, is_salvage=True) for path in files)
    return max((entry.seq for found in read for _, entry in found), default=0)


def _manifest(
    session_id: str,
    generation: int,
    segments: tuple[Segment, ...],
    survey: _Survey,
    markers: dict[str, Any],
) -> Manifest:
    return Manifest(
        v=FORMAT,
        session_id=session_id,
        user_id=survey.user_ids[0] if len(survey.user_ids) == 1 else None,
        agent_ids=tuple(survey.agent_ids),
        created_at=survey.since or markers[REBUILT],
        markers=markers,
        generation=generation,
        segments=segments,
    )


def _known(disk: Disk, place: SessionPlace) -> Manifest | None:
    """The manifest as the index last saw it, if there is one that still knows."""
    facts = None
    if isinstance(disk, RealDisk):
        facts = database.facts_of(f"{disk.root}/{paths.INDEX}", place.folder)
    try:
        found = msgspec.json.decode(facts or b"", type=Manifest)
    except MALFORMED:
        return None
    return found if found.session_id == place.name else None


def _with_facts(made: Manifest, known: Manifest) -> Manifest:
    """What only a manifest says; an agent that is named in a line may not have been one of it."""
    markers = {name: value for name, value in known.markers.items() if name != "moved"}
    return msgspec.structs.replace(
        made,
        user_id=known.user_id,
        agent_ids=known.agent_ids,
        created_at=known.created_at,
        metadata=known.metadata,
        preferences=known.preferences,
        settings=known.settings,
        markers=markers | made.markers,
    )


def _report(
    survey: _Survey, segments: tuple[Segment, ...], others: list[str], is_known: bool
) -> str:
    told = f"rebuilt from {survey.lines:,} lines in {len(segments):,} segments; "
    if is_known:
        told += "what only the manifest knew is as the index last saw it"
    else:
        told += "what only the manifest knew (metadata, settings) is lost"
    if others:
        told += f"; {', '.join(others)} of another generation moved to quarantine"
    return told
