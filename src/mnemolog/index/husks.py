"""Husks: rows of which nothing but the number is left, kept as bits."""

import sqlite3

import numpy as np
from numpy.typing import NDArray

# Rows in one blob of bits.
_BLOCK = 65_536

Rows = NDArray[np.int64]


def read(db: sqlite3.Connection) -> Rows:
    """All of them."""
    found = [np.empty(0, np.int64)]
    for block, bits in db.execute("SELECT block, bits FROM husk"):
        found.append(block * _BLOCK + np.flatnonzero(_unpacked(bits)))
    return np.concatenate(found)


def among(db: sqlite3.Connection, first: int, rows: int) -> Rows:
    """Those of some rows, from `first` on."""
    found = [np.empty(0, np.int64)]
    blocks = (first // _BLOCK, (first + rows) // _BLOCK)
    query = "SELECT block, bits FROM husk WHERE block BETWEEN ? AND ?"
    for block, bits in db.execute(query, blocks):
        found.append(block * _BLOCK + np.flatnonzero(_unpacked(bits)))
    every = np.concatenate(found)
    return every[(every >= first) & (every < first + rows)]


def add(db: sqlite3.Connection, rows: Rows) -> None:
    """Remember some more; inside a transaction."""
    for block in np.unique(rows // _BLOCK).tolist():
        found = db.execute("SELECT bits FROM husk WHERE block = ?", (block,)).fetchone()
        bits = _unpacked(found[0]) if found else np.zeros(_BLOCK, np.uint8)
        bits[rows[rows // _BLOCK == block] % _BLOCK] = 1
        db.execute("REPLACE INTO husk VALUES (?, ?)", (block, np.packbits(bits).tobytes()))


def _unpacked(bits: bytes) -> NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(bits, np.uint8))
