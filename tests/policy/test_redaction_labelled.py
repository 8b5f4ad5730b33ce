"""The measure of labelled secrets: what is read from a collection, and what counts as hidden."""

import binascii
import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from bench.labelled import LABELS, Label, is_hidden, read

ROOT = Path(__file__).parent.parent.parent
PASSWORD = "hunter" + "2x!"


def git(folder, *words):
    name = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


def committed(folder, files: dict[str, str]) -> str:
    """A new repository with these files; gives its commit."""
    folder.mkdir(parents=True)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    return git(folder, "rev-parse", "HEAD")


def made(tmp_path, *words) -> list[Label]:
    # As a program of its own: that is how it is meant to be used.
    line = [sys.executable, "-m", "bench.labelled_sources", *map(str, words)]
    subprocess.run(line, check=True, cwd=ROOT, capture_output=True)
    return list(read(tmp_path / "out"))


def test_labels_are_read_from_the_commit_that_the_collection_names(tmp_path):
    text = f"# one\n  password: '{PASSWORD}'\nuser: me\n"
    key = committed(tmp_path / "all" / "owner+name", {"a/b.yml": text}) + "0" * 24
    table = f"{binascii.crc32(binascii.unhexlify(key)):08x}"
    file = sha256(b"a/b.yml").hexdigest()[:8]
    rows = [f"{file},2,2,T,13,22,Password:Key", f"{file},3,3,F,,,Key", "gone,1,1,T,0,1,Key"]
    head = "FileID,LineStart,LineEnd,GroundTruth,ValueStart,ValueEnd,Category"
    snapshot = json.dumps({key: "https://host/owner/name", "1" * 64: "https://host/not/here"})
    files = {"snapshot.json": snapshot, f"meta/{table}.csv": "\n".join([head, *rows])}
    committed(tmp_path / "collection", files)
    words = ("creddata", tmp_path / "collection", tmp_path / "all", tmp_path / "out")
    assert made(tmp_path, *words) == [
        Label("owner+name/a/b.yml", 2, f"  password: '{PASSWORD}'", PASSWORD, True, "Password"),
        Label("owner+name/a/b.yml", 3, "user: me", "", False, "Key"),
    ]


def test_large_repositories_count_for_no_more_than_wanted_and_lost_commits_for_nothing(tmp_path):
    text = "".join(f"  password{number}: '{PASSWORD}{number}'\n" for number in range(9))
    key = committed(tmp_path / "all" / "owner+name", {"a.yml": text}) + "0" * 24
    committed(tmp_path / "all" / "owner+lost", {"a.yml": text})
    lost = "2" * 64
    file = sha256(b"a.yml").hexdigest()[:8]
    head = "FileID,LineStart,LineEnd,GroundTruth,ValueStart,ValueEnd,Category"
    rows = [f"{file},{line},{line},T,14,24,Password" for line in range(1, 10)]
    tables = {f"meta/{binascii.crc32(binascii.unhexlify(one)):08x}.csv" for one in (key, lost)}
    snapshot = {key: "https://host/owner/name", lost: "https://host/owner/lost"}
    files = dict.fromkeys(tables, "\n".join([head, *rows]))
    committed(tmp_path / "collection", {"snapshot.json": json.dumps(snapshot), **files})
    words = ("creddata", tmp_path / "collection", tmp_path / "all", tmp_path / "out", "--most", 4)
    found = made(tmp_path, *words)
    assert len({label.line for label in found}) == 4
    assert {label.file for label in found} == {"owner+name/a.yml"}


def test_a_rule_and_its_examples_fall_into_one_half(tmp_path):
    rule = "rules:\n- pattern: '(?x) ab ([0-9]+)'\n  examples: ['x ab12']\n"
    files = {f"some/rules/{name}.yml": rule for name in map(str, range(20))}
    files["some/rules/other.yml"] = "rules:\n- pattern: '[[:alpha:]]'\n  examples: [a]\n"
    committed(tmp_path / "scanner", files)
    halves = [
        {
            each.file
            for each in made(tmp_path, "rules", tmp_path / "scanner", tmp_path / "out", *half)
        }
        for half in (("--half", "tuning"), ("--half", "held-out"))
    ]
    assert not halves[0] & halves[1]
    assert len(halves[0] | halves[1]) == 20
    assert {each.value for each in read(tmp_path / "out")} == {"12"}


@pytest.mark.parametrize(
    ("text", "value", "is_so"),
    [
        (f"password: '{PASSWORD}'", PASSWORD, True),
        (f"{PASSWORD} says nothing", PASSWORD, False),
        (f"password: '{PASSWORD}' or {PASSWORD}", PASSWORD, True),  # one of two is the labelled one
        ("password: 'secret1' for password", "password", False),
        (f"password: '{PASSWORD}'", "", True),
        ("mail jane@host.org", "", False),  # an address is no secret
    ],
)
def test_a_value_is_hidden_where_it_stood(text, value, is_so):
    assert is_hidden(Label("f", 1, text, value, True, "Password")) is is_so


@pytest.mark.parametrize(
    ("value", "kind", "is_so"),
    [
        (PASSWORD, "Password", True),
        ("password", "Password", False),
        ("xxxx-xxxx", "Token", False),
        ("changeme", "Password", False),
        (PASSWORD, "UUID", False),
    ],
)
def test_words_for_a_secret_and_public_names_are_told_apart(value, kind, is_so):
    assert Label("f", 1, value, value, True, kind).is_clear is is_so


def test_a_folder_is_read_line_by_line(tmp_path):
    label = Label("f", 7, "a", "a", False, "k")
    (tmp_path / LABELS).write_text(json.dumps(label._asdict()) + "\n", encoding="utf-8")
    assert list(read(tmp_path)) == [label]
