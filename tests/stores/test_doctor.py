"""The doctor: every kind of finding is provoked on a real folder, and mended where that is safe."""

import errno
import fcntl
import gzip
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import LockTimeoutError, StorageIOError
from mnemolog.fs.mounts import file_system
from mnemolog.fs.real import RealDisk
from mnemolog.settings import Settings
from mnemolog.stores.files import doctor
from mnemolog.stores.files.doctor import root
from mnemolog.stores.files.doctor.findings import KINDS, Finding, Tally
from mnemolog.stores.files.doctor.root import Around
from mnemolog.stores.files.doctor.sessions import SessionCheck
from tests.log.rewriting import rewrite

HOUR = timedelta(hours=1)


def visit(root: Path, **more) -> doctor.Visit:
    """A visit one hour from now: what a crash left is not fresh any more."""
    return doctor.Visit(RealDisk(str(root)), Settings(), now=datetime.now(UTC) + HOUR, **more)


@pytest.fixture
def examine(root) -> Callable[..., list[Finding]]:
    return lambda **more: list(doctor.examine(visit(root, **more)))


@pytest.fixture
def codes(examine) -> Callable[..., list[str]]:
    """The codes of everything that is wrong now."""
    return lambda **more: [found.code for found in examine(**more)]


@pytest.fixture
def repair(root) -> Callable[[], dict[str, str | None]]:
    """Mend what can be mended: what was done, by code; None where nothing was."""
    return lambda: {one.finding.code: one.done for one in doctor.repair(visit(root))}


@pytest.fixture
def log(folder, memory, sid) -> Path:
    """The log of a session with three entries."""
    for text in ("one", "two", "three"):
        memory.for_agent("architect").add_memory(sid, content=text)
    return folder / "memory.jsonl"


def tree(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def contents(root: Path, sid: str) -> list[str]:
    with Memory.open(root, environ={}) as memory:
        return [str(entry.content) for entry in memory.get_entries(sid)]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


# --- the archive


@pytest.fixture
def archived(root, memory, sid, log) -> Path:
    """The archive of a session with three entries."""
    memory.archive_session(sid)
    return root / "archive"


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


DAMAGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a byte of the archive is another": (
        "talk.tar.gz", lambda path: path.write_bytes(path.read_bytes().replace(b"\x1f\x8b", b"!!")),
    ),
    "the archive is cut short": ("talk.tar.gz", _cut),
    "the archive is missing": ("talk.tar.gz", Path.unlink),
    "the sidecar is no JSON": ("talk.manifest.json", _cut),
    "lines that a compaction moved out are cut short": ("talk.g2.jsonl.gz", _cut),
}  # fmt: skip


def test_what_is_archived_is_looked_at_like_what_is_not(root, log, memory, sid):
    before = visit(root)
    assert list(doctor.examine(before)) == []
    memory.archive_session(sid)
    after = visit(root)
    assert list(doctor.examine(after)) == []
    assert vars(after.tally) == vars(before.tally)
    assert after.tally.lines == 3


