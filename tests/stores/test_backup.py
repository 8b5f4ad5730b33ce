"""Backups: a whole root in one file, and back."""

import hashlib
import json
import os
import tarfile
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    ConcurrentModificationError,
    InvalidFormatError,
    MnemologError,
    StorageIOError,
)
from mnemolog.fs import Mode
from mnemolog.fs.real import RealDisk, RealFile
from mnemolog.log import intents
from mnemolog.settings import Settings
from mnemolog.stores.files.moving.mover import FilesMover
from mnemolog.stores.files.moving.restoring import restore_root

NOW = "2026-11-15T09:00:00.000Z"
DERIVED = ("index", "intents", "leases")


@pytest.fixture
def filled(root, clock):
    with Memory.open(root, clock=clock, environ={}) as memory:
        for name in ("talk", "Upper Case"):
            memory.create_session("u1", session_id=name, metadata={"project": name})
            memory.add_many(name, [{"content": f"line {n} of {name}"} for n in range(20)])
        memory.delete("talk", ids=[memory.get_entries("talk")[0].id])
        memory.update_preference(None, scope="user", user_id="u1", key="k", value="v")
        memory.update_preference(None, scope="shared", key="k", value="w")
        yield memory


def files_of(root: Path) -> dict[str, bytes]:
    """Every file below a root that a backup is to hold."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and name.parts[0] not in DERIVED:
            found[str(name)] = path.read_bytes()
    found.pop("archive/lock", None)  # made when it is needed
    return found


def content_of(tar: tarfile.TarFile, one: tarfile.TarInfo) -> bytes:
    stream = tar.extractfile(one)
    assert stream is not None
    return stream.read()


def names_in(path: Path) -> list[str]:
    with tarfile.open(path) as tar:
        return tar.getnames()


def test_a_restored_root_is_the_same_is_searched_and_written_to(filled, root, tmp_path):
    before = files_of(root)
    done = filled.backup(tmp_path / "all.tar.gz")
    assert (done.sessions, done.warnings) == (2, ())
    assert (done.files, done.packed_bytes) == (len(before), os.stat(done.path).st_size)
    restored = restore_root(done.path, str(tmp_path / "new"))
    assert files_of(tmp_path / "new") == before
    assert (restored.files, restored.bytes) == (done.files, done.bytes)
    with Memory.open(tmp_path / "new", environ={}) as memory:
        assert list(memory.get_entries("talk")) == list(filled.get_entries("talk"))
        assert memory.query(text="line 7 of talk")[0].entry.content == "line 7 of talk"
        assert memory.add_memory("talk", content="goes on").seq == 22
        assert memory.update_preference(None, scope="shared", key="l", value="x").durable
        assert memory.load_session("Upper Case").metadata == {"project": "Upper Case"}


def test_a_restored_root_is_as_private_as_any(filled, tmp_path):
    filled.backup(tmp_path / "all.tar.gz")
    restore_root(str(tmp_path / "all.tar.gz"), str(tmp_path / "new"))
    modes = {
        path.stat().st_mode & 0o777 for path in (tmp_path / "new").rglob("*") if path.is_file()
    }
    assert modes == {0o600}
    folders = [path for path in (tmp_path / "new").rglob("*") if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "new", *folders)} == {0o700}
    assert (tmp_path / "all.tar.gz").stat().st_mode & 0o777 == 0o600


def test_the_file_is_a_plain_tar_whose_last_member_lists_the_rest(filled, root, tmp_path):
    filled.backup(tmp_path / "all.tar.gz")
    with tarfile.open(tmp_path / "all.tar.gz") as tar:
        *members, last = tar.getmembers()
        listing = json.loads(content_of(tar, last))
        contents = {one.name: content_of(tar, one) for one in members}
    assert (last.name, listing["mnemolog"], listing["v"]) == ("backup.json", "backup", 1)
    told = {one["path"]: (one["size"], one["sha256"]) for one in listing["files"]}
    assert told == {
        name: (len(content), hashlib.sha256(content).hexdigest())
        for name, content in contents.items()
    }
    assert (
        contents["sessions/talk/memory.jsonl"] == (root / "sessions/talk/memory.jsonl").read_bytes()
    )


def test_keys_and_tokens_stay_out_unless_they_are_asked_for(filled, root, tmp_path):
    for name in ("redact.key", "token", "tokens.toml"):
        (root / name).write_text("private")
    filled.backup(tmp_path / "without.tar.gz")
    filled.backup(tmp_path / "with.tar.gz", with_keys=True)
    keys = {"redact.key", "token", "tokens.toml"}
    assert keys & set(names_in(tmp_path / "without.tar.gz")) == set()
    assert keys <= set(names_in(tmp_path / "with.tar.gz"))


def test_what_is_derived_temporary_or_unfinished_stays_out(filled, root, tmp_path):
    filled.query(text="line")
    (root / "leases").mkdir()
    for name in (
        "leases/a", "notes.tmp", "sessions/.new-12/memory.jsonl", "sessions/.gone-34/memory.jsonl",
        "sessions/talk/manifest.json.tmp", "sessions/talk/memory.g7.1.jsonl",
    ):  # fmt: skip
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("x")
    filled.backup(tmp_path / "all.tar.gz")
    found = names_in(tmp_path / "all.tar.gz")
    assert [name for name in found if name.startswith(("index", "leases"))] == []
    assert [name for name in found if ".tmp" in name or ".new-" in name or ".gone-" in name] == []
    assert "sessions/talk/memory.g7.1.jsonl" not in found, "the manifest does not name it"
    assert "intents/reserve" not in found


def test_everything_else_goes_in_also_what_later_versions_put_there(filled, root, tmp_path):
    for name in ("config.toml", "quarantine/x.y", "users/u1/memory/a/note.md", "novel/thing.bin"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("# kept")
    filled.backup(tmp_path / "all.tar.gz")
    restore_root(str(tmp_path / "all.tar.gz"), str(tmp_path / "new"))
    assert (tmp_path / "new/users/u1/memory/a/note.md").read_text() == "# kept"
    assert files_of(tmp_path / "new").keys() >= {"config.toml", "quarantine/x.y", "novel/thing.bin"}


def test_a_backup_is_recorded_after_it_was_made(filled, tmp_path):
    filled.backup(tmp_path / "all.tar.gz")
    assert filled.known_backups() == (str(tmp_path / "all.tar.gz"),)


def test_a_broken_audit_says_that_there_may_be_other_backups(filled, root, tmp_path):
    filled.backup(tmp_path / "all.tar.gz")
    filled.backup(tmp_path / "again.tar.gz")
    lines = (root / "audit.jsonl").read_bytes().splitlines(keepends=True)
    (root / "audit.jsonl").write_bytes(b"".join([*lines[:-2], lines[-1]]))
    known, doubt = filled.known_backups()
    assert known == str(tmp_path / "again.tar.gz")
    assert doubt.startswith("perhaps others: ")


def test_links_and_names_that_cannot_be_kept_are_told_and_left_out(filled, root, tmp_path):
    (root / "link").symlink_to("/etc/hostname")
    os.mkfifo(root / "pipe")
    (root / "back\\slash").write_text("x")
    done = filled.backup(tmp_path / "all.tar.gz")
    assert len(done.warnings) == 3
    assert {"link", "pipe", "back\\slash"} & set(names_in(tmp_path / "all.tar.gz")) == set()
    restore_root(done.path, str(tmp_path / "new"))


def test_a_damaged_session_is_copied_as_it_is(filled, root, tmp_path):
    (root / "sessions/talk/manifest.json").write_text("{")
    done = filled.backup(tmp_path / "all.tar.gz")
    (warning,) = done.warnings
    assert "sessions/talk" in warning
    restore_root(done.path, str(tmp_path / "new"))
    for name in ("manifest.json", "memory.jsonl"):
        copy = tmp_path / "new/sessions/talk" / name
        assert copy.read_bytes() == (root / "sessions/talk" / name).read_bytes()


@pytest.mark.parametrize("path", [
    "sessions/talk/manifest.json", "sessions/talk/memory.jsonl", "sessions/talk/lock",
    "users/u1/preferences.jsonl", "archive/kept.manifest.json", "archive/kept.tar.gz",
])  # fmt: skip
@pytest.mark.parametrize("put", [os.mkfifo, lambda path: os.symlink("/etc/hostname", path)])
def test_a_pipe_or_a_link_in_a_files_place_costs_that_log_only(filled, root, tmp_path, path, put):
    filled.create_session(session_id="kept")
    filled.archive_session("kept")
    (root / path).unlink()
    put(root / path)
    done = filled.backup(tmp_path / "b.tar.gz")
    assert any(path in text for text in done.warnings)
    assert "sessions/%55pper%20%43ase/memory.jsonl" in names_in(tmp_path / "b.tar.gz")
    restore_root(str(tmp_path / "b.tar.gz"), str(tmp_path / "back"))
    with Memory.open(tmp_path / "back", environ={}) as back:
        assert len(back.get_entries("Upper Case")) == 20
    assert all(log.status in ("current", "refused") for log in filled.migrate())
    if not path.startswith("archive") and not path.endswith("lock"):
        assert path.rpartition("/")[0] in filled.export_native(tmp_path / "n").left_out


def test_a_newer_session_is_copied_by_an_older_program(filled, root, tmp_path):
    path = root / "sessions/talk/manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"v": 1', b'"v": 9'))
    done = filled.backup(tmp_path / "all.tar.gz")
    assert (done.sessions, done.warnings) == (2, ())


def test_archived_sessions_are_in_it(filled, tmp_path):
    before = list(filled.get_entries("talk"))
    filled.archive_session("talk")
    done = filled.backup(tmp_path / "all.tar.gz")
    assert done.sessions == 2
    restore_root(done.path, str(tmp_path / "new"))
    with Memory.open(tmp_path / "new", environ={}) as memory:
        assert list(memory.get_entries("talk")) == before


def test_work_that_a_crash_left_is_finished_by_the_restored_root(filled, root, tmp_path):
    gone = "sessions/.gone-00ff"
    with (
        pytest.raises(KeyError),
        intents.noted(RealDisk(str(root)), {"operation": "remove", "folder": gone}),
    ):
        raise KeyError
    done = filled.backup(tmp_path / "all.tar.gz")
    assert any(name.startswith("intents/") for name in names_in(tmp_path / "all.tar.gz"))
    restore_root(done.path, str(tmp_path / "new"))
    Memory.open(tmp_path / "new", environ={}).close()
    assert os.listdir(tmp_path / "new/intents") == ["reserve"]


def test_nothing_is_overwritten_and_nothing_is_written_inside_the_root(filled, root, tmp_path):
    (tmp_path / "there.tar.gz").write_text("mine")
    (tmp_path / "link").symlink_to(root)
    for target in ("there.tar.gz", "store/a.tar.gz", "store/sessions/a.tar.gz", "link/a.tar.gz"):
        with pytest.raises(InvalidFormatError):
            filled.backup(tmp_path / target)
        with pytest.raises((InvalidFormatError, StorageIOError)):
            filled.export_to(tmp_path / target, "jsonl")
    assert (tmp_path / "there.tar.gz").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "store", "there.tar.gz"]
    assert filled.known_backups() == ()


def test_an_empty_root_can_be_backed_up_and_restored(memory, tmp_path):
    done = memory.backup(tmp_path / "all.tar.gz")
    restore_root(done.path, str(tmp_path / "new"))
    with Memory.open(tmp_path / "new", environ={}) as fresh:
        assert fresh.list_sessions() == []


class Blanking(RealDisk):
    """A disk on which a line is blanked just after it was copied, so many times."""

    times = 1

    def open(self, path: str, mode: Mode) -> RealFile:
        file = super().open(path, mode)
        if path.endswith("talk/memory.jsonl") and mode == "read" and self.times > 0:
            self.times -= 1
            read = file.read

            def once(offset: int, length: int) -> bytes:
                content = read(offset, length)
                super(Blanking, self).open(path, "update").write_at(self.times, b"#")
                return content

            file.read = once  # type: ignore[method-assign]
        return file


def test_a_backup_begins_anew_when_something_is_erased_meanwhile(filled, root, tmp_path):
    done = FilesMover(Blanking(str(root)), Settings()).backup(str(tmp_path / "a.tar.gz"), NOW)
    restore_root(done.path, str(tmp_path / "new"))
    assert files_of(tmp_path / "new") == files_of(root)


def test_a_backup_that_never_comes_to_rest_is_given_up(filled, root, tmp_path):
    disk = Blanking(str(root))
    disk.times = 100
    with pytest.raises(ConcurrentModificationError):
        FilesMover(disk, Settings()).backup(str(tmp_path / "a.tar.gz"), NOW)
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize("there", ["file", "folder", "link", "root"])
def test_a_backup_is_restored_into_a_new_folder_only(filled, root, tmp_path, there):
    filled.backup(tmp_path / "all.tar.gz")
    target = root if there == "root" else tmp_path / "new"
    if there == "file":
        target.write_text("mine")
    elif there == "folder":
        (target / "inside").mkdir(parents=True)
    elif there == "link":
        target.symlink_to(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    why = "is a link" if there == "link" else "not empty"
    with pytest.raises(MnemologError, match=why):
        restore_root(str(tmp_path / "all.tar.gz"), str(target))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_is_no_folder_to_restore_into_and_no_backup_to_restore(filled, tmp_path):
    filled.backup(tmp_path / "b.tar.gz")
    (tmp_path / "latest").symlink_to("b.tar.gz")
    (tmp_path / "there").symlink_to("nowhere")
    with pytest.raises(InvalidFormatError, match="is a link"):
        restore_root(str(tmp_path / "b.tar.gz"), str(tmp_path / "there"))
    with pytest.raises(StorageIOError, match="is a link"):
        restore_root(str(tmp_path / "latest"), str(tmp_path / "new"))
    with pytest.raises(StorageIOError, match="is a link"):
        filled.import_native(tmp_path / "latest")


def test_an_empty_folder_will_do(filled, tmp_path):
    (tmp_path / "new").mkdir()
    filled.backup(tmp_path / "all.tar.gz")
    restore_root(str(tmp_path / "all.tar.gz"), str(tmp_path / "new"))
    assert (tmp_path / "new/sessions/talk/memory.jsonl").exists()


def test_progress_is_told(filled, tmp_path):
    told = []
    filled.backup(tmp_path / "all.tar.gz", progress=lambda *pair: told.append(pair))
    assert told[-1][0] == told[-1][1] >= 3
    told.clear()
    restore_root(
        str(tmp_path / "all.tar.gz"), str(tmp_path / "new"), lambda *pair: told.append(pair)
    )
    assert told[-1][1] == (tmp_path / "all.tar.gz").stat().st_size
