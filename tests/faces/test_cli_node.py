"""`mnemolog node` and `mnemolog review`: the graph on the command line."""

import json

import pytest

from mnemolog import Memory
from mnemolog.model.lesson import Edit, Waiting


@pytest.fixture
def tea(run, root):
    """A root with a node `drinks/tea` of the user `u1`."""
    run("node", "write", "drinks/tea", "--user", "u1", "--title", "Tea", text="It is green.\n")
    return root


def test_a_node_is_written_from_the_input_and_read(run, tea):
    shown = run("--user", "u1", "node", "read", "drinks/tea").stdout
    assert shown == (tea / "users/u1/memory/drinks/tea.md").read_text()
    assert shown.endswith("\n\nIt is green.\n")


def test_a_node_is_written_from_a_file_or_a_word(run, ask, tea, tmp_path):
    (tmp_path / "milk.md").write_text("# Milk\n\nwhite\n")
    run("node", "write", "milk", "--user", "u1", "--file", str(tmp_path / "milk.md"))
    run("node", "write", "water", "clear", "--user", "u1")
    found = [leaf["title"] for leaf in ask("node", "tree", "--user", "u1")]
    assert found == ["Tea", "Milk", "water"]
    assert [leaf["address"] for leaf in ask("node", "tree", "drinks", "--user", "u1")] == [
        "drinks/tea"
    ]


def test_writing_over_a_node_names_the_text_that_it_was_made_against(run, ask, tea):
    refused = run("node", "write", "drinks/tea", "black", "--user", "u1", "--json", code=8)
    told = json.loads(refused.stderr)
    assert (told["code"], "It is green." in told["details"]["theirs"]) == ("E_NODE_CONFLICT", True)
    (node,) = ask("node", "read", "drinks/tea", "--user", "u1")
    (done,) = ask("node", "write", "drinks/tea", "black", "--user", "u1", "--expected",
                  node["hash"])  # fmt: skip
    assert (done["status"], done["version"]) == ("updated", 2)


def test_a_refused_write_shows_what_differs(run, tea):
    refused = run("node", "write", "drinks/tea", "black", "--user", "u1", code=8).stderr
    assert refused.startswith("E_NODE_CONFLICT: ")
    assert "\n-It is green.\n+black\n" in refused
    long = "".join(f"{number}\n" for number in range(100))
    refused = run("node", "write", "drinks/tea", long, "--user", "u1", code=8).stderr
    assert len(refused.splitlines()) < 50
    assert "--json has both texts" in refused


def test_appending_patching_moving_and_removing(run, ask, tea):
    run("node", "append", "drinks/tea", "It is hot.", "--user", "u1")
    run("node", "patch", "drinks/tea", "green", "black", "--user", "u1", "--reason", "seen")
    (node,) = ask("node", "read", "drinks/tea", "--user", "u1")
    assert node["body"] == "It is black.\nIt is hot.\n"
    run("node", "patch", "drinks/tea", "It is", "x", "--user", "u1", code=5)
    run("node", "move", "drinks/tea", "hot/tea", "--user", "u1")
    assert ask("node", "rm", "hot/tea", "--user", "u1")[0]["status"] == "deleted"
    run("node", "read", "hot/tea", "--user", "u1", code=8)
    numbers = [one["number"] for one in ask("node", "versions", "hot/tea", "--user", "u1")]
    assert numbers == [1, 2, 3, 4, 5]


def test_versions_diff_and_revert(run, ask, tea):
    run("node", "patch", "drinks/tea", "green", "black", "--user", "u1", "--reason", "seen")
    told = run("node", "versions", "drinks/tea", "--user", "u1").stdout
    assert "seen" in told
    difference = run("node", "diff", "drinks/tea", "--user", "u1").stdout
    assert {"-It is green.", "+It is black."} <= set(difference.splitlines())
    run("node", "revert", "drinks/tea", "1", "--user", "u1")
    assert run("node", "diff", "drinks/tea", "3", "3", "--user", "u1").stdout == (
        "They do not differ.\n"
    )
    assert ask("node", "read", "drinks/tea", "--user", "u1")[0]["body"] == "It is green.\n"


def test_links_and_search(run, ask, tea):
    run("node", "write", "cup", "For [[Tea]] and [[nothing]].", "--user", "u1")
    (links,) = ask("node", "links", "cup", "--user", "u1")
    assert [(one["target"], one["exists"]) for one in links["outgoing"]] == [
        ("drinks/tea", True), ("nothing", False),
    ]  # fmt: skip
    assert "← cup" in run("node", "links", "drinks/tea", "--user", "u1").stdout
    assert ask("node", "search", "green", "--user", "u1")[0]["node"]["address"] == "drinks/tea"
    assert "drinks/tea" in run("node", "search", "green", "--user", "u1").stdout


@pytest.mark.parametrize(
    "words",
    [["node"], ["node", "cook"], ["node", "read"], ["node", "patch", "a", "b"],
     ["node", "revert", "a", "one"], ["node", "read", "a", "b"], ["review", "eat"],
     ["review", "show"], ["review", "list", "x"]],
)  # fmt: skip
def test_words_that_make_no_sense_are_refused(run, tea, words):
    run(*words, code=2)


def test_an_unsafe_address_is_refused(run, tea, tmp_path):
    run("node", "write", "../../../evil", "x", "--user", "u1", code=5)
    assert list(tmp_path.rglob("evil*")) == []


