"""One build of the index, open: its database, its columns, its vectors."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from mnemolog.index import database, tokens
from mnemolog.index.columns import Columns
from mnemolog.index.snapshot import Snapshot
from mnemolog.index.vectors import Encoded, Vectors
from mnemolog.ports.embedder import Embedder


def identity_of(embedder: Embedder | None) -> str:
    """What an index must have been made with; anything else is made anew."""
    return f"{tokens.identity()} {embedder.name if embedder else 'none'}"


class Build:
    """What is held open of an index until it is replaced."""

    def __init__(self, folder: str, embedder: Embedder | None) -> None:
        self._folder = folder
        self._ident = database.ident(folder)
        self.identity = identity_of(embedder)
        self.db = database.connect(folder, self.identity)
        with ExitStack() as undone:
            undone.callback(self.db.close)
            number = database.build_of(self.db)
            undone.pop_all()
        self.columns = Columns(folder, number)
        self.vectors = Vectors(folder, number, embedder) if embedder else None
        self.snapshot = Snapshot(self.db, self.columns)

    def is_current(self) -> bool:
        """Whether nobody has replaced or removed it."""
        return self._ident == database.ident(self._folder)

    def is_whole(self) -> bool:
        """Whether every row still is what was written."""
        (rows,) = self.db.execute("SELECT value FROM meta WHERE key = 'rows'").fetchone()
        is_whole = self.columns.is_whole(rows)
        return is_whole and (self.vectors is None or self.vectors.is_whole(self.embedded()))

    def holds(self, needles: list[bytes]) -> bool:
        """Whether the database's file holds any of these bytes, used or not."""
        content = database.content(self._folder)
        return any(needle in content for needle in needles)

    def embedded(self) -> int:
        """How many rows have their vectors; the others wait."""
        if self.vectors is None:
            query = "SELECT value FROM meta WHERE key = 'rows'"
        else:
            query = "SELECT value FROM meta WHERE key = 'embedded'"
        found = self.db.execute(query).fetchone()
        return 0 if found is None else int(found[0])

    def quick_embedder(self) -> Embedder | None:
        """The embedder, if it is so fast that no row has to wait for it."""
        return None if self.vectors is None else self.vectors.quick_embedder()

    def embed(self, first: int, texts: list[str], worked: Encoded | None) -> None:
        """Store what the rows from `first` on mean, unless that takes too long: then they wait."""
        if self.vectors is None or not texts or self.embedded() != first:
            return
        if worked is not None:
            self.give_vectors(first, worked)
        elif self.vectors.at_once is None or len(texts) <= self.vectors.at_once:
            self.store_vectors(first, texts)

    def store_vectors(self, first: int, texts: list[str]) -> None:
        """Store what the rows from `first` on mean; published by the commit that follows."""
        if self.vectors is not None:
            self.vectors.write(first, texts)
            self._note_embedded(first + len(texts))

    def give_vectors(self, first: int, vectors: Encoded) -> None:
        """Store the vectors of the rows from `first` on; published by the commit that follows."""
        if self.vectors is not None:
            self.vectors.write_encoded(first, vectors)
            self._note_embedded(first + len(vectors.worth))

    def _note_embedded(self, rows: int) -> None:
        self.db.execute("REPLACE INTO meta VALUES ('embedded', ?)", (rows,))

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction of the only one who writes; undone by an error."""
        try:  # from the first: an interrupt may come before the next line
            self.db.execute("BEGIN IMMEDIATE")
            if not self.is_current():
                raise database.UnfitError("it was replaced meanwhile")
            yield self.db
            self.db.execute("COMMIT")
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")

    @contextmanager
    def moment(self) -> Iterator[sqlite3.Connection]:
        """The index as of one moment, whatever others seal and merge meanwhile."""
        try:
            self.db.execute("BEGIN")
            self.snapshot.refresh()
            yield self.db
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the database."""
        self.db.close()
