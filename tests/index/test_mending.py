"""What is in the way of the index is told by its number, whatever words stand in it."""

import errno
import os
import sqlite3
from contextlib import closing

import pytest

from mnemolog.errors import LockTimeoutError, StorageFullError, StorageIOError
from mnemolog.index import mending


@pytest.mark.parametrize("folder", ["unlocked", "fullstack", "No space"])
def test_a_folder_with_a_telling_name_tells_nothing(folder):
    error = PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"/home/ann/{folder}/index.db")
    assert type(mending.told(error)) is StorageIOError


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_and_a_quota_that_is_used_up_are_told(number):
    assert isinstance(mending.told(OSError(number, os.strerror(number))), StorageFullError)


def test_what_sqlite_says_of_locks_and_of_room_is_told(tmp_path):
    with (
        closing(sqlite3.connect(tmp_path / "x.db", timeout=0, isolation_level=None)) as one,
        closing(sqlite3.connect(tmp_path / "x.db", timeout=0, isolation_level=None)) as other,
    ):
        one.execute("CREATE TABLE kept (text)")
        one.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError) as locked:
            other.execute("BEGIN IMMEDIATE")
        one.execute("PRAGMA max_page_count = 2")
        with pytest.raises(sqlite3.OperationalError) as full:
            one.execute("INSERT INTO kept VALUES (?)", ("x" * 100_000,))
    assert isinstance(mending.told(locked.value), LockTimeoutError)
    assert isinstance(mending.told(full.value), StorageFullError)


def test_what_we_find_ourselves_is_told_as_it_is():
    beside = sqlite3.OperationalError("disk I/O error")
    beside.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert isinstance(mending.told(beside), StorageFullError)
    assert type(mending.told(ValueError("time has fewer than 7 rows"))) is StorageIOError