def test_the_review_lists_shows_accepts_and_rejects(run, ask, tea):
    def propose(name: str, address: str) -> None:
        edit = Edit(address=address, body="Be kind.\n", reason="asked")
        with Memory.open(tea, environ={}) as memory:
            at = "2026-11-15T09:00:00.000Z"
            memory._shelf.wait(Waiting(v=1, id=name, user_id="u1", edit=edit, distiller="rules",
                                       created_at=at, why="ask"))  # fmt: skip

    assert run("review").stdout == "Nothing waits.\n"
    propose("one", "SOUL.md")
    propose("two", "AGENTS.md")
    assert [one["id"] for one in ask("review", "list")] == ["one", "two"]
    assert "SOUL.md" in run("review").stdout
    assert "+Be kind." in run("review", "show", "one").stdout
    assert ask("review", "accept", "one")[0]["status"] == "created"
    run("review", "reject", "two", "--reason", "no")
    assert run("review").stdout == "Nothing waits.\n"
    assert [leaf["address"] for leaf in ask("node", "tree", "--user", "u1")] == [
        "SOUL.md", "drinks/tea",
    ]  # fmt: skip
    run("review", "accept", "two", code=8)


def test_a_text_that_is_not_utf_8_is_refused_in_words(run, tea, tmp_path):
    path = tmp_path / "text.md"
    path.write_bytes(b"\xff\xfe")
    for words in (["node", "write", "a"], ["review", "accept", "x"]):
        told = run(*words, "--file", str(path), code=2)
        assert "not UTF-8" in told.stderr


def test_the_doctor_looks_at_the_graph(run, ask, tea):
    secret = "AKIA" + "QRSTUVWXYZ234567"
    folder = tea / "users/u1/memory"
    (folder / "broken.md").write_text("---\na: &x 1\nb: *x\n---\n\nSee [[nowhere]].\n")
    (folder / "secret.md").write_text(f"The key is {secret}.\n")
    (folder / "old.md").write_text("---\nupdatedAt: 1000000000000\n---\n\nold\n")
    (folder / "What?.md").write_text("x")
    (folder / "TEA.md").write_text("x")
    (folder / "tea.md").write_text("x")
    (folder / "old.md.swap").write_text("x")
    found = {(one["code"], one["path"].rpartition("/")[2]) for one in
             ask("doctor", "--graph", code=10)}  # fmt: skip
    assert {
        ("node_unreadable", "broken.md"), ("node_dangling", "broken.md"),
        ("node_secret", "secret.md"), ("node_stale", "old.md"), ("node_unused", "old.md"),
        ("node_name", "What?.md"), ("node_collision", "tea.md"), ("node_left", "old.md.swap"),
        ("node_orphan", "secret.md"),
    } <= found  # fmt: skip
    assert secret not in run("doctor", "--graph", code=10).stdout


def test_a_node_that_was_found_is_not_unused(run, ask, tea):
    text = "---\nupdatedAt: 1000000000000\n---\n\nrare\n"
    run("node", "write", "old", "--user", "u1", text="x")
    (tea / "users/u1/memory/old.md").write_text(text)
    assert "node_unused" in {one["code"] for one in ask("doctor", "--graph", code=None)}
    ask("node", "search", "rare", "--user", "u1")
    assert "node_unused" not in {one["code"] for one in ask("doctor", "--graph", code=None)}


def test_similar_nodes_are_told_and_merged_when_asked(run, ask, tea):
    run("node", "write", "drinks/green tea", "It is hot.\n", "--user", "u1", "--title", "tea")
    (pair,) = ask("node", "similar", "--user", "u1")
    assert list(pair.values()) == ["drinks/green tea", "drinks/tea", "title", 1.0]
    codes = {(one["code"], one["path"]) for one in ask("doctor", "--graph", code=None)}
    assert ("node_similar", "users/u1/memory/drinks/tea.md") in codes
    merge = ("node", "merge", "drinks/green tea", "drinks/tea", "--user", "u1")
    assert "--yes" in run(*merge, code=2).stderr
    assert len(ask("node", "tree", "--user", "u1")) == 2
    (done,) = ask(*merge, "--yes", "--reason", "twice")
    assert (done["address"], done["status"], done["version"]) == ("drinks/tea", "merged", 2)
    (node,) = ask("node", "read", "drinks/tea", "--user", "u1")
    assert node["body"] == "It is green.\nIt is hot.\n"
    assert run("node", "similar", "--user", "u1").stdout == "No two nodes look alike.\n"
    run("node", "revert", "drinks/tea", "1", "--user", "u1")
    run("node", "revert", "drinks/green tea", "1", "--user", "u1")
    bodies = [ask("node", "read", one, "--user", "u1")[0]["body"] for one in
              ("drinks/tea", "drinks/green tea")]  # fmt: skip
    assert bodies == ["It is green.\n", "It is hot.\n"]


def test_the_tree_of_very_many_nodes_is_shown_a_level_at_a_time(run, ask, tea):
    folder = tea / "users/u1/memory"
    for number in range(205):
        path = folder / f"topics/{number % 2}/node-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")
    shown = run("node", "tree", "--user", "u1").stdout
    assert "205 nodes" in shown
    assert "node-7" not in shown
    assert "node-7" in run("node", "tree", "topics/1", "--user", "u1").stdout
    (level,) = ask("node", "tree", "topics", "--level", "--user", "u1")
    assert [one["nodes"] for one in level["branches"]] == [103, 102]
    assert len(ask("node", "tree", "--user", "u1")) == 206


def test_a_node_without_links_is_told_to_have_none(run, ask):
    run("node", "write", "alone", "--user", "u1", text="# Alone")
    assert "nothing links to it" in run("node", "links", "alone", "--user", "u1").stdout
