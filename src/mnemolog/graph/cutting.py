"""Cutting: what rests on erased entries leaves documents, versions, proposals and plans for good.

All of it may be done again, as it is after a crash: the erasure was noted as an intent.
"""

import json
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import ConcurrentModificationError
from mnemolog.fs import Disk
from mnemolog.graph import addresses, claims, plans, sourcing, versions
from mnemolog.graph.locking import locked
from mnemolog.graph.replacing import GONE, files, shredded, swap
from mnemolog.graph.sourcing import IsGone
from mnemolog.graph.versions import hash_of
from mnemolog.model.lesson import Edit, EditPlan, Waiting
from mnemolog.model.node import FILES, NodeVersion

_PATIENCE = 60.0
_TRIES = 8


class Target(NamedTuple):
    """What is to go: how a source is told, and bytes of which a file must hold some."""

    is_gone: IsGone
    needles: list[bytes]

    def is_in(self, content: bytes) -> bool:
        """Whether a file may rest on one of the sources."""
        return any(one in content for one in self.needles)


class Cuts(NamedTuple):
    """How much was cut in each kind of place, and in whose graphs."""

    places: Counter[str]
    users: set[str]


def cut(
    disk: Disk,
    user_ids: Collection[str] | None,
    sources: Collection[str],
    patience: float = _PATIENCE,
) -> Cuts:
    """Take out everything that rests on these sources."""
    meant = Target(sourcing.selector(sources, with_own=False), sourcing.needles(sources))
    cuts = Cuts(Counter(), set())
    for user in user_ids if user_ids is not None else addresses.users(disk, *addresses.ROOMS):
        with locked(disk, user, patience):
            done = _cut_user(disk, user, meant)
        cuts.places.update(done)
        cuts.users.update([user] if done.total() else [])
    for plan in plans.all_of(disk):
        cuts.places.update(plans=_cut_plan(disk, plan.id, meant))
    _sweep_plans(disk, sources)
    return cuts


def _cut_user(disk: Disk, user_id: str, meant: Target) -> Counter[str]:
    """Look through a graph until nothing more is found: people move files without its lock."""
    done = Counter[str]()
    for _ in range(_TRIES):
        found = Counter[str]()
        for path in [one for one in files(disk, user_id) if _holds(disk, one, meant)]:
            found.update(_cut_file(disk, user_id, path, meant))
        if not found.total():
            return done
        done.update(found)
    raise _restless(addresses.user_folder(user_id))


def _restless(path: str) -> ConcurrentModificationError:
    return ConcurrentModificationError(
        f"Somebody keeps changing {path!r:.200} while it is cut.",
        advice="The erasure stays noted: whoever opens the root next goes on with it.",
    )


def _holds(disk: Disk, path: str, meant: Target) -> bool:
    if f"/{addresses.REVIEW}/" in path or path.endswith(GONE):
        return True  # a proposal names its sources in another form; there are few of them
    with suppress(FileNotFoundError):
        return meant.is_in(fs.read_all(disk, path))
    return False


def _cut_file(disk: Disk, user_id: str, path: str, meant: Target) -> dict[str, int]:
    folder = addresses.user_folder(user_id)
    room = path.removeprefix(f"{folder}/").partition("/")[0]
    if path.endswith(".tmp"):
        return {"leftovers": shredded(disk, path)}
    if room == addresses.REVIEW:
        return {"review": _cut_proposal(disk, path, meant)}
    if room == addresses.VERSIONS:
        return {"versions": _cut_versions(disk, path, meant)}
    return {"nodes": _cut_document(disk, folder, path, meant)}


# --- documents


def _cut_document(disk: Disk, folder: str, path: str, meant: Target) -> int:
    """Take lines out of a document; one that says nothing without them goes, with its versions."""
    below = path.removeprefix(f"{folder}/").removeprefix(f"{addresses.MEMORY}/")
    name = below if below in FILES else below.removesuffix(addresses.ENDING)
    history = f"{folder}/{addresses.VERSIONS}/{name}.jsonl"
    doomed = claims.brought(versions.read(disk, history), meant.is_gone)
    for _ in range(_TRIES):
        try:
            before = fs.read_all(disk, path)
        except FileNotFoundError:
            return 0
        after, count = _cut_text(before.decode("utf-8", "surrogateescape"), meant, doomed)
        if after is None:
            shredded(disk, path)
            if disk.ident(history) is not None:
                shredded(disk, history)
            _forget_uses(disk, f"{folder}/{paths.ACCESS}", name)
            return count
        content = after.encode("utf-8", "surrogateescape")
        if content == before or swap(disk, path, before, content, meant.is_in):
            return count
    raise _restless(path)


