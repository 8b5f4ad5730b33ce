"""Archives that somebody else put there: each is an error that says what to do, and no more."""

import gzip
import io
import json
import os
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemolog.errors import MnemologError, SessionCorruptError, StorageError
from mnemolog.fs.real import RealDisk
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock
from mnemolog.testing.opening import open_on

TAR = "archive/talk.tar.gz"
SIDECAR = "archive/talk.manifest.json"


@pytest.fixture
def memory(root):
    """A memory with one session in the archive and one that is not."""
    memory = open_on(RealDisk(str(root)), Settings(), FixedClock())
    memory.create_session("u1", session_id="other")
    memory.add_memory("other", content="elsewhere")
    memory.create_session("u1", session_id="talk", metadata={"colour": "red"})
    memory.add_many("talk", [{"content": f"entry {n} " + f"{n:x} " * 300} for n in range(200)])
    memory.archive_session("talk")
    memory.close()
    return memory


def listing(root: Path) -> set[str]:
    """Every path from the folder above the root on; the locks and marks of others do not count."""
    found = (str(path.relative_to(root.parent)) for path in root.parent.rglob("*"))
    return {path for path in found if "/index" not in path and "/intents" not in path}


def refuse(memory, root: Path) -> None:
    """Restoring fails as it should: nothing is written anywhere, and all else goes on."""
    before = listing(root)
    with pytest.raises((SessionCorruptError, StorageError)) as caught:
        memory.restore_session("talk")
    assert isinstance(caught.value, MnemologError)
    assert caught.value.advice
    assert listing(root) == before
    assert [entry.text for entry in memory.get_entries("other")] == ["elsewhere"]
    with pytest.raises((SessionCorruptError, StorageError)):
        memory.add_memory("talk", content="more")
    assert listing(root) == before


def edit(root: Path, change: Callable[[dict[str, Any]], None]) -> None:
    told = json.loads((root / SIDECAR).read_bytes())
    change(told)
    (root / SIDECAR).write_text(json.dumps(told))