@pytest.mark.parametrize(("name", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_damage_in_the_archive_is_found(examine, archived, name, damage):
    moved = archived / "talk.g2.jsonl.gz"
    moved.write_bytes(gzip.compress(b"x" * 1000))
    moved.chmod(0o600)
    assert examine() == []
    damage(archived / name)
    (found,) = examine()
    assert (found.code, found.severity) == ("archive_damaged", "error")
    assert found.path == f"archive/{name}"


def test_an_archive_without_its_sidecar_is_found_unless_work_is_under_way(examine, archived, root):
    (archived / "talk.manifest.json").unlink()
    (found,) = examine()
    assert (found.code, found.path) == ("archive_damaged", "archive/talk.tar.gz")
    intent = root / "intents" / "archive-x.json"
    intent.write_text("{}")
    intent.chmod(0o600)
    assert "archive_damaged" not in [one.code for one in examine()]


# --- healthy roots, and what is looked at


def test_a_root_in_use_is_healthy_and_all_of_it_is_looked_at(root, memory, log, sid):
    memory.update_preference(sid, key="a", value=1, scope="user")
    memory.update_preference(sid, key="b", value=2, scope="shared")
    rewrite(root, sid)
    memory.add_memory(sid, content="four")
    memory.create_session(session_id="Über ../x")
    seen: list[tuple[int, int]] = []
    one = visit(root, progress=lambda done, total: seen.append((done, total)))
    assert list(doctor.examine(one)) == []
    assert (one.tally.sessions, one.tally.logs, one.tally.lines) == (2, 4, 6)
    assert seen[-1] == (4, 4)
    size = sum(path.stat().st_size for path in root.rglob("*.jsonl"))
    assert one.tally.size_bytes == size


def test_looking_changes_nothing(root, memory, log, folder):
    log.write_bytes(log.read_bytes() + b"damage\n")
    (folder / "memory.g7.1.jsonl").write_bytes(b"")
    (folder / "manifest.json.tmp").touch()
    memory.close()
    before = tree(root)
    assert len(list(doctor.examine(visit(root)))) > 2
    assert tree(root) == before


def test_every_kind_has_a_severity_and_a_piece_of_advice():
    assert {kind.severity for kind in KINDS.values()} == set(doctor.SEVERITIES)
    assert all(kind.advice.endswith(".") for kind in KINDS.values())


def test_the_worst_severity_counts():
    assert doctor.worst([]) is None
    assert doctor.worst(["note", "error", "warning"]) == "error"


def test_findings_come_one_at_a_time(root, memory):
    for number in range(30):
        memory.create_session(session_id=f"s{number}")
        (root / "sessions" / f"s{number}" / "manifest.json").write_text("{")
    one = visit(root)
    found = doctor.examine(one)
    assert next(found).code == "manifest_unreadable"
    assert one.tally.sessions == 1


# --- the root


def test_a_missing_root_is_an_error(codes, root):
    assert codes() == ["root_missing"]
    assert not root.exists()


def test_a_bare_folder_is_noted(codes, root):
    root.mkdir(mode=0o700)
    assert codes() == ["root_bare", "gitignore_missing"]


def test_unusable_settings_are_told_and_the_rest_is_still_looked_at(root, log, codes):
    (root / "config.toml").write_text("[storage]\nno_such_key = 1\n")
    (root / "config.toml").chmod(0o600)
    log.chmod(0o644)
    assert codes() == ["settings_unusable", "mode_loose"]
    for privacy, graph in ((False, False), (True, False), (False, True)):
        around = doctor.visit_root(str(root), {}, only_privacy=privacy, only_graph=graph)
        assert "settings_unusable" in [found.code for found in doctor.examine(around)]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_settings_that_are_no_file_are_told_and_the_rest_is_still_looked_at(root, log, make):
    make(root / "config.toml")
    log.chmod(0o644)
    with pytest.raises(StorageIOError):
        Memory.open(root, environ={})
    found = [one.code for one in doctor.examine(doctor.visit_root(str(root), {}))]
    assert {"settings_unusable", "mode_loose"} <= set(found)
    assert "unreadable" not in found


def test_a_missing_gitignore_is_written_again(root, memory, codes, repair):
    (root / ".gitignore").unlink()
    assert codes() == ["gitignore_missing"]
    assert repair() == {"gitignore_missing": "written"}
    assert (root / ".gitignore").read_text().endswith("\n*\n")
    assert codes() == []


def around(root: Path, kind: str = "ext4", total: int = 1) -> Around:
    return Around(str(root), kind, total)


def test_little_space_is_a_warning(root, memory, examine):
    free = RealDisk(str(root)).free_bytes()
    assert examine(around=around(root)) == []
    (found,) = examine(around=around(root, total=free * 1000))
    assert found.code == "space_low"
    assert "0.1%" in found.what


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p", "fuse.rclone"])
def test_a_network_file_system_is_a_warning(root, memory, codes, kind):
    assert codes(around=around(root, kind)) == ["network_disk"]


@pytest.mark.parametrize("kind", ["", "ext4", "btrfs", "tmpfs", "overlay", "fuse.ntfs-3g", "fuse"])
def test_a_local_file_system_is_none(root, memory, codes, kind):
    assert codes(around=around(root, kind)) == []


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("/home/ada/Dropbox/work/.mnemolog", "Dropbox"),
        ("/home/ada/Dropbox (Team)/.mnemolog", "Dropbox (Team)"),
        ("/Users/ada/OneDrive - Company/x", "OneDrive - Company"),
        ("/Users/ada/Library/Mobile Documents/x", "Mobile Documents"),
        ("/Users/ada/iCloud Drive/x", "iCloud Drive"),
        ("/Users/ada/Google Drive/My Drive/x", "Google Drive"),
        ("/Users/ada/Library/CloudStorage/GoogleDrive-a@b/x", "CloudStorage"),
        ("/home/ada/dropboxes/boxing/driver", None),
    ],
)
def test_a_folder_that_is_synced_is_known_by_its_name(path, folder):
    assert root.synced_by(path) == folder


