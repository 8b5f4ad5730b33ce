"""A user's graph travels with the logs, byte for byte."""

import base64
import json
import shutil
from hashlib import sha256

import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidFormatError
from mnemolog.model.lesson import Edit, Waiting
from tests.stores.native_files import HEADER, dumped

NOW = "2026-11-15T09:00:00.000Z"


def graph_files(root):
    """Every file of every graph."""
    found = {}
    for user in sorted((root / "users").glob("*")):
        for path in sorted(user.rglob("*")):
            name = path.relative_to(user)
            is_room = name.parts[0] in ("memory", "versions", "review") or name.suffix == ".md"
            if path.is_file() and is_room:
                found[f"{user.name}/{name}"] = path.read_bytes()
    return found


@pytest.fixture
def grown(root):
    """Two users with nodes, one of them removed, edited by hand, a proposal and a long history."""
    with Memory.open(root, environ={}) as memory:
        memory.create_session("ann", session_id="talk")
        memory.add_conversation("talk", role="user", content="hello")
        memory.write_node("people/Bea", "- A friend. [[tea]]\n", user_id="ann")
        memory.append_node("people/Bea", "- Tall.\n", user_id="ann")
        memory.write_node("gone", "x\n", user_id="ann")
        memory.delete_node("gone", user_id="ann")
        memory.write_node("USER.md", "- Name: Ann\n", user_id="ann")
        (root / "users/ann/memory/tea.md").write_bytes(
            "# Tee\r\n日本 \xff\r\n".encode("latin-1", "ignore")
        )
        (root / "users/ann/memory/cup.png").write_bytes(b"\x89PNG")
        edit = Edit(address="SOUL.md", body="kind\n")
        memory._shelf.wait(Waiting(v=1, id="w", user_id="ann", edit=edit, distiller="r",
                                   created_at=NOW, why=""))  # fmt: skip
        memory.write_node("work", "y\n", user_id="ben")
        yield memory


@pytest.mark.req("S002-100")
@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_export_wipe_import_gives_the_same_files(grown, root, tmp_path, name):
    before = graph_files(root)
    picture = before.pop("ann/memory/cup.png")
    assert len(before) == 9
    done = grown.export_native(tmp_path / name)
    assert (done.logs, done.files) == (1, 9)
    assert done.left_out == ("users/ann/memory/cup.png",)
    grown.close()
    shutil.rmtree(root)
    with Memory.open(root, environ={}) as fresh:
        dry = fresh.import_native(tmp_path / name, dry_run=True)
        assert graph_files(root) == {}
        taken = fresh.import_native(tmp_path / name)
        told = [(one.part, one.log.id, one.status, one.files) for one in taken.logs]
        assert told == [(one.part, one.log.id, one.status, one.files) for one in dry.logs] == [
            ("log", "talk", "stored", 0), ("graph", "ann", "stored", 7),
            ("graph", "ben", "stored", 2),
        ]  # fmt: skip
        assert graph_files(root) == before
        assert picture not in graph_files(root).values()
        assert [hit.node.address for hit in fresh.search_nodes("tall friend", user_id="ann")][
            :1
        ] == ["people/Bea"]
        again = fresh.import_native(tmp_path / name)
        assert {one.status for one in again.logs} == {"present"}
    assert graph_files(root) == before


def test_one_users_export_holds_that_users_graph_and_a_sessions_none(grown, tmp_path, root):
    assert grown.export_native(tmp_path / "ben.jsonl", user_id="ben").files == 2
    assert grown.export_native(tmp_path / "talk.jsonl", session_id="talk").files == 0
    with Memory.open(tmp_path / "other", environ={}) as other:
        other.import_native(tmp_path / "ben.jsonl")
    assert set(graph_files(tmp_path / "other")) == {"ben/memory/work.md", "ben/versions/work.jsonl"}


