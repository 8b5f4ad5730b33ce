"""How many texts of 300 characters the embedders take in a second, tokenising included.

    OPENBLAS_NUM_THREADS=1 python -m retriever.measure_speed [TEXTS.jsonl …]

The first pass meets every word for the first time; later ones find most of them remembered, as
a long run of similar texts does. Seconds of the wall clock and of the processor.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from mnemolog.embedders import Embedder, open_embedder
from retriever.conversations import files, read
from retriever.measure_vectors import found

LENGTH = 300
BATCH = 256
PASSES = 8


def cut(paths: Sequence[Path]) -> list[str]:
    """The texts of these files as one, cut into equal parts."""
    whole = " ".join(turn["text"] for one in read(paths) for turn in one["turns"])
    return [whole[start : start + LENGTH] for start in range(0, len(whole) - LENGTH, LENGTH)]


def timed(embedder: Embedder, parts: Sequence[str]) -> tuple[float, float]:
    """Seconds of the wall clock and of the processor for one pass."""
    wall, processor = time.perf_counter(), time.process_time()
    for start in range(0, len(parts), BATCH):
        embedder.embed(parts[start : start + BATCH])
    return time.perf_counter() - wall, time.process_time() - processor


def report(name: str, parts: Sequence[str], passes: int) -> None:
    """Print the time to load, the first pass, and the best of all."""
    embedder = open_embedder(found(name))
    start = time.perf_counter()
    embedder.embed(["a"])
    print(f"{embedder.name}: first text after {1000 * (time.perf_counter() - start):.0f} ms")
    runs = [timed(embedder, parts) for _ in range(passes)]
    for label, (wall, processor) in (("first", runs[0]), ("best", min(runs))):
        rates = f"{len(parts) / wall:9,.1f} a second, {len(parts) / processor:9,.1f} by processor"
        print(f"  {label:5} of {passes} passes over {len(parts)} texts: {rates}")


def main() -> None:
    """Measure our own embedders."""
    parser = argparse.ArgumentParser(description="Texts embedded in a second.")
    parser.add_argument("texts", nargs="*", type=Path, default=files())
    parts = cut(parser.parse_args().texts)
    report("static", parts[:4096], PASSES)
    report("small", parts[:256], 3)
    report("full", parts[:128], 3)


if __name__ == "__main__":
    main()
