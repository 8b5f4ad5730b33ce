"""The proof finds every copy that is left, and nothing that is not one."""

import gzip
import json
import os

import pytest

from mnemolog.errors import NotAllowedError, SessionNotFoundError
from mnemolog.testing import FixedClock
from tests.forgetting.dying import LATER
from tests.forgetting.planting import opened, template
from tests.forgetting.scanner import traces, tree_of, word
from tests.log.disks import RecordingDisk, open_on


def test_a_copy_is_found_once_wherever_it_lies_in_a_long_file(memory, root):
    """Files are read in pieces of a MiB: none may fall between two of them."""
    secret = "between two pieces"
    for start in range((1 << 20) - len(secret) - 1, (1 << 20) + 2):
        (root / "stray.bin").write_bytes(b"." * start + secret.encode() + b"." * 50)
        (trace,) = memory.verify_erasure(text=secret).traces
        assert f"at byte {start}:" in trace


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("stray.txt", lambda text: text.encode()),
        ("sessions/talk/notes.bak", lambda text: b"\0\xff" + text.encode() + b"\xfe"),
        ("archive/copy.json", lambda text: json.dumps({"x": text}).encode()),
        ("copy.gz", lambda text: gzip.compress(text.encode())),
        ("archive/talk.copy.tmp", lambda text: gzip.compress(text.encode())),
        ("users/.hidden", lambda text: text.encode("utf-16-le")),
        ("quarantine/q", lambda text: "".join(f"\\u{ord(c):04X}" for c in text).encode()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_stray_copy_in_any_file_is_reported(root, name, pack):
    secret = "記憶文字秘密鑰匙永遠不見天日"
    with opened(root) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="the-id", type="note", content=secret)
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pack(secret))
        done = memory.erase("talk", ids=["the-id"])
        later = memory.verify_erasure(text=secret)
        for found in (done.verification, later):
            assert found is not None
            assert not found.clean
            assert [one for one in found.traces if one.startswith(name)], found.traces
        path.unlink()
        assert memory.verify_erasure(text=secret, ids=["the-id"]).clean
        path = root / "index" / "left.db"
        path.write_bytes(secret.encode())
        assert [one.partition(" ")[0] for one in memory.verify_erasure(text=secret).traces] == [
            "index/left.db"
        ]
        path.unlink()
    assert traces(root, [secret]) == {}


