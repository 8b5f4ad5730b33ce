"""How much of the evidence is found: `python -m bench.retrieval FILE…`

Each file is a list of conversations with questions and the turns that answer them. A conversation
is loaded into a store of its own, its sessions as sessions; each question is asked across them.
Recall is fractional: the share of the evidence turns among the first k hits.
"""

import argparse
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mnemolog.memory import Memory
from mnemolog.model.query import Query
from retriever.measure_vectors import found

RESULTS = Path(__file__).parent / "results"
DEPTHS = (1, 5, 10, 25)
LEFT_OUT = "adversarial"
SETTINGS: dict[str, object] = {"storage.durability": "os", "storage.max_session_size_mb": 100}


@dataclass
class LastTurn:
    """A clock that stands a day after the last turn, so that decay is as it would be in use."""

    at: datetime = datetime(2024, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        """The time it was set to."""
        return self.at


def main() -> None:
    """Measure every file with every embedder that is asked for, and keep a record per question."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--embedders", default="none,static,small,full")
    given = parser.parse_args()
    records: list[dict[str, Any]] = []
    for path in given.files:
        for embedder in given.embedders.split(","):
            asked = list(questions(path, embedder))
            records += asked
            _print(path.stem, embedder, asked)
    RESULTS.mkdir(exist_ok=True)
    kept = RESULTS / f"retrieval-{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}.json"
    kept.write_text(json.dumps(records, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\n{len(records)} records in bench/results/{kept.name}")


def questions(path: Path, embedder: str) -> Iterator[dict[str, Any]]:
    """One record for each question of a file."""
    for conversation in json.loads(path.read_text(encoding="utf-8")):
        with TemporaryDirectory() as folder:
            clock = LastTurn()
            with Memory.open(
                folder, settings=SETTINGS, clock=clock, environ={}, embedder=found(embedder)
            ) as memory:
                load(memory, conversation, clock)
                memory.rebuild_index()  # else a slow embedder would still be at work
                for question in conversation["questions"]:
                    record = ask(memory, conversation, question)
                    if record is not None:
                        yield {"file": path.stem, "embedder": embedder, **record}


def load(memory: Memory, conversation: Mapping[str, Any], clock: LastTurn) -> None:
    """Store a conversation's turns, session by session."""
    last = clock.at
    batches: dict[str, list[dict[str, Any]]] = {}
    for turn in conversation["turns"]:
        last = _moment(turn["time"]) or last
        batches.setdefault(turn["session"], []).append(
            {"id": turn["id"], "content": turn["text"], "agent_id": turn["speaker"],
             "timestamp": last}
        )  # fmt: skip
    for name, batch in batches.items():
        memory.create_session(session_id=f"session-{name}")
        memory.add_many(f"session-{name}", batch)
    clock.at = last + timedelta(days=1)


def ask(
    memory: Memory, conversation: Mapping[str, Any], question: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Ask one question across all sessions; None if nothing is there to be found."""
    known = {turn["id"] for turn in conversation["turns"]}
    evidence = [one for one in question["evidence"] if one in known]
    if not evidence:
        return None
    hits = found_for(memory, question["question"])
    return {
        "conversation": conversation["id"],
        "question": question["question"],
        "type": question["type"],
        "evidence": evidence,
        "hits": hits,
        **{f"recall@{k}": len(set(hits[:k]) & set(evidence)) / len(evidence) for k in DEPTHS},
        "ndcg@10": _ndcg(hits[:10], evidence),
        "mrr": next((1 / rank for rank, hit in enumerate(hits, 1) if hit in evidence), 0.0),
    }


def found_for(memory: Memory, text: str) -> list[str]:
    """The ids of what a question finds. Finding is no use here: what was used ranks higher, so each
    question would move what the next ones find, the sooner the slower the machine is."""
    asked = Query(text=text, limit=max(DEPTHS), recalls=0)
    index, now = memory._search_index(), memory._clock.now()
    hits = index.search(asked, memory._viewer, None, now, memory.settings.decay)
    return [hit.entry.id for hit in hits]


def _ndcg(hits: list[str], evidence: list[str]) -> float:
    gain = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit in evidence)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(evidence), 10) + 1))
    return gain / best


def _moment(text: str | None) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _print(name: str, embedder: str, records: list[dict[str, Any]]) -> None:
    counted = [one for one in records if one["type"] != LEFT_OUT]
    keys = [f"recall@{k}" for k in DEPTHS] + ["ndcg@10", "mrr"]
    groups = {"all": counted}
    for one in records:
        groups.setdefault(one["type"], []).append(one)
    print(f"\n{name}, embedder {embedder}")
    print(f"{'type':28}{'n':>5}" + "".join(f"{key:>11}" for key in keys))
    for kind, group in groups.items():
        means = (100 * sum(one[key] for one in group) / len(group) for key in keys)
        print(f"{kind:28}{len(group):5}" + "".join(f"{mean:11.1f}" for mean in means))


if __name__ == "__main__":
    main()
