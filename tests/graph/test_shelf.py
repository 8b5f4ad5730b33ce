"""Nodes are written, kept in versions and guarded against every hand that is faster."""

import pytest

from mnemolog import fs
from mnemolog.errors import KnowledgeError, NodeConflictError, NodeNotFoundError
from mnemolog.fs import swapping
from mnemolog.fs.real import RealDisk
from mnemolog.graph.shelf import FilesShelf
from mnemolog.policy import front_matter
from tests.graph.world import USER, by_hand, story, text_of, version, write, write_against


def body(text: str) -> str:
    return front_matter.split(text).body


def test_each_write_is_a_version_with_its_reason(shelf):
    first = write(shelf, "tea", "green\n", by="rules", reason="said so", sources=("s/e",))
    second = write(shelf, "tea", "black\n")
    assert (first.status, first.version, second.status, second.version) == (
        "created", 1, "updated", 2,
    )  # fmt: skip
    found = shelf.versions(USER, "tea")
    assert [(one.number, one.by, one.reason) for one in found] == [
        (1, "rules", "said so"), (2, "owner", ""),
    ]  # fmt: skip
    assert (found[0].sources, found[1].hash) == (("s/e",), second.hash)
    assert shelf.read(USER, "tea").text == found[1].text


def test_writing_the_same_text_again_makes_no_version(shelf):
    write(shelf, "tea", "green\n")
    same = write(shelf, "tea", shelf.read(USER, "tea").text)
    assert (same.status, len(shelf.versions(USER, "tea"))) == ("unchanged", 1)


def test_a_node_takes_a_plan_once(shelf):
    write(shelf, "tea", "green\n", plan="p1")
    again = write(shelf, "tea", "black\n", plan="p1")
    assert (again.status, again.version) == ("unchanged", 1)
    assert body(shelf.read(USER, "tea").text) == "green\n"
    assert write(shelf, "tea", "white\n", plan="p2").version == 2


def test_a_node_that_is_removed_keeps_its_versions(shelf):
    write(shelf, "tea", "green\n")
    assert write(shelf, "tea", None).status == "deleted"
    with pytest.raises(NodeNotFoundError):
        shelf.read(USER, "tea")
    assert story(shelf, "tea") == [(1, "owner", "green"), (2, "owner", None)]
    assert write(shelf, "tea", "black\n").version == 3


def test_what_never_was_there_has_no_versions(shelf):
    with pytest.raises(NodeNotFoundError):
        shelf.versions(USER, "tea")
    assert write(shelf, "tea", None).status == "unchanged"


# --- hand edits


def test_a_hand_edit_becomes_a_version_when_it_is_seen(shelf, disk):
    write(shelf, "tea", "green\n")
    by_hand(disk, "tea", "by hand\n")
    assert story(shelf, "tea") == [(1, "owner", "green"), (2, "hand", "by hand")]
    write(shelf, "tea", "after\n")
    assert [one[1] for one in story(shelf, "tea")] == ["owner", "hand", "owner"]


def test_a_file_removed_by_hand_is_seen_as_removed(shelf, disk):
    write(shelf, "tea", "green\n")
    disk.unlink(f"users/{USER}/memory/tea.md")
    assert story(shelf, "tea") == [(1, "owner", "green"), (2, "hand", None)]


def test_undoing_a_write_by_hand_is_an_edit_by_hand(shelf, disk):
    write(shelf, "tea", "green\n")
    before = text_of(disk, "tea")
    write(shelf, "tea", "black\n")
    by_hand(disk, "tea", before)
    assert story(shelf, "tea") == [
        (1, "owner", "green"), (2, "owner", "black"), (3, "hand", "green"),
    ]  # fmt: skip


def test_a_write_against_a_changed_text_is_refused_with_both(shelf, disk):
    read = write(shelf, "tea", "green\n").hash
    by_hand(disk, "tea", "by hand\n")
    with pytest.raises(NodeConflictError) as refused:
        write_against(shelf, "tea", read, "ours\n")
    assert refused.value.details["theirs"] == "by hand\n"
    assert text_of(disk, "tea") == "by hand\n"


@pytest.mark.parametrize("operation", ["exchange", "rename"])
def test_an_edit_between_reading_and_replacing_stays_and_the_write_is_refused(
    shelf, disk, operation
):
    write(shelf, "tea", "green\n")

    def edit(name: str, path: str) -> None:
        if name == operation and path.startswith(f"users/{USER}/memory/tea.md"):
            disk.before_operation = None
            by_hand(disk, "tea", "just in time\n")

    disk.before_operation = edit
    with pytest.raises(NodeConflictError) as refused:
        write(shelf, "tea", "ours\n")
    assert refused.value.details["theirs"] == "just in time\n"
    assert "ours" in str(refused.value.details["yours"])
    assert text_of(disk, "tea") == "just in time\n"
    assert [one[1:] for one in story(shelf, "tea")] == [
        ("owner", "green"),
        ("hand", "just in time"),
    ]
    left = [path for path in disk.tree() if path.endswith((".tmp", ".swap", ".out"))]
    assert left == []