def test_a_synced_folder_is_a_warning(tmp_path, codes):
    with Memory.open(tmp_path / "Dropbox" / "store", environ={}):
        found = doctor.examine(visit(tmp_path / "Dropbox" / "store",
                                     around=around(tmp_path / "Dropbox" / "store")))  # fmt: skip
        assert [one.code for one in found] == ["sync_folder"]


MOUNTS = """\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
23 22 0:40 / {base} rw shared:5 - nfs4 server:/export rw
24 22 0:41 / {base}/with\\040blank rw - tmpfs tmpfs rw
25 22 0:42 / {base}/with\\040blank rw - 9p host rw
"""


def test_the_file_system_is_that_of_the_nearest_mount(tmp_path):
    base = tmp_path.resolve()
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS.format(base=base / "share"))
    kinds = {}
    for name in ("", "share", "share/below", "shares", "share/with blank"):
        (base / name).mkdir(exist_ok=True)
        kinds[name] = file_system(str(base / name), str(table)).kind
    assert kinds == {
        "": "ext4", "share": "nfs4", "share/below": "nfs4", "shares": "ext4",
        "share/with blank": "9p",
    }  # fmt: skip
    unknown = file_system(str(base), str(tmp_path / "none"))
    assert unknown.kind == ""
    assert unknown.total_bytes > 0


# --- files and folders


@pytest.mark.parametrize("name", ["", "sessions", "sessions/talk", "sessions/talk/memory.jsonl"])
def test_a_loose_mode_is_tightened(root, log, codes, repair, name):
    path = root / name
    path.chmod(path.stat().st_mode | 0o055)
    assert codes() == ["mode_loose"]
    assert repair()["mode_loose"] in ("mode 0700 now", "mode 0600 now")
    assert path.stat().st_mode & 0o077 == 0
    assert codes() == []


def test_a_symbolic_link_is_reported_and_never_followed(root, log, examine, repair, tmp_path):
    (tmp_path / "outside").mkdir(mode=0o755)
    (tmp_path / "outside" / "memory.jsonl").write_text("not ours\n")
    (root / "sessions" / "linked").symlink_to(tmp_path / "outside")
    (root / "token").symlink_to(tmp_path / "outside" / "memory.jsonl")
    assert [(found.code, found.path, found.can_repair) for found in examine()] == [
        ("link", "sessions/linked", False),
        ("link", "token", False),
    ]
    before = tree(tmp_path / "outside")
    assert set(repair().values()) == {None}
    assert (root / "token").is_symlink()
    assert tree(tmp_path / "outside") == before


def test_a_segment_that_became_a_link_is_unreadable_and_a_link(log, codes, tmp_path):
    log.rename(tmp_path / "elsewhere.jsonl")
    log.symlink_to(tmp_path / "elsewhere.jsonl")
    assert codes() == ["link", "unreadable"]


def test_names_that_differ_only_in_case_are_twins(root, log, examine):
    shutil.copytree(log.parent, root / "sessions" / "TALK")
    (root / "note-\u00e9").touch(0o600)
    (root / "note-e\u0301").touch(0o600)
    twins = [found.path for found in examine() if found.code == "twin"]
    assert sorted(twins) == ["note-\u00e9", "sessions/talk"]


def test_a_name_that_is_no_text_can_be_told(root, log, examine):
    os.mkdir(os.fsencode(root / "sessions") + b"/\xff\xfe", 0o700)
    (found,) = examine()
    assert (found.code, found.path) == ("manifest_missing", "sessions/\\xff\\xfe/manifest.json")


def test_a_temporary_file_is_removed_once_it_is_old(root, memory, codes, repair):
    (root / "redact.key.tmp").touch(0o600)
    fresh = doctor.Visit(RealDisk(str(root)), Settings())
    assert list(doctor.examine(fresh)) == []
    assert codes() == ["temporary"]
    repair()
    assert not (root / "redact.key.tmp").exists()


def test_a_file_among_the_sessions_is_noted(root, memory, examine):
    (root / "sessions" / "notes.txt").touch(0o600)
    (found,) = examine()
    assert (found.code, found.severity, found.can_repair) == ("stranger", "note", False)


# --- what crashes leave


