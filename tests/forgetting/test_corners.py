"""Where one promise meets another: each case in its smallest form."""

import json
import random

import pytest

from mnemolog import Memory
from mnemolog.adapters.ndjson import AgentSessions
from mnemolog.errors import ConcurrentModificationError, NotAllowedError, SchemaInvalidError
from tests.forgetting.scanner import traces


def token() -> str:
    """A made-up token in the shape of a real one."""
    return "gh" + "p_" + "".join(random.choices("abcdefghijkmnopqrstuvwxyz0123456789AB", k=36))


def password() -> str:
    return "pw-" + "".join(random.choices("abcdefghijkmnpqrstuvwxyz23456789", k=20))


@pytest.fixture
def root(tmp_path):
    return tmp_path / "root"


def opened(root, **settings):
    return Memory.open(root, environ={}, settings=settings, embedder="none")


def test_an_id_is_not_free_for_others_because_its_entry_was_moved_out(root):
    with opened(root, compaction={"relevance_floor": 1.0}) as memory:
        memory.create_session("u", agent_ids=["a", "b"], session_id="s")
        a, b = memory.for_agent("a"), memory.for_agent("b")
        b.add_memory("s", type="note", content="private of b", scope="agent", id="k")
        memory.compact_session("s")
        with pytest.raises(ConcurrentModificationError):
            a.add_memory("s", type="note", content="mine", id="k")
        assert a.erase("s", ids=["k"]).erased_count == 0
        found = b.get_memory("s", "k")
        assert found is not None
        assert found.content == "private of b"


def test_no_page_of_the_index_keeps_an_erased_word(root):
    source = random.Random(7)
    said = ["".join(source.choices("abcdefghijklmnop", k=12)) for _ in range(300)]
    with opened(root) as memory:
        memory.create_session(session_id="s")
        for start in range(0, 300, 50):
            batch = said[start : start + 50]
            memory.add_many("s", [{"type": "note", "content": f"victim {one}"} for one in batch])
            memory.query("s", text="victim")
        entries = {entry.text.split()[1]: entry.id for entry in memory.get_entries("s")}
        source.shuffle(said)
        for start in range(0, 300, 100):
            gone = said[start : start + 100]
            memory.erase("s", ids=[entries[one] for one in gone], verify=False)
            assert traces(root, gone) == {}
            memory.add_memory("s", type="note", content=f"later {start}")
            memory.query("s", text="later")


def test_redacting_goes_on_past_an_archived_session_with_nothing_to_hide(root):
    secret = token()
    with opened(root, privacy={"redaction": False}) as memory:
        for name in ("a-clean", "b-dirty"):
            memory.create_session(session_id=name)
        memory.add_memory("a-clean", type="note", content="harmless")
        memory.archive_session("a-clean")
        memory.add_memory("b-dirty", type="note", content=secret)
        user = {"scope": "user", "user_id": "lonely"}
        memory.update_preference(None, key="note", value=secret, **user)
    with opened(root) as memory:
        assert memory.redact().entries == 2
        assert memory.load_session("a-clean").state == "archived"
    assert traces(root, [secret]) == {}


def test_a_users_view_redacts_nothing(root):
    with opened(root) as memory:
        memory.create_session("alice", session_id="s")
        with pytest.raises(NotAllowedError):
            memory.for_user("bob").redact(dry_run=True)


@pytest.mark.parametrize("field", ["category", "role"])
def test_a_secret_in_a_name_beside_the_content_is_hidden_too(root, field):
    secret = token()
    with opened(root) as memory:
        memory.create_session(session_id="s")
        receipt = memory.add_memory("s", type="note", content="x", **{field: secret})
        assert receipt.redactions == ("api-key",)
    assert traces(root, [secret]) == {}


@pytest.mark.parametrize("scope", ["session", "user", "shared"])
def test_a_preference_that_is_called_a_password_is_one(root, scope):
    secret = password()
    with opened(root) as memory:
        memory.create_session("u", session_id="s")
        memory.update_preference("s", key="db_password", value=secret, scope=scope)
    assert traces(root, [secret]) == {}


