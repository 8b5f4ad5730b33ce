"""Backups from anywhere: what is not exactly one of ours is refused, and leaves nothing behind."""

import gzip
import hashlib
import io
import json
import tarfile
from typing import Any

import pytest

from mnemolog.errors import InvalidFormatError
from mnemolog.stores.files.moving.restoring import Limits, restore_root

Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, content: bytes = b"x", kind: bytes = tarfile.REGTYPE, **more: Any) -> Member:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.type = kind
    for field, value in more.items():
        setattr(info, field, value)
    return info, content


def listing(files: list[Member], **facts: Any) -> Member:
    rows = [
        {"path": info.name, "size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
        for info, text in files
    ]
    told = {"mnemolog": "backup", "v": 1, "made_at": "now", "files": rows, **facts}
    return member("backup.json", json.dumps(told).encode())


def packed(*members: Member, tail: bytes = b"") -> bytes:
    out = io.BytesIO()
    with tarfile.TarFile(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return gzip.compress(out.getvalue() + tail)


def complete(*files: Member) -> bytes:
    """A backup that lists everything it holds."""
    return packed(*files, listing(list(files)))


A = member("sessions/a/memory.jsonl", b"line\n")
GOOD = complete(A)

HOSTILE = {
    "empty": b"",
    "no gzip": b"PK\x03\x04 something else",
    "a plain tar": gzip.decompress(GOOD),
    "no tar": gzip.compress(b"not a tar" * 200),
    "an empty tar": packed(),
    "cut off": GOOD[: len(GOOD) // 2],
    "cut at the end": GOOD[:-4],
    "damaged": GOOD[:40] + b"\x00\x00\x00" + GOOD[43:],
    "above": complete(member("../evil")),
    "above, further in": complete(member("sessions/../../evil")),
    "absolute": complete(member("/tmp/evil")),
    "a dot": complete(member("./a")),
    "twice a slash": complete(member("sessions//a")),
    "a backslash": complete(member("..\\evil")),
    "a drive": complete(member("c:evil")),
    "a control character": complete(member("a\nb")),
    "a long name": complete(member("a" * 300)),
    "a long path": complete(member("/".join(["abc"] * 500))),
    "a symbolic link": complete(member("a", b"", tarfile.SYMTYPE, linkname="/etc/passwd")),
    "a hard link": complete(
        A, member("a", b"", tarfile.LNKTYPE, linkname="sessions/a/memory.jsonl")
    ),
    "a folder": complete(member("a", b"", tarfile.DIRTYPE)),
    "a device": complete(member("a", b"", tarfile.CHRTYPE, devmajor=1, devminor=3)),
    "a pipe": complete(member("a", b"", tarfile.FIFOTYPE)),
    "a sparse file": complete(member("a", b"x", tarfile.GNUTYPE_SPARSE)),
    "a sparse file that says so beside": complete(
        member("a", bytes(512), pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"})
    ),
    "the same name twice": complete(A, A),
    "names that differ in case": complete(A, member("sessions/A/memory.jsonl")),
    "a file as a folder": complete(member("a"), member("a/b")),
    "a file in the place of all sessions": complete(member("sessions")),
    "no list": packed(A),
    "a list that is too short": packed(A, member("b"), listing([A])),
    "a list that is too long": packed(A, listing([A, member("b")])),
    "a wrong sum": packed(member(A[0].name, b"lime\n"), listing([A])),
    "a wrong size": packed(member(A[0].name, b"line\nmore\n"), listing([A])),
    "something after the list": packed(listing([]), A),
    "something after the end": packed(A, listing([A]), tail=b"\0" * 200_000),
    "a list that is none": packed(A, member("backup.json", b"[]")),
    "a list of nonsense": packed(A, member("backup.json", b'{"mnemolog": "backup", "v": 1}')),
    "a list without depth": packed(A, member("backup.json", b"[" * 100_000)),
    "a newer backup": packed(A, listing([A], v=2)),
    "another program's": packed(A, listing([A], mnemolog="else")),
    "a huge header": packed(member("a", pax_headers={"comment": "x" * (17 << 20)}), listing([])),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_backup_is_refused_and_leaves_nothing(tmp_path, name):
    (tmp_path / "x.tar.gz").write_bytes(HOSTILE[name])
    with pytest.raises(InvalidFormatError):
        restore_root(str(tmp_path / "x.tar.gz"), str(tmp_path / "new"))
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]
    assert not (tmp_path.parent / "evil").exists()


def test_the_same_backup_without_the_fault_is_restored(tmp_path):
    (tmp_path / "x.tar.gz").write_bytes(GOOD)
    assert restore_root(str(tmp_path / "x.tar.gz"), str(tmp_path / "new")).files == 1
    assert (tmp_path / "new/sessions/a/memory.jsonl").read_bytes() == b"line\n"


def test_a_bomb_is_given_up_on(tmp_path):
    (tmp_path / "x.tar.gz").write_bytes(complete(member("a", bytes(5 << 20))))
    assert (tmp_path / "x.tar.gz").stat().st_size < 10_000
    with pytest.raises(InvalidFormatError, match="grows too much"):
        restore_root(
            str(tmp_path / "x.tar.gz"), str(tmp_path / "new"), limits=Limits(bytes=1 << 20)
        )
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]


def test_too_many_files_are_given_up_on(tmp_path):
    many = [member(f"f{number}", b"") for number in range(30)]
    (tmp_path / "x.tar.gz").write_bytes(complete(*many))
    with pytest.raises(InvalidFormatError, match="too many"):
        restore_root(str(tmp_path / "x.tar.gz"), str(tmp_path / "new"), limits=Limits(files=20))
    assert [path.name for path in tmp_path.iterdir()] == ["x.tar.gz"]
