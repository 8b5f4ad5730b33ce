"""How long a search takes, beside SQLite's FTS5 on the same text: `python -m bench.search SIZE…`

Searches are timed over everything, in one session, for one user, and right after a write. The first
search of a fresh process stands beside the same on an empty root, which is the start-up alone.
What a busy machine adds is left out of the figures called idle: of several rounds, the best time of
each question counts.

The text is made from a fixed seed: English words with frequencies as in real language. With
`--talk FILE…` it is what people wrote (the form of `bench.retrieval`), and the questions are real.
Both are asked the same queries in turns; the rival gets the plain OR of the words that we look for,
stop words left out, with its own ranking.
"""

import argparse
import json
import random
import re
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.talk import Talk
from mnemolog import embedders
from mnemolog.index.stopwords import STOP_WORDS
from mnemolog.memory import Memory

RESULTS = Path(__file__).parent / "results"
VOCABULARY = 30_000
TURNS = 100
QUERIES = 200
WRITE_EVERY = 5
ROUNDS = 5
# What takes long is not measured for more: rounds, and an index without vectors, which is another.
MANY = 100_000
BUDGETS = {1_000: 2, 10_000: 5, 100_000: 20, 1_000_000: 100}


class Taken(NamedTuple):
    """How long something took: by the clock, and of the processor, which nobody else can use."""

    wall: float
    processor: float


def main() -> None:
    """Measure each size and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000])
    parser.add_argument("--talk", nargs="+", type=Path, default=[], metavar="FILE")
    given = parser.parse_args()
    rows = []
    for size in given.sizes:
        words = Talk(given.talk) if given.talk else Words(size)
        with TemporaryDirectory(dir=_results()) as folder:
            rows.append(measure(Path(folder), words, size))
            print(json.dumps(rows[-1]), flush=True)
    kept = RESULTS / f"search-{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}.json"
    kept.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def measure(folder: Path, words: "Words | Talk", size: int) -> dict[str, float]:
    """Fill a store and a rival with the same text, and ask both the same."""
    memory = _filled(folder / "store", words, size)
    rebuilt = _rebuilt(memory, size)
    rival = _rival(folder / "rival.db", words, size)
    queries = [words.query(random.Random(-number - 1)) for number in range(QUERIES)]
    times = _asked(memory, rival, queries)
    idle = _idle(memory, rival, queries) if size <= MANY else {}
    memory.close()
    with Memory.open(folder / "store", environ={}) as again:
        again.query(None, limit=0)  # takes note of what was found, which closing wrote down
    first, memory_used = _first(folder / "store", queries[0])
    start_up, _ = _first(folder / "empty", queries[0])
    return {
        "entries": size,
        "p50_ms": _at(times["ours"], 0.5),
        "p95_ms": _at(times["ours"], 0.95),
        "p95_processor_ms": _at(times["ours"], 0.95, "processor"),
        "budget_ms": BUDGETS.get(size, 0),
        "one_session_p95_ms": _at(times["session"], 0.95),
        "one_session_p95_processor_ms": _at(times["session"], 0.95, "processor"),
        "one_user_p95_ms": _at(times["user"], 0.95),
        "one_user_p95_processor_ms": _at(times["user"], 0.95, "processor"),
        "after_a_write_p95_ms": _at(times["written"], 0.95),
        "fts5_p50_ms": _at(times["theirs"], 0.5),
        "fts5_p95_ms": _at(times["theirs"], 0.95),
        "fts5_p95_processor_ms": _at(times["theirs"], 0.95, "processor"),
        "first_in_a_fresh_process_ms": first,
        "the_same_in_an_empty_root_ms": start_up,
        "largest_memory_mb": memory_used,
        **rebuilt,
        **idle,
        **(_words_only(folder / "store", rival, queries) if size <= MANY else {}),
    }


def _rebuilt(memory: Memory, size: int) -> dict[str, float]:
    """Build the index anew. With enough entries two programs share it: by the clock they need at
    least what the busier of them uses of its processor."""
    start, used, beside = time.perf_counter(), time.process_time(), _children()
    memory.rebuild_index()
    wall, own = time.perf_counter() - start, time.process_time() - used
    second = _children() - beside
    return {
        "rebuild_per_second": round(size / wall),
        "rebuild_per_second_of_the_busier_processor": round(size / max(own, second)),
        "rebuild_per_processor_second": round(size / (own + second)),
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _words_only(root: Path, rival: sqlite3.Connection, queries: list[str]) -> dict[str, float]:
    """The same questions without vectors, which the rival has not either."""
    times: dict[str, list[Taken]] = {"ours": [], "theirs": []}
    with Memory.open(root, settings={"search.embedder": "none"}, environ={}) as memory:
        memory.query(None, text=queries[0], limit=10)
        for text in queries:
            times["ours"].append(
                _timed(lambda asked: memory.query(None, text=asked, limit=10), text)
            )
            times["theirs"].append(_timed(lambda asked: _ask(rival, asked), text))
    ours, theirs = (_at(times[name], 0.95, "processor") for name in ("ours", "theirs"))
    return {
        "words_only_p95_processor_ms": ours,
        "fts5_beside_it_p95_processor_ms": theirs,
    }


def _asked(memory: Memory, rival: sqlite3.Connection, queries: list[str]) -> dict[str, list[Taken]]:
    """Ask each question of everybody in turn; every scope of ours counts as one."""
    session = memory.list_sessions(limit=1)[0].id
    turns = _turns(memory, rival, session)
    memory.query(None, text=queries[0], limit=10)
    times: dict[str, list[Taken]] = {}
    for number, text in enumerate(queries):
        for name, call in turns.items():
            times.setdefault(name, []).append(_timed(call, text))
        if number % WRITE_EVERY == 0:
            memory.add_memory(session, content=text)
            times.setdefault("written", []).append(_timed(turns["ours"], text))
    return times


def _idle(memory: Memory, rival: sqlite3.Connection, queries: list[str]) -> dict[str, float]:
    """The same in several rounds without writes; each question's best time counts."""
    turns = _turns(memory, rival, memory.list_sessions(limit=1)[0].id)
    best: dict[str, dict[str, Taken]] = {name: {} for name in turns}
    for text in queries * ROUNDS:
        for name, call in turns.items():
            taken = _timed(call, text)
            best[name][text] = min(best[name].get(text, taken), taken, key=_processor)
    return {
        f"idle_{name}_p95_ms": _at(list(found.values()), 0.95, "processor")
        for name, found in best.items()
    }


