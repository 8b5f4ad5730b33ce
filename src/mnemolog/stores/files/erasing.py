"""Erasing: the lines about some ids leave every file below the root.

The order makes it safe to be interrupted at any point:

1. The ids are noted as an intent; a crash from here on means that all of it is done again.
2. Under the log's lock its generation is raised, so that readers and the index look anew, and each
   line becomes blank where it lies.
3. What was copied or derived from them goes: files in the archive, quarantine, notes of use, what a
   crash left behind, what was learned from them, and last the rows of the index.
4. The audit is told, and the intent struck out.
"""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import (
    ConcurrentModificationError,
    NotAllowedError,
    SessionError,
    StorageFullError,
)
from mnemolog.fs import Disk
from mnemolog.fs.real import RealDisk
from mnemolog.index.gate import GATES, Gate
from mnemolog.log import archive, audit, intents, manifests, moved, quarantine, runs, sessions
from mnemolog.log.blanking import Blanked, Limits, blank_ids
from mnemolog.log.places import Place, SessionPlace, facts
from mnemolog.log.writer import Handle, Writer
from mnemolog.ports import LogKey
from mnemolog.ports.keeping import Audited, Gone, Purge, Wiped
from mnemolog.stores.files import naming
from mnemolog.stores.files.archiving import at_home
from mnemolog.stores.files.feed import log_name, mark, unmark
from mnemolog.stores.files.held import place_of
from mnemolog.stores.files.serving.job_file import is_list
from mnemolog.stores.files.uprooting import uproot, uproot_session
from mnemolog.stores.files.uses import NAME as USES

ERASE = "erase"
_PATIENCE = 60.0


def erase(
    disk: Disk,
    writer: Writer,
    key: LogKey,
    limits: Limits,
    record: Audited,
    purge: Purge,
    *,
    is_part: bool = False,
    with_later: bool = False,
) -> Gone:
    """Remove the lines about some ids, each up to a number, durably; `record` is for the audit.

    What is written about an id later is not meant, also if all of this is done again; `with_later`
    means what comes before the lock is taken too. A part of a larger work is told to the audit by
    that work, unless a crash comes between.
    """
    fields: intents.Fields = {
        "operation": ERASE,
        "kind": key.kind,
        "log": key.id,
        "run": key.run,
        "ids": list(limits),
        "limits": [str(limit) for limit in limits.values()],
        **_recorded(record),
    }
    with intents.noted(disk, fields):
        reach = partial(_reach, disk, writer, key, limits, record.at, purge, with_later)
        try:
            places = at_home(disk, writer.place, reach)
        except StorageFullError:
            # An archived session is unpacked for it: what is derived makes room for that.
            intents.spend_reserve(disk)
            _discarder(disk)(log_name(key))
            places = at_home(disk, writer.place, reach)
        if not is_part:
            _record(disk, record, fields)
    return Gone(sum(places.get(one, 0) for one in ("log", "runs", "archive")), places)


def remove(
    disk: Disk, writer: Writer | None, session_id: str, record: Audited, purge: Purge
) -> dict[str, int]:
    """Remove a whole session and everything that was copied or derived from it.

    Without a writer, only if it lies in the archive: a write may have brought it back meanwhile.
    """
    places: dict[str, int] = {}
    place = sessions.place(session_id)
    created = facts(disk, place)[1].created_at
    fields = {"session_id": session_id, "created_at": created, **_recorded(record)}

    def rest(noted: intents.Fields) -> None:
        places.update(_leave_no_copy(disk, session_id, purge))
        _record(disk, record, noted)

    if not archive.remove(disk, place, _PATIENCE, fields, rest):
        if writer is None:
            raise ConcurrentModificationError(
                f"The session {session_id!r:.200} is not in the archive any more.",
                advice="Nothing was removed.",
                session_id=session_id,
            )
        sessions.remove(disk, writer, place, fields, rest)
    return places


def finish(disk: Disk, fields: intents.Fields) -> bool:
    """Finish an erasure or a removal that a crash interrupted; False if the intent is neither."""
    throw_away = _discarder(disk)
    if {"audit", "session_id"} & fields.keys() and _told(fields) is None:
        return False  # none of ours, or damaged: then it waits, and the doctor tells of it
    if fields.get("operation") == ERASE:
        return _finish_erasure(disk, fields, throw_away)
    if _is_untouched(disk, fields):
        return True
    if not (sessions.finish(disk, fields) or archive.finish_removal(disk, fields)):
        return False
    if isinstance(session_id := fields.get("session_id"), str):
        _leave_no_copy(disk, session_id, throw_away)
        _record_again(disk, fields)
    return True


def _is_untouched(disk: Disk, fields: intents.Fields) -> bool:
    """Whether the crash came before a session was taken out of being: then it stays whole."""
    session_id = fields.get("session_id")
    if fields.get("operation") != sessions.REMOVE or not isinstance(session_id, str):
        return False
    try:
        return facts(disk, sessions.place(session_id))[1].created_at == fields.get("created_at")
    except SessionError:
        return False


