"""A backup holds the whole graph, and a restored root reads and finds it."""

from mnemolog import Memory
from mnemolog.model.lesson import Edit, Waiting
from mnemolog.stores.files.moving.restoring import restore_root


def test_a_backup_carries_nodes_versions_and_proposals(memory, root, tmp_path):
    memory.write_node("drinks/tea", "It is green.\n", user_id="u1")
    memory.append_node("drinks/tea", "And hot.", user_id="u1")
    memory.write_node("USER.md", "Likes tea.\n", user_id="u1")
    memory.write_node("東京", "A town.\n", user_id="Bob Ä")
    edit = Edit(address="SOUL.md", body="Be kind.\n")
    memory._shelf.wait(Waiting(v=1, id="w", user_id="u1", edit=edit, distiller="rules",
                               created_at="2026-11-15T09:00:00.000Z", why="ask"))  # fmt: skip
    (root / "users/u1/memory/by hand.md").write_text("By hand.\n")
    memory.backup(str(tmp_path / "all.tar.gz"))
    restore_root(str(tmp_path / "all.tar.gz"), str(tmp_path / "new"))
    with Memory.open(tmp_path / "new", environ={}) as again:
        assert again.node_users() == memory.node_users() == ["Bob Ä", "u1"]
        for user in again.node_users():
            assert [(one.address, one.title) for one in again.tree(user)] == [
                (one.address, one.title) for one in memory.tree(user)
            ]
        assert again.node_versions("drinks/tea", user_id="u1") == memory.node_versions(
            "drinks/tea", user_id="u1"
        )
        assert again.proposals() == memory.proposals()
        assert again.search_nodes("hot green", user_id="u1")[0].node.address == "drinks/tea"
        again.append_node("drinks/tea", "Later.", user_id="u1")
