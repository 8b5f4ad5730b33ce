"""Power loss before every operation that the graph makes on the disk.

Each story is told on a simulated disk. From every moment of it states are drawn that a power loss
may leave; each is opened again and held against what had been promised.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from mnemolog.errors import NodeNotFoundError
from mnemolog.graph.shelf import FilesShelf
from mnemolog.model.lesson import Edit, EditPlan, Source, Waiting
from mnemolog.policy import front_matter
from mnemolog.testing import Moment, Recorder, SimulatedDisk, sampled
from tests.graph.world import NOW, USER, by_hand, version, write

ADDRESS = "drinks/tea"
STATES = 150


class Promise(NamedTuple):
    """The bodies that a node may have now; None stands for none."""

    bodies: frozenset[str | None]


class Teller:
    """Writes, and keeps book of what may be found."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self.disk = disk
        self.shelf = FilesShelf(disk)
        self.now = Promise(frozenset({None}))

    def write(self, body: str | None, **more: str) -> None:
        self.now = Promise(self.now.bodies | {body})
        write(self.shelf, ADDRESS, None if body is None else f"{body}\n", **more)
        self.now = Promise(frozenset({body}))


def told(tell: Callable[[Teller], None]) -> list[Moment[Promise]]:
    disk = SimulatedDisk()
    teller = Teller(disk)
    recorder = Recorder(disk, lambda: teller.now)
    tell(teller)
    return recorder.stop()


def body_of(shelf: FilesShelf, address: str = ADDRESS) -> str | None:
    try:
        return front_matter.split(shelf.read(USER, address).text).body.strip()
    except NodeNotFoundError:
        return None


def writing(teller: Teller) -> None:
    for body in ("green", "black", "white"):
        teller.write(body)


def removing(teller: Teller) -> None:
    teller.write("green")
    teller.write(None)
    teller.write("back")


@pytest.mark.parametrize("tell", [writing, removing])
def test_a_crash_leaves_the_text_before_or_after_and_a_version_of_it(tell):
    for sample in sampled(told(tell), tell.__name__, STATES):
        shelf = FilesShelf(sample.disk)
        found = body_of(shelf)
        assert found in sample.promises.bodies, sample.name
        if found is not None:
            last = shelf.versions(USER, ADDRESS)[-1]
            assert last.hash == shelf.read(USER, ADDRESS).hash, sample.name
        write(shelf, ADDRESS, "later\n")
        assert body_of(shelf) == "later", sample.name
        texts = [one.text for one in shelf.versions(USER, ADDRESS)]
        assert found is None or any(found in (text or "") for text in texts), sample.name
        assert not [one for one in sample.disk.tree() if one.endswith((".swap", ".out"))]


@pytest.mark.parametrize("tell", [writing, removing])
def test_acknowledged_versions_are_never_lost(tell):
    moments = told(tell)
    last = FilesShelf(moments[-1].disk.kill()).versions(USER, ADDRESS)
    for sample in sampled(moments[-1:], tell.__name__, 1):
        found = FilesShelf(sample.disk).versions(USER, ADDRESS)
        assert [(one.number, one.hash) for one in found] == [
            (one.number, one.hash) for one in last
        ], sample.name


def planned(teller: Teller) -> None:
    teller.write("green")
    teller.write("- fact", plan="p1")


def test_a_plan_that_is_repeated_after_a_crash_is_applied_exactly_once():
    for sample in sampled(told(planned), "planned", STATES):
        shelf = FilesShelf(sample.disk)
        write(shelf, ADDRESS, "- fact\n", plan="p1")
        write(shelf, ADDRESS, "- fact\n- twice\n", plan="p1")
        assert body_of(shelf) == "- fact", sample.name
        taken = [one for one in shelf.versions(USER, ADDRESS) if one.plan == "p1"]
        assert len(taken) == 1, sample.name


def test_a_hand_edit_that_a_crash_found_on_its_way_out_becomes_a_version():
    disk = SimulatedDisk()
    teller = Teller(disk)
    teller.write("green")
    seen: list[SimulatedDisk] = []

    def edit(name: str, path: str) -> None:
        if name == "exchange" and not seen:
            disk.before_operation = None
            by_hand(disk, ADDRESS, "by hand\n")
            seen.append(disk)
            disk.before_operation = edit
        elif seen:
            raise KeyboardInterrupt  # killed right after the exchange

    disk.before_operation = edit
    with pytest.raises(KeyboardInterrupt):
        write(teller.shelf, ADDRESS, "ours\n")
    disk.before_operation = None
    shelf = FilesShelf(disk.kill())
    write(shelf, ADDRESS, "later\n")
    texts = [(one.by, one.text) for one in shelf.versions(USER, ADDRESS)]
    assert ("hand", "by hand\n") in texts


def moving(teller: Teller) -> None:
    teller.write("green")
    write(teller.shelf, "other", "See [[drinks/tea]].\n")
    teller.now = Promise(frozenset({"green"}))
    teller.shelf.move(USER, ADDRESS, "hot/tea", version())


def test_a_move_is_finished_by_whoever_comes_next():
    moments = told(moving)
    begun = next(at for at, one in enumerate(moments) if one.before.endswith("move.json.tmp"))
    for sample in sampled(moments[begun:], "moving", STATES):
        shelf = FilesShelf(sample.disk)
        with shelf.locked(USER):
            pass
        bodies = {body_of(shelf), body_of(shelf, "hot/tea")}
        assert bodies == {"green", None}, sample.name
        where = "hot/tea" if body_of(shelf, "hot/tea") else ADDRESS
        assert shelf.versions(USER, where)[0].text is not None, sample.name
        assert len({one.hash for one in shelf.versions(USER, where)}) >= 1
        target = shelf.links(USER, "other").outgoing[0]
        assert (target.target, target.exists) == (where, True), sample.name
        assert f"users/{USER}/move.json" not in sample.disk.tree()


def test_a_plan_and_a_proposal_are_there_whole_or_not_at_all():
    edit = Edit(address="SOUL.md", body="kind\n", sources=(Source("s", "e", 1),))
    plan = EditPlan(v=1, id="s-1", session_id="s", user_id=USER, until=1, until_sum="",
                    distiller="r", edits=(edit,))  # fmt: skip
    waiting = Waiting(v=1, id="w1", user_id=USER, edit=edit, distiller="r", created_at=NOW, why="")

    def tell(teller: Teller) -> None:
        teller.shelf.keep_plan(plan)
        teller.shelf.wait(waiting)
        teller.now = Promise(frozenset({"both"}))
        teller.shelf.strike_plan("s-1")
        teller.now = Promise(frozenset({"struck"}))

    for sample in sampled(told(tell), "plans", 40):
        shelf = FilesShelf(sample.disk)
        assert shelf.plans() in ([], [plan]), sample.name
        assert shelf.waiting() in ([], [waiting]), sample.name
        if "both" in sample.promises.bodies or "struck" in sample.promises.bodies:
            assert shelf.waiting() == [waiting], sample.name
        if "struck" in sample.promises.bodies:
            assert shelf.plan("s-1") is None, sample.name
        shelf.wait(waiting)
        shelf.settle(USER, "w1")
        assert shelf.waiting() == []