def test_a_session_that_was_never_finished_is_removed_once_it_is_old(root, memory, codes, repair):
    unborn = root / "sessions" / ".new-0123"
    unborn.mkdir(mode=0o700)
    (unborn / "manifest.json").touch(0o600)
    assert list(doctor.examine(doctor.Visit(RealDisk(str(root)), Settings()))) == []
    assert codes() == ["leftover"]
    assert repair() == {"leftover": "removed"}
    assert not unborn.exists()


def test_one_that_holds_lines_is_left_for_a_person(root, log, codes, repair):
    shutil.copytree(log.parent, root / "sessions" / ".new-0123")
    assert codes() == ["leftover_lines"]
    repair()
    assert (root / "sessions" / ".new-0123" / "memory.jsonl").read_bytes() == log.read_bytes()


def test_a_deleted_session_that_is_not_gone_is_removed(root, log, codes, repair):
    with log.open("rb") as held:
        log.parent.rename(root / "sessions" / ".gone-0123")
        assert codes() == ["leftover"]
        repair()
        assert list((root / "sessions").iterdir()) == []
        assert held.read().strip(b"\0") == b"", "its bytes are overwritten, as in any deletion"


def intent(root: Path, folder: str) -> Path:
    path = root / "intents" / "0123.json"
    path.write_text(json.dumps({"v": 1, "operation": "remove", "folder": folder}) + "\n")
    path.chmod(0o600)
    return path


def test_an_unfinished_intent_is_finished(root, log, codes, repair):
    log.parent.rename(root / "sessions" / ".gone-0123")
    path = intent(root, "sessions/.gone-0123")
    assert codes() == ["intent_open", "leftover"]
    assert repair() == {"intent_open": "finished"}
    assert not path.exists()
    assert codes() == []


def test_work_that_cannot_be_finished_yet_says_why_and_is_not_called_done(root, log, codes):
    path = root / "intents" / "0123.json"
    path.write_text(json.dumps({"v": 1, "operation": "compact", "session_id": "talk"}) + "\n")
    path.chmod(0o600)
    log.unlink()
    outcomes = {one.finding.code: one for one in doctor.repair(visit(root))}
    assert outcomes["intent_open"].done is None
    assert "memory.jsonl is missing" in str(outcomes["intent_open"].failed)
    assert path.exists()


def test_what_waited_for_its_session_is_finished_in_the_same_visit(root, log, codes):
    """A crash in a compaction, and a manifest that was damaged with it."""
    path = root / "intents" / "0123.json"
    path.write_text(json.dumps({"v": 1, "operation": "compact", "session_id": "talk"}) + "\n")
    path.chmod(0o600)
    (log.parent / "manifest.json").write_text("{")
    (log.parent / "other.tmp").touch(0o600)
    outcomes = [(one.finding.code, one.done) for one in doctor.repair(visit(root))]
    assert [code for code, _ in outcomes] == ["manifest_unreadable", "orphan", "intent_open"]
    assert all(done is not None for _, done in outcomes)
    assert codes() == []


def test_work_of_a_later_version_is_not_called_done(root, log):
    path = root / "intents" / "0123.json"
    path.write_text('{"v":2,"operation":"compact","session_id":"talk"}\n')
    path.chmod(0o600)
    (outcome,) = doctor.repair(visit(root))
    assert (outcome.finding.code, outcome.done) == ("intent_open", None)
    assert "later mnemolog" in str(outcome.failed)
    assert path.exists()


def test_work_that_somebody_is_doing_now_is_left_alone(root, log, codes, repair):
    log.parent.rename(root / "sessions" / ".gone-0123")
    with locked(intent(root, "sessions/.gone-0123")):
        assert codes() == []
        assert repair() == {}
    assert (root / "sessions" / ".gone-0123").exists()


# --- lines


@pytest.mark.req("S001-144", "S002-057")
def test_a_damaged_line_is_found_and_its_bytes_are_kept(root, log, sid, examine, repair):
    log.write_bytes(log.read_bytes().replace(b'"two"', b'"TWO"'))
    before = log.read_bytes()
    (found,) = examine()
    assert (found.code, found.severity, found.path) == (
        "line_damaged", "error", "sessions/talk/memory.jsonl",
    )  # fmt: skip
    assert found.offset is not None
    assert found.length is not None
    damaged = before[found.offset : found.offset + found.length]
    assert b'"TWO"' in damaged
    assert repair() == {"line_damaged": "its bytes are in quarantine now"}
    assert [path.read_bytes() for path in (root / "quarantine").iterdir()] == [damaged]
    assert log.read_bytes() == before
    (kept,) = examine()
    assert (kept.code, kept.severity, kept.can_repair) == ("line_kept", "warning", False)
    assert contents(root, sid) == ["one", "three"]


