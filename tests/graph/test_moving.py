"""What becomes of a move that cannot be done, or is interrupted."""

from pathlib import Path

import pytest

from mnemolog.errors import (
    InvalidFormatError,
    KnowledgeError,
    NodeConflictError,
    SizeLimitError,
    StorageIOError,
)
from mnemolog.graph import move_note
from mnemolog.graph.shelf import FilesShelf
from mnemolog.stores.files import doctor
from mnemolog.testing import Recorder, SimulatedDisk, sampled
from tests.graph.world import NOW, USER, by_hand, text_of, version, write


def moved(shelf: FilesShelf, old: str, new: str) -> str:
    return shelf.move(USER, old, new, version()).status


def assert_nothing_happened(shelf: FilesShelf, home: Path) -> None:
    """The node is where it was, with its versions; no note stays, and writing goes on."""
    assert not (home / "move.json").exists()
    assert shelf.read(USER, "drinks/tea").body == "green\n"
    assert len(shelf.versions(USER, "drinks/tea")) == 1
    assert write(shelf, "coffee", "black\n").status == "created"


def put_file(home: Path) -> None:
    (home / "memory" / "hot").write_text("an attachment")


def put_file_among_versions(home: Path) -> None:
    (home / "versions" / "hot").write_text("anything")


def put_link(home: Path) -> None:
    (home / "elsewhere").mkdir()
    (home / "memory" / "hot").symlink_to(home / "elsewhere")


def put_folder_in_its_place(home: Path) -> None:
    (home / "memory" / "hot" / "tea.md").mkdir(parents=True)


def put_folder_in_the_place_of_its_versions(home: Path) -> None:
    (home / "versions" / "hot" / "tea.jsonl").mkdir(parents=True)


IN_THE_WAY = [
    put_file,
    put_file_among_versions,
    put_link,
    put_folder_in_its_place,
    put_folder_in_the_place_of_its_versions,
]


@pytest.mark.parametrize("put", IN_THE_WAY)
def test_a_move_to_where_no_node_can_lie_is_refused(real, home, put):
    write(real, "drinks/tea", "green\n")
    put(home)
    with pytest.raises(InvalidFormatError, match=r"is no (folder|plain file)"):
        moved(real, "drinks/tea", "hot/tea")
    assert_nothing_happened(real, home)


@pytest.mark.parametrize("put", IN_THE_WAY)
def test_a_noted_move_that_cannot_be_finished_is_given_up(real, home, put, tmp_path):
    write(real, "drinks/tea", "green\n")
    begun(real)
    put(home)
    visit = doctor.visit_root(str(tmp_path), {}, only_graph=True)
    assert "move_left" in [one.code for one in doctor.examine(visit)]
    write(real, "other", "x\n")
    assert_nothing_happened(real, home)


def begun(shelf: FilesShelf) -> None:
    move = move_note.Move(v=1, old="drinks/tea", new="hot/tea", at=NOW, by="owner", reason="")
    move_note.note(shelf._disk, USER, move)


def test_a_document_comes_back_if_its_versions_cannot_follow(shelf, disk):
    write(shelf, "drinks/tea", "green\n")
    disk.refuse("place", "*versions*", StorageIOError("broken"), None)
    with pytest.raises(StorageIOError):
        moved(shelf, "drinks/tea", "hot/tea")
    disk.allow_all()
    assert [leaf.address for leaf in shelf.tree(USER)] == ["drinks/tea"]
    assert len(shelf.versions(USER, "drinks/tea")) == 1
    assert write(shelf, "coffee", "black\n").status == "created"


def test_a_node_that_came_to_the_new_address_meanwhile_stays(shelf, disk):
    write(shelf, "drinks/tea", "green\n")

    def come(name: str, path: str) -> None:
        if name == "place":
            disk.before_operation = None
            by_hand(disk, "hot/tea", "by hand\n")

    disk.before_operation = come
    with pytest.raises(NodeConflictError) as refused:
        moved(shelf, "drinks/tea", "hot/tea")
    assert refused.value.details["theirs"] == "by hand\n"
    assert shelf.read(USER, "drinks/tea").body == "green\n"
    assert text_of(disk, "hot/tea") == "by hand\n"


def test_a_node_is_not_written_in_a_case_that_another_one_has(shelf, disk):
    by_hand(disk, "Tea", "upper\n")
    by_hand(disk, "tea", "lower\n")
    with pytest.raises(NodeConflictError):
        moved(shelf, "Tea", "tea")
    assert (text_of(disk, "Tea"), text_of(disk, "tea")) == ("upper\n", "lower\n")


def test_a_document_that_is_too_long_is_not_moved_and_holds_up_nobody(shelf, disk):
    by_hand(disk, "long", "x" * 1_100_000)
    with pytest.raises(SizeLimitError):
        moved(shelf, "long", "longer")
    assert write(shelf, "tea", "green\n").status == "created"


