"""What rests on erased entries leaves documents, versions, proposals and plans, bytes and all."""

from threading import Thread

import msgspec
import pytest

from mnemolog.errors import ConcurrentModificationError, StorageFullError
from mnemolog.fs.real import RealDisk
from mnemolog.graph import move_note, moving, plans
from mnemolog.graph.shelf import FilesShelf
from mnemolog.model.lesson import Edit, EditPlan, Source, Waiting
from mnemolog.model.node import FILES
from mnemolog.testing import Recorder, SimulatedDisk, sampled
from tests.forgetting.scanner import found_in, traces
from tests.graph.world import NOW, USER, by_hand, story, text_of, write

SECRET = "xylophonequartz"


def planted(shelf: FilesShelf) -> None:
    """Nodes that rest on `talk/e1`, on others, and on both; a proposal; a plan."""
    line = f"- {SECRET} is so. <!-- talk/e1 -->\n"
    write(shelf, "both", f"{line}- Other. <!-- talk/e2 -->\n", sources=("talk/e1", "talk/e2"))
    write(shelf, "both", f"# Head\n\n{line}- Other. <!-- talk/e2 -->\n- Third.\n",
          reason=f"because {SECRET}", sources=("talk/e1",))  # fmt: skip
    write(shelf, "alone", line, sources=("talk/e1",))
    write(shelf, "removed", line, sources=("talk/e1",))
    write(shelf, "removed", None)
    write(shelf, "USER.md", f"{line}- Likes tea.\n", sources=("talk/e1",))
    write(shelf, "free", "- Nothing of it.\n")
    edit = Edit(address="SOUL.md", body=line, sources=(Source("talk", "e1", 1),))
    other = Edit(address="TOOLS.md", body="- Other.\n", sources=(Source("talk", "e2", 2),))
    shelf.wait(
        Waiting(v=1, id="w1", user_id=USER, edit=edit, distiller="r", created_at=NOW, why="")
    )
    shelf.wait(
        Waiting(v=1, id="w2", user_id=USER, edit=other, distiller="r", created_at=NOW, why="")
    )
    plan = EditPlan(v=1, id="p1", session_id="talk", user_id=USER, until=2, until_sum="",
                    distiller="r", edits=(edit, other))  # fmt: skip
    shelf.keep_plan(plan)
    shelf.keep_plan(msgspec.structs.replace(plan, id="p2", edits=(edit,)))


def test_every_trace_goes_and_the_rest_stays(shelf, disk):
    planted(shelf)
    places = shelf.cut(None, ["talk/e1"])
    assert found_in(disk.tree(), [SECRET, "talk/e1"]) == {}
    assert set(places) == {"nodes", "versions", "review", "plans"}
    assert (places["review"], places["plans"]) == (1, 2)
    assert [leaf.address for leaf in shelf.tree(USER)] == ["USER.md", "both", "free"]
    assert shelf.read(USER, "both").body == "# Head\n\n- Other. <!-- talk/e2 -->\n- Third.\n"
    assert shelf.read(USER, "both").sources == ("talk/e2",)
    assert [one.id for one in shelf.waiting()] == ["w2"]
    assert [(plan.id, len(plan.edits)) for plan in shelf.plans()] == [("p1", 1)]
    assert [one[1] for one in story(shelf, "both")] == ["owner", "owner"]
    write(shelf, "both", shelf.read(USER, "both").text + "- Later.\n")
    assert len(shelf.versions(USER, "both")) == 3


def test_what_one_erasure_cut_out_of_a_plan_another_does_not_bring_back(shelf, disk, monkeypatch):
    planted(shelf)
    look = plans.all_of

    def overtaken(disk):
        found = look(disk)
        monkeypatch.setattr(plans, "all_of", look)
        shelf.cut(None, ["talk/e1"])  # comes between the look and the cut
        return found

    monkeypatch.setattr(plans, "all_of", overtaken)
    shelf.cut(None, ["talk/e2"])
    assert shelf.plans() == []
    assert found_in(disk.tree(), [SECRET, "talk/e1", "talk/e2"]) == {}


def test_doing_it_again_finds_nothing_more(shelf, disk):
    planted(shelf)
    shelf.cut(None, ["talk/e1"])
    before = disk.tree()
    assert shelf.cut(None, ["talk/e1"]) == {}
    assert disk.tree() == before


def test_a_whole_session_goes_by_its_name(shelf, disk):
    planted(shelf)
    shelf.cut(None, ["talk/"])
    assert found_in(disk.tree(), [SECRET, "talk/"]) == {}
    assert shelf.read(USER, "both").body == "# Head\n\n- Third.\n"
    assert (shelf.waiting(), shelf.plans()) == ([], [])


def test_an_entry_whose_session_is_not_known_goes_by_its_id(shelf, disk):
    planted(shelf)
    shelf.cut([USER], ["/e1"])
    assert found_in(disk.tree(), [SECRET]) == {}
    assert shelf.read(USER, "both").sources == ("talk/e2",)


def test_another_entry_or_session_of_a_similar_name_is_not_meant(shelf, disk):
    write(shelf, "tea", "- a <!-- talk/e11 -->\n- b <!-- mytalk/e1 -->\n- c <!-- talk2/e1 -->\n")
    before = disk.tree()
    assert shelf.cut(None, ["talk/e1"]) == {}
    assert disk.tree() == before


