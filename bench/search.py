"""How long a search takes, beside SQLite's FTS5 on the same text: `python -m bench.search SIZE…`

The text is made from a fixed seed with word frequencies as in real language. Both are asked the
same queries in turns; the rival gets the plain OR of the same words with its own ranking.
"""

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from mnemolog.memory import Memory

RESULTS = Path(__file__).parent / "results"
VOCABULARY = 30_000
TURNS = 100
QUERIES = 100
BUDGETS = {1_000: 2, 10_000: 5, 100_000: 20, 1_000_000: 100}


def main() -> None:
    """Measure each size and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.search", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000])
    rows = []
    for size in parser.parse_args().sizes:
        with TemporaryDirectory(dir=_results()) as folder:
            rows.append(measure(Path(folder), size))
            print(json.dumps(rows[-1]), flush=True)
    kept = RESULTS / f"search-{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}.json"
    kept.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def measure(folder: Path, size: int) -> dict[str, float]:
    """Fill a store and a rival with the same text, and ask both the same."""
    words = Words(size)
    texts = [words.text(random.Random(number)) for number in range(size)]
    memory = _filled(folder / "store", texts)
    start = time.perf_counter()
    memory.rebuild_index()
    rebuilt = size / (time.perf_counter() - start)
    rival = _rival(folder / "rival.db", texts)
    queries = [words.query(random.Random(-number - 1)) for number in range(QUERIES)]
    memory.query(None, text=queries[0], limit=10)
    ours, theirs, one = [], [], []
    session = memory.list_sessions(limit=1)[0].id
    for query in queries:
        ours.append(_timed(lambda text=query: memory.query(None, text=text, limit=10)))
        one.append(_timed(lambda text=query: memory.query(session, text=text, limit=10)))
        theirs.append(_timed(lambda text=query: _ask(rival, text)))
    memory.close()
    first = _first(folder / "store", queries[0])
    return {
        "entries": size,
        "p50_ms": _at(ours, 0.5),
        "p95_ms": _at(ours, 0.95),
        "budget_ms": BUDGETS.get(size, 0),
        "one_session_p95_ms": _at(one, 0.95),
        "fts5_p50_ms": _at(theirs, 0.5),
        "fts5_p95_ms": _at(theirs, 0.95),
        "first_in_a_fresh_process_ms": first,
        "rebuild_per_second": round(rebuilt),
    }


class Words:
    """A language of our own: frequent words are frequent, rare ones rare."""

    def __init__(self, seed: int) -> None:
        source = random.Random(seed)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self._words = ["".join(source.choices(letters, k=3 + n % 7)) for n in range(VOCABULARY)]
        self._weights = [1 / (rank + 10) for rank in range(VOCABULARY)]

    def text(self, source: random.Random) -> str:
        """One entry of about 470 bytes."""
        return " ".join(source.choices(self._words, self._weights, k=72))

    def query(self, source: random.Random) -> str:
        """Some words that say something, and some that do not."""
        rare = source.choices(self._words[200:20_000], k=4)
        return " ".join(rare + source.choices(self._words, self._weights, k=6))


def _filled(root: Path, texts: list[str]) -> Memory:
    settings = {"storage.durability": "os", "storage.max_session_size_mb": 10_000}
    memory = Memory.open(root, settings=settings, environ={})
    for start in range(0, len(texts), TURNS):
        session = memory.create_session(user_id=f"user-{start // TURNS % 200}")
        memory.add_many(session.id, [{"content": text} for text in texts[start : start + TURNS]])
    return memory


def _rival(path: Path, texts: list[str]) -> sqlite3.Connection:
    rival = sqlite3.connect(path)
    rival.execute("CREATE VIRTUAL TABLE entry USING fts5(text, tokenize = 'porter')")
    rival.executemany("INSERT INTO entry VALUES (?)", ((text,) for text in texts))
    rival.commit()
    return rival


def _ask(rival: sqlite3.Connection, text: str) -> list[tuple[int]]:
    match = " OR ".join(f'"{word}"' for word in text.split())
    query = "SELECT rowid FROM entry WHERE entry MATCH ? ORDER BY rank LIMIT 10"
    return rival.execute(query, (match,)).fetchall()


def _first(root: Path, text: str) -> float:
    """The first search of a new process, in the process's own time, without its start."""
    code = (
        "import sys, time; from mnemolog.memory import Memory; import numpy, snowballstemmer;"
        "memory = Memory.open(sys.argv[1], environ={}); start = time.perf_counter();"
        "memory.query(None, text=sys.argv[2], limit=10); print(time.perf_counter() - start)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(root), text], capture_output=True, text=True, check=True
    )
    return round(float(done.stdout) * 1000, 2)


def _timed(call: object) -> float:
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - start


def _at(times: list[float], share: float) -> float:
    return round(sorted(times)[int(share * (len(times) - 1))] * 1000, 2)


def _results() -> Path:
    RESULTS.mkdir(exist_ok=True)
    return RESULTS


if __name__ == "__main__":
    main()
