"""Returning: what compactions moved out comes back to its log."""

from collections.abc import Callable

from mnemolog.errors import ConcurrentModificationError
from mnemolog.memory.keeping import Keeping
from mnemolog.model.entry import Entry
from mnemolog.policy.access import may_change
from mnemolog.policy.compaction import Weighed
from mnemolog.policy.drafting import Circumstances
from mnemolog.policy.selection import Selection
from mnemolog.ports import LogKey, Write

# How often what others change meanwhile is looked up again.
_TRIES = 20


class Returning(Keeping):
    """What the verbs need that reach into the archive of a session that is not archived."""

    def _moved(self, session_id: str, chosen: Selection) -> list[Weighed]:
        """What is meant of that which compactions moved out, as far as it can be read."""
        return self._moved_out(
            session_id,
            lambda one: chosen.matches(one.entry) and may_change(self._viewer, one.entry),
            is_salvage=True,
        )

    def _return(
        self,
        session_id: str,
        meant: Callable[[], list[Entry]],
        writes: Callable[[Entry], tuple[Write, ...]],
        where: Circumstances,
    ) -> list[str]:
        """Write to the log what came out of the archive, and only then take it out there.

        Looked up again if somebody erased it, or brought it back, before it was written.
        """
        for attempt in range(_TRIES):
            found = meant()
            if not found:
                break
            every = [write for one in found for write in writes(one)]
            every[0] = every[0]._replace(check=self._if_moved(session_id, found))
            try:
                done, _ = self._stored(LogKey("session", session_id), every, where)
            except ConcurrentModificationError:
                if attempt == _TRIES - 1:
                    raise
                continue
            self._keeper.forget_moved(session_id, [one.id for one in found], done.seqs[0])
            return [one.id for one in found]
        return []