def _forget_uses(disk: Disk, path: str, address: str) -> None:
    """The name of a node that is gone for good stays nowhere either."""
    with suppress(FileNotFoundError):
        needle = json.dumps(address).encode()
        fs.blank(disk, path, lambda line: needle in line)


def _cut_text(text: str, meant: Target, doomed: frozenset[str]) -> tuple[str | None, int]:
    """A document without what rests on the sources; None if nothing is left of it."""
    left = claims.without(text, doomed)
    found = sourcing.cut(left, meant.is_gone)
    if found.lines and found.is_empty:
        return None, found.lines
    if found.is_vague or left != text:
        return sourcing.flagged(found.text, sourcing.ERASED), found.lines or 1
    return found.text, found.lines


# --- versions


def _cut_versions(disk: Disk, path: str, meant: Target) -> int:
    try:
        before = fs.read_all(disk, path)
    except FileNotFoundError:
        return 0
    lines = before.split(b"\n")
    known = versions.History(before)
    last, doomed = known.last(), claims.brought(known, meant.is_gone)
    kept = [_cut_line(line, last, meant, doomed) for line in lines]
    count = sum(one != line for one, line in zip(kept, lines, strict=True))
    left = [one for one in kept if one is not None]
    if not any(found.text for found in map(versions.version_of, left) if found is not None):
        return shredded(disk, path) and count
    swap(disk, path, before, b"\n".join(left), meant.is_in)
    return count


def _cut_line(
    line: bytes, last: NodeVersion | None, meant: Target, doomed: frozenset[str]
) -> bytes | None:
    """A line of versions without what rests on the sources; None if nothing of it may stay."""
    if not meant.is_in(line) and not doomed:
        return line
    found = versions.version_of(line)
    if found is None:
        return None if meant.is_in(line) else line
    sources = tuple(one for one in found.sources if not meant.is_gone(one))
    reason = found.reason if sources == found.sources else ""
    text, is_last = found.text, last is not None and last.number == found.number
    if text is not None:
        is_vague = sourcing.cut(text, meant.is_gone).is_vague
        text = None if is_vague and not is_last else _cut_text(text, meant, doomed)[0]
        if text is None:
            return None
    digest = found.hash if text == found.text else hash_of(text or "")
    plan = found.plan if sources else ""  # nothing of it is left: said again, it may be taken again
    cut = msgspec.structs.replace(
        found, text=text, hash=digest, sources=sources, reason=reason, plan=plan
    )
    return line if cut == found else versions.line_of(cut)


# --- proposals and plans


def _cut_proposal(disk: Disk, path: str, meant: Target) -> int:
    try:
        found = msgspec.json.decode(fs.read_all(disk, path), type=Waiting)
    except FileNotFoundError:
        return 0
    except msgspec.DecodeError:
        return shredded(disk, path)
    return shredded(disk, path) if _rests(found.edit, meant) else 0


def _rests(edit: Edit, meant: Target) -> bool:
    cited = sourcing.cut(edit.body, meant.is_gone).lines
    return bool(cited) or any(meant.is_gone(one.name) for one in edit.sources)


def _cut_plan(disk: Disk, plan_id: str, meant: Target) -> int:
    def left(plan: EditPlan) -> tuple[Edit, ...]:
        return tuple(edit for edit in plan.edits if not _rests(edit, meant))

    return plans.change(disk, plan_id, left, meant.is_in)


def _sweep_plans(disk: Disk, sources: Collection[str]) -> None:
    """Plans that a crash left half written or half cut, if they name an entry that is meant."""
    names = [unquote(one.rstrip("/").rpartition("/")[2]) for one in sources]
    needles = [msgspec.json.encode(name) for name in names if name]
    for name in disk.list(paths.INTENTS):
        path = f"{paths.INTENTS}/{name}"
        if name.startswith(plans.PREFIX) and name.endswith(".tmp"):
            with suppress(FileNotFoundError):
                content = fs.read_all(disk, path)
                if name.endswith(GONE) or any(one in content for one in needles):
                    shredded(disk, path)
