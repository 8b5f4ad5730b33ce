"""Exports from anywhere: whatever a writer of ours would not have written is refused."""

import base64
import gzip
import json
import os
from hashlib import sha256

import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidFormatError, MnemologError, StorageFullError
from mnemolog.log import native
from mnemolog.settings import Settings
from mnemolog.stores.files.moving.mover import FilesMover
from mnemolog.testing import SimulatedDisk
from tests.crash_stories import opened
from tests.log import independent
from tests.stores.native_files import HEADER, MANIFEST, dumped, export, held, log


@pytest.fixture
def other(tmp_path, clock):
    with Memory.open(tmp_path / "other", clock=clock, environ={}) as memory:
        yield memory


ONE = independent.build(1, "m1")
TWO = independent.build(2, "m2")


def of(line: bytes, **fields) -> bytes:
    """The line with other values and a right sum."""
    record = {**json.loads(line), **fields}
    record.pop("sum")
    seq = record.pop("seq")
    return independent.seal({**record, "seq": seq})


def manifest(**facts):
    return {**MANIFEST, **facts}


def segments(*rows):
    return manifest(
        segments=[dict(zip(("name", "size", "first_seq"), row, strict=False)) for row in rows]
    )


def wrapped(piece: bytes) -> bytes:
    return dumped({"mnemolog": "bytes", "base64": base64.b64encode(piece).decode()})


def deep() -> bytes:
    """A line with a right sum that no decoder gets to the bottom of."""
    start = independent.build(1, "m1", {"a": "HERE"}).rpartition(independent.MARK)[0]
    body = start.replace(b'"HERE"', b"[" * 5000 + b"]" * 5000)
    return body + independent.MARK + b'"sha256:' + sha256(body).hexdigest().encode() + b'"}\n'


GOOD = export(log([ONE, TWO]))