@pytest.mark.parametrize("edits", [2, 3, 6])
def test_of_several_edits_in_that_gap_the_latest_stays(shelf, disk, edits):
    write(shelf, "tea", "green\n")
    saved: list[str] = []

    def edit(name: str, path: str) -> None:
        if name == "exchange" and len(saved) < edits:
            saved.append(f"hand {len(saved)}\n")
            disk.before_operation = None
            by_hand(disk, "tea", saved[-1])
            disk.before_operation = edit

    disk.before_operation = edit
    with pytest.raises(NodeConflictError) as refused:
        write(shelf, "tea", "ours\n")
    assert refused.value.details["theirs"] == text_of(disk, "tea") == f"hand {edits - 1}\n"
    assert story(shelf, "tea")[-1][1:] == ("hand", f"hand {edits - 1}")
    assert [path for path in disk.tree() if path.endswith((".tmp", ".swap", ".out"))] == []


def test_a_node_that_is_removed_by_hand_in_that_gap_stays_removed(shelf, disk):
    write(shelf, "tea", "green\n")
    path = f"users/{USER}/memory/tea.md"
    seen: list[str] = []

    def edit(name: str, _: str) -> None:
        if name == "exchange":
            seen.append(name)
            disk.before_operation = None
            by_hand(disk, "tea", "by hand\n") if len(seen) == 1 else disk.unlink(path)
            disk.before_operation = edit

    disk.before_operation = edit
    with pytest.raises(NodeConflictError):
        write(shelf, "tea", "ours\n")
    disk.before_operation = None
    assert path not in disk.tree()
    assert [one[1:] for one in story(shelf, "tea")] == [
        ("owner", "green"),
        ("hand", "by hand"),
        ("hand", None),
    ]


def test_an_edit_in_place_in_that_gap_is_noticed_too(real, home):
    write(real, "tea", "green\n")
    path = home / "memory" / "tea.md"
    real_disk = real._disk
    exchange = real_disk.exchange

    def edited(ours: str, theirs: str) -> None:
        real_disk.exchange = exchange
        path.write_text("in place\n")
        exchange(ours, theirs)

    real_disk.exchange = edited
    with pytest.raises(NodeConflictError):
        write(real, "tea", "ours\n")
    assert path.read_text() == "in place\n"
    assert sorted(one.name for one in (home / "memory").iterdir()) == ["tea.md"]


def test_a_file_that_appears_while_a_node_is_begun_stays(shelf, disk):
    def appear(name: str, path: str) -> None:
        if name == "place":
            disk.before_operation = None
            by_hand(disk, "tea", "first\n")

    disk.before_operation = appear
    with pytest.raises(NodeConflictError) as refused:
        write(shelf, "tea", "ours\n")
    assert (refused.value.details["theirs"], text_of(disk, "tea")) == ("first\n", "first\n")
    assert story(shelf, "tea") == [(2, "hand", "first")]


def test_a_node_edited_while_it_is_removed_stays(shelf, disk):
    write(shelf, "tea", "green\n")

    def edit(name: str, path: str) -> None:
        if name == "place":
            disk.before_operation = None
            by_hand(disk, "tea", "not yet\n")

    disk.before_operation = edit
    with pytest.raises(NodeConflictError):
        write(shelf, "tea", None)
    assert text_of(disk, "tea") == "not yet\n"
    assert [one[1] for one in story(shelf, "tea")] == ["owner", "hand"]


def test_where_two_files_cannot_be_exchanged_it_goes_by_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(swapping, "_call", None)
    shelf = FilesShelf(RealDisk(str(tmp_path)))
    write(shelf, "tea", "green\n")
    write(shelf, "tea", "black\n")
    assert body(shelf.read(USER, "tea").text) == "black\n"
    folder = tmp_path / "users" / USER / "memory"
    assert [one.name for one in folder.iterdir()] == ["tea.md"]
    (folder / "tea.md").rename(folder / "tea.md.out")  # a crash after the first step
    write(shelf, "tea", "white\n")
    assert [one[2] for one in story(shelf, "tea")] == ["green", "black", "white"]


# --- secrets


def test_secrets_are_hidden_before_the_first_byte_and_sources_stay(shelf, disk):
    secret = "hunter" + "2" * 20
    source = "sess-2026-11-15-9f3a1c77d2/mem_01a1e1b71647ee4eaa5b24362ec2"

    def redact(text: str) -> tuple[str, dict[str, int]]:
        return text.replace(secret, "[REDACTED]").replace("9f3a1c77d2", "[ID]"), {"password": 1}

    receipt = write(shelf, "tea", f"- {secret} <!-- {source} -->\n", sources=(source,),
                    redact=redact)  # fmt: skip
    assert receipt.redactions == ("password",)
    assert shelf.read(USER, "tea").sources == (source,)
    assert not any(secret.encode() in (content or b"") for content in disk.tree().values())


