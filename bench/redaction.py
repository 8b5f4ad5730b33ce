"""What redaction finds, what it hides by mistake, and what it costs: `python -m bench.redaction`.

Without files it takes this project's own sources and pages. A `.json` or `.jsonl` file of
conversations is read turn by turn, anything else as text; nothing of it is kept or printed but
counts, unless --show asks for the lines that were touched.
"""

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from mnemolog.policy.redaction import Redactor
from mnemolog.policy.redaction.outline import Outline
from tests.policy import redaction_samples as samples
from tests.policy.test_redaction_linear import HOSTILE

ROOT = Path(__file__).parent.parent
REDACTOR = Redactor(b"the key of a benchmark")
MEGABYTE = 1_000_000


def main() -> None:
    """Print recall by kind, the share of touched lines, and the speed."""
    parser = argparse.ArgumentParser(prog="python -m bench.redaction", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--show", type=int, default=0, help="so many touched lines of each file")
    given = parser.parse_args()
    _print_recall()
    texts = {path: list(_texts(path)) for path in given.files or _own_files()}
    _print_touched(texts, given.show)
    _print_speed([text for each in texts.values() for text in each])
    _print_hostile()


# --- recall


def _print_recall() -> None:
    groups: dict[str, Iterable[samples.Sample]] = {
        "places seen": samples.assigned(samples.SEEN, seed=101),
        "places unseen": samples.assigned(samples.UNSEEN, seed=102),
        "any place": [*samples.tokens_in_places(seed=103), *samples.others(seed=104)],
    }
    print(f"{'recall':44}{'found':>7}{'of':>7}{'share':>8}")
    for name, group in groups.items():
        found: Counter[str] = Counter()
        made: Counter[str] = Counter()
        for sample in group:
            made[sample.kind] += 1
            found[sample.kind] += not _leaks(sample)
        for kind, count in made.items():
            print(f"{f'{kind}, {name}':44}{found[kind]:7}{count:7}{found[kind] / count:8.3f}")


def _leaks(sample: samples.Sample) -> bool:
    left = REDACTOR.text(sample.text).text
    return any(line in left for line in sample.secret.replace("\\n", "\n").split("\n"))


# --- mistakes


def _own_files() -> list[Path]:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found = [*pages, *(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    # What is about redaction is full of examples on purpose.
    return [path for path in found if "redaction" not in str(path.relative_to(ROOT))]


def _texts(path: Path) -> Iterator[str]:
    raw = path.read_text(encoding="utf-8", errors="replace")
    try:
        if path.suffix == ".jsonl":
            yield from _turns([json.loads(line) for line in raw.splitlines() if line.strip()])
        elif path.suffix == ".json":
            yield from _turns(json.loads(raw))
        else:
            yield raw
    except (ValueError, KeyError, TypeError):
        yield raw


def _turns(conversations: list[dict]) -> list[str]:
    return [turn["text"] for one in conversations for turn in one["turns"]]


def _print_touched(texts: dict[Path, list[str]], show: int) -> None:
    groups: dict[str, list[str]] = {}
    for path, each in texts.items():
        name = "this project" if path.resolve().is_relative_to(ROOT) else path.name
        for text in each:
            groups.setdefault(name, []).extend(filter(str.strip, text.splitlines()))
    print(f"\n{'lines touched':44}{'lines':>9}{'hit':>7}{'share':>9}  by kind")
    for name, lines in groups.items():
        _print_group(name, lines, show)


def _print_group(name: str, lines: list[str], show: int) -> None:
    kinds: Counter[str] = Counter()
    hits = []
    for line in lines:
        found = REDACTOR.text(line)
        if found.counts:
            kinds.update(found.counts.keys())
            hits.append(found.text.strip())
    share = 100 * len(hits) / max(len(lines), 1)
    print(f"{name:44}{len(lines):9,}{len(hits):7}{share:8.3f}%  {dict(kinds)}")
    for hit in hits[:show]:
        print(f"    {hit[:160]}")


# --- speed


def _print_speed(texts: list[str]) -> None:
    lines = [line for text in texts for line in text.splitlines()]
    plain = "\n".join(line for line in lines if Outline(line).is_plain)[:MEGABYTE]
    mixed = "\n".join(lines)[:MEGABYTE]
    message = next((one for one in _messages(plain) if Outline(one).is_plain), "x " * 100)
    print("\nspeed (best of five)")
    print(f"text without a trigger  {_rate(plain):8.1f} MB/s   budget 15")
    print(f"text with triggers      {_rate(mixed):8.1f} MB/s   budget 1")
    print(
        f"a message of {len(message)} characters without a trigger  {_microseconds(message):.1f} µs"
    )


def _messages(plain: str) -> Iterator[str]:
    joined = " ".join(plain.split())
    return (joined[at : at + 200] for at in range(0, len(joined) - 200, 200))


def _rate(text: str) -> float:
    return len(text.encode()) / MEGABYTE / min(_seconds(text) for _ in range(5))


def _microseconds(text: str) -> float:
    def many() -> None:
        for _ in range(1000):
            REDACTOR.text(text)

    return min(_seconds_of(many) for _ in range(20)) * 1000


def _best(text: str) -> float:
    return min(_seconds(text) for _ in range(3))


def _seconds(text: str) -> float:
    return _seconds_of(lambda: REDACTOR.text(text))


def _seconds_of(call: Callable[[], object]) -> float:
    # Processor time: neighbours on a shared machine would count otherwise.
    start = time.process_time()
    call()
    return time.process_time() - start


def _print_hostile() -> None:
    rows = []
    for piece in HOSTILE:
        small, large = (_best((piece * size)[:size]) for size in (MEGABYTE // 4, MEGABYTE))
        rows.append((large, large / max(small, 1e-6), piece))
    rows.sort(reverse=True)
    print(
        f"\n{len(rows)} hostile texts of 1 MB: median {statistics.median(r[0] for r in rows):.2f} s"
    )
    for large, ratio, piece in rows[:5]:
        print(f"{large:6.2f} s, {ratio:4.1f} × the time of a quarter: {piece!r} repeated")


if __name__ == "__main__":
    main()