def test_a_copy_that_a_crash_cut_short_is_made_again(root, log, repair, codes):
    log.write_bytes(log.read_bytes() + b"damage\n")
    repair()
    (copy,) = (root / "quarantine").iterdir()
    copy.write_bytes(b"dam")
    assert codes() == ["line_damaged"]
    repair()
    assert copy.read_bytes() == b"damage"


def test_every_damaged_byte_of_a_line_is_noticed(log, codes):
    good = log.read_bytes()
    end = good.index(b"\n")
    for place in range(0, end, 7):
        log.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert codes() == ["line_damaged"]


def test_damage_before_a_good_line_costs_only_itself(root, log, sid, examine):
    first, second, third = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(first + second[:40] + third)
    (found,) = examine()
    assert (found.code, found.length) == ("line_damaged", 40)
    assert contents(root, sid) == ["one", "three"]


@pytest.mark.req("S002-137")
def test_a_torn_tail_is_a_note_until_it_is_sealed(memory, log, sid, examine, codes):
    log.write_bytes(log.read_bytes()[:-10])
    (found,) = examine()
    assert (found.code, found.severity, found.can_repair) == ("tail_torn", "note", False)
    memory.add_memory(sid, content="next")
    assert codes() == ["line_damaged"]


def test_lines_longer_than_a_block_are_read_whole(memory, sid, root):
    for size in (1_000_000, 1_048_000, 5):
        memory.add_memory(sid, content="x" * size)
    one = visit(root)
    assert list(doctor.examine(one)) == []
    assert one.tally.lines == 3


def test_lines_out_of_order_are_told(log, examine):
    first, second, third = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(first + third + second + second)
    assert [(found.code, found.severity) for found in examine()] == [("line_order", "warning")] * 2


def test_a_line_of_a_newer_format_is_noted_once(log, codes):
    lines = [newer(line) for line in log.read_bytes().splitlines()]
    log.write_bytes(b"".join(lines))
    assert codes() == ["line_newer"]


def newer(line: bytes) -> bytes:
    """The same line as a later mnemolog would write it."""
    prefix = line[: line.rindex(b',"sum"')].replace(b'{"v":1', b'{"v":9')
    return prefix + b',"sum":"sha256:' + sha256(prefix).hexdigest().encode() + b'"}\n'


@pytest.mark.parametrize("path", ["users/u1/preferences.jsonl", "shared/knowledge.jsonl"])
def test_the_logs_of_users_and_of_all_are_checked_too(root, memory, sid, examine, repair, path):
    memory.update_preference(sid, key="a", value=1, scope="user")
    memory.update_preference(sid, key="a", value=1, scope="shared")
    (root / path).write_bytes((root / path).read_bytes() + b"damage\n")
    (found,) = examine()
    assert (found.code, found.path) == ("line_damaged", path)
    repair()
    memory.close()
    memory.get_preferences(sid)
    assert len(list((root / "quarantine").iterdir())) == 1  # reading found the same copy


def test_the_log_of_a_user_with_a_very_long_name_is_checked_too(root, memory, codes):
    memory.update_preference(None, key="a", value=1, scope="user", user_id="u" * 400)
    (log,) = (root / "users").glob("*/preferences.jsonl")
    log.write_bytes(b"damage\n")
    assert codes() == ["line_damaged"]


# --- sessions


def test_a_missing_lock_is_made(memory, log, sid, codes, repair):
    (log.parent / "lock").unlink()
    assert codes() == ["lock_missing"]
    repair()
    memory.add_memory(sid, content="four")
    assert codes() == []


def test_a_session_that_may_only_be_read_is_not_called_unreadable(
    root, memory, log, examine, repair, monkeypatch
):
    real = os.open

    def mounted_for_reading(path, flags, *more, **others):
        if flags & os.O_RDWR:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, flags, *more, **others)

    monkeypatch.setattr(os, "open", mounted_for_reading)
    (found,) = examine()
    assert (found.code, found.path) == ("lock_closed", "sessions/talk/lock")
    assert repair() == {"lock_closed": None}
    assert len(memory.get_entries("talk")) == 3


def test_a_missing_segment_is_an_error_that_nothing_mends(root, log, examine, repair):
    log.unlink()
    (found,) = examine()
    assert (found.code, found.severity, found.can_repair) == ("segment_missing", "error", False)
    assert repair() == {"segment_missing": None}


