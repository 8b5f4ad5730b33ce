"""Recall for a prompt: profile, run notes, plan and what fits the question, in one block."""

from typing import TYPE_CHECKING

from mnemolog.errors import InvalidQueryError, MnemologError, shown
from mnemolog.memory.getting import Getting
from mnemolog.memory.searching import Searching
from mnemolog.model import plain
from mnemolog.model.context import Context
from mnemolog.model.entry import Entry
from mnemolog.model.query import KINDS, Hit
from mnemolog.policy.blocks import Part, assemble, is_node, tokens
from mnemolog.policy.repeating import is_spoken

if TYPE_CHECKING:
    from mnemolog.memory.run import Run

_DEFAULT_TOKENS = 2000
_MOST_HITS = 50


class Recalling(Getting, Searching):
    """The verb that assembles a context."""

    def context(
        self,
        session_id: str | None = None,
        query: str = "",
        *,
        max_tokens: int = _DEFAULT_TOKENS,
        run: "Run | None" = None,
        quiet: bool = False,
    ) -> Context:
        """Assemble what a model should know now, as marked data within a budget of tokens.

        First the profile (the preferences in force), then the run's notes and the plan, then the
        entries and nodes that fit the query best: of all sessions of the session's user, or without
        a session of all that this handle may see. Where not everything fits, long ones come as the
        passages that bear on the query. What is shown `quiet`ly does not count as recalled.
        """
        budget = plain.count(max_tokens, "max_tokens") or 0
        if not isinstance(query, str):
            raise InvalidQueryError(f"The query must be a text, not {shown(query)}.")
        if not isinstance(quiet, bool):
            raise InvalidQueryError(f"quiet must be true or false, not {shown(quiet)}.")
        if run is not None and not callable(getattr(run, "notes", None)):
            raise InvalidQueryError(f"The run must be one that `run` opened, not {shown(run)}.")
        parts = [Part("Profile", self._profile(session_id))]
        if run is not None:
            parts += [Part("Notes of this run", run.notes("run")), Part("Plan", run.notes("plan"))]
        known = {entry.id for part in parts for entry in part.entries}
        recalled = self._recalled(session_id, query, quiet) if query.strip() else []
        news = [one for one in recalled if one.id not in known]
        parts.append(Part("Recalled", news, query))
        block = assemble(parts, budget)
        if run is not None:
            _hand(run, block.text, parts)
        return Context(
            text=block.text,
            tokens=tokens(block.text),
            sources=block.sources,
            omitted=block.omitted,
            weights=block.weights,
            homes=block.homes,
        )

    def _profile(self, session_id: str | None) -> list[Entry]:
        return [] if session_id is None else list(self.get_preferences(session_id))

    def _recalled(self, session_id: str | None, query: str, quiet: bool) -> list[Entry]:
        """What is recalled for one user never shows what was said with another one."""
        user = None if session_id is None else self._manifest(session_id).user_id
        recalls = 0 if quiet else _MOST_HITS
        if user is not None:
            found = self._of(user).query(text=query, limit=_MOST_HITS, kinds=KINDS, recalls=recalls)
            return [hit.entry for hit in found]
        hits = self.query(text=query, limit=_MOST_HITS, kinds=KINDS, recalls=recalls)
        if session_id is None:
            return [hit.entry for hit in hits]
        return [hit.entry for hit in hits if self._is_nobodys(hit)]

    def _of(self, user: str) -> "Recalling":
        viewer = self._viewer._replace(user=user)
        return Recalling(self._store, self.settings, self._clock, viewer, self._index)

    def _is_nobodys(self, hit: Hit) -> bool:
        """Whether an entry belongs to no user: its session has none, or it is shared.

        Of the nodes, those are meant that sessions without a user add to.
        """
        if is_node(hit.entry):
            return hit.entry.user_id == self.settings.knowledge.default_user
        if hit.entry.scope in ("user", "shared") or hit.entry.session_id is None:
            return hit.entry.scope == "shared"
        try:
            return self._store.load(hit.entry.session_id).user_id is None
        except MnemologError:
            return False  # gone meanwhile


def _hand(run: "Run", text: str, parts: list[Part]) -> None:
    """Have a run know what it was handed; its own notes and its plan were no news to it."""
    own = [note.text for name in ("run", "plan") for note in run.notes(name)]
    entries = (entry for part in parts for entry in part.entries)
    run.handed.hear(text, own, (one.text for one in entries if is_spoken(one)))
