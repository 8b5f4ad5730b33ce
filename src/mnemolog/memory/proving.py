"""Proving: looking into every byte below the root for what should be gone."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from mnemolog.errors import CorruptionError, SchemaInvalidError, SessionError
from mnemolog.memory.base import Base
from mnemolog.model import plain
from mnemolog.model.forgetting import Verification
from mnemolog.model.times import is_moment, to_text
from mnemolog.policy.access import OWNER
from mnemolog.policy.forms import needles
from mnemolog.ports import LogKey, Progress
from mnemolog.ports.keeping import Audited, Trace
from mnemolog.settings import Settings

# Shorter pieces of an erased text are everywhere anyway, and prove nothing.
_SHORTEST = 12
LONGEST_REASON = 500
_MOST_SHOWN = 100
INDEX = "index/"
PURGE = "purge"


class Proving(Base):
    """The verbs that look whether something is gone."""

    def verify_erasure(
        self,
        *,
        ids: Iterable[str] = (),
        text: str | Iterable[str] = (),
        progress: Progress | None = None,
    ) -> Verification:
        """Look for ids and texts in every file, in every form, also inside archives.

        For the owner alone: the answer tells what any file says.
        """
        self._for_owner("look into every file")
        wanted, said = plain.several(ids, "ids"), plain.several(text, "text")
        if not all(wanted) or not all(said) or not (wanted or said):
            raise SchemaInvalidError(
                "Nothing says what should be gone.", advice="Give ids or text, none of them empty."
            )
        return self._prove(wanted, said, progress, is_strict=True)

    def audit(self) -> list[Audited]:
        """What was deleted, erased, purged, compacted and backed up; for the owner alone."""
        self._for_owner("read the audit")
        return list(self._keeper.audited())

    def known_backups(self) -> tuple[str, ...]:
        """The backups made of this root, told to the owner: they hold what is erased here."""
        if self._viewer != OWNER:
            return ()
        lines = self._keeper.audited(is_strict=False)
        known = dict.fromkeys(line.place for line in lines if line.action == "backup")
        return (*known, *(f"perhaps others: {why}" for why in self._audit_trouble()))

    def _audit_trouble(self) -> tuple[str, ...]:
        """A broken audit must not stop what it records, but whoever relies on it is told."""
        try:
            for _ in self._keeper.audited():
                pass
        except CorruptionError as error:
            return (str(error),)
        return ()

    def _last_purge(self) -> str | None:
        """When this root was last purged, by what can be read; None if it never was, so that
        nobody agreed yet."""
        lines = self._keeper.audited(is_strict=False)
        told = (line.at for line in lines if line.action == PURGE)
        return max(filter(is_moment, told), default=None)

    def _reason(self, given: object, session_id: str | None = None) -> str:
        """A reason as it is kept: short, and without secrets, by the rules of its session too."""
        if not isinstance(given, str) or len(given) > LONGEST_REASON:
            raise SchemaInvalidError(
                f"A reason is a text of up to {LONGEST_REASON} characters.", field="reason"
            )
        reason = plain.plain_text(given, [])
        for redact in map(self._redact, self._rules(session_id)) if reason else ():
            reason = reason if redact is None else str(redact(reason)[0])
        return reason

    def _rules(self, session_id: str | None) -> Iterator[Settings]:
        """The settings of the root, whose audit keeps reasons, and those of a session."""
        yield self.settings
        if session_id is not None:
            with suppress(SessionError):  # it is gone, and so are its rules
                yield self._settings(self._manifest(session_id))

    def _audited(
        self, action: str, session_id: str | None, count: int, reason: str, kinds: dict[str, int]
    ) -> Audited:
        actor = self._viewer.agent or self._viewer.user or "owner"
        stamp = to_text(self._clock.now())
        return Audited(
            stamp, action, session_id, count, actor, self._reason(reason, session_id), kinds
        )

    def _prove(
        self,
        ids: Iterable[str],
        texts: Iterable[str],
        progress: Progress | None,
        *,
        erased: Collection[tuple[LogKey, str]] = (),
        is_strict: bool = False,
    ) -> Verification:
        """What is left; unless strict, what entries say that nobody asked to go is no trace.

        `erased` says of which logs the ids are: in any other the same id is another entry.
        """
        gone = frozenset(ids)
        wanted = {form: needle for one in gone for form, needle in _named(one)}
        wanted |= needles(text for text in texts if is_strict or len(text) >= _SHORTEST)
        sizes: Counter[str] = Counter()

        def looked(path: str, size: int) -> None:
            sizes[path] += size

        found = list(self._keeper.scan(wanted, progress, looked))
        kept = [] if is_strict else [one for one in found if one.entry_id is not None]
        living = {one for one in kept if one.entry_id not in gone or _is_another(one, erased)}
        left = _left(found, living)
        is_owner = self._viewer == OWNER
        places = Counter(dict.fromkeys(map(_part, sizes), 0))
        places.update(_part(one.path) for one in left)
        return Verification(
            clean=not left,
            files=len(sizes),
            bytes=sizes.total(),
            places=dict(sorted(places.items())) if is_owner else {},
            traces=tuple(map(_shown, left[:_MOST_SHOWN])) if is_owner else (),
            elsewhere=len(living) if is_owner else 0,
        )


def _left(found: list[Trace], living: set[Trace]) -> list[Trace]:
    """What entries that live do not account for: the index says what they say, too."""
    said = {_needle(one) for one in living}
    others = (one for one in found if one not in living)
    return [one for one in others if not (one.path.startswith(INDEX) and _needle(one) in said)]


def _named(identifier: str) -> Iterator[tuple[str, bytes]]:
    """An id as it stands in a line; a short one only where ids stand, for it is everywhere else."""
    quoted = json.dumps(identifier, ensure_ascii=False).encode("utf-8", "surrogatepass")
    if len(identifier) >= _SHORTEST:
        yield f"id {identifier}", quoted[1:-1]
        return
    for field in ('"id":', '"id": ', '"target":'):
        yield f"id {identifier}, as {field}", field.encode() + quoted


def _is_another(trace: Trace, erased: Collection[tuple[LogKey, str]]) -> bool:
    """Whether an entry goes by an erased id in a log of which nothing of this id was erased."""
    id_ = trace.entry_id
    return bool(trace.homes) and not any((home, id_) in erased for home in trace.homes)


def _part(path: str) -> str:
    """The part of the root that a file lies in; a file beside the folders stands for itself."""
    return path.partition("/")[0].removesuffix(" (unpacked)")


def _needle(trace: Trace) -> str:
    """Which text or id it is, in whichever form."""
    return trace.form.partition(",")[0]


def _shown(trace: Trace) -> str:
    whose = "" if trace.session_id is None else f", of the session {trace.session_id!r:.200},"
    return f"{trace.path}{whose} at byte {trace.offset}: {trace.form}"