@pytest.mark.parametrize("change", [lambda content: content[:-300], lambda content: content * 2])
def test_a_sealed_segment_of_another_size_is_an_error(root, log, sid, codes, change):
    rewrite(root, sid)
    sealed = log.parent / "memory.g2.1.jsonl"
    sealed.write_bytes(change(sealed.read_bytes()))
    assert "segment_size" in codes()


def test_a_manifest_of_a_newer_format_is_told_and_nothing_is_touched(root, log, codes, repair):
    manifest = log.parent / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"v": 1', '"v": 2'))
    (log.parent / "memory.g9.1.jsonl").touch(0o600)
    assert codes() == ["manifest_newer"]
    manifest.write_text('{"v": 3, "everything": "else"}')
    assert codes() == ["manifest_newer"]
    before = tree(root)
    assert repair() == {"manifest_newer": None}
    assert tree(root) == before


def test_a_manifest_in_the_wrong_folder_is_an_error(root, log, codes):
    log.parent.rename(root / "sessions" / "walk")
    assert codes() == ["manifest_misplaced"]


def test_settings_of_a_session_that_cannot_be_used_are_told(root, memory, log, sid, codes):
    memory.update_session(sid, settings={"decay.minimum": 0.5})
    manifest = log.parent / "manifest.json"
    manifest.write_text(manifest.read_text().replace("0.5", "5"))
    assert codes() == ["settings_refused"]


def test_orphans_of_a_crash_are_removed(root, log, sid, examine, repair):
    old = log.read_bytes()
    rewrite(root, sid)
    folder = log.parent
    for name, content in (
        ("memory.jsonl", old),  # of the generation before
        ("memory.g2.3.jsonl", b""),  # a segment that was about to begin
        ("memory.g3.1.jsonl", old),  # a rewrite that never took place
        ("manifest.json.tmp", b"{"),
    ):
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o600)
    assert [found.code for found in examine()] == ["orphan"] * 4
    assert repair() == {"orphan": "removed"}
    names = {"lock", "manifest.json", "memory.g2.1.jsonl", "memory.g2.2.jsonl"}
    assert {path.name for path in folder.iterdir()} == names
    assert contents(root, sid) == ["one", "two", "three"]


def test_an_orphan_with_lines_of_its_own_is_kept_in_quarantine(root, log, sid, examine, repair):
    first, second, third = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(first + second)
    orphan = log.parent / "memory.g1.2.jsonl"
    orphan.write_bytes(second + third)
    orphan.chmod(0o600)
    (found,) = examine()
    assert (found.code, found.severity) == ("orphan_lines", "error")
    assert repair() == {"orphan_lines": "moved to quarantine"}
    assert not orphan.exists()
    assert [path.read_bytes() for path in (root / "quarantine").iterdir()] == [second + third]


def test_a_stranger_in_a_session_is_left_alone(log, codes, repair):
    (log.parent / "notes.txt").touch(0o600)
    (log.parent / "memory.g1.1.jsonl").touch(0o600)  # no name that mnemolog gives
    assert codes() == ["stranger", "stranger"]
    repair()
    assert (log.parent / "notes.txt").exists()


def test_what_a_writer_is_making_is_no_orphan(log, codes, repair):
    (log.parent / "memory.g1.2.jsonl").touch(0o600)
    with locked(log.parent / "lock"):
        assert codes() == []
        assert repair() == {}
    assert codes() == ["orphan"]


def test_an_orphan_is_not_touched_while_somebody_holds_the_lock(root, log):
    orphan = log.parent / "memory.g1.2.jsonl"
    orphan.touch(0o600)
    check = SessionCheck(RealDisk(str(root)), "sessions/talk", Tally(), 0.02, "2026-11-15")
    (case,) = check.cases()
    assert case.mend is not None
    with locked(log.parent / "lock"), pytest.raises(LockTimeoutError):
        case.mend()
    assert orphan.exists()
    assert case.mend() == "removed"


def test_an_orphan_that_was_named_meanwhile_is_kept(root, memory, log):
    orphan = log.parent / "memory.g1.2.jsonl"
    orphan.touch(0o600)
    check = SessionCheck(RealDisk(str(root)), "sessions/talk", Tally(), 5, "2026-11-15")
    (case,) = check.cases()
    manifest = log.parent / "manifest.json"
    named = json.loads(manifest.read_text())
    named["segments"][0]["size"] = log.stat().st_size
    named["segments"].append({"name": orphan.name, "first_seq": 4})
    manifest.write_text(json.dumps(named))
    assert case.mend is not None
    assert case.mend() == "it belongs to the session by now"
    assert orphan.exists()


