"""Hostile input through every verb: a clear refusal or harmless storage, and nothing outside."""

import hashlib
import inspect
import os
import stat
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidFormatError, MnemologError
from tests.memory.test_isolation import VERBS
from tests.memory.wrong_values import ARGUMENTS, WRONG, nested

HOSTILE_IDS = [
    "..",
    ".",
    "../../outside",
    "../outside/decoy",
    "/etc/x",
    "/",
    "a/b",
    "a\\..\\b",
    "C:\\Windows\\x",
    "\\\\server\\share",
    "file:///etc/passwd",
    "x" * 300,
    "x" * 1024,
    "日" * 1024,
    "CON",
    "nul",
    "com1.txt",
    "LPT9",
    "trailing.",
    "trailing ",
    " leading",
    "...",
    "~root",
    "-rf",
    "*",
    "$(reboot)",
    "`reboot`",
    "a\nb",
    "a\tb\x1b[31m",
    "\u202ereversed",
    "zero\u200bwidth",
    "é",
    "e\u0301",
    "ａ",
    "а",
    "%2e%2e%2f",
    "%x" + "0" * 64,
    ".new-1234",
    ".gone-1234",
    "manifest.json",
    "lock",
    "😀",
]
REFUSED_IDS = ["", "x" * 1025, "a\0b", "\0", "\ud800", "ok\udfff"]


def snapshot(folder: Path, without: Path) -> dict[str, Any]:
    """Everything below a folder but for one subfolder: names, modes, contents."""
    seen: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path == without or without in path.parents:
            continue
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        seen[str(path)] = (status.st_mode, status.st_size, status.st_mtime_ns, content)
    return seen


