"""What a person corrected or removed stays so, until the entry itself says something else."""

from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.worker import Worker
from tests.worker.scribes import open_memory

DB = "topics/db"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = open_memory(tmp_path)
    memory.create_session(session_id="s", user_id="u", agent_ids=["a"])
    return memory


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "users" / "u" / "memory" / "topics" / "db.md"


def learn(memory: Memory) -> None:
    memory.reset_session("s")
    assert [done.status for done in Worker(memory).tick()] in (["learned"], ["nothing"])


def decide(memory: Memory, decision: str = "Use PostgreSQL") -> str:
    made = memory.add_decision(
        "s", made_by="a", decision=decision, rationale="r", tags=["topics.db"]
    )
    learn(memory)
    return made.id


def retag(memory: Memory, entry: str, tag: str = "x") -> None:
    memory.update_memory("s", entry, tags=["topics.db", tag])
    learn(memory)


def revise(memory: Memory, entry: str, decision: str) -> None:
    memory.update_memory("s", entry, content={"decision": decision, "rationale": "r"})
    learn(memory)


def said(memory: Memory) -> list[str]:
    body = memory.read_node(DB, user_id="u").body
    return [line.split(" (since")[0] for line in body.splitlines() if line.startswith("- ")]


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def remove(file: Path, word: str) -> None:
    rows = file.read_text().splitlines(keepends=True)
    file.write_text("".join(row for row in rows if word not in row))


def test_the_wording_of_a_person_outlives_a_revision_of_the_tags(memory, file):
    entry = decide(memory)
    edit(file, "**Use PostgreSQL** — r [by a]", "**Use PostgreSQL 17, never 16**")
    decide(memory, "Keep backups for a month")  # whoever writes next takes the hand's text along
    mine = file.read_text()
    retag(memory, entry)
    assert file.read_text() == mine
    assert "- **Use PostgreSQL 17, never 16**" in said(memory)


def test_a_line_that_a_person_removed_does_not_come_back(memory, file):
    entry = decide(memory)
    decide(memory, "Keep backups for a month")
    remove(file, "PostgreSQL")
    retag(memory, entry)
    assert said(memory) == ["- **Keep backups for a month** — r [by a]"]


def test_a_node_that_a_person_removed_does_not_come_back_for_new_tags(memory, file):
    entry = decide(memory)
    file.unlink()
    retag(memory, entry)
    assert not file.exists()
    decide(memory, "Keep backups for a month")
    assert said(memory) == ["- **Keep backups for a month** — r [by a]"]


@pytest.mark.parametrize("change", [edit, lambda file, old, _: remove(file, old)])
def test_an_entry_that_says_something_else_is_learned_whatever_a_person_did(memory, file, change):
    entry = decide(memory)
    change(file, "Use PostgreSQL", "Use PostgreSQL 17")
    revise(memory, entry, "Use MariaDB")
    assert said(memory) == ["- **Use MariaDB** — r [by a]"]


def test_a_line_that_a_person_brought_back_is_not_struck_again(memory, file):
    found = memory.add_finding(
        "s", discovered_by="a", description="Leak", severity="high", tags=["topics.db"]
    )
    learn(memory)
    told = {"description": "Leak", "severity": "high", "status": "resolved"}
    memory.update_memory("s", found.id, content=told)
    learn(memory)
    assert said(memory)[0].startswith("- ~~**Leak** [high]~~")
    edit(file, "~~", "")
    retag(memory, found.id)
    assert said(memory)[0].startswith("- **Leak** [high] (")