def set_to(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda told: told.__setitem__(key, value)


def in_log(key: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def edit_file(told: dict[str, Any]) -> None:
        told["files"][1][key] = change(told["files"][1][key])

    return edit_file


def grow(by: int) -> Callable[[dict[str, Any]], None]:
    """Say that the log is longer than it is, consistently."""

    def lie(told: dict[str, Any]) -> None:
        told["original_size_bytes"] += by
        file = told["files"][1]
        file["size"] += by
        wanted = -(-file["size"] // 65536) + 1
        file["members"] += [file["members"][-1]] * (wanted - len(file["members"]))

    return lie


LIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "of another session": set_to("session_id", "other"),
    "without its files": set_to("files", []),
    "with no segments": set_to("segments", []),
    "a segment outside": set_to("segments", [{"name": "../../outside.jsonl"}]),
    "an absolute path": in_log("name", lambda _: "/etc/passwd"),
    "a path upward": in_log("name", lambda _: "../memory.jsonl"),
    "one file twice": lambda told: told["files"].append(told["files"][1]),
    "a stranger among the files": in_log("name", lambda _: "lock"),
    "offsets that go back": in_log("members", lambda found: found[::-1]),
    "offsets below zero": in_log("members", lambda found: [-5, *found[1:]]),
    "offsets past the end": in_log("members", lambda found: [*found[:-1], found[-1] + 10**12]),
    "offsets that are too far apart": in_log("members", lambda found: [found[0], 10**9]),
    "too few members": in_log("members", lambda found: found[:-1]),
    "another sum": in_log("sum", lambda _: "0" * 64),
    "no sum": in_log("sum", lambda _: ""),
    "a size below zero": in_log("size", lambda _: -1),
    "a larger size": grow(10),
    "a much larger size": grow(1 << 30),
    "sizes that do not add up": set_to("original_size_bytes", 7),
    "a tar that is shorter": lambda told: set_to(
        "compressed_size_bytes", told["compressed_size_bytes"] - 1
    )(told),
    "another user": set_to("user_id", "somebody else"),
    "another generation": set_to("generation", 9),
    "no time": set_to("archived_at", "yesterday"),
    "another time": set_to("archived_at", "2020-01-01T00:00:00.000Z"),
    "numbers that are texts": set_to("compressed_size_bytes", "many"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_sidecar_that_lies_is_refused(memory, root, lie):
    edit(root, LIES[lie])
    refuse(memory, root)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"v":1}', b"\0" * 500]
)
def test_a_sidecar_that_is_none_is_refused_and_left_out_of_lists(memory, root, content):
    (root / SIDECAR).write_bytes(content)
    refuse(memory, root)
    assert [session.id for session in memory.list_sessions()] == ["other"]


def swapped(place: int, new: bytes) -> Callable[[bytes], bytes]:
    return lambda old: old[:place] + new + old[place + len(new) :]


WOUNDS: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda old: old[:-100],
    "longer": lambda old: old + b"more",
    "empty": lambda old: b"",
    "zeros": lambda old: bytes(len(old)),
    "a flipped bit in the first header": lambda old: swapped(20, bytes([old[20] ^ 1]))(old),
    "a flipped bit in the log": lambda old: swapped(900, bytes([old[900] ^ 1]))(old),
    "a flipped bit at the end": lambda old: old[:-12] + bytes([old[-12] ^ 1]) + old[-11:],
    "its own beginning again": lambda old: old[: len(old) // 2] * 2 + old[len(old) // 2 * 2 :],
}


@pytest.mark.parametrize("wound", WOUNDS)
def test_a_damaged_tar_is_refused(memory, root, wound):
    before = (root / TAR).read_bytes()
    (root / TAR).write_bytes(WOUNDS[wound](before))
    assert (root / TAR).read_bytes() != before
    refuse(memory, root)


def made(*entries: tarfile.TarInfo, content: bytes = b"") -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        for one in entries:
            one.size = len(content) if one.isreg() else 0
            tar.addfile(one, io.BytesIO(content))
    return target.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.linkname = kind, link
    return one


TARS = {
    "a path upward": made(entry("../../evil"), content=b"x" * 100),
    "an absolute path": made(entry("/tmp/evil"), content=b"x" * 100),
    "a symbolic link": made(entry("memory.jsonl", tarfile.SYMTYPE, "/etc/passwd")),
    "a hard link": made(entry("memory.jsonl", tarfile.LNKTYPE, "/etc/passwd")),
    "a device": made(entry("memory.jsonl", tarfile.CHRTYPE)),
    "a pipe": made(entry("memory.jsonl", tarfile.FIFOTYPE)),
    "many files": made(*(entry(f"{n}") for n in range(5000))),
    "a bomb": gzip.compress(bytes(50_000_000)),
}


@pytest.mark.parametrize("name", TARS)
def test_a_foreign_tar_is_refused_whatever_size_the_sidecar_says(memory, root, name):
    (root / TAR).write_bytes(TARS[name])
    refuse(memory, root)
    edit(root, set_to("compressed_size_bytes", len(TARS[name])))
    refuse(memory, root)


def repacked(root: Path, header: Callable[[bytes], bytes]) -> None:
    """Change the header of the log inside the tar, and make the sidecar fit."""
    told = json.loads((root / SIDECAR).read_bytes())
    packed = (root / TAR).read_bytes()
    start, end = told["files"][0]["members"][-1], told["files"][1]["members"][0]
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    member = packer.compress(header(zlib.decompress(packed[start:end], 31))) + packer.flush()
    (root / TAR).write_bytes(packed[:start] + member + packed[end:])
    more = len(member) - (end - start)
    told["compressed_size_bytes"] += more
    told["files"][1]["members"] = [one + more for one in told["files"][1]["members"]]
    (root / SIDECAR).write_text(json.dumps(told))


def test_a_tar_that_would_unpack_elsewhere_is_refused_though_the_sidecar_fits(memory, root):
    repacked(root, lambda old: old)
    memory.restore_session("talk")
    memory.archive_session("talk")
    repacked(root, lambda old: old.replace(b"memory.jsonl", b"../evil.json"))
    refuse(memory, root)


@pytest.mark.parametrize("size", [10_000_000, 66_000])
def test_no_more_than_a_member_is_ever_unpacked(memory, root, size):
    """The member that holds the log's first bytes becomes a bomb of the same place in the table."""
    told = json.loads((root / SIDECAR).read_bytes())
    packed = (root / TAR).read_bytes()
    start, end = told["files"][1]["members"][:2]
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = packer.compress(bytes(size)) + packer.flush()
    bomb = bomb[: end - start].ljust(end - start, b"\0")
    (root / TAR).write_bytes(packed[:start] + bomb + packed[end:])
    refuse(memory, root)


def test_links_pipes_and_folders_in_place_of_the_tar_are_refused(memory, root, tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes((root / TAR).read_bytes())
    (root / TAR).unlink()
    for make in (
        lambda: os.symlink(outside, root / TAR),
        lambda: os.mkfifo(root / TAR),
        lambda: (root / TAR).mkdir(),
    ):
        make()
        refuse(memory, root)
        (root / TAR).rmdir() if (root / TAR).is_dir() else (root / TAR).unlink()
    assert outside.exists()


def test_reading_a_damaged_archive_is_an_error_and_searching_leaves_it_out(memory, root):
    with memory:
        packed = (root / TAR).read_bytes()
        (root / TAR).write_bytes(packed[:900] + bytes(300) + packed[1200:])
        with pytest.raises(StorageError, match=r"talk\.tar\.gz") as caught:
            memory.get_entries("talk")
        assert "backup" in caught.value.advice
        assert [session.state for session in memory.list_sessions()] == ["archived", "active"]