def test_a_document_that_is_not_utf_8_keeps_its_bytes(shelf, disk):
    by_hand(disk, "old", b"caf\xe9\n")
    assert moved(shelf, "old", "new") == "moved"
    assert shelf.read(USER, "new").flags == ("not-utf-8",)
    assert disk.tree()[f"users/{USER}/memory/new.md"] == b"caf\xe9\n"


def test_a_link_that_cannot_be_mended_holds_up_nobody(real, home):
    write(real, "drinks/tea", "green\n")
    write(real, "page", "See [[drinks/tea]].\n")
    (home / "versions" / "page.jsonl").unlink()
    (home / "versions" / "page.jsonl").mkdir()
    assert moved(real, "drinks/tea", "hot/tea") == "moved"
    assert not (home / "move.json").exists()
    assert write(real, "coffee", "black\n").status == "created"


def test_versions_are_there_once_wherever_a_move_was_interrupted():
    disk = SimulatedDisk()
    shelf = FilesShelf(disk)
    write(shelf, "hot/tea", "of another node\n")
    write(shelf, "hot/tea", None)
    for body in ("green", "black", "white"):
        write(shelf, "drinks/tea", f"{body}\n")
    recorder = Recorder(disk, lambda: None)
    moved(shelf, "drinks/tea", "hot/tea")
    ends = set()
    for sample in sampled(recorder.stop(), "moving onto versions", 120):
        later = FilesShelf(sample.disk)
        write(later, "other", "x\n")
        where = {leaf.address for leaf in later.tree(USER)} & {"hot/tea", "drinks/tea"}
        (address,) = where
        ends.add(address)
        said = [(one.text or "").rpartition("---\n")[2].strip()
                for one in later.versions(USER, address)]  # fmt: skip
        want = ["green", "black", "white"]
        assert said == (
            want if address == "drinks/tea" else ["of another node", "", *want, "white"]
        )
        numbers = [one.number for one in later.versions(USER, address)]
        assert numbers == list(range(1, len(numbers) + 1)), sample.name
    assert ends == {"hot/tea", "drinks/tea"}


# --- parents


def test_a_move_that_would_make_a_circle_of_parents_is_refused(shelf):
    write(shelf, "t/a", "---\nparents: [t/c]\n---\n\nx\n")
    write(shelf, "t/c", "---\nparents: [t/b]\n---\n\nx\n")
    with pytest.raises(KnowledgeError, match="circle"):
        moved(shelf, "t/a", "t/b")
    assert [leaf.address for leaf in shelf.tree(USER)] == ["t/a", "t/c"]
    assert moved(shelf, "t/a", "t/d") == "moved"
    assert moved(shelf, "t/c", "t/e") == "moved"
    assert shelf.read(USER, "t/d").parents == ("t/e",)


def test_a_merge_that_would_make_a_circle_of_parents_is_refused(shelf):
    write(shelf, "t/a", "x\n")
    write(shelf, "t/b", "---\nparents: [t/a]\n---\n\ny\n")
    write(shelf, "t/c", "---\nparents: [t/b]\n---\n\nz\n")
    with pytest.raises(KnowledgeError, match="circle"):
        shelf.merge(USER, "t/a", "t/c", version())
    assert len(shelf.tree(USER)) == 3
    assert shelf.merge(USER, "t/c", "t/a", version()).status == "merged"


def test_the_doctor_finds_circles_that_a_hand_made(real, home, tmp_path):
    write(real, "t/a", "---\nparents: [t/b]\n---\n\nx\n")
    write(real, "t/below", "---\nparents: [t/a]\n---\n\nx\n")
    (home / "memory" / "t" / "b.md").write_text("---\nparents: [A]\n---\n\nx\n")
    visit = doctor.visit_root(str(tmp_path), {}, only_graph=True)
    found = [one.path for one in doctor.examine(visit) if one.code == "node_circle"]
    assert found == [f"users/{USER}/memory/t/{name}.md" for name in "ab"]


# --- links


def test_what_stands_in_code_is_no_link_and_stays_as_it_is(shelf):
    write(shelf, "ops/foo", "x\n")
    code = (
        "```bash\nif [[ foo ]]; then echo; fi\n```\n"
        "~~~\n[[foo]]\n~~~\r\n"
        "Use `[[foo]]` or ``a ` [[foo]]``.\n"
    )
    write(shelf, "ops/script", f"{code}```one``` line, then [[foo]] and `x` [[ops/foo|it]].\n")
    assert len(shelf.links(USER, "ops/foo").backlinks) == 2
    moved(shelf, "ops/foo", "ops/bar baz")
    assert shelf.read(USER, "ops/script").body == (
        f"{code}```one``` line, then [[ops/bar baz]] and `x` [[ops/bar baz|it]].\n"
    )
    assert len(shelf.links(USER, "ops/bar baz").backlinks) == 2
