"""Distillers for tests: each writes down exactly what it is given, so that doubles show."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

from mnemolog import Memory
from mnemolog.errors import DistillerError
from mnemolog.model.lesson import Edit, Lesson, Proposal, Source
from mnemolog.ports import Clock
from mnemolog.worker import Distillers, Worker

SAID = "topics/said"


def open_memory(root: Path, clock: Clock | None = None, **knowledge: object) -> Memory:
    """A memory with its graph."""
    return Memory.open(root, clock=clock, environ={}, settings=settings(**knowledge))


def settings(**knowledge: object) -> dict[str, object]:
    return {"search": {"embedder": "none"}, "knowledge": knowledge}


class Scribe:
    """Adds a line to one node for every entry."""

    name = "scribe"
    most_characters: int | None = None

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses or (SAID,)
        self.lessons: list[Lesson] = []

    def distil(self, lesson: Lesson, nodes) -> Proposal:
        self.lessons.append(lesson)
        return Proposal(edits=tuple(self._edit(one, lesson, nodes) for one in self.addresses))

    def _edit(self, address: str, lesson: Lesson, nodes) -> Edit:
        node = nodes.read(address)
        sources = tuple(
            Source(lesson.session_id, one.id, one.seq, one.origin) for one in lesson.entries
        )
        lines = [
            f"- {one.text} <!-- {source.name} -->"
            for one, source in zip(lesson.entries, sources, strict=True)
        ]
        return Edit(
            address=address,
            body="\n".join([*(node.body.splitlines() if node else ()), *lines]) + "\n",
            title=None if node else "Said",
            expected=node.hash if node else "",
            reason="it was said",
            sources=sources,
        )


class Failing:
    """Fails for some sessions, and is a scribe for the others."""

    name = "failing"

    def __init__(self, *sessions: str, error: Exception | None = None) -> None:
        self.sessions = sessions
        self.error = error or DistillerError("a secret that was said")
        self.scribe = Scribe()
        self.tries = 0

    def distil(self, lesson: Lesson, nodes) -> Proposal:
        if lesson.session_id in self.sessions:
            self.tries += 1
            raise self.error
        return self.scribe.distil(lesson, nodes)


class Slow:
    """Waits for a word before it answers about some sessions."""

    name = "slow"

    def __init__(self, *sessions: str, meanwhile: Callable[[], object] | None = None) -> None:
        self.sessions = sessions
        self.begun, self.go = Event(), Event()
        self.scribe = Scribe()
        self.meanwhile = meanwhile

    def distil(self, lesson: Lesson, nodes) -> Proposal:
        made = self.scribe.distil(lesson, nodes)
        if lesson.session_id in self.sessions:
            self.begun.set()
            assert self.go.wait(60)
        if self.meanwhile is not None:
            self.meanwhile()
        return made


def working(memory: Memory, distiller) -> Worker:
    """A worker whose every memory-agent is this distiller."""
    return Worker(memory, Distillers(memory.settings.knowledge, lambda agent, settings: distiller))


def said(memory: Memory, user: str = "u1", address: str = SAID) -> list[str]:
    """What the node of a scribe holds, line for line, without the sources."""
    node = memory.node_reader(user).read(address)
    return [line.split(" <!--")[0] for line in node.body.splitlines()] if node else []


def talk(memory: Memory, session_id: str, *texts: str, user: str = "u1") -> str:
    """A session in which a user said something."""
    memory.create_session(user, agent_ids=["guide"], session_id=session_id)
    for number, text in enumerate(texts, 1):
        memory.add_conversation(session_id, role="user", content=text, id=f"{session_id}-{number}")
    return session_id
