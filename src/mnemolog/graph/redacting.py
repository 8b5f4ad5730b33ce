"""Redacting what a graph holds already: documents, all their versions, proposals and plans.

A version is hidden in the same way as its document, so the last version is the document's text
still. The old bytes are overwritten.
"""

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

import msgspec

from mnemolog import fs
from mnemolog.errors import ConcurrentModificationError
from mnemolog.fs import Disk
from mnemolog.graph import addresses, plans, sourcing, versions
from mnemolog.graph.hiding import hide_text
from mnemolog.graph.locking import locked
from mnemolog.graph.replacing import files, shredded, swap
from mnemolog.model.lesson import Edit, EditPlan, Waiting
from mnemolog.policy import front_matter
from mnemolog.policy.drafting import Redact

_PATIENCE = 60.0
_TRIES = 8


class Hidden(NamedTuple):
    """How many nodes, versions, proposals and plans held secrets, of which kinds, and whose."""

    places: Counter[str]
    kinds: Counter[str]
    users: set[str]


class _Hider:
    """Hides secrets in texts, and counts them."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self.kinds: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """A document or a body; the names of its sources are no secrets."""
        sources = {*front_matter.items(text, "sources"), *sourcing.cited(text)}
        clean, kinds = hide_text(text, self._redact, sources)
        self.kinds.update(kinds)
        return clean

    def edit(self, edit: Edit) -> Edit:
        """An edit, with its title and all."""
        said = {
            "body": self.text(edit.body),
            "reason": self.text(edit.reason),
            "title": edit.title and self.text(edit.title),
            "description": edit.description and self.text(edit.description),
        }
        return msgspec.structs.replace(edit, **said)

    def is_secret(self, content: bytes) -> bool:
        """Whether bytes of any kind hold one."""
        return bool(self._redact(content.decode("utf-8", "replace"))[1])


def hide(
    disk: Disk,
    user_ids: Collection[str] | None,
    redact: Redact,
    *,
    dry_run: bool = False,
    patience: float = _PATIENCE,
) -> Hidden:
    """Hide secrets in the graphs of these users, or of all."""
    users = addresses.users(disk, *addresses.ROOMS) if user_ids is None else user_ids
    found = Hidden(Counter(), Counter(), set())
    for user in users:
        with locked(disk, user, patience):
            for path in files(disk, user):
                hider = _Hider(redact)
                place, count = _hide_file(disk, user, path, hider, dry_run)
                _count(found, place, count, hider, user)
    for plan in plans.all_of(disk):
        if user_ids is None or plan.user_id in user_ids:
            hider = _Hider(redact)
            _count(found, "plans", _hide_plan(disk, plan, hider, dry_run), hider, plan.user_id)
    return found


def _count(found: Hidden, place: str, count: int, hider: _Hider, user: str) -> None:
    if count:
        found.places[place] += count
        found.kinds.update(hider.kinds)
        found.users.add(user)


def _hide_file(
    disk: Disk, user_id: str, path: str, hider: _Hider, dry_run: bool
) -> tuple[str, int]:
    room = path.removeprefix(f"{addresses.user_folder(user_id)}/").partition("/")[0]
    for _ in range(_TRIES):
        try:
            before = fs.read_all(disk, path)
        except FileNotFoundError:
            return "nodes", 0
        if path.endswith(".tmp"):  # left by a crash
            is_found = hider.is_secret(before)
            return "leftovers", shredded(disk, path) if is_found and not dry_run else is_found
        place, after, count = _hidden(room, before, hider)
        if after == before or dry_run or swap(disk, path, before, after, hider.is_secret):
            return place, count
    raise ConcurrentModificationError(
        f"Somebody keeps changing {path!r:.200} while secrets are hidden in it.",
        advice="Try again when that is done.",
    )


def _hidden(room: str, content: bytes, hider: _Hider) -> tuple[str, bytes, int]:
    if room == addresses.REVIEW:
        after = _hidden_proposal(content, hider)
        return "proposals", after, int(after != content)
    if room == addresses.VERSIONS:
        lines = content.split(b"\n")
        kept = [_hidden_version(line, hider) for line in lines]
        count = sum(one != line for one, line in zip(kept, lines, strict=True))
        return "versions", b"\n".join(kept), count
    text = content.decode("utf-8", "surrogateescape")
    clean = hider.text(text)
    after = content if clean == text else clean.encode("utf-8", "surrogateescape")
    return "nodes", after, int(after != content)


def _hidden_version(line: bytes, hider: _Hider) -> bytes:
    found = versions.version_of(line)
    if found is None:  # a mark, or torn: what is left of it helps nobody
        return b"" if hider.is_secret(line) else line
    text = None if found.text is None else hider.text(found.text)
    reason = hider.text(found.reason)
    if (text, reason) == (found.text, found.reason):
        return line
    digest = found.hash if text == found.text else versions.hash_of(text or "")
    clean = msgspec.structs.replace(found, text=text, hash=digest, reason=reason)
    return versions.line_of(clean)


def _hidden_proposal(content: bytes, hider: _Hider) -> bytes:
    try:
        found = msgspec.json.decode(content, type=Waiting)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return b"" if hider.is_secret(content) else content
    edit = hider.edit(found.edit)
    if edit == found.edit:
        return content
    return msgspec.json.encode(msgspec.structs.replace(found, edit=edit)) + b"\n"


def _hide_plan(disk: Disk, plan: EditPlan, hider: _Hider, dry_run: bool) -> int:
    def hidden(plan: EditPlan) -> tuple[Edit, ...]:
        return tuple(map(hider.edit, plan.edits))

    if dry_run:
        return int(hidden(plan) != plan.edits)
    return int(plans.change(disk, plan.id, hidden, hider.is_secret) > 0)
