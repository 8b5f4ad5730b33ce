"""The database of the index: what it holds, and how it is opened, checked and thrown away."""

import os
import sqlite3

# A change of anything that is stored: raise it, and every index is built anew.
SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE log (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
    session TEXT, user TEXT, created TEXT, written TEXT, updated TEXT, closed INTEGER,
    facts BLOB, entries INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0, seq INTEGER NOT NULL DEFAULT 0, last_row INTEGER,
    generation INTEGER NOT NULL DEFAULT 0, segment INTEGER NOT NULL DEFAULT 0,
    offset INTEGER NOT NULL DEFAULT 0, length INTEGER NOT NULL DEFAULT 0, sum TEXT
);
CREATE INDEX log_updated ON log (updated, session) WHERE session IS NOT NULL;
CREATE INDEX log_user ON log (user);
CREATE TABLE log_agent (agent TEXT NOT NULL, log INTEGER NOT NULL, PRIMARY KEY (agent, log))
    WITHOUT ROWID;
CREATE INDEX log_agent_log ON log_agent (log);
CREATE TABLE pending (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE word (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, text TEXT NOT NULL,
    UNIQUE (kind, text));
CREATE TABLE entry (log INTEGER NOT NULL, id TEXT NOT NULL, row INTEGER NOT NULL,
    PRIMARY KEY (log, id)) WITHOUT ROWID;
CREATE INDEX entry_id ON entry (id);
CREATE INDEX entry_row ON entry (row);
CREATE TABLE dead (row INTEGER PRIMARY KEY);
CREATE TABLE tag (tag TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (tag, row)) WITHOUT ROWID;
CREATE TABLE link (source INTEGER NOT NULL, target TEXT NOT NULL, PRIMARY KEY (source, target))
    WITHOUT ROWID;
CREATE INDEX link_target ON link (target);
CREATE TABLE term (word TEXT PRIMARY KEY, hash INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tail (row INTEGER PRIMARY KEY, terms BLOB NOT NULL);
CREATE TABLE segment (id INTEGER PRIMARY KEY, base INTEGER NOT NULL, rows INTEGER NOT NULL);
CREATE TABLE post (id INTEGER PRIMARY KEY, rows BLOB NOT NULL);
"""


def connect(path: str, identity: str) -> tuple[sqlite3.Connection, bool]:
    """Open the database, and say whether it is new; one that does not fit is thrown away."""
    _drop_links(path)
    try:
        connection = _open(path)
        found = connection.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        if found == (f"{SCHEMA_VERSION} {identity}",):
            return connection, False
        connection.close()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise  # locked or full, not damaged
        return connection, _create(connection, identity)
    except sqlite3.DatabaseError:
        pass  # damaged: it is derived, so it is made anew
    discard(os.path.dirname(path))
    connection = _open(path)
    return connection, _create(connection, identity)


def _drop_links(path: str) -> None:
    """A link in our place would make SQLite write elsewhere."""
    for name in (path, f"{path}-wal", f"{path}-shm", f"{path}-journal"):
        if os.path.islink(name):
            os.unlink(name)


def build_of(connection: sqlite3.Connection) -> str:
    """What tells this build of the index from every other one."""
    (build,) = connection.execute("SELECT value FROM meta WHERE key = 'build'").fetchone()
    return str(build)


def discard(folder: str) -> None:
    """Remove what the index stores; the marks that say what it has not read stay."""
    for name in os.listdir(folder):
        if name.startswith("index.db") or name.endswith(".col"):
            os.unlink(f"{folder}/{name}")


def _open(path: str) -> sqlite3.Connection:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.close(fd)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA cache_size = -16000")
    return connection


def _create(connection: sqlite3.Connection, identity: str) -> bool:
    """Make the tables, unless another process was faster; says whether it was us."""
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        connection.execute("ROLLBACK")
        return False
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    named = ("identity", f"{SCHEMA_VERSION} {identity}")
    values = (named, ("build", os.urandom(6).hex()), ("rows", 0))
    connection.executemany("INSERT INTO meta VALUES (?, ?)", values)
    connection.execute("COMMIT")
    return True
