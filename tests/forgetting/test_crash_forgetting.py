"""Power loss before every operation of deleting, erasing, compacting and removing.

Told like the stories of `test_crash.py`: each state that a power loss may leave is opened. What was
acknowledged and nobody deleted is there; what was erased is in no file, whether the erasure had
been acknowledged or was finished just now.
"""

import os
from collections.abc import Callable, Iterable
from random import Random

import pytest

from mnemolog import Memory
from mnemolog.errors import MnemologError, SessionNotFoundError
from mnemolog.settings import Settings
from mnemolog.testing import Moment, Recorder, SimulatedDisk, sampled
from tests.crash_stories import SEED, Book, Key, Ledger
from tests.forgetting.scanner import layers
from tests.forgetting.tales import TALES, Forgetter, Tale, labels_of, opened_at, secret

AFTER_A_KILL = 60
AFTER_A_SECOND_LOSS = 60

every_tale = pytest.mark.parametrize("name", TALES)


@pytest.fixture(autouse=True)
def _the_same_names_every_time(monkeypatch):
    monkeypatch.setattr(os, "urandom", Random(SEED).randbytes)


def told(tale: Tale) -> list[Moment[Ledger]]:
    """Every moment of a tale, from the first opening of the root on."""
    disk, book = SimulatedDisk(), Book({})
    recorder = Recorder(disk, book.now)
    tale.tell(Forgetter(disk, book, tale.settings))
    return recorder.stop()


def revisited(disk: SimulatedDisk, ledger: Ledger, settings: Settings) -> list[Moment[Ledger]]:
    """Another program opens what it finds, forgets some of it, and compacts the rest."""
    book = Book(ledger)
    disk.unlink("audit.jsonl")  # it has a test of its own
    recorder = Recorder(disk, book.now)
    caller = Forgetter(disk, book, settings)
    caller.later()
    for session in caller.memory.list_sessions():
        caller.add(session.id, "visited", f"gone-{session.id}")
        caller.erase(session.id, f"gone-{session.id}")
        caller.memory.compact_session(session.id)
    return recorder.stop()


# --- what has to hold


def found_on(memory: Memory, ledger: Ledger) -> dict[Key, str]:
    """Every session and what is found of its entries, in the log or in the archive."""
    found: dict[Key, str] = {}
    for session in memory.list_sessions():
        found["session", session.id] = "yes"
        for label in labels_of(session.id, list(ledger)):
            entry = memory.get_memory(session.id, label)
            if entry is not None:
                assert entry.id == label
                found["entry", session.id, label] = entry.text
        listed = [entry.id for entry in memory.get_entries(session.id)]
        assert len(listed) == len(set(listed))
        strangers = set(listed) - set(labels_of(session.id, list(ledger)))
        assert not strangers, f"nobody wrote {strangers}"
    return found


def bytes_of(disk: SimulatedDisk) -> bytes:
    tree = disk.tree()
    return b"\0".join(layer for content in tree.values() for layer in layers(content or b""))


def hold_against(found: dict[Key, str], ledger: Ledger, memory: Memory) -> None:
    for key, values in ledger.items():
        if key[0] == "entry" and ("session", key[1]) not in found:
            continue  # whether the session may be missing is checked under its own key
        if key[0] != "bytes":
            assert found.get(key) in values, (
                f"{key} is {found.get(key)!r}, not one of {set(values)}"
            )
    for kind, name, *_ in ledger.keys() - found.keys():
        if kind == "session":
            with pytest.raises(SessionNotFoundError):
                memory.load_session(name)


def check_bytes(disk: SimulatedDisk, memory: Memory, found: dict[Key, str], ledger: Ledger) -> None:
    """What is erased is nowhere; while it was being erased, it is whole or nowhere."""
    everything = bytes_of(disk)
    for kind, session, *rest in ledger:
        if kind != "bytes" or ("entry", session, rest[0]) in found:
            continue
        text = secret(rest[0]).encode()
        is_settled = ledger["bytes", session, rest[0]] == frozenset({"gone"})
        is_hidden = not is_settled and ("session", session) in found
        if is_hidden and rest[0] in memory.undelete(session, [rest[0]]).ids:
            continue  # it was only deleted, and nothing had begun
        assert text not in everything or _is_late(memory, session, rest[0], is_settled), (
            f"{rest[0]} is still in {[p for p, c in disk.tree().items() if text in (c or b'')]}"
        )


