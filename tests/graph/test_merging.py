"""Two nodes become one."""

import pytest

from mnemolog import fs
from mnemolog.errors import InvalidFormatError, NodeNotFoundError, SizeLimitError
from mnemolog.graph.shelf import FilesShelf
from mnemolog.testing import Recorder, SimulatedDisk, sampled
from tests.graph.world import USER, by_hand, story, text_of, version, write

INTO = "---\ntitle: Ann Smith\n---\n\n- Leads. <!-- s/1 -->\n"
OLD = "---\ntitle: Ann\nrefs: [x]\n---\n\n- Leads. <!-- s/2 -->\n- Has a cat. <!-- s/3 -->\n"
BODY = "- Leads. <!-- s/1 s/2 -->\n- Has a cat. <!-- s/3 -->\n"
LINKING = "See [[people/ann]], [[Ann|her]] and [[ann]].\n"
MENDED = "See [[people/ann-smith]], [[people/ann-smith|her]] and [[people/ann-smith]].\n"


def prepare(shelf):
    write(shelf, "people/ann-smith", INTO)
    write(shelf, "people/ann", OLD)
    write(shelf, "team", LINKING)


def merge(shelf):
    return shelf.merge(USER, "people/ann", "people/ann-smith", version(reason="one person"))


def test_lines_sources_and_refs_are_united_and_links_mended(shelf, disk):
    prepare(shelf)
    write(shelf, "cat", "---\nparents: [people/ann]\n---\n\nblack\n")
    receipt = merge(shelf)
    found = shelf.read(USER, "people/ann-smith")
    assert (receipt.status, receipt.version, receipt.hash) == ("merged", 2, found.hash)
    assert (found.body, found.sources, found.refs) == (BODY, ("s/1", "s/2", "s/3"), ("x",))
    assert shelf.read(USER, "team").body == MENDED
    assert shelf.read(USER, "cat").parents == ("people/ann-smith",)
    with pytest.raises(NodeNotFoundError):
        shelf.read(USER, "people/ann")
    assert disk.ident(f"users/{USER}/move.json") is None


def test_the_versions_of_both_bring_back_what_was_there(shelf):
    prepare(shelf)
    before = [shelf.read(USER, one).body for one in ("people/ann", "people/ann-smith")]
    merge(shelf)
    old, new = (shelf.versions(USER, one) for one in ("people/ann", "people/ann-smith"))
    assert [one.reason for one in old][-1] == "merged into people/ann-smith: one person"
    assert [one.reason for one in new][-1] == "people/ann merged into it: one person"
    write(shelf, "people/ann", old[0].text)
    write(shelf, "people/ann-smith", new[0].text)
    assert [shelf.read(USER, one).body for one in ("people/ann", "people/ann-smith")] == before


def test_a_title_that_another_node_has_too_is_not_mended(shelf):
    prepare(shelf)
    write(shelf, "cats/ann", "---\ntitle: Ann\n---\n\na cat\n")
    merge(shelf)
    assert shelf.read(USER, "team").body == "See [[people/ann-smith]], [[Ann|her]] and [[ann]].\n"


@pytest.mark.parametrize(
    ("old", "new"), [("USER.md", "a"), ("a", "SOUL.md"), ("a", "a"), ("../a", "a")]
)
def test_the_four_files_and_a_node_with_itself_are_refused(shelf, old, new):
    write(shelf, "a", "x\n")
    with pytest.raises(InvalidFormatError):
        shelf.merge(USER, old, new, version())


def test_what_would_be_too_long_is_refused_before_it_begins(shelf):
    half = "\n".join(f"- {{}}{number} {'x' * 90}" for number in range(6000))
    write(shelf, "a", half.replace("{}", "a"))
    write(shelf, "b", half.replace("{}", "b"))
    with pytest.raises(SizeLimitError):
        shelf.merge(USER, "a", "b", version())
    assert len(shelf.versions(USER, "a")) == len(shelf.versions(USER, "b")) == 1


def test_a_merging_is_finished_by_whoever_comes_next():
    disk = SimulatedDisk()
    shelf = FilesShelf(disk)
    prepare(shelf)
    recorder = Recorder(disk, lambda: None)
    merge(shelf)
    moments = recorder.stop()
    ends = set()
    for sample in sampled(moments, "merging", 200):
        later = FilesShelf(sample.disk)
        write(later, "other", "x\n")  # whoever takes the lock finishes it
        left = {leaf.address for leaf in later.tree(USER)} - {"other", "team"}
        ends.add(frozenset(left))
        assert sample.disk.ident(f"users/{USER}/move.json") is None, sample.name
        if left == {"people/ann-smith"}:
            assert later.read(USER, "people/ann-smith").body == BODY, sample.name
            assert later.read(USER, "team").body == MENDED, sample.name
            assert story(later, "people/ann")[0][2] == OLD.rpartition("---\n")[2].strip()
        else:  # it had not begun
            assert left == {"people/ann", "people/ann-smith"}, sample.name
            assert later.read(USER, "team").body == LINKING, sample.name
    assert len(ends) == 2


def test_an_edit_by_hand_while_the_lines_are_added_is_merged_too():
    disk = SimulatedDisk()
    shelf = FilesShelf(disk)
    prepare(shelf)
    edited = []

    def edit(operation: str, path: str) -> None:
        if operation == "exchange" and path.endswith("ann-smith.md"):
            disk.before_operation = None
            by_hand(disk, "people/ann", f"{OLD}- By hand.\n")
            edited.append(path)

    disk.before_operation = edit
    merge(shelf)
    assert edited
    assert "- By hand.\n" in shelf.read(USER, "people/ann-smith").body
    with pytest.raises(NodeNotFoundError):
        shelf.read(USER, "people/ann")


def test_an_edit_by_hand_after_a_crash_is_merged_too():
    disk = SimulatedDisk()
    shelf = FilesShelf(disk)
    prepare(shelf)
    recorder = Recorder(disk, lambda: None)
    merge(shelf)
    seen = 0
    for sample in sampled(recorder.stop(), "edited", 60):
        note, old = (f"users/{USER}/{one}" for one in ("move.json", "memory/people/ann.md"))
        if sample.disk.ident(note) is None or sample.disk.ident(old) is None:
            continue
        seen += 1
        by_hand(sample.disk, "people/ann", text_of(sample.disk, "people/ann") + "- By hand.\n")
        later = FilesShelf(sample.disk)
        write(later, "other", "x\n")
        assert "- By hand.\n" in later.read(USER, "people/ann-smith").body, sample.name
        assert fs.read_all(sample.disk, f"users/{USER}/versions/people/ann.jsonl").count(b"hand")
    assert seen
