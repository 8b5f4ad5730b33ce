"""Proving: looking into every byte below the root for what should be gone."""

from collections.abc import Iterable

from mnemolog.errors import NotAllowedError
from mnemolog.memory.base import Base
from mnemolog.model import plain
from mnemolog.model.forgetting import Verification
from mnemolog.policy.access import OWNER
from mnemolog.policy.forms import needles
from mnemolog.ports import Progress
from mnemolog.ports.keeping import Audited, Trace

# Shorter pieces of an erased text are everywhere anyway, and prove nothing.
_SHORTEST = 12
_MOST_SHOWN = 100
INDEX = "index/"


class Proving(Base):
    """The verbs that look whether something is gone."""

    def verify_erasure(
        self,
        *,
        ids: Iterable[str] = (),
        text: str | Iterable[str] = (),
        progress: Progress | None = None,
    ) -> Verification:
        """Look for ids and texts in every file, in every form, also inside archives."""
        wanted = plain.strings(list(ids) if not isinstance(ids, str) else ids, "ids")
        said = plain.strings(text if isinstance(text, str) else list(text), "text")
        return self._prove(wanted, said, progress, is_strict=True)

    def audit(self) -> list[Audited]:
        """What was deleted, erased, purged, compacted and backed up; for the owner alone."""
        if self._viewer != OWNER:
            raise NotAllowedError(
                "The audit belongs to the whole root.", advice="Use the owner's handle."
            )
        return list(self._keeper.audited())

    def known_backups(self) -> tuple[str, ...]:
        """The backups that were made of this root: what is erased here still stands there."""
        return tuple(
            dict.fromkeys(line.place for line in self._keeper.audited() if line.action == "backup")
        )

    def _prove(
        self,
        ids: Iterable[str],
        texts: Iterable[str],
        progress: Progress | None,
        *,
        is_strict: bool = False,
    ) -> Verification:
        """What is left; unless strict, what entries say that nobody asked to go is no trace."""
        gone = frozenset(ids)
        wanted = {f"id {one}": one.encode() for one in gone}
        wanted |= needles(text for text in texts if is_strict or len(text) >= _SHORTEST)
        files = 0

        def count(done: int, total: int) -> None:
            nonlocal files
            files = total
            if progress is not None:
                progress(done, total)

        found = list(self._keeper.scan(wanted, count))
        kept = [] if is_strict else [one for one in found if one.entry_id is not None]
        living = [one for one in kept if one.entry_id not in gone]
        said = {_needle(one) for one in living}
        left = [
            one
            for one in found
            if one not in living and not (one.path.startswith(INDEX) and _needle(one) in said)
        ]
        return Verification(
            clean=not left,
            files=files,
            traces=tuple(map(_shown, left[:_MOST_SHOWN])),
            elsewhere=len(living),
        )


def _needle(trace: Trace) -> str:
    """Which text or id it is, in whichever form."""
    return trace.form.partition(",")[0]


def _shown(trace: Trace) -> str:
    return f"{trace.path} at byte {trace.offset}: {trace.form}"