# --- moving


def test_a_moved_node_takes_its_versions_along_and_links_to_it_are_mended(shelf):
    write(shelf, "drinks/tea", "See [[coffee]].\n")
    write(shelf, "coffee", "Not [[drinks/tea]], not [[tea|that]], not [[drinks/tea#how]].\n")
    write(shelf, "other", "About [[Coffee]].\n")
    moved = shelf.move(USER, "drinks/tea", "hot/green tea", version(reason="tidy"))
    assert (moved.status, moved.address, moved.version) == ("moved", "hot/green tea", 2)
    assert [leaf.address for leaf in shelf.tree(USER)] == ["coffee", "hot/green tea", "other"]
    assert body(shelf.read(USER, "coffee").text) == (
        "Not [[hot/green tea]], not [[hot/green tea|that]], not [[hot/green tea#how]].\n"
    )
    assert [one.reason for one in shelf.versions(USER, "hot/green tea")] == [
        "", "moved from drinks/tea: tidy",
    ]  # fmt: skip
    assert shelf.read(USER, "hot/green tea").path == ("hot",)
    assert 'path: ["hot"]' in shelf.read(USER, "hot/green tea").text
    with pytest.raises(NodeNotFoundError):
        shelf.read(USER, "drinks/tea")


def test_a_node_is_not_moved_onto_another(shelf):
    write(shelf, "tea", "green\n")
    write(shelf, "coffee", "black\n")
    with pytest.raises(NodeConflictError):
        shelf.move(USER, "tea", "coffee", version())
    with pytest.raises(NodeNotFoundError):
        shelf.move(USER, "nothing", "new", version())
    assert len(shelf.tree(USER)) == 2


# --- links and parents


def test_links_are_found_by_address_name_and_title_if_that_is_unique(shelf):
    write(shelf, "drinks/tea", "---\ntitle: Green Tea\n---\n\ngreen\n")
    write(shelf, "a/same", "x\n")
    write(shelf, "b/same", "x\n")
    said = "[[drinks/tea]] [[tea]] [[green tea|it]] [[same]] [[nowhere]]\n\n`[[tea]]`\n"
    write(shelf, "page", said + "```\n[[tea]]\n```\n")
    found = shelf.links(USER, "page").outgoing
    assert [(one.target, one.exists) for one in found] == [
        ("drinks/tea", True), ("drinks/tea", True), ("drinks/tea", True), ("same", False),
        ("nowhere", False),
    ]  # fmt: skip
    back = shelf.links(USER, "drinks/tea")
    assert [one.address for one in back.backlinks] == ["page"] * 3
    assert shelf.edges(USER) == [("page", "drinks/tea", "link")]


def test_who_says_a_title_without_a_link_is_told(shelf):
    write(shelf, "tea", "---\ntitle: Green Tea\n---\n\nx\n")
    write(shelf, "page", "I like green tea. <!-- s/e -->\n")
    assert shelf.links(USER, "tea").mentions == (("page", "page", "I like green tea."),)


def test_parents_must_not_form_a_circle(shelf):
    write(shelf, "a", "---\nparents: [b]\n---\n\nx\n")
    write(shelf, "b", "---\nparents: [c]\n---\n\nx\n")
    with pytest.raises(KnowledgeError, match="circle"):
        write(shelf, "c", "---\nparents: [a]\n---\n\nx\n")
    with pytest.raises(KnowledgeError, match="circle"):
        write(shelf, "d", "---\nparents: [d]\n---\n\nx\n")
    assert [leaf.address for leaf in shelf.tree(USER)] == ["a", "b"]


# --- cost


def test_an_edit_costs_the_same_with_many_nodes(shelf, disk):
    def calls_of_an_edit(text: str) -> int:
        before = disk.calls.total()
        write(shelf, "tea", text)
        return disk.calls.total() - before

    write(shelf, "tea", "green\n")
    few = calls_of_an_edit("black\n")
    for number in range(200):
        by_hand(disk, f"many/{number}", "text\n")
    assert calls_of_an_edit("white\n") == few


def test_a_second_look_at_the_tree_reads_no_file_again(shelf, disk):
    for number in range(20):
        by_hand(disk, f"many/{number}", "text\n")
    assert len(shelf.tree(USER)) == 20
    before = disk.calls["open"]
    assert len(shelf.tree(USER)) == 20
    assert disk.calls["open"] == before


def test_a_full_disk_leaves_the_text_as_it_was(shelf, disk):
    write(shelf, "tea", "green\n")
    before = text_of(disk, "tea")
    disk.capacity = sum(len(content or b"") for content in disk.tree().values()) + 40
    with pytest.raises(OSError, match="space"):
        write(shelf, "tea", "black " * 50)
    disk.capacity = None
    assert text_of(disk, "tea") == before
    assert fs.read_all(disk, f"users/{USER}/versions/tea.jsonl").endswith(b"\n")
    assert story(shelf, "tea") == [(1, "owner", "green")]