@pytest.mark.parametrize("said_in", ["before", "behind"])
def test_damage_in_an_archive_is_told_and_hides_nothing_behind_it(memory, sid, root, said_in):
    for name in ("before", "between", "behind"):
        noise = os.urandom(3 * 65536).hex()
        memory.add_memory(sid, type="note", content=f"{noise} {name if name == said_in else 'x'}!")
    memory.archive_session(sid)
    (path,) = (root / "archive").glob("*.tar.gz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + bytes(8) + whole[len(whole) // 2 + 8 :])
    for words, count in ((f"{said_in}!", 1), ("what nobody said", 0)):
        found = memory.verify_erasure(text=words)
        assert not found.clean
        assert sum("text 1" in one for one in found.traces) == count
        assert sum("not all that it holds can be looked at" in one for one in found.traces) == 1
    path.write_bytes(whole[: len(whole) // 2])  # what ends too early is looked at to its end
    assert memory.verify_erasure(text="what nobody said").clean


def test_the_proof_and_the_scanner_agree_before_and_after(root):
    secret = word()
    template(root, secret)
    with opened(root, FixedClock(LATER)) as memory:
        before = memory.verify_erasure(text=secret)
        assert not before.clean
        told = {one.partition(" ")[0] for one in before.traces}
        assert told == set(traces(root, [secret])[secret])
        done = memory.erase("talk", ids=["the-id"])
        assert done.verification is not None
        assert done.verification.clean
        assert done.verification.files == len(tree_of(root))
        assert traces(root, [secret, "the-id"]) == {}


def test_the_proof_of_an_erasure_looks_for_all_that_was_erased(memory, sid, root):
    """Not only for what the last revision's content said."""
    said = {name: word(20) for name in ("first", "metadata", "topic")}
    memory.add_memory(sid, id="the-id", type="note", content=said["first"])
    memory.add_memory(
        sid, id="the-id", type="note", content="harmless", metadata={"k": said["metadata"]},
        context={"topic": said["topic"]},
    )  # fmt: skip
    for name, text in said.items():
        (root / f"stray-{name}").write_text(text)
    done = memory.erase(sid, ids=["the-id"])
    assert done.verification is not None
    told = {one.partition(" ")[0] for one in done.verification.traces}
    assert told == {f"stray-{name}" for name in said}


def test_the_proof_looks_for_all_that_was_said_in_the_archive(memory, sid, root, clock):
    said = {name: word(20) for name in ("content", "metadata", "topic")}
    memory.add_memory(
        sid, id="the-id", type="note", content=said["content"], metadata={"k": said["metadata"]},
        context={"topic": said["topic"]}, importance=0.001,
    )  # fmt: skip
    clock.advance(days=400)
    assert memory.compact_session(sid).archived == 1
    for name, text in said.items():
        (root / f"stray-{name}").write_text(text)
    done = memory.erase(sid, ids=["the-id"])
    assert done.verification is not None
    told = {one.partition(" ")[0] for one in done.verification.traces}
    assert told == {f"stray-{name}" for name in said}


def test_what_another_entry_says_too_is_no_trace(memory, sid):
    for one in ("a", "b"):
        memory.add_memory(sid, id=f"entry-{one}", type="note", content="the same long words here")
    done = memory.erase(sid, ids=["entry-a"])
    assert done.verification is not None
    assert done.verification.clean
    assert done.verification.elsewhere == 1
    assert not memory.verify_erasure(text="the same long words here").clean, "asked for, it is told"


@pytest.mark.parametrize("where", ["log", "archive", "damage"])
def test_an_id_of_another_session_is_another_entry(memory, sid, root, where):
    """Frameworks number what they save: the same id may stand in every session."""
    memory.create_session("u2", session_id="other")
    for session in (sid, "other"):
        memory.add_memory(session, id="message-0001", type="note", content=f"words in {session}")
    memory.query(text="words")
    if where == "archive":
        memory.archive_session("other")
    if where == "damage":  # here nobody can tell whose it is, so it is told
        log = root / "sessions/other/memory.jsonl"
        log.write_bytes(log.read_bytes().replace(b"words in", b"worms in"))
    proof = memory.erase(sid, ids=["message-0001"]).verification
    assert proof is not None
    assert proof.clean == (where != "damage"), proof.traces
    assert not memory.verify_erasure(ids=["message-0001"]).clean, "asked for, it is told"


@pytest.mark.parametrize("other", ["user", "shared", "session"])
def test_a_preference_of_the_same_name_is_another_entry_for_each_user(memory, sid, root, other):
    """Its id follows from its key, so that everybody has the same."""
    memory.create_session("u2", session_id="other")
    memory.update_preference(sid, scope="user", key="editor", value="words of the first")
    memory.update_preference("other", scope=other, key="editor", value="words of another")
    memory.query(text="words")
    done = memory.erase(None, user_id="u1")
    assert done.verification is not None
    assert done.verification.clean, done.verification.traces
    (own,) = done.ids
    assert traces(root, [own])[own], "the other one is there"
    kept = root / "users/u1/copied.jsonl"  # no erasure knows of it
    memory.update_preference(sid, scope="user", key="editor", value="words of the first")
    kept.write_bytes((root / "users/u1/preferences.jsonl").read_bytes())
    proof = memory.erase(None, user_id="u1").verification
    assert proof is not None
    assert {one.partition(" ")[0] for one in proof.traces} == {"users/u1/copied.jsonl"}


def test_what_is_left_of_an_erased_id_is_told_though_another_session_has_the_id(memory, sid, root):
    memory.create_session("u2", session_id="other")
    for session in (sid, "other"):
        memory.add_memory(session, id="message-0001", type="note", content=f"words in {session}")
    (line,) = (root / f"sessions/{sid}/memory.jsonl").read_bytes().splitlines(keepends=True)
    kept = root / "sessions/other/copied.jsonl"  # no erasure knows of it
    kept.write_bytes(line)
    proof = memory.erase(sid, ids=["message-0001"]).verification
    assert proof is not None
    assert [one for one in proof.traces if kept.name in one]


def test_several_sessions_are_looked_for_in_one_pass(memory, sid):
    names = [sid, "second", "third"]
    for name in names[1:]:
        memory.create_session("u2", session_id=name)
    for name in names:
        memory.add_memory(name, id="message-0001", tags=["gone"], content=f"secret of {name}")
        memory.add_memory(name, id="message-0002", content=f"what stays in {name}")
    memory.add_memory("third", id="message-0003", tags=["gone"], content="secret again")
    begun: list[int] = []
    done = memory.erase(
        names, tags=["gone"], progress=lambda at, total: begun.append(at) if at == 1 else None
    )
    assert (done.erased_count, len(begun)) == (4, 1)
    assert done.verification is not None
    assert done.verification.clean, done.verification.traces
    assert [one.id for name in names for one in memory.get_entries(name)] == ["message-0002"] * 3


def test_of_several_sessions_none_is_touched_if_one_is_not_there(memory, sid):
    memory.add_memory(sid, id="kept", type="note", content="stays")
    with pytest.raises(SessionNotFoundError, match="nope"):
        memory.erase([sid, "nope"], types=["note"])
    assert memory.get_memory(sid, "kept") is not None


def test_a_short_id_is_not_found_in_sums_and_names(memory, sid):
    for number in range(40):
        memory.add_memory(sid, type="note", content=f"entry {number}")
    for one in ("e1", "f", "talk"):
        memory.add_memory(sid, id=one, type="note", content="kumquat orchard")
        done = memory.erase(sid, ids=[one])
        assert done.verification is not None
        assert done.verification.clean, done.verification.traces


def test_an_agents_view_does_not_learn_what_others_files_say(memory, sid):
    memory.create_session("u2", session_id="private")
    memory.add_memory("private", id="p", type="note", content="kumquat orchard at midnight")
    for view in (memory.for_agent("analyst"), memory.for_user("u1")):
        try:
            found = view.verify_erasure(text="kumquat orchard")
        except NotAllowedError:
            continue
        assert found.clean


def test_a_users_proof_does_not_tell_whether_a_note_of_another_says_the_same(memory):
    """Else whoever may delete a session of theirs could ask what any file says."""
    memory.write_node("secret", "kumquat orchard at midnight", user_id="u2")
    for name, said in (
        ("guess", "kumquat orchard at midnight"),
        ("wrong", "kumquat orchard at noon"),
    ):
        memory.create_session("u1", session_id=name)
        memory.add_memory(name, id=f"id-of-{name}", type="note", content=said)
    ann = memory.for_user("u1")
    proofs = [ann.delete_session(one, verify=True).verification for one in ("guess", "wrong")]
    assert [one is not None and one.clean for one in proofs] == [True, True]


def test_without_verifying_nothing_is_scanned(root):
    disk = RecordingDisk(root)
    memory = open_on(disk)
    memory.create_session(session_id="other")
    memory.add_memory("other", content="x")
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="the-id", content="x")
    disk.calls.clear()
    assert memory.erase("talk", ids=["the-id"], verify=False).verification is None
    assert not [path for _, path in disk.calls if path.startswith("sessions/other")]


def test_backups_are_told_as_out_of_reach(memory, sid, tmp_path):
    memory.add_memory(sid, id="the-id", content="something")
    memory.backup(tmp_path / "saved")
    done = memory.erase(sid, ids=["the-id"])
    assert len(done.out_of_reach) == 1
    assert os.path.basename(done.out_of_reach[0]).startswith("saved")


def test_the_proof_of_very_many_erased_texts_names_each_that_is_left(memory, sid, root):
    said = {f"many-{number:04}": f"{word()} 記憶 {number}" for number in range(120)}
    memory.add_many(sid, [{"id": one, "content": text} for one, text in said.items()])
    left = {one: text for number, (one, text) in enumerate(said.items()) if number % 40 == 7}
    (root / "stray").write_bytes(b"\n".join(text.encode() for text in left.values()))
    (root / "stray.gz").write_bytes(gzip.compress(json.dumps([*left.values()]).encode()))
    proof = memory.erase(sid, ids=[*said]).verification
    assert not proof.clean
    assert len(proof.traces) == 2 * len(left)
    (root / "stray").unlink()
    (root / "stray.gz").unlink()
    assert memory.verify_erasure(text=said.values(), ids=said).clean
