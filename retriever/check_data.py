"""Check the training conversations: their form, copies among them, and text of a benchmark.

    python -m retriever.check_data [FILE.jsonl …] [--bench FOLDER]

A near-duplicate is a turn of some length that shares most of its runs of words with one of another
conversation, which may say more besides. A leak is a run of words that also stands in a file of the
benchmark folder, and is too long to be chance. In text without spaces, runs of characters are
compared. Prints the counts of what has the right shape, and every fault; fails if there is one.
"""

import argparse
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from retriever import form
from retriever.conversations import Conversation, files, is_held_out, read

# Thai to Khmer, kana, Han: written without spaces, so that their characters are counted instead,
# of which a word has one or two.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc", "'"))
_WORD = re.compile(rf"[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|')*")
_CHARACTER = re.compile(rf"[{_UNSPACED}]")
_CHARACTERS_OF_TWO_WORDS = 3

# Runs of so many words are compared for near-duplicates, in turns of at least so many runs.
_RUN = 5
_LEAST_RUNS = 8
_ALIKE = 0.5
# So many words in a row are no chance.
_LEAK = 9


def repeated(conversations: Sequence[Conversation]) -> list[str]:
    """Names of conversations that are there twice."""
    names = Counter(one["id"] for one in conversations)
    return [f"{name}: this name is there twice" for name, times in names.items() if times > 1]


def runs(text: str, length: int) -> set[str]:
    """All runs of so many words, or of as many characters as these would have without spaces."""
    folded = unicodedata.normalize("NFKC", text).lower().translate(_APOSTROPHES)
    return _runs(_WORD.findall(folded), " ", length) | _runs(
        _CHARACTER.findall(folded), "", length * _CHARACTERS_OF_TWO_WORDS // 2
    )


def _runs(parts: list[str], joint: str, length: int) -> set[str]:
    return {joint.join(parts[at : at + length]) for at in range(len(parts) - length + 1)}


def near_duplicates(conversations: Sequence[Conversation]) -> Iterator[str]:
    """Turns of different conversations that say almost the same."""
    holders: dict[str, list[int]] = defaultdict(list)
    lengths: list[int] = []
    turns = [(one["id"], turn) for one in conversations for turn in one["turns"]]
    for number, (name, turn) in enumerate(turns):
        own = runs(turn["text"], _RUN)
        lengths.append(len(own))
        shared = Counter(other for run in own for other in holders[run] if turns[other][0] != name)
        for other, times in shared.items():
            # Of the shorter one, so that it does not matter which of them comes first.
            least = min(len(own), lengths[other])
            if least >= _LEAST_RUNS and times / least > _ALIKE:
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


def all_faults(conversations: Sequence[Any], bench: Path | None = None) -> list[str]:
    """Everything that is wrong; what is misshapen is not compared with anything."""
    numbered = enumerate(conversations, 1)
    found = [f"{_place(one, at)}: {fault}" for at, one in numbered for fault in form.faults(one)]
    sound: list[Conversation] = [one for one in conversations if not form.misshapen(one)]
    found += repeated(sound)
    found += near_duplicates(sound)
    return found + (list(leaks(sound, bench)) if bench else [])


def _place(conversation: Any, number: int) -> str:
    named = isinstance(conversation, dict) and conversation.get("id")
    return str(named or f"conversation number {number}")


def main() -> None:
    """Print the counts of each file and all faults."""
    parser = argparse.ArgumentParser(description="Check the training conversations.")
    parser.add_argument("files", nargs="*", type=Path, default=files())
    parser.add_argument("--bench", type=Path, help="a folder of which nothing may be here")
    given = parser.parse_args()
    if given.bench and not any(given.bench.glob("*.json")):
        parser.error(f"there is no benchmark in {given.bench}: no file ends with .json")
    try:
        for path in given.files:
            print(_counts(path))
    except (OSError, ValueError) as error:
        sys.exit(f"cannot be read: {error}")
    found = all_faults(read(given.files), given.bench)
    print("\n".join(found) or "no faults")
    sys.exit(bool(found))


def _counts(path: Path) -> str:
    some = [one for one in read([path]) if not form.misshapen(one)]
    turns, questions = (sum(len(one[key]) for one in some) for key in ("turns", "questions"))
    held = sum(map(is_held_out, some))
    return (
        f"{path.stem:12}{len(some):5} conversations ({held} held out),"
        f"{turns:6} turns,{questions:6} questions"
    )


if __name__ == "__main__":
    main()