def test_a_node_that_cites_without_saying_where_is_marked(shelf, disk):
    by_hand(disk, "tea", "---\ntitle: Tea\nsources:\n- talk/e1\n- 'talk/e2'\n---\n\nAll of it.\n")
    write(shelf, "tea", text_of(disk, "tea") + "More.\n")
    shelf.cut(None, ["talk/e1"])
    node = shelf.read(USER, "tea")
    assert node.flags == ("source-erased",)
    assert node.sources == ("talk/e2",)
    assert node.body == "All of it.\nMore.\n"
    assert [one.hash for one in shelf.versions(USER, "tea")] == [node.hash]
    assert found_in(disk.tree(), ["talk/e1"]) == {}


def test_what_a_crash_left_behind_goes_too(shelf, disk):
    planted(shelf)
    for ending in ("md.tmp", "md.swap"):
        by_hand(disk, f"both.{ending}", f"- {SECRET} <!-- talk/e1 -->\n")
        disk.rename(f"users/{USER}/memory/both.{ending}.md", f"users/{USER}/memory/both.{ending}")
    shelf.cut(None, ["talk/e1"])
    assert found_in(disk.tree(), [SECRET, "talk/e1"]) == {}


def test_the_old_bytes_are_overwritten_before_they_are_let_go_of(shelf, disk):
    planted(shelf)
    held = disk.open(f"users/{USER}/memory/both.md", "read")
    shelf.cut(None, ["talk/e1"])
    assert set(held.read(0, held.size())) == {0}


def test_a_full_disk_does_not_prevent_it(shelf, disk):
    planted(shelf)
    disk.refuse("append", "*", StorageFullError("full"), None)
    shelf.cut(None, ["talk/e1"])
    disk.allow_all()
    assert found_in(disk.tree(), [SECRET]) == {}
    assert "- Third.\n" in shelf.read(USER, "both").text


def test_a_hand_edit_meanwhile_stays_and_is_cut_as_well(shelf, disk):
    planted(shelf)

    def edit(name: str, path: str) -> None:
        if name == "exchange" and path.endswith("memory/both.md"):
            disk.before_operation = None
            by_hand(disk, "both", f"- {SECRET} <!-- talk/e1 -->\n- By hand.\n")

    disk.before_operation = edit
    shelf.cut(None, ["talk/e1"])
    assert shelf.read(USER, "both").body == "- By hand.\n"
    assert found_in(disk.tree(), [SECRET]) == {}


@pytest.mark.parametrize("states", [120])
def test_wherever_a_crash_comes_doing_it_again_leaves_no_trace(states):
    disk = SimulatedDisk()
    shelf = FilesShelf(disk)
    planted(shelf)
    recorder = Recorder(disk, lambda: None)
    shelf.cut(None, ["talk/e1"])
    for sample in sampled(recorder.stop(), "cutting", states):
        again = FilesShelf(sample.disk)
        again.cut(None, ["talk/e1"])
        assert found_in(sample.disk.tree(), [SECRET, "talk/e1"]) == {}, sample.name
        assert again.read(USER, "both").body == "# Head\n\n- Other. <!-- talk/e2 -->\n- Third.\n"
        assert again.read(USER, "free").body == "- Nothing of it.\n"
        assert FILES[0] in [leaf.address for leaf in again.tree(USER)]


def test_a_line_with_several_sources_and_a_key_is_found_by_each(shelf, disk):
    lines = ["- One. <!-- a/1 talk/e1 #home -->", "- Two. <!-- talk/e1, a/1 -->", "- Three."]
    prose = "- Four. <!-- see and/or e1 -->"
    write(shelf, "many", "\n".join([*lines, prose]) + "\n")
    assert shelf.read(USER, "many").sources == ("a/1", "talk/e1")
    shelf.cut(None, ["talk/e1"])
    assert shelf.read(USER, "many").body == f"- Three.\n{prose}\n"


def test_a_node_that_is_moved_while_the_lock_is_waited_for_is_cut_where_it_went(real, tmp_path):
    planted(real)
    disk = RealDisk(str(tmp_path))
    move = move_note.Move(v=1, old="both", new="later/both", at=NOW, by="owner", reason="")
    with real.locked(USER):
        cutting = Thread(target=FilesShelf(disk).cut, args=(None, ["talk/e1"]))
        cutting.start()
        cutting.join(0.3)  # it waits for the lock now
        move_note.note(disk, USER, move)
        assert moving.finish(disk, USER, real._place) is None
    cutting.join()
    assert traces(tmp_path, [SECRET, "talk/e1"]) == {}
    assert "- Third." in real.read(USER, "later/both").body


def test_a_file_that_a_hand_moves_meanwhile_is_found_where_it_went(shelf, disk):
    planted(shelf)
    home = f"users/{USER}/memory"

    def move(name: str, path: str) -> None:
        if name == "exchange":
            disk.before_operation = None
            disk.rename(f"{home}/both.md", f"{home}/aaa.md")

    disk.before_operation = move
    shelf.cut(None, ["talk/e1"])
    assert found_in(disk.tree(), [SECRET, "talk/e1"]) == {}


def test_an_erasure_that_somebody_keeps_disturbing_is_not_reported_done(shelf, disk):
    planted(shelf)
    line = f"- {SECRET} is so. <!-- talk/e1 -->\n"
    count = 0

    def edit(name: str, path: str) -> None:
        nonlocal count
        if name == "exchange" and path.endswith("both.md"):
            count += 1
            disk.before_operation = None
            by_hand(disk, "both", f"{line}- {count}\n")
            disk.before_operation = edit

    disk.before_operation = edit
    with pytest.raises(ConcurrentModificationError):
        shelf.cut(None, ["talk/e1"])
    disk.before_operation = None
    shelf.cut(None, ["talk/e1"])
    assert found_in(disk.tree(), [SECRET, "talk/e1"]) == {}