# --- rebuilding a manifest


@pytest.mark.req("S001-152", "S001-156")
@pytest.mark.parametrize("bad", [None, b"", b"{", b'{"v":1}', b"\xff\xfe", b'{"v":"1"}'])
def test_a_manifest_is_rebuilt_from_the_segments(root, memory, log, sid, codes, repair, bad):
    manifest = log.parent / "manifest.json"
    created = json.loads(manifest.read_text())["created_at"]
    manifest.unlink()
    if bad is not None:
        manifest.write_bytes(bad)
        manifest.chmod(0o600)
    code = "manifest_missing" if bad is None else "manifest_unreadable"
    assert codes() == [code]
    assert "3 lines in 1 segments" in str(repair()[code])
    assert codes() == []
    session = memory.load_session(sid)
    assert session.agent_ids == ("architect",)
    assert session.created_at == created
    assert contents(root, sid) == ["one", "two", "three"]
    assert memory.add_memory(sid, content="four").seq == 4
    kept = [path.read_bytes() for path in root.glob("quarantine/*")]
    assert kept == ([] if bad is None else [bad])


@pytest.mark.parametrize("is_noticed", [False, True])
def test_what_only_the_manifest_knew_comes_from_the_index(
    root, memory, log, sid, repair, is_noticed
):
    """Also after a search found that the session cannot be read."""
    memory.update_session(sid, metadata={"project": "pay"}, settings={"decay.minimum": 0.5})
    memory.add_memory(sid, content="by another", agent_id="guest")
    memory.query(sid, text="one")
    before = memory.load_session(sid)
    (log.parent / "manifest.json").write_text("{")
    if is_noticed:
        (root / "index" / "dirty" / sid).touch(0o600)
        assert memory.list_sessions() == []
        assert memory.query(None, text="one").notes
    assert "as the index last saw it" in str(repair()["manifest_unreadable"])
    with Memory.open(root, environ={}) as again:
        after = again.load_session(sid)
        assert after.metadata == before.metadata == {"project": "pay"}
        assert (after.settings, after.created_at) == (before.settings, before.created_at)
        assert (after.user_id, after.agent_ids) == (before.user_id, before.agent_ids)
        assert "guest" not in after.agent_ids
        assert [one.id for one in again.list_sessions()] == [sid]
        assert len(again.query(sid, text="one two three another")) == 4


def test_an_index_that_cannot_be_read_tells_nothing_of_a_manifest(root, memory, log, sid, repair):
    memory.query(sid, text="one")
    memory.close()
    (root / "index" / "index.db").write_bytes(b"no database")
    (log.parent / "manifest.json").write_text("{")
    assert "is lost" in str(repair()["manifest_unreadable"])


def test_what_compactions_moved_out_is_found_again_by_a_rebuilt_manifest(
    root, memory, sid, clock, codes, repair
):
    memory.add_memory(sid, id="stays", type="note", content="weighty", importance=1.0)
    memory.add_memory(sid, id="moves", type="note", content="trifle", importance=0.001)
    clock.advance(days=400)
    assert memory.compact_session(sid).archived == 1
    before = memory.get_memory(sid, "moves")
    assert before is not None
    (root / "sessions" / sid / "manifest.json").unlink()
    # What a compaction wrote that was killed before it came into force does not count.
    (root / "archive" / "talk.g3.jsonl.gz").write_bytes(gzip.compress(b""))
    (root / "archive" / "talk.g3.jsonl.gz").chmod(0o600)
    repair()
    assert codes() == []
    manifest = json.loads((root / "sessions" / sid / "manifest.json").read_text())
    assert manifest["markers"]["moved"] == [2]
    assert memory.get_memory(sid, "moves") == before
    assert memory.add_memory(sid, content="next").seq == before.seq + 1  # numbers are used once


def test_a_stray_file_with_a_huge_number_does_not_fill_the_disk(root, log, repair):
    (log.parent / "memory.g1.100000.jsonl").write_bytes(b"")
    (log.parent / "manifest.json").unlink()
    before = sorted(path.name for path in log.parent.iterdir())
    assert repair()["manifest_missing"] is None
    assert sorted(path.name for path in log.parent.iterdir()) == before


def segments(folder: Path) -> list[dict]:
    return json.loads((folder / "manifest.json").read_text())["segments"]


