"""The logs of users and the shared one make room for themselves when they are full."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import SizeLimitError, StorageFullError
from mnemolog.fs import read_all
from mnemolog.log.lines import verify
from mnemolog.settings import Settings
from mnemolog.testing import Recorder, SimulatedDisk, sampled
from mnemolog.testing.opening import open_on
from tests.crash_stories import SEED
from tests.forgetting.planting import audited, damage, opened
from tests.forgetting.scanner import traces, word

SMALL = {"storage.max_session_size_mb": 0.02}
STATES = 300


@pytest.fixture
def small(root, clock):
    with opened(root, clock, **SMALL) as memory:
        yield memory


def prefer(memory: Memory, key: str, value: str) -> str:
    return memory.update_preference(None, key=key, value=value, scope="user", user_id="ann").id


def in_force(memory: Memory) -> dict[str, str]:
    said = [one.content for one in memory.get_preferences(user_id="ann")]
    return {one["key"]: one["value"] for one in said if isinstance(one, dict)}


def filled(memory: Memory) -> list[str]:
    """Preferences until no more of them fit; their ids."""
    ids: list[str] = []
    with suppress(SizeLimitError):
        while True:
            ids.append(prefer(memory, f"key {len(ids)}", "x" * 200))
    return ids


def lines_of(root: Path) -> list[bytes]:
    return (root / "users/ann/preferences.jsonl").read_bytes().splitlines()


def test_a_preference_may_change_for_ever(small, root):
    prefer(small, "font", "serif")
    for number in range(200):
        prefer(small, "theme", f"number {number}")
    assert in_force(small) == {"font": "serif", "theme": "number 199"}
    seqs = [json.loads(line)["seq"] for line in lines_of(root)]
    assert seqs == sorted(set(seqs))
    assert seqs[-1] == 201
    assert {line["action"] for line in audited(root)} == {"compact"}
    with opened(root) as again:
        assert in_force(again) == {"font": "serif", "theme": "number 199"}


def test_the_same_holds_for_what_all_share(small):
    for number in range(200):
        small.update_preference(None, key="style", value=f"number {number}", scope="shared")
    assert [one.content["value"] for one in small.get_preferences()] == ["number 199"]


def test_what_was_erased_makes_room(small):
    ids = filled(small)
    with pytest.raises(SizeLimitError) as full:
        prefer(small, "font", "serif" * 40)
    assert "erase" in full.value.advice
    small.erase(None, ids=ids, verify=False)
    assert prefer(small, "font", "serif")
    assert in_force(small) == {"font": "serif"}


def test_only_what_was_deleted_long_ago_makes_room(small, clock):
    ids = filled(small)
    small.delete(None, ids=ids[:20])
    with pytest.raises(SizeLimitError):
        prefer(small, "font", "serif" * 40)
    assert set(small.undelete(None, ids[:20]).ids) == set(ids[:20])
    small.delete(None, ids=ids[:20])
    clock.advance(days=31)
    assert prefer(small, "font", "serif")
    assert len(in_force(small)) == len(ids) - 20 + 1


def test_it_is_not_rewritten_for_a_few_bytes(small, root):
    filled(small)
    inode = (root / "users/ann/preferences.jsonl").stat().st_ino
    with pytest.raises(SizeLimitError):
        prefer(small, "key 1", "y" * 300)
    assert (root / "users/ann/preferences.jsonl").stat().st_ino == inode


def test_a_first_time_and_damage_survive_and_a_search_goes_on(root, clock):
    damaged, secret = word(), word()
    with opened(root, clock, **SMALL) as memory:
        prefer(memory, "damaged", damaged)
        prefer(memory, "theme", secret)
        first = memory.get_preferences(user_id="ann")[1].timestamp
    damage(root / "users/ann/preferences.jsonl", damaged.encode(), damaged.upper().encode())
    with opened(root, clock, **SMALL) as memory:
        for number in range(100):
            clock.advance(days=0.01)
            prefer(memory, "theme", f"number {number}")
            assert memory.query(None, text=f"number {number}", types=["preference"])
        (theme,) = memory.get_preferences(user_id="ann")
        assert theme.timestamp == first
    content = (root / "users/ann/preferences.jsonl").read_bytes()
    assert (secret.encode() in content, damaged.upper().encode() in content) == (False, True)


def test_whenever_the_power_fails_it_is_as_it_was_or_as_it_is_to_be():
    disk, settings, names = SimulatedDisk(), Settings().changed(SMALL), ("a", "b", "c")
    memory = open_on(disk, settings)
    said = dict.fromkeys(names, "")
    flight: dict[str, str] = {}
    for number in range(60):
        said["a"] = f"first {number}"
        prefer(memory, "a", said["a"])
    recorder = Recorder(disk, lambda: (dict(said), dict(flight)))
    for number in range(30):
        name = names[number % 3]
        flight = {name: f"number {number}"}
        prefer(memory, name, flight[name])
        said |= flight
    moments = recorder.stop()
    assert disk.stat("audit.jsonl"), "it was rewritten meanwhile"
    for sample in sampled(moments, f"tidying/{SEED}", STATES):
        check_after_a_crash(sample.disk, settings, *sample.promises)


def check_after_a_crash(disk, settings, said, flight) -> None:
    memory = open_on(disk, settings)
    kept = {key: value for key, value in said.items() if value}
    assert in_force(memory) in (kept, {**kept, **flight})
    prefer(memory, "b", "goes on")
    assert in_force(memory)["b"] == "goes on"
    content = read_all(disk, "users/ann/preferences.jsonl")
    seqs = [json.loads(line)["seq"] for line in content.splitlines() if verify(line)]
    assert seqs == sorted(set(seqs))


@pytest.mark.parametrize("limit", ["storage.max_session_size_mb", "storage.max_root_size_mb"])
def test_secrets_are_hidden_in_what_is_full_too_and_it_makes_room_afterwards(root, limit):
    secret = "gh" + "p_" + "0Aq9" * 9
    small = {limit: 0.05}
    with opened(root, **small, **{"privacy.redaction": False}) as memory:
        memory.create_session("ann", session_id="talk")
        with suppress(SizeLimitError, StorageFullError):
            for number in range(200):
                memory.add_memory("talk", type="note", content=f"{number}: {secret}" + "x" * 200)
        prefer_until_full(memory, secret)
    with opened(root, **small) as memory:
        before = len(memory.get_entries("talk"))
        assert memory.redact().entries >= before > 50
        assert len(memory.get_entries("talk")) == before
    assert traces(root, [secret]) == {}
    with opened(root, **small) as memory:
        memory.compact_session("talk")
        assert traces(root, [secret]) == {}
        if limit == "storage.max_session_size_mb":
            assert memory.add_memory("talk", type="note", content="goes on").durable


def prefer_until_full(memory: Memory, value: str) -> None:
    with suppress(SizeLimitError):
        for number in range(200):
            prefer(memory, f"key {number}", value + "y" * 200)


WRITER = """
import sys
from mnemolog import Memory
root, name = sys.argv[1:]
settings = {"storage.max_session_size_mb": 0.02, "concurrency.lock_timeout_ms": 60000}
with Memory.open(root, settings=settings, environ={}) as memory:
    for number in range(80):
        memory.update_preference(
            None, key=name, value=f"{name} {number}", scope="user", user_id="ann"
        )
"""


def test_processes_that_write_meanwhile_lose_nothing(root):
    with opened(root, **SMALL) as memory:
        prefer(memory, "font", "serif")
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(root), f"w{number}"],
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        for number in range(4)
    ]
    assert [one.wait(timeout=120) for one in crowd] == [0] * 4
    with opened(root) as memory:
        assert in_force(memory) == {"font": "serif"} | {f"w{n}": f"w{n} 79" for n in range(4)}
        assert not memory.get_preferences(user_id="ann").warnings
        assert memory.query(None, text="w3 79", types=["preference"])
    seqs = [json.loads(line)["seq"] for line in lines_of(root)]
    assert seqs == sorted(set(seqs))
    assert seqs[-1] == 321
