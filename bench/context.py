"""How much of the evidence a block for a prompt holds: `python -m bench.context FILE…`

Each file is one of `bench.retrieval`'s. Every question is asked by `memory.context()` in a session
of its own; an entry counts that stands in the block, whole or by its passages.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.retrieval import LEFT_OUT, SETTINGS, LastTurn, load
from mnemolog.memory import Memory

BUDGETS = (500, 1000, 2000, 4000)
_HERE = "here"


def main() -> None:
    """Print for each file and budget the share of the evidence, and how many entries there are."""
    parser = argparse.ArgumentParser(prog="python -m bench.context", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    for path in parser.parse_args().files:
        rows = [row for talk in json.loads(path.read_text("utf-8")) for row in _asked(talk)]
        print(f"\n{path.stem}, {len(rows)} questions\n{'tokens':>8}{'evidence':>10}{'entries':>9}")
        for at, budget in enumerate(BUDGETS):
            shares, counts = zip(*(row[at] for row in rows), strict=True)
            print(f"{budget:8}{100 * _mean(shares):10.1f}{_mean(counts):9.1f}")


def _asked(conversation: Mapping[str, Any]) -> Iterator[list[tuple[float, int]]]:
    """For each question and budget, the share of its evidence and how many entries came."""
    known = {turn["id"] for turn in conversation["turns"]}
    clock = LastTurn()
    with (
        TemporaryDirectory() as folder,
        Memory.open(folder, settings=SETTINGS, clock=clock, environ={}) as memory,
    ):
        load(memory, conversation, clock)
        memory.create_session(session_id=_HERE)
        for question in conversation["questions"]:
            evidence = known & set(question["evidence"])
            if evidence and question["type"] != LEFT_OUT:
                yield [_held(memory, question["question"], evidence, each) for each in BUDGETS]


def _held(memory: Memory, question: str, evidence: set[str], budget: int) -> tuple[float, int]:
    sources = memory.context(_HERE, question, max_tokens=budget).sources
    return len(evidence & set(sources)) / len(evidence), len(sources)


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
