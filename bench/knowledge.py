"""How much of a week of talk the rules learn, and how much of that is true:
`python -m bench.knowledge [--week second|third]`

The week and what a careful person would have noted of it are those of `tests/distillers`.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figures import Figure, table
from tests.distillers import week
from tests.distillers.week import Known, Score

LEAST = 0.9
WEEKS = {"first": week.FIRST, "second": week.SECOND, "third": week.THIRD}


def main() -> None:
    """Live the week once, and print the figures and what is wrong or was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.knowledge", description=__doc__)
    parser.add_argument("--week", choices=WEEKS, default="first")
    which = WEEKS[parser.parse_args().week]
    with TemporaryDirectory() as folder:
        known = week.live(Path(folder) / "store", is_daily=True, which=which)
    scored = week.score(known, which)
    print(table(figures(known, scored, which)))
    for line in scored.wrong:
        print(f"wrong   {line.shown}")
    for fact in scored.missed:
        form = fact["form"] or "no documented form"
        print(f"missed  {fact['user']} {fact['entry']}: {fact['fact']} ({form})")


def figures(known: Known, scored: Score, which: str = week.FIRST) -> list[Figure]:
    facts = len(scored.found) + len(scored.missed)
    return [
        _count("entries in the week", len(week.week(which))),
        _count("lines in nodes", len(known.lines)),
        _count("lines of what is over", sum(one.is_over for one in known.lines)),
        _count("proposals that wait", len(known.waiting)),
        _count("lines from free text", scored.lines),
        _count("facts in free text", facts),
        _share("precision in free text", scored.precision),
        _share("recall of documented forms", scored.recall_of_forms),
        Figure("knowledge", "recall of all facts in free text", scored.recall, ""),
    ]


def _count(what: str, number: int) -> Figure:
    return Figure("knowledge", what, number, "")


def _share(what: str, share: float) -> Figure:
    return Figure("knowledge", what, share, "", f"≥ {LEAST}", share >= LEAST)


if __name__ == "__main__":
    main()
