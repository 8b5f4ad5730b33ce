"""The files of the archive: what plain tar makes of them, what they cost, and what is left."""

import io
import json
import subprocess
import tarfile
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

from mnemolog import fs
from mnemolog.errors import SessionCorruptError
from mnemolog.fs.real import RealDisk
from mnemolog.log import members, sidecars
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock, SimulatedDisk
from mnemolog.testing.opening import open_on
from tests.log.disks import RecordingDisk
from tests.log.independent import build

SMALL_SEGMENTS = Settings().changed({"storage.segment_size_mb": 0.1})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


@pytest.fixture
def filled(root):
    """A memory with a session of several segments, each of several members."""
    memory = open_on(RealDisk(str(root)), SMALL_SEGMENTS, FixedClock())
    memory.create_session("u1", session_id="talk", metadata={"colour": "red"})
    for start in range(0, 600, 50):
        texts = [f"entry {n} " + f"{n * 7919:x} " * 60 for n in range(start, start + 50)]
        memory.add_many("talk", [{"content": text} for text in texts])
    (root / "sessions/talk/access.jsonl").write_bytes(b'{"v":1,"id":"m","at":"t"}\n')
    return memory


@pytest.fixture
def sidecar(root):
    return lambda: json.loads((root / "archive/talk.manifest.json").read_bytes())


@pytest.mark.req("S001-106", "S001-108")
def test_plain_tar_unpacks_exactly_what_the_session_was(filled, root, tmp_path):
    before = contents(root / "sessions/talk")
    assert len(before) > 4
    filled.archive_session("talk")
    assert list((root / "sessions").iterdir()) == []
    target = tmp_path / "out"
    target.mkdir()
    subprocess.run(["tar", "xzf", root / "archive/talk.tar.gz", "-C", target], check=True)
    assert contents(target) == before


@pytest.mark.req("S001-107")
def test_the_sidecar_is_the_manifest_with_times_sizes_and_the_table_of_members(
    filled, root, sidecar
):
    manifest = json.loads((root / "sessions/talk/manifest.json").read_bytes())
    original = sum(map(len, contents(root / "sessions/talk").values()))
    receipt = filled.archive_session("talk")
    found = sidecar()
    assert found.items() >= manifest.items()
    assert found["archived_at"] == receipt.archived_at == "2026-11-15T09:00:00.000Z"
    assert found["original_size_bytes"] == receipt.original_size_bytes == original
    packed = (root / "archive/talk.tar.gz").stat().st_size
    assert found["compressed_size_bytes"] == receipt.compressed_size_bytes == packed < original
    assert found["last_seq"] == 600
    assert found["last_written"] == "2026-11-15T09:00:00.000Z"
    names = [segment["name"] for segment in manifest["segments"]]
    assert [file["name"] for file in found["files"]] == ["manifest.json", *names, "access.jsonl"]


def test_every_member_of_the_table_is_a_gzip_file_of_its_own_of_at_most_64_kib(
    filled, root, sidecar
):
    before = contents(root / "sessions/talk")
    filled.archive_session("talk")
    packed = (root / "archive/talk.tar.gz").read_bytes()
    for file in sidecar()["files"]:
        offsets = file["members"]
        parts = [zlib.decompress(packed[start:end], 31) for start, end in pairwise(offsets)]
        assert all(len(part) == 64 * 1024 for part in parts[:-1])
        assert b"".join(parts) == before[file["name"]]


def test_archiving_and_restoring_give_the_same_bytes_again_and_leave_nothing(filled, root):
    before = contents(root / "sessions/talk")
    filled.archive_session("talk")
    packed = (root / "archive/talk.tar.gz").read_bytes()
    filled.restore_session("talk")
    assert contents(root / "sessions/talk") == before
    assert [path.name for path in (root / "archive").iterdir()] == ["lock"]
    filled.archive_session("talk")
    assert (root / "archive/talk.tar.gz").read_bytes() == packed


def test_torn_and_damaged_lines_go_into_the_archive_and_come_back_as_they_are(root):
    memory = open_on(RealDisk(str(root)), Settings(), FixedClock())
    memory.create_session(session_id="talk")
    log = root / "sessions/talk/memory.jsonl"
    log.write_bytes(build(1, "m1") + b"no line at all\n" + build(3, "m3") + b'{"v":1,"id":"to')
    before = contents(log.parent)
    warnings = memory.get_entries("talk").warnings
    assert len(warnings) == 1
    memory.archive_session("talk")
    found = memory.get_entries("talk")
    assert [entry.id for entry in found] == ["m1", "m3"]
    assert found.warnings == warnings
    memory.restore_session("talk")
    assert contents(log.parent) == before
    assert memory.add_memory("talk", content="next").seq == 5


def test_a_line_costs_one_member_or_two_when_it_lies_across_their_border(
    filled, root, sidecar, monkeypatch
):
    filled.archive_session("talk")
    disk = RecordingDisk(root)
    archive = members.Archive("talk", *opened(disk))
    unpacked = []
    plain = members.unpack

    def counted(raw: bytes, length: int) -> bytes | None:
        unpacked.append(length)
        return plain(raw, length)

    monkeypatch.setattr(members, "unpack", counted)
    name = sidecar()["files"][1]["name"]
    (file,) = archive.files(disk, [name])
    assert file.size() > 64 * 1024 + 1000
    for offset, wanted in ((10, 1), (500, 0), (64 * 1024 + 10, 1), (64 * 1024 - 100, 2)):
        unpacked.clear()
        file.read(offset, 400)
        assert len(unpacked) == wanted, offset
    (fresh,) = archive.files(disk, [name])
    unpacked.clear()
    disk.calls.clear()
    fresh.read(64 * 1024 - 100, 400)
    assert len(unpacked) == disk.count("read", ".tar.gz") == 2


def opened(disk):
    guard = disk.open(sidecars.path_of("talk"), "read")
    return sidecars.read(guard, "talk").packing, guard


def test_what_is_archived_or_restored_is_overwritten_before_its_name_goes():
    disk = SimulatedDisk()
    memory = open_on(disk, Settings(), FixedClock())
    memory.create_session("u1", session_id="talk", metadata={"colour": "crimson"})
    memory.add_memory("talk", content="a secret")
    seen: dict[str, bytes] = {}

    def look(operation: str, path: str) -> None:
        if operation == "unlink" and disk.ident(path) is not None:
            seen[path.split("/")[-1]] = fs.read_all(disk, path)

    disk.before_operation = look
    memory.archive_session("talk")
    memory.restore_session("talk")
    private = {"memory.jsonl", "manifest.json", "talk.tar.gz", "talk.manifest.json.tmp"}
    assert private <= seen.keys()
    assert {name for name in private if seen[name].strip(b"\0")} == set()
    assert all(seen[name] for name in private)


def test_an_archive_is_made_of_regular_files_that_nobody_else_may_read(filled, root):
    filled.archive_session("talk")
    for path in (root / "archive").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600
    with tarfile.open(fileobj=io.BytesIO((root / "archive/talk.tar.gz").read_bytes())) as tar:
        assert all(each.isreg() and each.mode == 0o600 for each in tar)


def test_what_somebody_put_beside_the_segments_is_not_archived_away(filled, root):
    stranger = root / "sessions/talk/notes.txt"
    stranger.write_text("mine")
    with pytest.raises(SessionCorruptError, match=r"notes\.txt"):
        filled.archive_session("talk")
    assert stranger.read_text() == "mine"
    assert not (root / "archive/talk.tar.gz").exists()
    stranger.unlink()
    assert filled.archive_session("talk").session_id == "talk"
