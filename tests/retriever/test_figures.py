"""The pages that tell how much is found tell the same."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SIZES = ("static", "small", "full")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table(name: str) -> dict[str, list[str]]:
    """What each size finds on the three files."""
    rows = re.findall(r"^\| `(\w+)`[^|]*((?:\| \d+\.\d ){3})\|$", page(name), re.M)
    return {size: re.findall(r"[\d.]+", figures) for size, figures in rows if size in SIZES}


def test_the_pages_agree_on_what_each_size_finds():
    found = table("docs/search.md")
    assert set(found) == set(SIZES)
    assert table("docs/benchmarks.md") == found
    (told,) = re.findall(r"^\| recall@10.*\n\| the same, .*$", page("README.md"), re.M)
    places = [told.find(" / ".join(found[size][:2])) for size in SIZES]
    assert -1 not in places
    assert places == sorted(places), "each where it is named"


def test_the_pages_agree_on_the_open_questions_with_full():
    (found,) = re.findall(r"^\| multi-hop \| 142 \|.* (\d+\.\d) \|$", page("docs/search.md"), re.M)
    assert f"with `full`: {found}, floor 57" in page("docs/benchmarks.md")
