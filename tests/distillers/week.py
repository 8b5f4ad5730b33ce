"""A week of two people and three agents, lived in a real memory, and what should be known of it.

`week.jsonl` is what was said and noted, in order of time; an id that comes again is a revision.
`week_gold.json` is what a careful person would know afterwards: `typed` for the typed entries,
`free` for what was said in free text. Whatever is not in there is no fact.

`second_week.jsonl` and `second_week_gold.json` are another week, of six people and four agents, by
somebody who had not seen the rules; `lookalikes` there only names sentences that are no facts.

`third_week.jsonl` and `third_week_gold.json` are one more, of five people and four agents, again by
somebody who had not seen the rules.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from mnemolog import Memory
from mnemolog.testing import FixedClock
from mnemolog.worker import Outcome, Worker

HERE = Path(__file__).parent
FIRST, SECOND, THIRD = "week", "second_week", "third_week"

Row = dict[str, Any]

_COMMENT = re.compile(r"<!--(.*?)-->")
# `(until 2026-11-15)`, or both of its dates: `(2026-11-02 – 2026-11-15)`.
_UNTIL = re.compile(r"(?:until|–) (\d{4}-\d\d-\d\d)\)$")
_VERBS = {
    "conversation": "add_conversation",
    "decision": "add_decision",
    "finding": "add_finding",
    "preference": "update_preference",
}


class Line(NamedTuple):
    """One line of a node that rests on something."""

    user: str
    node: str
    text: str
    sources: frozenset[str]
    is_over: bool
    until: str

    @property
    def shown(self) -> str:
        return f"{self.user} {self.node}: {self.text} <- {', '.join(sorted(self.sources))}"


class Waits(NamedTuple):
    """One proposal in the review."""

    user: str
    node: str
    sources: frozenset[str]
    text: str


class Known(NamedTuple):
    """What a memory knows at the end of the week."""

    lines: tuple[Line, ...]
    waiting: tuple[Waits, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def current(self) -> list[tuple[str, str, str, tuple[str, ...]]]:
        """The facts that stand, with their sources, in an order that depends on nothing else."""
        return sorted(
            (one.user, one.node, one.text, tuple(sorted(one.sources)))
            for one in self.lines
            if not one.is_over
        )


@cache
def week(which: str = FIRST) -> tuple[Row, ...]:
    lines = (HERE / f"{which}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)


@cache
def gold(which: str = FIRST) -> dict[str, list[Row]]:
    text = (HERE / f"{which}_gold.json").read_text(encoding="utf-8")
    found: dict[str, list[Row]] = json.loads(text)
    return found


def users(which: str = FIRST) -> list[str]:
    return sorted({row["user"] for row in week(which)})


def entries(which: str = FIRST, /, **wanted: str) -> dict[str, Row]:
    """The entries whose fields are these, by the name that a node gives them."""
    return {
        f"{row['session']}/{row['entry']['id']}": row["entry"]
        for row in week(which)
        if all(row["entry"][name] == value for name, value in wanted.items())
    }


def live(root: Path, *, is_daily: bool, which: str = FIRST, killed: Sequence[str] = ()) -> Known:
    """Live the week, and learn from it every evening or once at its end; before that end, as often
    as asked for, by a worker that is killed at a named point."""
    clock = FixedClock()
    settings = {
        "search": {"embedder": "none"},
        "storage": {"durability": "os"},
        "knowledge": {"sessions_per_tick": 40},
    }
    outcomes: list[Outcome] = []
    with Memory.open(root, clock=clock, environ={}, settings=settings) as memory:
        seen: set[str] = set()
        for day, rows in groupby(week(which), lambda row: row["entry"]["timestamp"][:10]):
            _live_day(memory, clock, list(rows), seen)
            clock.set(datetime.fromisoformat(f"{day}T23:00:00+00:00").astimezone(UTC))
            outcomes += _learn(memory) if is_daily else []
        points = sorted(killed, key=lambda point: "wait" in point)  # few sessions come by there
        died = [point for point in points if _is_killed(memory, root, point, clock)]
        assert len(died) >= len(points) - 1, died
        outcomes += _learn(memory) if not is_daily else []
        assert memory.due_sessions() == []
        people = users(which)
        return Known(
            tuple(_lines(memory, people)), tuple(_waiting(memory, people)), tuple(outcomes)
        )


def _live_day(memory: Memory, clock: FixedClock, rows: list[Row], seen: set[str]) -> None:
    for row in rows:
        clock.set(datetime.fromisoformat(row["entry"]["timestamp"]))
        if row["session"] not in seen:
            agents, session = row["agents"], row["session"]
            memory.create_session(row["user"], agent_ids=agents, session_id=session)
            seen.add(session)
        _write(memory, row["session"], row["entry"], seen)
    for session, end in dict.fromkeys((row["session"], row["end"]) for row in rows):
        getattr(memory, f"{end}_session")(session)


def _write(memory: Memory, session: str, entry: Row, seen: set[str]) -> None:
    name = f"{session}/{entry['id']}"
    if name in seen:
        memory.update_memory(session, entry["id"], content=entry["content"])
        return
    seen.add(name)
    getattr(memory, _VERBS.get(entry["type"], "add_memory"))(session, entry)


def _learn(memory: Memory) -> list[Outcome]:
    """One tick of a worker that was just started."""
    worker = Worker(memory)
    try:
        return worker.tick()
    finally:
        worker.stop()


def _is_killed(memory: Memory, root: Path, point: str, clock: FixedClock) -> bool:
    """Whether a worker was killed there before all was learned: not every session comes by."""
    given = [str(root), point, "rules", clock.now().isoformat()]
    while memory.due_sessions():
        call = [sys.executable, "-m", "tests.worker.dying", *given]
        if subprocess.run(call, timeout=120, check=False).returncode == -9:
            return True
    return False


def _lines(memory: Memory, people: list[str]) -> Iterator[Line]:
    for user in people:
        for leaf in memory.tree(user):
            body = memory.read_node(leaf.address, user_id=user).body
            for row in body.splitlines():
                if sources := sources_in(row):
                    yield _line(user, leaf.address, row, sources)


def _line(user: str, address: str, row: str, sources: frozenset[str]) -> Line:
    text = _COMMENT.sub("", row).replace("[[", "").replace("]]", "").strip()
    until = _UNTIL.search(text)
    return Line(user, address, text, sources, "~~" in text, until[1] if until else "")


def _waiting(memory: Memory, people: list[str]) -> Iterator[Waits]:
    for user in people:
        for one in memory.proposals(user):
            sources = frozenset(source.name for source in one.edit.sources)
            yield Waits(user, one.edit.address, sources, one.edit.body)


def sources_in(text: str) -> frozenset[str]:
    """The entries that the comments of a text name."""
    named = re.split(r"[\s,]+", " ".join(_COMMENT.findall(text)))
    return frozenset(one for one in named if "/" in one)


class Score(NamedTuple):
    """How what was learned from free text compares with what a person would note."""

    lines: int
    """Lines that rest on something said in free text."""
    wrong: tuple[Line, ...]
    found: tuple[Row, ...]
    missed: tuple[Row, ...]

    @property
    def precision(self) -> float:
        return (self.lines - len(self.wrong)) / self.lines if self.lines else 0.0

    @property
    def recall(self) -> float:
        return len(self.found) / (len(self.found) + len(self.missed))

    @property
    def recall_of_forms(self) -> float:
        """Recall over the facts that were said in a documented form."""
        found, missed = (
            sum(one["is_in_a_documented_form"] for one in some)
            for some in (self.found, self.missed)
        )
        return found / (found + missed)


def score(known: Known, which: str = FIRST) -> Score:
    """Judge every line that rests on free text: a second line for one fact is a wrong one."""
    said = entries(which, type="conversation")
    lines = [one for one in known.lines if one.sources & said.keys()]
    wrong: list[Line] = []
    found: list[int] = []
    free = gold(which)["free"]
    for line in lines:
        facts = [_fact(free, line, source) for source in sorted(line.sources & said.keys())]
        right = [one for one in facts if one is not None and one not in found]
        if len(right) == len(facts):
            found += right
        else:
            wrong.append(line)
    missed = [one for number, one in enumerate(free) if number not in found]
    return Score(len(lines), tuple(wrong), tuple(free[one] for one in found), tuple(missed))


def _fact(free: list[Row], line: Line, source: str) -> int | None:
    """The number of the fact in free text that a line states with one of its sources."""
    for number, fact in enumerate(free):
        if fact["entry"] == source and fact["user"] == line.user and is_stated(fact, line):
            return number
    return None


def is_stated(fact: Row, line: Line) -> bool:
    """Whether a line says a fact, where it belongs, and as over if that is what it is."""
    node = fact["node"]
    is_home = line.node.startswith(node) if node == "" or node.endswith("/") else line.node == node
    is_over = fact["state"] == "over"
    return (
        is_home
        and fact["says"] in line.text.casefold()
        and line.is_over == is_over
        and (not is_over or line.until == fact["until"])
    )
