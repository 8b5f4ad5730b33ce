"""Check the training conversations: their form, copies among them, and text of a benchmark.

    python -m retriever.check_data [FILE.jsonl …] [--bench FOLDER]

A near-duplicate is a turn of some length that shares most of its runs of words with one of another
conversation. A leak is a run of words that also stands in a file of the benchmark folder, and is
too long to be chance. Prints counts and every fault; fails if there is one.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from retriever.conversations import Conversation, files, is_held_out, read

TYPES = {"single", "multi", "temporal", "update", "preference", "inference"}
TURN_KEYS = {"id", "session", "speaker", "time", "text"}
QUESTION_KEYS = {"question", "type", "evidence"}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_WORD = re.compile(r"[a-z0-9']+")

# Runs of so many words are compared for near-duplicates, in turns of at least so many runs.
_RUN = 5
_LEAST_RUNS = 8
_ALIKE = 0.5
# So many words in a row are no chance.
_LEAK = 9


def faults(conversation: Conversation) -> Iterator[str]:
    """What is wrong with the form of one conversation."""
    ids = [turn["id"] for turn in conversation["turns"]]
    for one, times in Counter(ids).items():
        if times > 1:
            yield f"the turn {one} is there twice"
    for turn in conversation["turns"]:
        if set(turn) != TURN_KEYS:
            yield f"the turn {turn['id']} has the keys {sorted(turn)}"
        elif not _TIME.fullmatch(turn["time"]):
            yield f"the turn {turn['id']} has the time {turn['time']!r}"
        elif not turn["text"].strip() or not turn["speaker"].strip():
            yield f"the turn {turn['id']} says nothing, or nobody says it"
    if not conversation["questions"]:
        yield "nothing is asked"
    for question in conversation["questions"]:
        yield from (f"{fault}: {question['question']}" for fault in _asked(question, set(ids)))


def _asked(question: Any, known: set[str]) -> Iterator[str]:
    if set(question) != QUESTION_KEYS:
        yield f"a question has the keys {sorted(question)}"
    if question["type"] not in TYPES:
        yield f"a question has the type {question['type']!r}"
    if not question["evidence"] or len(set(question["evidence"])) != len(question["evidence"]):
        yield "a question has no evidence, or some twice"
    if unknown := set(question["evidence"]) - known:
        yield f"a question names turns that are not there, {sorted(unknown)}"


def repeated(conversations: Sequence[Conversation]) -> list[str]:
    """Names of conversations that are there twice."""
    names = Counter(one["id"] for one in conversations)
    return [f"{name}: this name is there twice" for name, times in names.items() if times > 1]


def runs(text: str, length: int) -> set[str]:
    """All runs of so many words."""
    words = _WORD.findall(text.lower())
    return {" ".join(words[at : at + length]) for at in range(len(words) - length + 1)}


def near_duplicates(conversations: Sequence[Conversation]) -> Iterator[str]:
    """Turns of different conversations that say almost the same."""
    holders: dict[str, list[int]] = defaultdict(list)
    turns = [(one["id"], turn) for one in conversations for turn in one["turns"]]
    for number, (name, turn) in enumerate(turns):
        own = runs(turn["text"], _RUN)
        shared = Counter(other for run in own for other in holders[run] if turns[other][0] != name)
        for other, times in shared.items():
            if len(own) >= _LEAST_RUNS and times / len(own) > _ALIKE:
                there, twin = turns[other]
                yield f"{name} {turn['id']}: almost the same as {there} {twin['id']}"
        for run in own:
            holders[run].append(number)


def leaks(conversations: Iterable[Conversation], folder: Path) -> Iterator[str]:
    """Texts that share a long run of words with a file of a benchmark."""
    foreign = set[str]()
    for path in sorted(folder.glob("*.json")):
        for talk in json.loads(path.read_text(encoding="utf-8")):
            for text in _texts(talk):
                foreign |= runs(text, _LEAK)
    for one in conversations:
        for text in _texts(one):
            if shared := runs(text, _LEAK) & foreign:
                yield f"{one['id']}: also in the benchmark: {min(shared)!r}"


def _texts(conversation: Any) -> list[str]:
    said = [turn["text"] for turn in conversation["turns"]]
    return said + [question["question"] for question in conversation["questions"]]


def all_faults(conversations: Sequence[Conversation], bench: Path | None = None) -> list[str]:
    """Everything that is wrong."""
    found = [f"{one['id']}: {fault}" for one in conversations for fault in faults(one)]
    found += repeated(conversations)
    found += near_duplicates(conversations)
    return found + (list(leaks(conversations, bench)) if bench else [])


def main() -> None:
    """Print the counts of each file and all faults."""
    parser = argparse.ArgumentParser(description="Check the training conversations.")
    parser.add_argument("files", nargs="*", type=Path, default=files())
    parser.add_argument("--bench", type=Path, help="a folder of which nothing may be here")
    given = parser.parse_args()
    for path in given.files:
        some = read([path])
        turns, questions = (sum(len(one[key]) for one in some) for key in ("turns", "questions"))
        held = sum(map(is_held_out, some))
        print(f"{path.stem:12}{len(some):5} conversations ({held} held out),"
              f"{turns:6} turns,{questions:6} questions")  # fmt: skip
    found = all_faults(read(given.files), given.bench)
    print("\n".join(found) or "no faults")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
