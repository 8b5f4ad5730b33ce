"""How many labelled secrets redaction hides, by kind: `python -m bench.labelled FOLDER…`.

A folder holds `labels.jsonl`, one object a line:

    {"file": "owner+name/path", "line": 12, "text": "the line, or lines", "value": "the secret",
     "label": true, "kind": "Password"}

`label` says whether the value is a secret; where it is not, an empty value means the whole line.
Only the text of its own lines is shown to redaction, never the rest of the file. A line with the
same value counts once. `bench.labelled_sources` makes such folders from public collections, which
are not kept here; nothing is printed but counts, unless --show asks for what was missed.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mnemolog.policy.redaction import Redactor

REDACTOR = Redactor(b"the key of a benchmark")
LABELS = "labels.jsonl"
# Labelled as finds, and yet public: names and addresses that open nothing without another value.
PUBLIC = frozenset(
    ("UUID", "AWS S3 Bucket", "Firebase Domain", "Tencent WeChat API App ID", "IPv4", "IPv6")
)
# Labelled as secrets, and yet words for one: `password: "password"`, `changeme`, `xxxx-xxxx`.
_STAND_IN = re.compile(
    r"(?i)(?:my|your|some|test|enter|change|replace)?[ _-]?"
    r"(?:password|passwd|pass|pwd|passphrase|secret|token|key|api[ _-]?key|me|it|default|string)"
    r"(?:[ _-]?here)?[0-9]?!?"
)
_PLACEHOLDER = re.compile(r"\[REDACTED:(?!email|phone)[a-z-]+(?::[0-9a-f]{6})?\]")


class Label(NamedTuple):
    """One labelled place: where it stands, what it says, and whether that is a secret."""

    file: str
    line: int
    text: str
    value: str
    label: bool
    kind: str

    @property
    def is_clear(self) -> bool:
        """Whether the value is neither public nor a word that stands for a secret."""
        letters = set(re.sub(r"[\W_]", "", self.value.lower()))
        return self.kind not in PUBLIC and len(letters) > 1 and not _STAND_IN.fullmatch(self.value)

    @property
    def is_exact(self) -> bool:
        """Whether the value is marked from its first to its last character.

        A label over several lines, if it is no key block, marks all that lies between two values.
        """
        return "\n" not in self.value or "PRIVATE KEY" in self.text


def main() -> None:
    """Print recall by kind and the share of false labels that were hidden."""
    parser = argparse.ArgumentParser(prog="python -m bench.labelled", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", nargs="*", help="print what was missed, of these kinds")
    parser.add_argument("--show-false", type=int, default=0, help="so many lines hidden wrongly")
    given = parser.parse_args()
    for folder in given.folders:
        labels = [label for label in _different(read(folder)) if label.is_exact]
        print(f"\n{folder.name}: {len({each.file.split('/')[0] for each in labels})} sources")
        _print_recall([each for each in labels if each.label], given.show)
        _print_mistakes([each for each in labels if not each.label], given.show_false)


def read(folder: Path) -> Iterator[Label]:
    """Every label of a folder."""
    with (folder / LABELS).open(encoding="utf-8") as lines:
        for line in lines:
            yield Label(**json.loads(line))


def is_hidden(label: Label) -> bool:
    """Whether nothing of the value is left in its lines; one line of a key is enough to leak."""
    left = _PLACEHOLDER.sub("\0", REDACTOR.text(label.text).text)
    if not label.value.strip():
        return "\0" in left
    lines = [line.strip() for line in label.value.splitlines() if len(line.strip()) >= 3]
    return all(left.count(line) < label.text.count(line) for line in lines)


def _different(labels: Iterable[Label]) -> Iterator[Label]:
    seen = set()
    for label in labels:
        mark = (label.text.strip(), label.value)
        if mark not in seen:
            seen.add(mark)
            yield label


def _print_recall(labels: list[Label], show: list[str] | None) -> None:
    hidden = [label for label in labels if is_hidden(label)]
    missed = [label for label in labels if label not in set(hidden)]
    if show is not None:
        _print_labels(label for label in missed if not show or label.kind in show)
    found, made = (Counter(label.kind for label in each) for each in (hidden, labels))
    print(f"{'secrets hidden':44}{'found':>7}{'of':>7}{'share':>8}")
    for kind, count in made.most_common():
        _print_share(kind, found[kind], count)
    _print_share("all", len(hidden), len(labels))
    clear = [sum(label.is_clear for label in each) for each in (hidden, labels)]
    _print_share("all but public names and stand-ins", *clear)


def _print_share(name: str, found: int, count: int) -> None:
    print(f"{name:44}{found:7}{count:7}{found / max(count, 1):8.3f}")


def _print_mistakes(labels: list[Label], show: int) -> None:
    hidden = [label for label in labels if is_hidden(label)]
    kinds = Counter(label.kind for label in labels)
    print(f"{'lookalikes hidden by mistake':44}{'hidden':>7}{'of':>7}{'share':>8}")
    for kind, count in Counter(label.kind for label in hidden).most_common():
        _print_share(kind, count, kinds[kind])
    _print_share("all", len(hidden), len(labels))
    _print_labels(hidden[:show])


def _print_labels(labels: Iterable[Label]) -> None:
    for label in labels:
        print(f"  {label.kind} | {label.value[:60]!r} | {label.text.strip()[:200]}")


if __name__ == "__main__":
    main()
