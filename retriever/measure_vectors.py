"""Vector-only recall@10 of each embedder on benchmark files.

    python -m retriever.measure_vectors FILE.json … [--embedders static,small,full,minilm,wordllama]

A file is a list of {"turns": [{"id", "speaker", "text"}, …], "questions": [{"question", "type",
"evidence": [turn ids]}, …]}. Every turn of a conversation is ranked for each of its questions by
the cosine alone; the figure is the mean share of a question's evidence among the first ten.
Adversarial questions, which have no answer, are left out.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np

from mnemolog.embedders import Embedder, open_embedder
from mnemolog.embedders.tensors import Floats
from mnemolog.embedders.tuned import FullEmbedder, SmallEmbedder
from mnemolog.errors import SettingsError

FIRST = 10
TUNED = {"small": SmallEmbedder, "full": FullEmbedder}
WHEELS = Path(__file__).parent.parent / "wheels"

Conversation = Mapping[str, Any]


class WordLlamaEmbedder:
    """The rival: WordLlama's wheel with the files it brings."""

    name = "wordllama"
    size = 256

    def __init__(self) -> None:
        # It looks for its own tokenizer in a folder that its wheel does not have, and would then
        # download it; taken for the cache, the package's folder is right.
        folder = Path(str(distribution("wordllama").locate_file("wordllama")))
        rival = resolve_name("wordllama:WordLlama")
        self._model = rival.load(cache_dir=folder, disable_download=True)

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text."""
        vectors: Floats = self._model.embed(list(texts), norm=True)
        return vectors


def found(name: str) -> Embedder | str:
    """The rival, or a tuned model of this repository, installed or not; other names as they are."""
    if name in TUNED:
        return TUNED[name](WHEELS / f"mnemolog-{name}" / "src" / f"mnemolog_{name}")
    return WordLlamaEmbedder() if name == "wordllama" else name


def opened(name: str) -> Embedder | None:
    """The embedder, or None when what it needs is not installed."""
    try:
        return open_embedder(found(name))
    except (SettingsError, ImportError, PackageNotFoundError) as error:
        print(f"{name}: left out ({error})")
        return None


def recalls(embedder: Embedder, conversation: Conversation) -> Iterator[float]:
    """The recall of each question."""
    turns = conversation["turns"]
    questions = [each for each in conversation["questions"] if each["type"] != "adversarial"]
    documents = embedder.embed([f"{turn['speaker']} {turn['text']}" for turn in turns])
    asked = embedder.embed([each["question"] for each in questions])
    ranked = np.argsort(-(asked @ documents.T), axis=1, kind="stable")[:, :FIRST]
    for question, rows in zip(questions, ranked, strict=True):
        found = {turns[row]["id"] for row in rows}
        yield len(found & set(question["evidence"])) / len(question["evidence"])


def measure(embedder: Embedder, path: Path) -> str:
    """One line: the file, how many questions, the recall, and the time it took."""
    conversations = json.loads(path.read_text(encoding="utf-8"))
    start = time.perf_counter()
    each = [one for talk in conversations for one in recalls(embedder, talk)]
    seconds = time.perf_counter() - start
    return f"{path.stem:20} {len(each):5} questions  {100 * np.mean(each):5.1f}  {seconds:6.1f} s"


def main() -> None:
    """Print a table per embedder."""
    parser = argparse.ArgumentParser(description="Vector-only recall@10 on benchmark files.")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--embedders", default="static,small,full")
    arguments = parser.parse_args()
    for name in arguments.embedders.split(","):
        if embedder := opened(name):
            print(f"{embedder.name}, {embedder.size} numbers")
            for path in arguments.files:
                print(f"  {measure(embedder, path)}", flush=True)


if __name__ == "__main__":
    main()