def _is_late(memory: Memory, session: str, label: str, is_settled: bool) -> bool:
    """Deleted long ago, and the compaction that drops it has not begun."""
    if is_settled or not any(one.id == session for one in memory.list_sessions()):
        return False
    return "over" in memory.undelete(session, [label]).refused.get(label, "")


def check_leftovers(disk: SimulatedDisk) -> None:
    tree = disk.tree()
    assert not [path for path in tree if path.startswith("intents/") and path.endswith(".json")]
    assert not [path for path in tree if ".gone-" in path]


def go_on(memory: Memory, session: str) -> None:
    before = [(entry.id, entry.seq) for entry in memory.get_entries(session)]
    receipt = memory.add_memory(session, type="note", content="after: all")
    after = [(entry.id, entry.seq) for entry in memory.get_entries(session)]
    assert after == [*before, (receipt.id, receipt.seq)]
    assert all(seq < receipt.seq for _, seq in before)
    memory.erase(session, ids=[receipt.id], verify=False)
    assert [(entry.id, entry.seq) for entry in memory.get_entries(session)] == before


def check(disk: SimulatedDisk, ledger: Ledger, settings: Settings) -> None:
    memory = opened_at(disk, settings)
    disk.unlink("audit.jsonl")  # it has a test of its own
    check_leftovers(disk)
    found = found_on(memory, ledger)
    hold_against(found, ledger, memory)
    check_bytes(disk, memory, found, ledger)
    for kind, name, *_ in found:
        if kind == "session":
            go_on(memory, name)


def some(moments: list[Moment[Ledger]], wanted: int) -> list[Moment[Ledger]]:
    """At most so many moments, evenly; the last one is among them."""
    return moments[:: -max(1, len(moments) // wanted)]


def check_audit(disk: SimulatedDisk, ledger: Ledger, settings: Settings) -> None:
    """Its chain is whole, and goes on."""
    memory = opened_at(disk, settings)
    before = list(memory._keeper.audited())
    memory.create_session(session_id="fresh")
    receipt = memory.add_memory("fresh", type="note", content="x")
    assert memory.erase("fresh", ids=[receipt.id], verify=False).erased_count == 1
    *same, last = memory._keeper.audited()
    assert (same, last.action) == (before, "erase")


def check_states(
    moments: Iterable[Moment[Ledger]],
    name: str,
    wanted: int,
    settings: Settings,
    check: Callable[[SimulatedDisk, Ledger, Settings], None] = check,
) -> None:
    states, wrong = set(), list[str]()
    for sample in sampled(some(list(moments), wanted), name, wanted):
        states.add(sample.fingerprint)
        try:
            check(sample.disk, sample.promises, settings)
        except (AssertionError, MnemologError, OSError) as error:
            wrong.append(f"{sample.name}: {str(error).splitlines()[0]}")
    assert len(states) >= wanted
    assert not wrong, "\n".join([f"{len(wrong)} of {len(states)} states:", *wrong[:12]])


@every_tale
def test_a_power_loss_loses_nothing_that_is_kept_and_keeps_nothing_that_is_erased(name):
    tale = TALES[name]
    check_states(told(tale), f"{name}/{SEED}", tale.states, tale.settings)


@every_tale
def test_what_is_acknowledged_after_a_kill_survives_a_power_loss(name):
    tale = TALES[name]
    moments = [
        later
        for moment in told(tale)[::9]
        for later in revisited(moment.disk.kill(), moment.promises, tale.settings)
    ]
    check_states(moments, f"killed while {name}/{SEED}", AFTER_A_KILL, tale.settings)


@every_tale
def test_a_second_power_loss_while_the_first_is_mended_does_no_harm(name):
    tale, title = TALES[name], f"twice while {name}/{SEED}"
    moments = [
        later
        for number, moment in enumerate(told(tale)[::3])
        for later in revisited(
            moment.disk.crash(Random(f"{title}/{number}")), moment.promises, tale.settings
        )
    ]
    check_states(moments, title, AFTER_A_SECOND_LOSS, tale.settings)


@pytest.mark.req("S002-102")
@pytest.mark.parametrize("name", ["deleting", "erasing", "removing", "compacting"])
def test_a_power_loss_leaves_an_audit_that_can_be_read_and_added_to(name):
    tale = TALES[name]
    check_states(told(tale), f"audit of {name}/{SEED}", 150, tale.settings, check_audit)