def _finish_erasure(disk: Disk, fields: intents.Fields, purge: Purge) -> bool:
    kind, name = fields.get("kind"), fields.get("log")
    limits, record = _limits_in(fields), _told(fields)
    if kind not in ("session", "user", "shared", "run") or limits is None or record is None:
        return False
    key = LogKey(kind, str(name), str(fields.get("run", "")))  # type: ignore[arg-type]
    if key.kind == "session":
        archive.restore(disk, sessions.place(key.id), _PATIENCE)  # archived since the crash
    place = place_of(key)
    # What a damaged session holds is still to be erased once it has its manifest again.
    home = place.folder if isinstance(place, SessionPlace) else place.guard
    if disk.ident(home) is not None:
        writer = Writer(disk, place, _PATIENCE)
        _reach(disk, writer, key, limits, record.at, purge)
    _record_again(disk, fields)
    return True


def _limits_in(fields: intents.Fields) -> Limits | None:
    """What an intent says is to be erased; None if it says it in another form than ours."""
    ids, limits = fields.get("ids"), fields.get("limits")
    if not isinstance(ids, list) or not isinstance(limits, list):
        return None
    try:
        return dict(zip(ids, map(int, limits), strict=True))
    except ValueError:
        return None


def _told(fields: intents.Fields) -> Audited | None:
    """What an intent has to tell the audit; None if nothing that could be a line of it."""
    if not isinstance(fields.get("audit_id"), str):
        return None
    try:
        found = Audited(**json.loads(str(fields.get("audit"))))
        return msgspec.convert(tuple(found), Audited)
    except (TypeError, ValueError, RecursionError):
        return None


def _recorded(record: Audited) -> dict[str, str]:
    return {"audit": json.dumps(record._asdict()), "audit_id": os.urandom(8).hex()}


def _record(disk: Disk, record: Audited, fields: intents.Fields) -> None:
    try:
        audit.record(disk, record, str(fields["audit_id"]))
    except StorageFullError:
        intents.spend_reserve(disk)
        audit.record(disk, record, str(fields["audit_id"]), again=True)


def _record_again(disk: Disk, fields: intents.Fields) -> None:
    record = _told(fields)
    assert record is not None  # it was looked at before anything was done
    audit.record(disk, record, str(fields["audit_id"]), again=True)


def _reach(
    disk: Disk,
    writer: Writer,
    key: LogKey,
    limits: Limits,
    stamp: str,
    purge: Purge,
    with_later: bool = False,
) -> dict[str, int]:
    """Every place that a line can have reached; how many lines or files were found in each."""
    if key.kind == "run":
        return _reach_run(disk, writer, key, limits, stamp)
    ids = frozenset(limits)
    with writer.locked() as handle:
        if with_later:  # a revision of what was read before says much of the same
            limits = dict.fromkeys(limits, handle.tail.seq)
        handle.lock.sign(ERASE, stamp)
        try:
            blanked = _blank_log(disk, writer.place, handle, limits, stamp)
            places = {"log": len(blanked)}
            if key.kind == "session":
                places["archive"] = _forget_moved(disk, paths.file_name(key.id), limits)
                places["uses"] = _blank_uses(disk, f"{log_name(key)}/{USES}", ids)
                runs.sweep(disk, sessions.place(key.id))
            generation = handle.chain.generation
        finally:
            handle.lock.unsign()
    places["quarantine"] = _clear_quarantine(disk, quarantine.name_of(key.kind, key.id), ids)
    places |= uproot(disk, key, writer.place, ids, thorough(disk, purge))
    wiped = Wiped(log_name(key), ids, generation, tuple(blanked))
    thorough(disk, purge)(wiped)
    mark(disk, log_name(key))
    return {place: count for place, count in places.items() if count}


def _reach_run(
    disk: Disk, writer: Writer, key: LogKey, limits: Limits, stamp: str
) -> dict[str, int]:
    """The notes of a run stand in their one file alone: no index, no archive, no quarantine."""
    try:
        with writer.locked() as handle:
            blanked = _blank_log(disk, writer.place, handle, limits, stamp)
            runs.sweep(disk, sessions.place(key.id))
    except NotAllowedError:
        return {}  # it ended meanwhile, and took its notes along
    return {"runs": len(blanked)} if blanked else {}


def _blank_log(
    disk: Disk, place: Place, handle: Handle, limits: Limits, stamp: str
) -> list[Blanked]:
    """Blank the lines, and only then tell every reader to look anew."""
    if handle.tail.torn:
        handle.write(b"", handle.tail.seq)
    blanked: list[Blanked] = []
    for number, segment in enumerate(handle.chain.segments):
        file = disk.open(handle.chain.path(segment), "update")
        blanked += blank_ids(file, number, limits, stamp)
    if isinstance(place, SessionPlace):
        _raise_generation(disk, place, handle)
    else:
        fs.shred(disk, f"{place.guard}.tmp")  # left by a crash, with whatever it holds
        if blanked:
            with suppress(StorageFullError):  # its lines are blank all the same
                fs.replace(disk, place.guard, fs.read_all(disk, place.guard))
    handle.follow()
    return blanked


