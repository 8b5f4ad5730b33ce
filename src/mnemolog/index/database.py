"""The database of the index: what it holds, and how it is made, opened, checked and thrown away.

Making and throwing away are for whoever is alone with the index; see `gate`.
"""

import os
import shutil
import sqlite3
from contextlib import ExitStack, closing
from stat import S_ISREG
from urllib.parse import quote

from mnemolog.errors import StorageIOError

NAME = "index.db"

# A change of anything that is stored: raise it, and every index is built anew.
SCHEMA_VERSION = 7

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE model (name TEXT PRIMARY KEY, number TEXT NOT NULL, size INTEGER NOT NULL,
    embedded INTEGER NOT NULL DEFAULT 0, used INTEGER NOT NULL DEFAULT 0,
    blanked INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE log (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
    session TEXT, user TEXT, created TEXT, written TEXT, updated TEXT, closed INTEGER,
    archived INTEGER NOT NULL DEFAULT 0, facts BLOB, settings BLOB,
    entries INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0, uses INTEGER NOT NULL DEFAULT 0,
    damaged INTEGER NOT NULL DEFAULT 0,
    seq INTEGER NOT NULL DEFAULT 0, last_turn INTEGER,
    generation INTEGER NOT NULL DEFAULT 0, segment INTEGER NOT NULL DEFAULT 0,
    offset INTEGER NOT NULL DEFAULT 0, length INTEGER NOT NULL DEFAULT 0, sum TEXT,
    processed INTEGER NOT NULL DEFAULT 0, invalidated INTEGER NOT NULL DEFAULT 0,
    invalidated_at TEXT, retry TEXT, parked INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX log_updated ON log (updated, session) WHERE session IS NOT NULL;
CREATE INDEX log_user ON log (user);
CREATE INDEX log_settings ON log (id) WHERE settings IS NOT NULL;
CREATE INDEX log_unlearned ON log (written) WHERE session IS NOT NULL AND seq > processed;
CREATE INDEX log_own_unlearned ON log (written)
    WHERE session IS NULL AND seq > processed AND name >= 'shared';
CREATE TABLE answer (log INTEGER NOT NULL, id INTEGER NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (log, id)) WITHOUT ROWID;
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
CREATE TABLE use (row INTEGER PRIMARY KEY, times INTEGER NOT NULL, last INTEGER NOT NULL);
CREATE TABLE dead (row INTEGER PRIMARY KEY);
CREATE TABLE hidden (row INTEGER PRIMARY KEY, died TEXT NOT NULL);
CREATE TABLE secret (row INTEGER PRIMARY KEY, kinds TEXT NOT NULL);
CREATE TABLE husk (block INTEGER PRIMARY KEY, bits BLOB NOT NULL);
CREATE TABLE tag (tag TEXT NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (tag, row)) WITHOUT ROWID;
CREATE INDEX tag_row ON tag (row);
CREATE TABLE link (source INTEGER NOT NULL, target TEXT NOT NULL, PRIMARY KEY (source, target))
    WITHOUT ROWID;
CREATE INDEX link_target ON link (target);
CREATE TABLE term (word TEXT PRIMARY KEY, hash INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tail (row INTEGER PRIMARY KEY, terms BLOB NOT NULL);
CREATE TABLE segment (id INTEGER PRIMARY KEY, base INTEGER NOT NULL, rows INTEGER NOT NULL);
CREATE TABLE post (id INTEGER PRIMARY KEY, rows BLOB NOT NULL);
"""


class UnfitError(sqlite3.DatabaseError):
    """The database is of another version, or was never finished: it is made anew."""


def connect(folder: str, identity: str) -> sqlite3.Connection:
    """Open the database; raises `UnfitError` if it is not what it should be."""
    path = f"{folder}/{NAME}"
    _check_files(path)
    with ExitStack() as undone:
        connection = undone.enter_context(closing(_open(path)))
        found = connection.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        if found != (_stamp(identity),):
            raise UnfitError("it is of another version")
        undone.pop_all()
    return connection


def _check_files(path: str) -> None:
    """A link or a folder in our place would make SQLite fail, or write elsewhere."""
    journals = (f"{path}-wal", f"{path}-shm", f"{path}-journal")
    if not _is_file(os.stat(path, follow_symlinks=False)) or not all(map(_is_usable, journals)):
        raise UnfitError("it is not a file")


def _is_usable(journal: str) -> bool:
    """Whether SQLite can work with what lies there; whoever closes last takes it away."""
    try:
        return _is_file(os.stat(journal, follow_symlinks=False))
    except FileNotFoundError:
        return True


def _is_file(status: os.stat_result) -> bool:
    return S_ISREG(status.st_mode)


def ident(folder: str) -> tuple[int, int] | None:
    """What tells the database that lies there now from every other one; None if there is none."""
    try:
        status = os.stat(f"{folder}/{NAME}", follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino


def content(connection: sqlite3.Connection) -> bytes | None:
    """Every page of the database, used or not; None if this SQLite cannot tell.

    Never by opening the file: closing it would give up the locks of this process, and whoever
    closes the database next would remove the journal that we still write to.
    """
    return connection.serialize() if hasattr(connection, "serialize") else None


def make_folder(folder: str) -> None:
    """Make the folder of the index, unless it is there; never the root, which others may miss."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
    except FileNotFoundError:
        raise StorageIOError(
            f"The folder {os.path.dirname(folder)} is gone.", advice="Put it back."
        ) from None


def is_link(folder: str) -> bool:
    """Whether the folder is a link, which is never followed."""
    return os.path.islink(folder)


def make(folder: str, identity: str) -> None:
    """Throw away what is there, and make an empty database."""
    discard(folder)
    path = f"{folder}/{NAME}"
    with ExitStack() as undone:
        undone.callback(discard, folder)  # half of one would be in the way, and tell of no cause
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with closing(_open(path)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            values = (("identity", _stamp(identity)), ("build", os.urandom(6).hex()), ("rows", 0))
            connection.executemany("INSERT INTO meta VALUES (?, ?)", values)
            connection.execute("COMMIT")
        undone.pop_all()


def discard(folder: str) -> None:
    """Remove what the index stores; the marks that say what it has not read stay."""
    for name in os.listdir(folder):
        if name.startswith(NAME) or name.endswith(".col"):
            _remove(f"{folder}/{name}")


def facts_of(folder: str, log: str) -> bytes | None:
    """What an index that lies there knows of a session; None if it cannot tell."""
    path = quote(os.fsencode(f"{folder}/{NAME}"))
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            found = connection.execute("SELECT facts FROM log WHERE name = ?", (log,)).fetchone()
    except sqlite3.Error:
        return None
    return None if found is None else found[0]


def build_of(connection: sqlite3.Connection) -> str:
    """What tells this build of the index from every other one."""
    (build,) = connection.execute("SELECT value FROM meta WHERE key = 'build'").fetchone()
    return str(build)


def rows_of(connection: sqlite3.Connection) -> int:
    """How many rows there are."""
    (rows,) = connection.execute("SELECT value FROM meta WHERE key = 'rows'").fetchone()
    return int(rows)


def _stamp(identity: str) -> str:
    return f"{SCHEMA_VERSION} {identity}"


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _open(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?mode=rw",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=30,
    )
    with ExitStack() as undone:
        undone.callback(connection.close)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA cache_size = -16000")
        undone.pop_all()
    return connection
