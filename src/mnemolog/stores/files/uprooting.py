"""Uprooting: what was learned from erased entries leaves the graph, and the index of the graph."""

from collections.abc import Callable, Collection
from contextlib import suppress

from mnemolog import fs, paths
from mnemolog.errors import CorruptionError, SessionError
from mnemolog.fs import Disk
from mnemolog.graph import addresses, cutting, plans, redacting, sourcing
from mnemolog.log.places import Place
from mnemolog.log.scan import Scan
from mnemolog.model.entry import MARKS
from mnemolog.model.lesson import OWN, own_source_name, source_name
from mnemolog.policy.drafting import Redact
from mnemolog.ports import LogKey
from mnemolog.ports.keeping import Concealed
from mnemolog.stores.files.feed import FOLDER, mark_nodes

PurgeLog = Callable[[str], object]
"""Makes the index forget a log as a whole."""


def uproot(
    disk: Disk, key: LogKey, place: Place, ids: Collection[str], purge: PurgeLog
) -> dict[str, int]:
    """Take out what rests on erased entries; one that lives on in a newer revision is not meant."""
    if not _is_anything_learned(disk):
        return {}
    gone = set(ids) - _living(disk, place, ids)
    # An entry of a user's or of the shared log was said in a session that its id does not tell.
    session = key.id if key.kind == "session" else ""
    names = [name for one in gone for name in _names(session, one)]
    if key.kind in ("user", "shared"):
        names += [own_source_name(key.id, one) for one in gone]
    return _cut(disk, names, purge)


def _names(session_id: str, entry_id: str) -> set[str]:
    """How nodes name an entry: by us, and perhaps by people."""
    by_people = [] if session_id.startswith(OWN) else [f"{session_id}/{entry_id}"]
    return {source_name(session_id, entry_id), *by_people}


def uproot_session(disk: Disk, session_id: str, purge: PurgeLog) -> dict[str, int]:
    """Take out what rests on anything of a session."""
    return _cut(disk, [*_names(session_id, "")], purge) if _is_anything_learned(disk) else {}


def _is_anything_learned(disk: Disk) -> bool:
    has_plans = any(name.startswith(plans.PREFIX) for name in disk.list(paths.INTENTS))
    return has_plans or bool(addresses.users(disk, *addresses.ROOMS))


def _living(disk: Disk, place: Place, ids: Collection[str]) -> set[str]:
    with suppress(SessionError, CorruptionError):
        lines = (fed.entry for fed in Scan(disk, place, None))
        return {one.id for one in lines if one.id in ids and one.type not in MARKS}
    return set()


def _cut(disk: Disk, sources: list[str], purge: PurgeLog) -> dict[str, int]:
    if not sources:
        return {}
    cuts = cutting.cut(disk, None, sources)
    needles = sourcing.needles(sources)
    for user in cuts.users:
        mark_nodes(disk, user)
    for name in disk.list(FOLDER):
        path = f"{FOLDER}/{name}"
        if name.endswith(".jsonl") and any(one in fs.read_all(disk, path) for one in needles):
            _forget(disk, name, purge)
    return {place: count for place, count in cuts.places.items() if count}


def hide_learned(
    disk: Disk, users: Collection[str] | None, redact: Redact, purge: PurgeLog, *, dry_run: bool
) -> Concealed:
    """Hide secrets in the graphs of these users or of all, and in the index of those."""
    found = redacting.hide(disk, users, redact, dry_run=dry_run)
    for user in () if dry_run else found.users:
        mark_nodes(disk, user)
        _forget(disk, f"{paths.file_name(user)}.jsonl", purge)
    return Concealed(dict(found.places), dict(found.kinds))


def _forget(disk: Disk, name: str, purge: PurgeLog) -> None:
    """Take the lines of a user's nodes out of the index; the next search makes them anew."""
    fs.shred(disk, f"{FOLDER}/{name}")
    purge(f"{paths.NODES}/{name.removesuffix('.jsonl')}")