def _turns(
    memory: Memory, rival: sqlite3.Connection, session: str
) -> dict[str, Callable[[str], object]]:
    user = memory.for_user("user-0")
    return {
        "ours": lambda text: memory.query(None, text=text, limit=10),
        "session": lambda text: memory.query(session, text=text, limit=10),
        "user": lambda text: user.query(None, text=text, limit=10),
        "theirs": lambda text: _ask(rival, text),
    }


def _processor(taken: Taken) -> float:
    return taken.processor


class Words:
    """A language: frequent words are frequent, rare ones rare. The embedder's own list of pieces is
    ordered by frequency."""

    def __init__(self, seed: int) -> None:
        source = random.Random(seed)
        with (Path(embedders.__file__).parent / "table" / "vocab.txt").open(
            encoding="utf-8"
        ) as file:
            pieces = [line.strip() for line in file]
        known = [
            piece for piece in pieces if piece.isalpha() and piece.isascii() and len(piece) > 1
        ]
        # Names and the like, of which no list of words knows all.
        rare = ["".join(source.choices(known, k=2)) for _ in range(VOCABULARY - len(known))]
        self._words = known + rare
        weights = (1 / (rank + 10) for rank in range(VOCABULARY))
        self._weights = list(accumulate(weights))  # summed once, not for each text

    def text(self, source: random.Random) -> str:
        """One entry of about 470 bytes."""
        words = source.choices(self._words, cum_weights=self._weights, k=72)
        words[7::8] = [f"{word}," for word in words[7::8]]
        return " ".join(words)

    def query(self, source: random.Random) -> str:
        """Some words that say something, and some that do not."""
        rare = source.choices(self._words[200:20_000], k=4)
        return " ".join(rare + source.choices(self._words, cum_weights=self._weights, k=6))

    def texts(self, first: int, last: int) -> Iterator[str]:
        """The entries of these numbers; made again whenever they are asked for, never kept."""
        return (self.text(random.Random(number)) for number in range(first, last))


def _filled(root: Path, words: Words | Talk, size: int) -> Memory:
    settings = {"storage.durability": "os", "storage.max_session_size_mb": 10_000}
    memory = Memory.open(root, settings=settings, environ={})
    for start in range(0, size, TURNS):
        session = memory.create_session(user_id=f"user-{start // TURNS % 200}")
        texts = words.texts(start, min(start + TURNS, size))
        memory.add_many(session.id, [{"content": text} for text in texts])
    return memory


def _rival(path: Path, words: Words | Talk, size: int) -> sqlite3.Connection:
    rival = sqlite3.connect(path)
    rival.execute("CREATE VIRTUAL TABLE entry USING fts5(text, tokenize = 'porter')")
    rival.executemany("INSERT INTO entry VALUES (?)", ((text,) for text in words.texts(0, size)))
    rival.commit()
    return rival


def _ask(rival: sqlite3.Connection, text: str) -> list[tuple[int]]:
    words = re.findall(r"\w+", text.casefold())
    match = " OR ".join(f'"{word}"' for word in words if word not in STOP_WORDS)
    query = "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY rank LIMIT 10"
    return rival.execute(query, (match,)).fetchall()


def _first(root: Path, text: str) -> tuple[float, float]:
    """The first search of a new process, without the start of Python and of numpy: milliseconds,
    and the most memory that the process ever held, in MiB."""
    code = (
        "import sys, time; from mnemolog.memory import Memory;"
        "import numpy, snowballstemmer;"
        "memory = Memory.open(sys.argv[1], environ={}); start = time.perf_counter();"
        "memory.query(None, text=sys.argv[2], limit=10); print(time.perf_counter() - start);"
        "print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(root), text], capture_output=True, text=True, check=True
    )
    seconds, size = done.stdout.split()
    return round(float(seconds) * 1000, 2), round(float(size), 1)


def _timed(call: Callable[[str], object], text: str) -> Taken:
    wall, processor = time.perf_counter(), time.thread_time()
    call(text)
    return Taken(time.perf_counter() - wall, time.thread_time() - processor)


def _at(times: list[Taken], share: float, clock: str = "wall") -> float:
    ordered = sorted(getattr(one, clock) for one in times)
    return round(ordered[int(share * (len(ordered) - 1))] * 1000, 2)


def _results() -> Path:
    RESULTS.mkdir(exist_ok=True)
    return RESULTS


if __name__ == "__main__":
    main()