@pytest.fixture(autouse=True)
def nothing_outside_the_root_changes(tmp_path, root, request):
    """Every test here runs beside a decoy; whatever happens, it stays as it was."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "decoy").write_text("precious")
    if "memory" in request.fixturenames:
        request.getfixturevalue("memory")
    before = snapshot(tmp_path, root)
    yield
    assert snapshot(tmp_path, root) == before
    assert not os.path.lexists("/etc/x")


# These need an entry that is there.
ON_AN_ENTRY = ("update_memory", "told", "raw_line", "revisions")


@pytest.mark.parametrize("identifier", HOSTILE_IDS)
def test_a_hostile_session_id_is_kept_verbatim_and_stays_in_its_folder(memory, root, identifier):
    assert memory.create_session("u1", session_id=identifier).id == identifier
    for name, verb in VERBS.items():
        if name not in ("delete_session", *ON_AN_ENTRY):
            verb(memory, identifier)
    assert [one.id for one in memory.list_sessions()] == [identifier]
    assert {one.session_id for one in memory.get_entries(identifier)} == {identifier}
    (folder,) = (root / "sessions").iterdir()
    assert folder.name.isascii()
    assert not set(folder.name) & set('/\\.:*?"<>| ABCDEFGHIJKLMNOPQRSTUVWXYZ')
    memory.delete_session(identifier)
    assert list((root / "sessions").iterdir()) == []


@pytest.mark.parametrize("identifier", HOSTILE_IDS)
def test_hostile_names_of_agents_users_and_entries_are_kept_verbatim(memory, root, identifier):
    session = memory.create_session(identifier, agent_ids=[identifier])
    view = memory.for_user(identifier).for_agent(identifier)
    view.add_memory(session.id, id=identifier, content="x", run_id=identifier, role=identifier)
    view.update_preference(session.id, key=identifier, value=identifier, scope="user")
    entry = view.get_memory(session.id, identifier)
    assert entry is not None
    assert (entry.id, entry.agent_id, entry.run_id, entry.role) == (identifier,) * 4
    (preference,) = view.get_preferences(session.id)
    assert preference.content == {"key": identifier, "value": identifier}
    assert memory.load_session(session.id).agent_ids == (identifier,)
    assert len(list((root / "users").iterdir())) == 1


@pytest.mark.req("S001-147")
@pytest.mark.parametrize("identifier", REFUSED_IDS, ids=lambda bad: ascii(bad)[:12])
@pytest.mark.parametrize("name", VERBS)
def test_an_id_that_no_file_can_hold_is_refused_by_every_verb(memory, name, identifier):
    with pytest.raises(InvalidFormatError, match="session id"):
        VERBS[name](memory, identifier)


@pytest.mark.parametrize("identifier", REFUSED_IDS, ids=lambda bad: ascii(bad)[:12])
@pytest.mark.parametrize(
    "call",
    [
        lambda m, bad: m.create_session(session_id=bad),
        lambda m, bad: m.create_session(bad),
        lambda m, bad: m.create_session(agent_ids=[bad]),
        lambda m, bad: m.update_session("talk", agent_ids=[bad]),
        lambda m, bad: m.for_agent(bad),
        lambda m, bad: m.for_user(bad),
        lambda m, bad: m.add_memory("talk", id=bad, content="x"),
        lambda m, bad: m.add_memory("talk", agent_id=bad, content="x"),
        lambda m, bad: m.add_decision("talk", made_by=bad, decision="x"),
        lambda m, bad: m.add_memory("talk", references=[bad], content="x"),
        lambda m, bad: m.add_memory("talk", run_id=bad, content="x"),
        lambda m, bad: m.get_memory("talk", bad),
        lambda m, bad: m.update_memory("talk", bad, tags=["x"]),
        lambda m, bad: m.get_preferences(user_id=bad),
        lambda m, bad: m.update_preference(None, key="k", value="v", scope="user", user_id=bad),
    ],
)
def test_the_same_holds_for_every_other_name(memory, sid, call, identifier):
    with pytest.raises(InvalidFormatError):
        call(memory, identifier)


def test_case_twins_stay_two_sessions_with_two_folders_on_any_disk(memory, root):
    twins = ["Talk", "talk", "TALK", "tALK"]
    for number, twin in enumerate(twins):
        memory.create_session(session_id=twin)
        memory.add_memory(twin, content=f"{number}")
    names = [path.name for path in (root / "sessions").iterdir()]
    assert len({name.casefold() for name in names}) == len(twins)
    for number, twin in enumerate(twins):
        assert [one.content for one in memory.get_entries(twin)] == [f"{number}"]


def test_forms_that_look_the_same_stay_apart(memory, root):
    same = ["é", unicodedata.normalize("NFD", "é"), "a", "а", "ａ"]
    for one in same:
        memory.create_session(session_id=one, metadata={"id": one})
    assert len(list((root / "sessions").iterdir())) == len(same)
    assert all(memory.load_session(one).metadata == {"id": one} for one in same)


def outcome(call: Callable[[Memory, Any], object], memory: Memory, bad: Any) -> Exception | None:
    """What the call raised, if it raised anything."""
    try:
        call(memory, bad)
    except Exception as error:
        return error
    return None


CASES = [
    pytest.param(call, id=f"{verb}-{number}")
    for verb, calls in ARGUMENTS.items()
    for number, call in enumerate(calls)
]


@pytest.mark.filterwarnings("ignore::mnemolog.settings.RetiredSettingWarning")
@pytest.mark.parametrize("call", CASES)
def test_a_value_of_the_wrong_type_is_refused_as_ours_or_harmless(memory, sid, call):
    memory.add_memory(sid, id="m1", content="x", type="note")
    found = {name: outcome(call, memory, bad) for name, bad in WRONG.items()}
    foreign = {
        value: repr(error)
        for value, error in found.items()
        if error is not None and not isinstance(error, MnemologError)
    }
    assert not foreign, inspect.getsource(call).strip()[:200]
    assert memory.get_entries(sid).warnings == (), "whatever was stored can be read"
    assert memory.load_session(sid).id == sid


@pytest.mark.filterwarnings("ignore::mnemolog.settings.RetiredSettingWarning")
def test_every_refusal_comes_with_advice(memory, sid):
    memory.add_memory(sid, id="m1", content="x", type="note")
    few = [5, "", b"bytes", ["x"], [None], {"x": object()}, {"x": float("nan")}, nested(100)]
    calls = [call for calls in ARGUMENTS.values() for call in calls]
    found = [outcome(call, memory, bad) for call in calls for bad in few]
    refused = [error for error in found if isinstance(error, MnemologError)]
    assert len(refused) > 100
    assert sorted({str(error) for error in refused if not error.advice}) == []


def test_a_wrong_signature_is_a_type_error(memory, sid):
    for call in (
        lambda: memory.create_session(colour="red"),
        lambda: memory.load_session(),
        lambda: memory.add_memory(),
        lambda: memory.get_memory(sid),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("bad", ["a\0b", "decoy", "decoy/below"])
def test_a_root_that_cannot_be_one_is_refused_with_advice(tmp_path, bad):
    with pytest.raises(MnemologError) as caught:
        Memory.open(tmp_path / "outside" / bad, environ={})
    assert caught.value.advice


def test_an_empty_root_is_refused_and_nothing_is_made_in_the_current_folder(tmp_path, monkeypatch):
    """An unset variable in a script must not turn a project's folder into a root."""
    monkeypatch.chdir(tmp_path / "outside")
    with pytest.raises(MnemologError) as caught:
        Memory.open("", environ={})
    assert caught.value.advice


