"""One build of the index, open: its database, its columns, its vectors."""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

from mnemolog.index import database, embedding, models, tokens
from mnemolog.index.columns import Columns
from mnemolog.index.snapshot import Snapshot
from mnemolog.index.vectors import Encoded, RowNumbers, Stored, Vectors
from mnemolog.ports.embedder import Embedder


def identity_of(embedder: Embedder | None) -> str:
    """What whoever works texts out for an index must have, to the last word."""
    return f"{tokens.identity()} {embedder.name if embedder else 'none'}"


class Build:
    """What is held open of an index until it is replaced."""

    def __init__(self, folder: str, embedder: Embedder | None) -> None:
        self._folder = folder
        self._ident = database.ident(folder)
        self.identity = identity_of(embedder)
        self.db = database.connect(folder, tokens.identity())
        with ExitStack() as undone:
            undone.callback(self.db.close)
            self._number = database.build_of(self.db)
            self.columns = Columns(folder, self._number)
            self.vectors = self._vectors(embedder) if embedder else None
            self.sweep()
            undone.pop_all()
        model = self.vectors.number if self.vectors else None
        self.snapshot = Snapshot(self.db, self.columns, model)

    def _vectors(self, embedder: Embedder) -> Vectors | None:
        embedding.check(embedder)
        if embedder.size == 0:
            return None  # there is nothing to store, and words decide
        model = models.entered(self.db, embedder.name, embedder.size)
        return Vectors(self._folder, self._number, model, embedder)

    def sweep(self) -> None:
        """Remove the vectors of models that nobody asks for any more."""
        models.sweep(self._folder, self.db)

    def is_current(self) -> bool:
        """Whether nobody has replaced or removed it."""
        return self._ident == database.ident(self._folder)

    def is_whole(self) -> bool:
        """Whether every row still is what was written."""
        return self.columns.is_whole(database.rows_of(self.db)) and all(
            self._stored(model).is_whole(model.embedded) for model in models.stored(self.db)
        )

    def _stored(self, model: models.Model) -> Stored:
        return Stored(self._folder, self._number, model.number, model.size)

    def blank(self, rows: RowNumbers) -> None:
        """Take what rows mean out of the vectors of every model."""
        for model in models.stored(self.db):
            self._stored(model).blank(rows)
        models.note_blank(self.db)

    def holds(self, needles: list[bytes]) -> bool:
        """Whether the database holds any of these bytes, used or not; if in doubt, it does."""
        content = database.content(self.db)
        return content is None or any(needle in content for needle in needles)

    def is_replaced(self) -> bool:
        """Whether the vectors were thrown away, and with them their files."""
        try:
            self.embedded()
        except models.ReplacedError:
            return True
        return False

    def embedded(self) -> int:
        """How many rows wait for no vector."""
        if self.vectors is None:
            return database.rows_of(self.db)
        return models.found(self.db, self.vectors.number).embedded

    def waiting(self) -> int:
        """How many rows do."""
        return database.rows_of(self.db) - self.embedded()

    @property
    def is_slow(self) -> bool:
        """Whether the embedder may take so long that nobody should be held up by it."""
        return self.vectors is not None and self.vectors.quick_embedder is None

    def quick_embedder(self) -> Embedder | None:
        """The embedder, if it is so fast that no row has to wait for it, and none does."""
        if self.vectors is None or self.waiting():
            return None
        return self.vectors.quick_embedder

    def embed(self, first: int, worked: Encoded | None) -> None:
        """Store what the rows from `first` on mean, if that is known: otherwise they wait."""
        if worked is not None and self.embedded() == first:
            self.give_vectors(first, worked)

    def give_vectors(self, first: int, vectors: Encoded) -> None:
        """Store the vectors of the rows from `first` on; published by the commit that follows."""
        if self.vectors is not None:
            self.vectors.write(first, vectors)
            models.note(self.db, self.vectors.number, first + len(vectors.worth))

    def take_back_vectors(self, first: int, rows: int) -> None:
        """Have these rows, the last that were embedded, wait for their vectors again."""
        if self.vectors is not None:
            self.vectors.blank(np.arange(first, first + rows))
            models.note(self.db, self.vectors.number, first)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction of the only one who writes; undone by an error."""
        try:  # from the first: an interrupt may come before the next line
            self.db.execute("BEGIN IMMEDIATE")
            if not self.is_current():
                raise database.UnfitError("it was replaced meanwhile")
            self.embedded()  # or the vectors were
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
            if self.vectors is not None:
                self.vectors.look(self.snapshot.blanked)
            yield self.db
        finally:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")

    def close(self) -> None:
        """Let go of the database."""
        self.db.close()

    def __del__(self) -> None:
        """Python warns of a database that nobody closed, and means whoever closes no memory."""
        if hasattr(self, "db"):
            self.db.close()
