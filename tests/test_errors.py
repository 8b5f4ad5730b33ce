"""One tree of errors: every code, really raised, with advice and numbers, never with content."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from mnemolog import Memory, errors
from mnemolog.errors import MnemologError, SchemaInvalidError, SessionNotFoundError
from tests.log.disks import RecordingDisk, open_on
from tests.log.test_locks import held

SEED_001 = set(
    "E_STORAGE_IO E_STORAGE_FULL E_STORAGE_CORRUPT E_LOCK_TIMEOUT E_CONCURRENT_MOD"
    " E_INVALID_FORMAT E_SCHEMA_INVALID E_SIZE_LIMIT E_SESSION_NOT_FOUND E_SESSION_ARCHIVED"
    " E_SESSION_CORRUPT E_QUERY_TIMEOUT E_INVALID_QUERY".split()
)
CLASSES = {
    name: one
    for name, one in vars(errors).items()
    if inspect.isclass(one) and issubclass(one, MnemologError)
}
WITH_CODE = {name: one for name, one in CLASSES.items() if "code" in vars(one)}


def test_all_thirteen_codes_of_the_first_document_have_one_class_each():
    codes = [one.code for one in WITH_CODE.values()]
    assert len(codes) == len(set(codes))
    assert len(SEED_001) == 13
    assert set(codes) >= SEED_001


def test_the_four_classes_of_the_second_document_catch_what_they_name():
    assert issubclass(errors.LockTimeoutError, errors.ConcurrencyError)
    assert issubclass(errors.ConcurrentModificationError, errors.ConcurrencyError)
    assert errors.SizeLimitError.code == "E_SIZE_LIMIT"
    assert errors.CorruptionError.code == "E_STORAGE_CORRUPT"
    assert issubclass(errors.StorageIOError, IOError)
    assert issubclass(errors.StorageFullError, IOError)


def test_the_tree_in_the_docstring_is_the_real_one():
    drawn = re.findall(r"([ │├└─]*)(\w+Error)(?: +(E_\w+))?", errors.__doc__ or "")
    stack: list[tuple[int, str]] = []
    for prefix, name, code in drawn:
        while stack and stack[-1][0] >= len(prefix):
            stack.pop()
        if stack and name in CLASSES:
            assert CLASSES[stack[-1][1]] in CLASSES[name].__bases__, name
        if code:
            assert WITH_CODE[name].code == code
        if name in CLASSES:
            stack.append((len(prefix), name))
    assert {name for _, name, _ in drawn} >= set(CLASSES)


def test_the_python_errors_noted_in_the_docstring_are_bases_too():
    noted = re.findall(r"(\w+Error) +E_\w+ +\(also an? (\w+)\)", errors.__doc__ or "")
    assert len(noted) >= 10
    for name, base in noted:
        assert base in {one.__name__ for one in CLASSES[name].__mro__}


def test_every_class_says_what_it_means():
    assert all(inspect.getdoc(one) for one in CLASSES.values())


def test_an_error_shows_its_message_and_its_advice():
    error = errors.SizeLimitError("Too large.", advice="Split it.", size_bytes=5)
    assert str(error) == "Too large. Split it."
    assert error.details == {"size_bytes": 5}
    assert (error.message, error.advice, error.code) == ("Too large.", "Split it.", "E_SIZE_LIMIT")


def failing_sync(memory: Memory, disk: RecordingDisk) -> None:
    def fail(name: str, path: str) -> None:
        if name == "sync":
            raise errors.StorageIOError("Could not sync.")

    disk.before = fail
    memory.add_memory("talk", content=SECRET)


def full_disk(memory: Memory, disk: RecordingDisk) -> None:
    disk.room = 10
    memory.add_memory("talk", content=SECRET)


def missing_segment(memory: Memory, disk: RecordingDisk) -> None:
    disk.unlink("sessions/talk/memory.jsonl")
    memory.close()
    memory.get_entries("talk")


def corrupt_manifest(memory: Memory, disk: RecordingDisk) -> None:
    disk.unlink("sessions/talk/manifest.json")
    disk.open("sessions/talk/manifest.json", "create").append(b"{" + SECRET.encode())
    memory.get_entries("talk")


def held_lock(memory: Memory, disk: RecordingDisk) -> None:
    with held(disk.root / "sessions/talk/lock"):
        memory.add_memory("talk", content=SECRET)


def stale_update(memory: Memory, disk: RecordingDisk) -> None:
    memory.update_memory("talk", "m1", content=SECRET, expected_seq=99)


SECRET = "the unicorn sleeps at noon"
LONG = SECRET * 50_000

PROVOKED: list[tuple[str, Callable[[Memory, RecordingDisk], Any]]] = [
    ("E_STORAGE_IO", failing_sync),
    ("E_STORAGE_FULL", full_disk),
    ("E_STORAGE_CORRUPT", missing_segment),
    ("E_LOCK_TIMEOUT", held_lock),
    ("E_CONCURRENT_MOD", stale_update),
    ("E_INVALID_FORMAT", lambda m, _: m.add_memory("talk", content=SECRET, timestamp="soon")),
    ("E_SCHEMA_INVALID", lambda m, _: m.add_memory("talk", content=SECRET, colour="red")),
    ("E_SIZE_LIMIT", lambda m, _: m.add_memory("talk", content=LONG)),
    ("E_SESSION_NOT_FOUND", lambda m, _: m.add_memory("nobody", content=SECRET)),
    ("E_SESSION_CORRUPT", corrupt_manifest),
    ("E_SESSION_EXISTS", lambda m, _: m.create_session(session_id="talk")),
    ("E_ENTRY_NOT_FOUND", lambda m, _: m.update_memory("talk", "m9", content=SECRET)),
    ("E_NOT_ALLOWED", lambda m, _: m.for_agent("architect").delete_session("talk")),
    ("E_SETTINGS", lambda m, _: m.create_session(settings={"decay.minimum": 7})),
]


@pytest.fixture
def disk(root):
    return RecordingDisk(root)


@pytest.fixture
def provoked(disk):
    memory = open_on(disk, **{"concurrency.lock_timeout_ms": 0})
    memory.create_session(session_id="talk", agent_ids=["architect"])
    memory.add_memory("talk", id="m1", content=SECRET)
    return memory


@pytest.mark.req(
    "S001-142", "S001-143", "S001-144", "S001-145", "S001-146", "S001-147", "S001-148", "S001-149",
    "S001-150", "S001-152", "S002-063",
)  # fmt: skip
@pytest.mark.parametrize(("code", "provoke"), PROVOKED, ids=[code for code, _ in PROVOKED])
def test_every_code_is_really_raised_with_advice_and_without_content(provoked, disk, code, provoke):
    with pytest.raises(MnemologError) as caught:
        provoke(provoked, disk)
    error = caught.value
    assert error.code == code
    assert error.advice, "an error says what to do about it"
    shown = f"{error} {error.details}"
    assert "unicorn" not in shown
    assert len(str(error)) < 1000


def test_the_table_above_holds_every_code_that_can_be_raised_today():
    handed_on = {"E_SESSION_ARCHIVED", "E_QUERY_TIMEOUT", "E_INVALID_QUERY"}
    assert {code for code, _ in PROVOKED} >= SEED_001 - handed_on


@pytest.mark.parametrize(
    "record",
    [
        {"content": {"the unicorn": {1, 2}}},
        {"content": {"the unicorn" * 1000: object()}},
        {"content": {"a": {"the unicorn": float("nan")}}},
        {"content": {"list": ["the unicorn", b"the unicorn"]}},
        {"type": "preference", "key": "k", "value": "v", "confidence": "the unicorn"},
        {"type": "decision", "decision": "x", "approved_by": "the unicorn"},
        {"content": "the unicorn", "tags": ["not a tag"]},
        {"content": "the unicorn", "decision": "x", "type": "decision"},
        {"content": {"x": "the unicorn"}, "importance": 7},
        {"content": ["the unicorn"]},
    ],
    ids=[
        "key",
        "long key",
        "nested",
        "bytes",
        "confidence",
        "list",
        "tag",
        "both",
        "weight",
        "seq",
    ],
)
def test_a_refusal_never_quotes_the_content(memory, sid, record):
    with pytest.raises(MnemologError) as caught:
        memory.add_memory(sid, record)
    assert "unicorn" not in f"{caught.value} {caught.value.details}"
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("given", "meant"),
    [("contnet", "content"), ("text", "content"), ("message", "content"), ("agent", "agent_id"),
     ("tag", "tags")],
)  # fmt: skip
def test_a_slip_in_the_name_of_a_field_is_told_with_the_field_that_is_meant(
    memory, sid, given, meant
):
    with pytest.raises(SchemaInvalidError) as refused:
        memory.add_conversation(sid, role="user", **{given: "x"})
    assert refused.value.advice == f"Did you mean {meant!r}?"


def test_words_in_the_place_of_a_session_are_told_where_they_belong(memory):
    for ask in (memory.query, memory.context):
        with pytest.raises(SessionNotFoundError, match="first, then `text=`"):
            ask("which database did we choose?")


def test_the_kind_of_a_value_is_told_with_its_article(memory, sid):
    with pytest.raises(MnemologError, match=r"metadata holds an object, which"):
        memory.add_memory(sid, content="x", metadata={"a": object()})
    with pytest.raises(MnemologError, match=r"agent_ids must be a list of names, not an object\."):
        memory.create_session(agent_ids=object())
    with pytest.raises(MnemologError, match=r"An entry is an object, not a list\."):
        memory.add_memory(sid, ["x"])