HOSTILE = {
    "empty": b"",
    "no header": log([ONE]),
    "another program's file": b'{"type":"entity","name":"x"}\n',
    "a newer form": GOOD.replace(b'"v": 1, "exported_at"', b'"v": 2, "exported_at"'),
    "cut in a line": GOOD[:-200],
    "cut after a line": GOOD[: GOOD.index(TWO)],
    "cut after a log": GOOD[: GOOD.rindex(b'{"mnemolog": "end"')],
    "cut newline": GOOD[:-1],
    "glued": GOOD + GOOD,
    "glued garbage": GOOD + b"x",
    "the same log twice": export(log([ONE]), log([ONE])),
    "a line less": GOOD.replace(TWO, b""),
    "lines swapped": export(log([TWO, ONE])),
    "the same number twice": export(log([ONE, of(TWO, seq=1)])),
    "a number of zero": export(log([of(ONE, seq=0)])),
    "a huge number": export(log([of(ONE, seq=2**60)])),
    "a wrong sum": export(log([ONE.replace(b"hello", b"hallo")])),
    "a wrong sum of the log": GOOD.replace(b'"lines": 2, "bytes"', b'"lines": 3, "bytes"'),
    "a newer line": export(log([of(ONE, v=2)])),
    "a newer manifest": export(log([ONE], manifest(v=2))),
    "no manifest": export(log([ONE], {})),
    "another session's manifest": export(log([ONE], manifest(session_id="other"))),
    "another session's line": export(log([of(ONE, session_id="other")])),
    "an empty id": export(log([], manifest(session_id=""), id="")),
    "an id with NUL": export(log([], manifest(session_id="a\0"), id="a\0")),
    "a long id": export(log([], manifest(session_id="a" * 2000), id="a" * 2000)),
    "no kind": export(log([], kind="group")),
    "an unknown field": export(log([ONE], extra=1)),
    "a shared log with an id": export(log([], kind="shared", id="x")),
    "a user with a manifest": export(log([], kind="user", id="u").replace(
        b'"id": "u"', b'"id": "u", "manifest": {"v": 1}')),
    "a segment outside": export(log([ONE], segments(("../../memory.jsonl",)))),
    "a segment of any name": export(log([ONE], segments(("lock",)))),
    "no segment": export(log([ONE], manifest(segments=[]))),
    "two open segments": export(log([ONE], segments(("memory.jsonl",), ("memory.g1.2.jsonl",)))),
    "a sealed last segment": export(log([ONE], segments(("memory.jsonl", len(ONE))))),
    "one name twice": export(log([ONE], segments(("memory.jsonl", len(ONE)), ("memory.jsonl",)))),
    "the name of a later segment": export(
        log([ONE], segments(("memory.jsonl", len(ONE)), ("memory.g1.3.jsonl", None, 2)))),
    "the name of a later generation": export(log([ONE], segments(("memory.g2.1.jsonl",)))),
    "a segment too long": export(
        log([ONE, TWO], segments(("memory.jsonl", 10), ("memory.g1.2.jsonl", None, 2)))),
    "a segment too short": export(
        log([ONE], segments(("memory.jsonl", 10**6), ("memory.g1.2.jsonl", None, 2)))),
    "a used number again": export(
        log([ONE], segments(("memory.jsonl", len(ONE)), ("memory.g1.2.jsonl", None, 1)))),
    "a negative size": export(
        log([], segments(("memory.jsonl", -1), ("memory.g1.2.jsonl", None, 1)))),
    "a generation of none": export(log([ONE], manifest(generation=0))),
    "a marker of the wrong kind": export(log([ONE], manifest(markers={"closed_seq": "7"}))),
    "settings that nobody knows": export(log([ONE], manifest(settings={"nonsense": 1}))),
    "metadata that is none": export(log([ONE], manifest(metadata=[]))),
    "a wrong time": export(log([of(ONE, timestamp="yesterday")])),
    "a wrong type": export(log([of(ONE, type="No Type!")])),
    "a wrong scope": export(log([of(ONE, scope="everybody")])),
    "a user's entry in a session": export(log([of(ONE, scope="user")])),
    "a session's entry in a user's log": export(log([of(ONE)], kind="user", id="u")),
    "wrong tags": export(log([of(ONE, tags=["a b/../c"])])),
    "a wrong weight": export(log([of(ONE, importance=7)])),
    "a wrong shape": export(log([of(ONE, content=7)])),
    "depth": export(log([deep()])),
    "no base64": export(log([dumped({"mnemolog": "bytes", "base64": "not base64"})])),
    "several lines as one": export(log([wrapped(ONE + TWO)], size=len(ONE + TWO))),
    "a line without its end": export(log([wrapped(b"x")], size=1)),
    "another header": export(log([dumped(HEADER)])),
    "not text": b"\xff\xfe\x00\n",
    "damaged gzip": gzip.compress(GOOD)[:-9],
    "gzip of nothing": gzip.compress(b""),
    "garbage after gzip": gzip.compress(GOOD) + b"garbage",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_and_stores_nothing(other, tmp_path, name):
    other.create_session(session_id="mine")
    other.add_memory("mine", content="here")
    before = held(tmp_path / "other")
    (tmp_path / "x.jsonl").write_bytes(HOSTILE[name])
    for dry_run in (True, False):
        with pytest.raises(MnemologError) as caught:
            other.import_native(tmp_path / "x.jsonl", dry_run=dry_run)
        assert isinstance(caught.value, ValueError)
    assert held(tmp_path / "other") == before
    assert os.listdir(tmp_path / "other" / "sessions") == ["mine"]


def test_the_same_file_without_the_fault_is_taken(other, tmp_path):
    (tmp_path / "x.jsonl").write_bytes(GOOD)
    (one,) = other.import_native(tmp_path / "x.jsonl").logs
    assert (one.log.id, one.status, one.lines) == ("talk", "stored", 2)


def test_a_valid_line_hidden_in_damage_is_checked_like_any_other(other, tmp_path):
    evil = b"garbage" + of(ONE, session_id="other")
    content = export(log([wrapped(evil)], size=len(evil)))
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(InvalidFormatError, match="another session"):
        other.import_native(tmp_path / "x.jsonl")


def test_a_line_without_end_is_given_up_on(other, tmp_path, monkeypatch):
    monkeypatch.setattr("mnemolog.stores.files.moving.importing.MAX_LINE", 1000)
    monkeypatch.setattr(native, "MAX_LINE", 1000)
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(b"{" + b" " * 10**7))
    with pytest.raises(InvalidFormatError, match="too long"):
        other.import_native(tmp_path / "x.jsonl.gz")


def test_an_id_that_looks_like_a_path_stays_inside(other, tmp_path):
    name = "../../../evil"
    line = of(ONE, session_id=name)
    (tmp_path / "x.jsonl").write_bytes(export(log([line], manifest(session_id=name), id=name)))
    other.import_native(tmp_path / "x.jsonl")
    assert [one.id for one in other.get_entries(name)] == ["m1"]
    assert os.listdir(tmp_path / "other" / "sessions") == ["%2e%2e%2f%2e%2e%2f%2e%2e%2fevil"]


def test_a_full_disk_stores_no_half_session(tmp_path):
    lines = [independent.build(n, f"m{n}", "x" * 1000) for n in range(1, 50)]
    (tmp_path / "x.jsonl").write_bytes(export(log(lines)))
    disk = SimulatedDisk()
    memory = opened(disk, Settings())
    used = sum(map(len, filter(None, disk.tree().values())))
    mover = FilesMover(disk, Settings())
    for room in (100, 20_000, sum(map(len, lines)) + 10):  # at last only the manifest lacks room
        disk.capacity = used + room
        with pytest.raises(StorageFullError):
            mover.import_native(str(tmp_path / "x.jsonl"))
        assert disk.list("sessions") == []
    disk.capacity = None
    assert mover.import_native(str(tmp_path / "x.jsonl")).lines == 49
    assert len(memory.get_entries("talk")) == 49