def _forget_moved(disk: Disk, name: str, limits: Limits) -> int:
    """Take lines out of the archive; on a full disk, the index makes room for that."""
    moved.drop_unfinished(disk, name)
    try:
        return moved.forget(disk, name, limits)
    except StorageFullError:
        intents.spend_reserve(disk)
        _discarder(disk)(name)
        return moved.forget(disk, name, limits)


def _raise_generation(disk: Disk, place: SessionPlace, handle: Handle) -> None:
    before = sessions.writable(place, handle)
    after = msgspec.structs.replace(before, generation=before.generation + 1)
    try:
        manifests.swap(disk, place.folder, after)
    except StorageFullError:
        intents.spend_reserve(disk)
        manifests.swap(disk, place.folder, after)
    for name in sessions.orphans(disk, place, after):
        if sessions.is_ours(name):  # left by a crash, with whatever it holds
            fs.shred(disk, f"{place.folder}/{name}")


def _clear_quarantine(disk: Disk, log: str, ids: frozenset[str]) -> int:
    """Copies of damaged bytes that name an id go with it, and what crashes left of copies: of the
    name of what they hold, they may have lost a part."""
    names = [name for one in ids for name in naming.names(one)]
    found = 0
    for path in quarantine.files(disk, log):
        content = fs.read_all(disk, path)
        if any(name in content for name in names) or not quarantine.is_whole(path, content):
            fs.shred(disk, path)
            found += 1
    if found:
        disk.sync_folder(paths.QUARANTINE)
    return found


def _blank_uses(disk: Disk, path: str, ids: frozenset[str]) -> int:
    """Overwrite the notes of use in place: they are one short line each."""
    with suppress(FileNotFoundError):
        return fs.blank(disk, path, lambda line: _is_use_of(line, ids))
    return 0


def _is_use_of(line: bytes, ids: frozenset[str]) -> bool:
    """Whether a note of use names one of these ids; in a torn one the raw bytes tell."""
    try:
        return bool(line.strip()) and json.loads(line)["id"] in ids
    except (ValueError, KeyError, TypeError):
        return any(json.dumps(one).encode() in line for one in ids)


def _leave_no_copy(disk: Disk, session_id: str, purge: Purge) -> dict[str, int]:
    """What a removed session left elsewhere; nothing of a new one of the same name."""
    name = paths.file_name(session_id)
    is_new = disk.ident(sessions.place(session_id).guard) is not None
    copies: dict[str, list[str]] = {}
    if not is_new:
        moved.drop_unfinished(disk, name)
        copies = {
            "quarantine": quarantine.files(disk, quarantine.name_of("session", session_id)),
            "archive": moved.files(disk, name),
        }
    for path in (path for found in copies.values() for path in found):
        fs.shred(disk, path)
    for room in (paths.QUARANTINE, paths.ARCHIVE):
        if disk.ident(room) is not None:
            disk.sync_folder(room)
    log = paths.session_folder(session_id)
    learned = {} if is_new else uproot_session(disk, session_id, thorough(disk, purge))
    mark(disk, log)  # another one of its name may have been read already; it goes with the rest
    thorough(disk, purge)(log)
    return learned | {place: len(found) for place, found in copies.items() if found}


def thorough(disk: Disk, purge: Purge) -> Purge:
    """Purges, or throws the whole index away where that does not succeed."""
    return lambda gone: purge(gone) or _discarder(disk)(gone)


def _discarder(disk: Disk) -> Purge:
    """The index is derived: what cannot be taken out of it goes with all of it."""

    def discard(gone: Wiped | str) -> bool:
        with _alone_with_index(disk):
            for name in disk.list(paths.INDEX):
                found = disk.stat(f"{paths.INDEX}/{name}")
                is_kept = name in GATES or is_list(name)
                if found is not None and not found.is_folder and not is_kept:
                    disk.unlink(f"{paths.INDEX}/{name}")
            if isinstance(gone, str):  # no mark is needed: the next index reads all logs
                unmark(disk, gone)
        return True

    return discard


@contextmanager
def _alone_with_index(disk: Disk) -> Iterator[None]:
    """Wait for those who use the index: what they hold open must not get another's journal."""
    folder = disk.stat(paths.INDEX)
    with ExitStack() as held:
        if isinstance(disk, RealDisk) and folder is not None and folder.is_folder:
            gate = Gate(f"{disk.root}/{paths.INDEX}")
            held.callback(gate.forget)
            with suppress(OSError):  # a gate that cannot be opened keeps nobody in or out
                held.enter_context(gate.alone())
        yield
