"""Opening and reading are tried again; the pauses are noted instead of waited for."""

import errno
import os

import pytest

from mnemolog.errors import StorageIOError
from mnemolog.fs.real import RealDisk


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def disk(root, pauses):
    root.mkdir()
    (root / "file").write_bytes(b"content")
    return RealDisk(str(root), pauses.append)


def failing(monkeypatch, name, times, code=errno.EIO, only=None):
    """Make a function of `os` fail so many times, then work again."""
    real = getattr(os, name)
    left = [times]

    def call(*args, **kwargs):
        if left[0] > 0 and (only is None or args[0] == only):
            left[0] -= 1
            raise OSError(code, os.strerror(code))
        return real(*args, **kwargs)

    monkeypatch.setattr(os, name, call)


@pytest.mark.req("S001-155")
@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_open_that_fails_in_passing_is_tried_again(disk, pauses, monkeypatch, times):
    failing(monkeypatch, "open", times, only="file")
    assert disk.open("file", "read").read(0, 7) == b"content"
    assert pauses == [0.1, 0.5, 2.0][:times]


@pytest.mark.req("S001-155")
@pytest.mark.parametrize("folder", ["", "below"])
def test_an_open_of_a_folder_on_the_way_is_tried_again_too(disk, pauses, monkeypatch, folder):
    disk.mkdir("below")
    disk.open("below/file", "create")
    failing(monkeypatch, "open", 2, errno.EMFILE, only=folder or disk.root)
    assert disk.open("below/file", "read").read(0, 7) == b""
    assert pauses == [0.1, 0.5]


@pytest.mark.parametrize(
    ("code", "word"),
    [(errno.EMFILE, "ulimit"), (errno.EACCES, "rights"), (errno.EROFS, "writable")],
)
def test_advice_fits_what_the_system_refused(disk, monkeypatch, code, word):
    failing(monkeypatch, "open", 99, code, only="file")
    with pytest.raises(StorageIOError) as caught:
        disk.open("file", "append")
    assert word in caught.value.advice


@pytest.mark.req("S001-155")
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_read_that_fails_in_passing_is_tried_again(disk, pauses, monkeypatch, times):
    file = disk.open("file", "read")
    failing(monkeypatch, "pread", times)
    assert file.read(0, 7) == b"content"
    assert pauses == [0.1, 0.5, 2.0][:times]


@pytest.mark.req("S001-142", "S001-155")
def test_after_three_retries_the_error_comes_through(disk, pauses, monkeypatch):
    failing(monkeypatch, "open", 99, only="file")
    with pytest.raises(StorageIOError, match="open file") as caught:
        disk.open("file", "read")
    assert caught.value.code == "E_STORAGE_IO"
    assert caught.value.advice
    assert caught.value.details["errno"] == errno.EIO
    assert pauses == [0.1, 0.5, 2.0]


def test_what_will_not_pass_is_not_tried_again(disk, pauses, monkeypatch):
    with pytest.raises(FileNotFoundError):
        disk.open("nowhere", "read")
    failing(monkeypatch, "open", 99, errno.EACCES, only="file")
    with pytest.raises(StorageIOError, match="Permission denied"):
        disk.open("file", "read")
    assert pauses == []


@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_a_write_and_a_sync_are_never_tried_again(disk, pauses, monkeypatch, call):
    file = disk.open("file", "append")
    failing(monkeypatch, call, 1)
    with pytest.raises(StorageIOError):
        file.append(b"more") if call == "write" else file.sync()
    assert pauses == []


def test_a_file_is_read_to_its_end_though_each_read_gives_little(disk, monkeypatch):
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, length, at: real(fd, min(length, 2), at))
    assert disk.open("file", "read").read(1, 100) == b"ontent"
