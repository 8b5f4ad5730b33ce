"""Recall for a prompt: profile, run notes, plan and what fits the question, in one block."""

from typing import TYPE_CHECKING

from mnemolog.memory.finding import Finding
from mnemolog.memory.getting import Getting
from mnemolog.model import plain
from mnemolog.model.context import Context
from mnemolog.model.entry import Entry
from mnemolog.policy.blocks import Part, assemble, tokens

if TYPE_CHECKING:
    from mnemolog.memory.running import Run

_DEFAULT_TOKENS = 2000
_MOST_HITS = 50


class Recalling(Getting, Finding):
    """The verb that assembles a context."""

    def context(
        self,
        session_id: str | None = None,
        query: str = "",
        *,
        max_tokens: int = _DEFAULT_TOKENS,
        run: "Run | None" = None,
    ) -> Context:
        """Assemble what a model should know now, as marked data within a budget of tokens.

        First the profile (the preferences in force), then the run's notes and the plan, then the
        entries that fit the query best: of the session, else of all that this handle may see.
        """
        budget = plain.count(max_tokens, "max_tokens") or 0
        parts = [Part("Profile", self._profile(session_id))]
        if run is not None:
            parts += [Part("Notes of this run", run.notes("run")), Part("Plan", run.notes("plan"))]
        known = {entry.id for part in parts for entry in part.entries}
        parts.append(Part("Recalled", self._recalled(session_id, query, known)))
        block = assemble(parts, budget)
        return Context(
            text=block.text,
            tokens=tokens(block.text),
            sources=block.sources,
            omitted=block.omitted,
        )

    def _profile(self, session_id: str | None) -> list[Entry]:
        return [] if session_id is None else list(self.get_preferences(session_id))

    def _recalled(self, session_id: str | None, query: str, known: set[str]) -> list[Entry]:
        if not query.strip():
            return []
        hits = self.query(session_id, text=query, limit=_MOST_HITS)
        return [hit.entry for hit in hits if hit.entry.id not in known]