def test_a_graph_with_a_node_that_differs_is_refused_as_a_whole(grown, tmp_path):
    grown.export_native(tmp_path / "all.jsonl")
    root = tmp_path / "other"
    with Memory.open(root, environ={}) as other:
        other.write_node("people/Bea", "- Somebody else.\n", user_id="ann")
        before = graph_files(root)
        done = other.import_native(tmp_path / "all.jsonl")
        (refused,) = done.refused
        assert (refused.part, refused.log.id) == ("graph", "ann")
        assert "people/Bea" in refused.reason
    after = graph_files(root)
    assert {name: one for name, one in after.items() if name.startswith("ann/")} == before
    assert "ben/memory/work.md" in after


def test_a_node_that_went_on_here_stays_as_it_is(grown, tmp_path, root):
    grown.export_native(tmp_path / "all.jsonl")
    grown.append_node("people/Bea", "- Later.\n", user_id="ann")
    grown.delete_node("work", user_id="ben")
    before = graph_files(root)
    done = grown.import_native(tmp_path / "all.jsonl")
    assert {one.status for one in done.logs} == {"present"}
    assert graph_files(root) == before


def graph(*files, user="ann", **more):
    pieces = [dumped({"mnemolog": "file", "path": path, "base64": base64.b64encode(text).decode()})
              for path, text in files]  # fmt: skip
    body = b"".join(pieces)
    end = {"mnemolog": "end of log", "lines": len(pieces), "bytes": len(body),
           "sum": f"sha256:{sha256(body).hexdigest()}", **more}  # fmt: skip
    return dumped({"mnemolog": "graph", "user": user}) + body + dumped(end)


def whole(*graphs):
    return dumped(HEADER) + b"".join(graphs) + dumped({"mnemolog": "end", "logs": 0, "lines": 0})


GOOD = ("memory/a.md", b"a")
WAITING = json.dumps({"v": 1, "id": "w", "user_id": "ben", "edit": {"address": "a", "body": ""},
                      "distiller": "r", "created_at": NOW, "why": ""}).encode()  # fmt: skip


@pytest.mark.parametrize(
    "graphs",
    [
        [graph(GOOD, ("memory/../../x.md", b"b"))],
        [graph(GOOD, ("/etc/x.md", b"b"))],
        [graph(GOOD, ("memory/.obsidian/x.md", b"b"))],
        [graph(GOOD, ("memory/x.js", b"b"))],
        [graph(GOOD, ("preferences.jsonl", b"b"))],
        [graph(GOOD, ("versions/x.md", b"b"))],
        [graph(GOOD, ("review/w.json", b"{}"))],
        [graph(GOOD, ("review/w.json", WAITING))],
        [graph(GOOD, ("memory/b.md", b"b"), GOOD)],
        [graph(GOOD), graph(GOOD)],
        [graph(GOOD, sum="sha256:0")],
        [graph(GOOD, user="")],
    ],
)
def test_whatever_is_no_file_of_a_graph_is_refused_and_nothing_is_stored(graphs, tmp_path):
    (tmp_path / "bad.jsonl").write_bytes(whole(*graphs))
    with Memory.open(tmp_path / "root", environ={}) as memory:
        with pytest.raises(InvalidFormatError):
            memory.import_native(tmp_path / "bad.jsonl")
        assert memory.node_users() == []


def test_the_same_without_the_fault_is_taken(tmp_path):
    long = b"x" * (4 * 1024 * 1024)
    pieces = [("memory/long.md", long[:10]), ("memory/long.md", long[10:])]
    (tmp_path / "good.jsonl").write_bytes(whole(graph(GOOD, *pieces)))
    with Memory.open(tmp_path / "root", environ={}) as memory:
        memory.import_native(tmp_path / "good.jsonl")
        assert memory.read_node("a", user_id="ann").text == "a"
        memory.export_native(tmp_path / "back.jsonl")
    assert (tmp_path / "root/users/ann/memory/long.md").read_bytes() == long
    assert (tmp_path / "back.jsonl").read_bytes().count(b'"path":"memory/long.md"') == 2
