"""Makes folders for `bench.labelled` from public collections that lie on this machine.

    python -m bench.labelled_sources creddata CREDDATA REPOSITORIES OUT --names FILE [--most 25]
    python -m bench.labelled_sources rules SCANNER… OUT --half tuning

CREDDATA is a clone of Samsung/CredData; REPOSITORIES has a clone (or a link to one) of each
repository that it labels, as `owner+name`. A SCANNER is a clone of a scanner that keeps rules with
examples in YAML (noseyparker, kingfisher). Clones are read through git: no work tree is needed.
What is made holds foreign lines that look like live secrets: keep it out of every repository.
"""

import argparse
import binascii
import csv
import io
import json
import re
import subprocess
import warnings
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from bench.labelled import LABELS, Label

HALVES = ("tuning", "held-out")
_LONGEST_FILE = 4_000_000


def main() -> None:
    """Write the labels of one collection."""
    parser = argparse.ArgumentParser(prog="python -m bench.labelled_sources", description=__doc__)
    kinds = parser.add_subparsers(required=True)
    creddata = kinds.add_parser("creddata")
    creddata.add_argument("collection", type=Path)
    creddata.add_argument("repositories", type=Path)
    creddata.add_argument("out", type=Path)
    creddata.add_argument("--names", type=Path, help="a file with one owner+name a line")
    creddata.add_argument("--most", type=int, help="secrets of one repository; lookalikes: 5 times")
    creddata.set_defaults(labels=lambda given: _fewer(_creddata(given), given.most))
    rules = kinds.add_parser("rules")
    rules.add_argument("scanners", nargs="+", type=Path)
    rules.add_argument("out", type=Path)
    rules.add_argument("--half", choices=HALVES, required=True)
    rules.set_defaults(labels=lambda given: _rules(given.scanners, HALVES.index(given.half)))
    given = parser.parse_args()
    _write(given.out, given.labels(given))


def _write(out: Path, labels: Iterable[Label]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    count = 0
    with (out / LABELS).open("w", encoding="utf-8") as file:
        for label in labels:
            file.write(json.dumps(label._asdict(), ensure_ascii=False) + "\n")
            count += 1
    print(f"{count:,} labels in {out / LABELS}")


def _git(clone: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", clone, *words], capture_output=True, check=True).stdout


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


# --- CredData: tables of places in files of pinned commits


def _creddata(given: argparse.Namespace) -> Iterator[Label]:
    names = set(given.names.read_text().split()) if given.names else None
    snapshot = json.loads(_git(given.collection, "show", "HEAD:snapshot.json"))
    for key, address in snapshot.items():
        name = "+".join(address.rstrip("/").removesuffix(".git").split("/")[-2:])
        clone = given.repositories / name
        if clone.exists() and (names is None or name in names):
            # The table of a repository is named by a checksum of its key; the key begins with
            # the commit.
            table = f"{binascii.crc32(binascii.unhexlify(key)):08x}"
            rows = _git(given.collection, "show", f"HEAD:meta/{table}.csv").decode()
            yield from _labels_of(name, clone, key[:40], csv.DictReader(io.StringIO(rows)))


def _fewer(labels: Iterable[Label], most: int | None) -> Iterator[Label]:
    """At most so many of each repository, by checksum, so that no large one decides."""
    if most is None:
        yield from labels
        return
    groups: dict[tuple[str, bool], dict[tuple[str, str], Label]] = {}
    for label in labels:
        group = groups.setdefault((label.file.partition("/")[0], label.label), {})
        group.setdefault((label.text.strip(), label.value), label)
    for (_, is_secret), group in groups.items():
        ordered = sorted(group.values(), key=lambda one: sha256(repr(one).encode()).digest())
        yield from ordered[: most if is_secret else 5 * most]


def _labels_of(
    name: str, clone: Path, commit: str, rows: Iterable[dict[str, str]]
) -> Iterator[Label]:
    try:
        paths = _git(clone, "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")
    except subprocess.CalledProcessError:
        print(f"not here: {name} {commit}")
        return
    by_id = {sha256(path.encode()).hexdigest()[:8]: path for path in paths}
    lines: dict[str, list[str]] = {}
    for row in rows:
        path = by_id.get(row["FileID"])
        if path is None:
            continue
        if path not in lines:
            lines[path] = _lines(clone, f"{commit}:{path}")
        if lines[path]:
            yield _label(f"{name}/{path}", lines[path], row)


def _lines(clone: Path, blob: str) -> list[str]:
    """The lines of a file; none if it is very long, or missing in a clone without large files."""
    try:
        raw = _git(clone, "show", blob)
    except subprocess.CalledProcessError:
        print(f"not here: {clone.name} {blob}")
        return []
    return _text(raw).split("\n") if len(raw) < _LONGEST_FILE else []


def _label(file: str, lines: list[str], row: dict[str, str]) -> Label:
    first, last = int(row["LineStart"]), int(row["LineEnd"])
    own = lines[first - 1 : last]
    start, end = (int(row[column] or -1) for column in ("ValueStart", "ValueEnd"))
    value = ""
    if start >= 0 and own:
        stop = sum(len(line) + 1 for line in own[:-1]) + (end if end >= 0 else len(own[-1]))
        value = "\n".join(own)[start:stop]
    kind = row["Category"].partition(":")[0]
    return Label(file, first, "\n".join(own), value, row["GroundTruth"] == "T", kind)


# --- scanners: rules with examples of what they find and of what they must not


def _rules(scanners: list[Path], half: int) -> Iterator[Label]:
    for scanner in scanners:
        for path in _git(scanner, "ls-tree", "-r", "--name-only", "HEAD").decode().splitlines():
            # By the name alone, so that two scanners' rules for one vendor fall into one half.
            stem = PurePosixPath(path).stem
            is_rule = path.endswith(".yml") and "/rules/" in path
            if is_rule and sha256(stem.encode()).digest()[0] % 2 == half:
                raw = _git(scanner, "show", f"HEAD:{path}")
                for rule in yaml.safe_load(raw).get("rules", ()):
                    yield from _examples(f"{scanner.name}/{path}", rule)


def _examples(file: str, rule: dict[str, Any]) -> Iterator[Label]:
    search, kind = _compiled(rule["pattern"]), file.partition("/")[0]
    for number, text in enumerate(rule.get("examples") or ()):
        found = search.search(text) if search else None
        if found:
            yield Label(file, number, text, found[found.re.groups], True, kind)
    for number, text in enumerate(rule.get("negative_examples") or ()):
        yield Label(file, number, text, "", False, kind)


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """The pattern, unless it is of another kind of regular expressions or has several groups."""
    # Several groups do not say which of them is the secret.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compiled = re.compile(pattern.strip())
        except (re.error, FutureWarning, DeprecationWarning):
            return None
    return compiled if compiled.groups <= 1 else None


if __name__ == "__main__":
    main()
