"""The model card and the page of the data tell of what is shipped."""

import hashlib
import re
from pathlib import Path

from retriever.conversations import DATA, files, read, split

ROOT = Path(__file__).parents[2]
CARD = (ROOT / "retriever" / "MODEL_CARD.md").read_text(encoding="utf-8")
README = (DATA / "README.md").read_text(encoding="utf-8")
FOLDERS = {
    "full": ROOT / "wheels" / "mnemolog-full" / "src" / "mnemolog_full",
    "small": ROOT / "wheels" / "mnemolog-small" / "src" / "mnemolog_small",
    "static": ROOT / "src" / "mnemolog" / "embedders" / "table",
}


def test_the_models_shipped_are_those_that_the_card_names():
    named = dict(re.findall(r"^\| (\w+/\S+) \| ([0-9a-f]{16}) \|$", CARD, re.M))
    shipped = {
        f"{size}/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for size, folder in FOLDERS.items()
        for path in (*folder.glob("*.safetensors"), *folder.glob("*.npy"))
    }
    assert named == shipped


def test_both_pages_count_the_conversations_that_are_there():
    talks = read(files())
    turns, asked = (sum(len(one[key]) for one in talks) for key in ("turns", "questions"))
    trained, held_out = split(talks)
    assert f"{len(talks)} conversations, {asked:,} questions" in CARD
    assert f"{len(trained)} trained on, {len(held_out)} held out" in CARD
    assert f"{len(talks)} conversations, {turns:,} turns, {asked:,} questions" in README
    assert f"({len(held_out)} of the {len(talks)})" in README


def test_the_page_of_the_data_counts_what_each_file_holds():
    named = re.findall(r"^\| (\w+) \| .+ \| (\d+) / (\d+) \|$", README, re.M)
    there = {path.stem: read([path]) for path in files()}
    assert {name: (int(talks), int(asked)) for name, talks, asked in named} == {
        name: (len(some), sum(len(one["questions"]) for one in some))
        for name, some in there.items()
    }
