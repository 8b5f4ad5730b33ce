"""Models: whose vectors are stored, and how far each has come.

Every model has files of its own. Another one begins while the words stay as they are, and the one
before it finds its vectors again; of all that are not asked for, only the one that embedded last is
kept. What is erased leaves the vectors of every model.
"""

import secrets
import sqlite3
from typing import NamedTuple

from mnemolog.index import columns

_MODELS = "SELECT number, size, embedded, blanked FROM model"


class ReplacedError(sqlite3.DatabaseError):
    """The vectors of a model were thrown away, for others were asked for since."""


class Model(NamedTuple):
    """What is stored of one model."""

    number: str
    """What its files go by."""
    size: int
    embedded: int
    """How many rows have their vectors; the others wait."""
    blanked: int
    """How often any of these were overwritten."""


def entered(db: sqlite3.Connection, name: str, size: int) -> str:
    """The number of a model; one that is new takes the place of all but the one used last."""
    number = _number(db, name, size)
    if number is not None:
        return number
    with db:
        db.execute("BEGIN IMMEDIATE")
        number = _number(db, name, size) or secrets.token_hex(6)
        latest = "(SELECT max(used) FROM model)"
        db.execute(f"DELETE FROM model WHERE number != ? AND (name = ? OR used < {latest})",
                   (number, name))  # fmt: skip
        db.execute("INSERT OR IGNORE INTO model (name, number, size) VALUES (?, ?, ?)",
                   (name, number, size))  # fmt: skip
    return number


def _number(db: sqlite3.Connection, name: str, size: int) -> str | None:
    query = "SELECT number FROM model WHERE name = ? AND size = ?"
    row = db.execute(query, (name, size)).fetchone()
    return None if row is None else str(row[0])


def stored(db: sqlite3.Connection) -> list[Model]:
    """All models of which vectors are stored."""
    return [Model(*row) for row in db.execute(_MODELS)]


def found(db: sqlite3.Connection, number: str) -> Model:
    """A model by its number."""
    row = db.execute(f"{_MODELS} WHERE number = ?", (number,)).fetchone()
    if row is None:
        raise ReplacedError("other vectors were asked for since")
    return Model(*row)


def note(db: sqlite3.Connection, number: str, rows: int) -> None:
    """Take down how many rows have their vectors, and that these are in use."""
    update = "UPDATE model SET embedded = ?, used = 1 + (SELECT max(used) FROM model)"
    db.execute(f"{update} WHERE number = ?", (rows, number))


def note_blank(db: sqlite3.Connection) -> None:
    """Take down that rows of all models were overwritten."""
    db.execute("UPDATE model SET blanked = blanked + 1")


def sweep(folder: str, db: sqlite3.Connection) -> None:
    """Remove the files of models that are gone."""
    files = columns.of_models(folder)  # before the models are read: no file comes before its model
    known = {model.number for model in stored(db)}
    columns.remove(folder, [name for name, number in files.items() if number not in known])