def test_a_planted_link_in_the_place_of_a_session_is_not_followed(memory, root, tmp_path):
    with Memory.open(tmp_path / "store" / "inner", environ={}) as other:
        other.create_session(session_id="talk")
        other.add_memory("talk", content="another root's own")
    elsewhere = tmp_path / "store" / "inner" / "sessions" / "talk"
    (root / "sessions" / "talk").symlink_to(elsewhere, target_is_directory=True)
    before = snapshot(elsewhere, elsewhere / "none")
    for verb in VERBS.values():
        with pytest.raises(MnemologError):
            verb(memory, "talk")
    assert memory.list_sessions() == []
    with pytest.raises(MnemologError):
        memory.create_session(session_id="talk")
    assert snapshot(elsewhere, elsewhere / "none") == before
    assert (root / "sessions" / "talk").is_symlink()


@pytest.mark.parametrize("name", ["memory.jsonl", "lock", "manifest.json"])
def test_a_planted_link_in_the_place_of_a_file_is_not_followed(memory, sid, folder, tmp_path, name):
    memory.add_memory(sid, content="x")
    memory.close()
    decoy = tmp_path / "outside" / "decoy"
    (folder / name).unlink()
    (folder / name).symlink_to(decoy)
    with pytest.raises(MnemologError):
        memory.add_memory(sid, content="y")
    with pytest.raises(MnemologError):
        memory.update_session(sid, metadata={"a": 1})
    if name != "lock":
        with pytest.raises(MnemologError):
            memory.get_entries(sid)


@pytest.mark.parametrize("place", ["users", "shared", "quarantine", "index", "intents"])
def test_a_planted_link_in_the_place_of_a_folder_is_not_written_through(memory, root, sid, place):
    outside = root.parent / "outside"
    if (root / place).exists():
        (root / place).rename(root / f"{place}.away")
    (root / place).symlink_to(outside, target_is_directory=True)
    for call in (
        lambda: memory.update_preference(sid, key="k", value="v", scope="user"),
        lambda: memory.update_preference(sid, key="k", value="v", scope="shared"),
        lambda: memory.add_memory(sid, content="x"),
        lambda: memory.delete_session(sid),
    ):
        with suppress(MnemologError):
            call()
    assert [path.name for path in outside.iterdir()] == ["decoy"]


def test_everything_is_private_whatever_the_umask(root):
    before = os.umask(0)
    try:
        with Memory.open(root, environ={}) as memory:
            session = memory.create_session("u1", settings={"storage.durability": "os"}).id
            memory.add_memory(session, content="x")
            memory.update_preference(session, key="k", value="v", scope="user")
            memory.update_preference(session, key="k", value="v", scope="shared")
            memory.update_session(session, metadata={"a": 1})
            with (root / "sessions" / session / "memory.jsonl").open("ab") as log:
                log.write(b"garbage\n")
            memory.get_entries(session)
            memory.add_memory(session, content="after the damage")
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [root, *root.rglob("*")]}
    loose = {
        str(path): oct(mode)
        for path, mode in modes.items()
        if mode != (0o700 if path.is_dir() else 0o600)
    }
    assert not loose
    assert any("quarantine" in str(path) for path in modes)


def test_a_hostile_name_in_an_error_is_short_and_shown_harmlessly(memory):
    with pytest.raises(MnemologError) as caught:
        memory.load_session("\x1b[31m" + "x" * 1000)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_two_long_ids_that_differ_at_the_end_are_two_sessions(memory, root):
    ids = ["x" * 1023 + ending for ending in "ab"]
    for one in ids:
        memory.create_session(session_id=one)
    names = {path.name for path in (root / "sessions").iterdir()}
    assert names == {"%x" + hashlib.sha256(one.encode()).hexdigest() for one in ids}