@pytest.fixture
def split(root) -> Iterator[tuple[Memory, Path]]:
    """A session whose log has many segments."""
    with Memory.open(root, settings={"storage.segment_size_mb": 0.0001}, environ={}) as memory:
        memory.create_session("u1", session_id="talk")
        for number in range(12):
            memory.add_memory("talk", content=f"entry {number}")
        yield memory, root / "sessions" / "talk"


def test_the_order_of_segments_comes_from_their_names(root, split, repair, codes):
    memory, folder = split
    before = segments(folder)
    assert len(before) > 10  # g1.10 comes after g1.9, not after g1.1
    (folder / "manifest.json").unlink()
    repair()
    assert segments(folder) == before
    assert codes() == []
    assert contents(root, "talk") == [f"entry {number}" for number in range(12)]
    assert memory.add_memory("talk", content="next").seq == 13


def test_a_gap_between_segments_is_filled_so_that_no_later_one_is_overwritten(root, split, repair):
    memory, folder = split
    last = segments(folder)[-1]["name"]
    (folder / "memory.g1.3.jsonl").unlink()
    (folder / "manifest.json").unlink()
    repair()
    assert (folder / "memory.g1.3.jsonl").read_bytes() == b""
    assert segments(folder)[-1]["name"] == last
    left = contents(root, "talk")
    for number in range(3):
        memory.add_memory("talk", content=f"later {number}")
    assert contents(root, "talk") == [*left, "later 0", "later 1", "later 2"]


def test_of_two_generations_the_one_that_was_written_to_counts(root, memory, log, sid, repair):
    old = log.read_bytes()
    rewrite(root, sid)
    memory.add_memory(sid, content="four")
    log.write_bytes(old)  # the crash came before it was removed
    (log.parent / "manifest.json").unlink()
    assert "memory.jsonl of another generation" in str(repair()["manifest_missing"])
    assert contents(root, sid) == ["one", "two", "three", "four"]
    assert not log.exists()
    assert [path.read_bytes() for path in (root / "quarantine").iterdir()] == [old]


def test_a_rewrite_that_was_given_up_does_not_count(root, memory, log, sid, repair):
    stale = log.parent / "memory.g2.1.jsonl"
    stale.write_bytes(log.read_bytes())
    memory.add_memory(sid, content="four")
    (log.parent / "manifest.json").write_text("")
    repair()
    assert contents(root, sid) == ["one", "two", "three", "four"]
    assert not stale.exists()


def test_the_id_of_a_folder_with_a_hashed_name_comes_from_its_lines(root, memory, repair):
    long = "s" * 400
    memory.create_session(session_id=long)
    memory.add_memory(long, content="one")
    (folder,) = (root / "sessions").iterdir()
    (folder / "manifest.json").unlink()
    repair()
    assert memory.load_session(long).id == long


def test_without_any_line_or_name_to_tell_the_session_nothing_is_made(root, memory, repair):
    memory.create_session(session_id="s" * 400)
    (folder,) = (root / "sessions").iterdir()
    (folder / "manifest.json").unlink()
    before = tree(root)
    (outcome,) = doctor.repair(visit(root))
    assert outcome.done is None
    assert "which session it is" in str(outcome.failed)
    assert tree(root) == before


def test_a_folder_without_segments_cannot_be_rebuilt(root, memory, sid, folder, examine):
    (folder / "manifest.json").unlink()
    (folder / "memory.jsonl").unlink()
    (found,) = examine()
    assert (found.code, found.can_repair) == ("manifest_missing", False)


def test_repairing_everything_at_once_loses_no_line(root, memory, log, sid, codes):
    """All kinds of damage together: each line that was readable before is readable after."""
    orphan = log.parent / "memory.g1.2.jsonl"
    orphan.write_bytes(b"")
    log.write_bytes(log.read_bytes() + b"damage\n")
    memory.create_session(session_id="second")
    memory.add_memory("second", content="kept")
    (root / "sessions" / "second" / "manifest.json").write_text("[]")
    (root / "sessions" / ".new-1").mkdir(mode=0o755)
    (root / ".gitignore").unlink()
    outcomes = list(doctor.repair(visit(root)))
    assert all(one.done is not None for one in outcomes if one.finding.can_repair)
    assert codes() == ["line_kept"]
    assert contents(root, sid) == ["one", "two", "three"]
    assert contents(root, "second") == ["kept"]


def test_codes_read_as_words():
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)?", code) for code in KINDS)