def test_a_pattern_that_matches_the_name_of_a_field_hides_only_what_was_said(root):
    pattern = {"type": "q", "regex": "content"}
    with opened(root, privacy={"redaction_patterns": [pattern]}) as memory:
        memory.create_session(session_id="s")
        memory.add_memory("s", type="note", content="the content of it")
        assert memory.get_entries("s")[0].content == "the [REDACTED:q] of it"


NOW = "2026-11-15T09:00:00.000Z"
TICKETS = {"privacy.redaction_patterns": [{"type": "ticket", "regex": "TICKET-[0-9]{1,9}"}]}


@pytest.mark.parametrize("verb", ["delete", "clear", "erase", "delete session", "import"])
def test_a_reason_is_redacted_by_the_rules_of_its_session_too(root, verb):
    secret = "TICKET-70012345"
    with opened(root) as memory:
        memory.create_session(session_id="s", settings=TICKETS)
        memory.add_memory("s", id="the-id", type="note", content="x")
        if verb == "delete":
            memory.delete("s", ids=["the-id"], reason=f"because of {secret}")
        elif verb == "clear":
            memory.clear_session("s", reason=f"because of {secret}")
        elif verb == "erase":
            memory.erase("s", ids=["the-id"], reason=f"because of {secret}")
        elif verb == "delete session":
            memory.delete_session("s", reason=f"because of {secret}")
        else:
            memory.import_from(deleted_elsewhere(f"because of {secret}"), "one-log")
            assert memory.undelete("s", ["e"]).ids == ("e",)
    assert traces(root, [secret]) == {}


def test_facts_that_come_with_a_pattern_are_redacted_by_it(root):
    with opened(root) as memory:
        memory.create_session(session_id="s")
        memory.update_session("s", metadata={"case": "TICKET-70012345"}, settings=TICKETS)
        assert memory.load_session("s").metadata == {"case": "[REDACTED:ticket]"}
    assert traces(root, ["TICKET-70012345"]) == {}


def deleted_elsewhere(reason: str) -> dict[str, bytes]:
    """A session of the layout `one-log` with an entry that was deleted there."""
    entry = {"id": "e", "session_id": "s", "timestamp": NOW, "type": "note", "content": "gone"}
    tombstone = {"id": "e", "timestamp": NOW, "reason": reason}
    files = {
        "metadata.json": {"session_id": "s"},
        "memory.jsonl": entry,
        "tombstones.jsonl": tombstone,
    }
    return {f"sessions/s/{name}": json.dumps(one).encode() + b"\n" for name, one in files.items()}


def test_an_event_with_a_secret_may_be_the_first_one(tmp_path):
    secret = password()
    saved = AgentSessions(tmp_path, "reviewer").save({"content": f"password={secret}"})
    assert saved.redactions == ("password",)
    assert traces(tmp_path, [secret]) == {}


def test_a_view_learns_nothing_of_others_from_a_proof_or_of_backups(root, tmp_path):
    with opened(root) as memory:
        memory.create_session("alice", session_id="hers", metadata={"plan": "buy the lighthouse"})
        memory.create_session("bob", session_id="his")
        memory.backup(tmp_path / "backup.tar.gz")
        bob = memory.for_user("bob")
        guess = bob.add_memory("his", type="note", content="buy the lighthouse")
        done = bob.erase("his", ids=[guess.id])
        assert done.verification is not None
        assert (done.verification.clean, done.out_of_reach) == (True, ())
        assert bob.known_backups() == ()
        assert len(memory.known_backups()) == 1


def test_looking_for_nothing_is_refused_and_short_words_are_looked_for(root):
    with opened(root) as memory:
        memory.create_session(session_id="s")
        memory.add_memory("s", type="note", content="Bob")
        assert not memory.verify_erasure(text="Bob").clean
        for nothing in ({}, {"text": ""}, {"ids": [""]}):
            with pytest.raises(SchemaInvalidError):
                memory.verify_erasure(**nothing)


def test_the_reason_of_a_deletion_is_no_trace_of_what_was_erased(root):
    with opened(root) as memory:
        memory.create_session(session_id="s")
        one = memory.add_memory("s", type="note", content="a long enough sentence")
        memory.delete("s", ids=[one.id], reason="asked by the user")
        done = memory.erase("s", ids=[one.id])
        assert done.verification is not None
        assert done.verification.clean
