"""Names: the few that repeat on rows, by their numbers, kept while an index is open."""

import sqlite3

from mnemolog.index import tokens


class Names:
    """The types and the agents that an index knows."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: list[tuple[int, str, str]] = []
        self._speakers: dict[str, list[int]] = {}
        self.types: tuple[tuple[int, str], ...] = ()
        self.conversation = 0
        """The number of the type of turns; 0 if there are none."""

    def refresh(self) -> None:
        """Read them again; purging takes some away, and gives their numbers to others."""
        query = "SELECT id, kind, text FROM word ORDER BY id"
        known = self._db.execute(query).fetchall()
        if known == self._known:
            return
        self._known, self._speakers = known, {}
        self.types = tuple((number, text) for number, kind, text in known if kind == "type")
        self.conversation = next((one for one, text in self.types if text == "conversation"), 0)
        for number, kind, text in known:
            for term in set(tokens.terms(text)) if kind == "agent" else ():
                self._speakers.setdefault(term, []).append(number)

    def mentioned(self, text: str) -> list[int]:
        """The agents of whose names a text holds a word."""
        if not self._speakers:
            return []
        found = (self._speakers.get(term, ()) for term in set(tokens.terms(text)))
        return sorted({number for some in found for number in some})
