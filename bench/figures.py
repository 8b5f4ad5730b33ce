"""What a benchmark found, and the table that shows it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured number, what it should be, and what stands behind it."""

    benchmark: str
    what: str
    value: float
    unit: str
    budget: str = ""
    met: bool | None = None
    """None: there is no budget, the figure is for the record."""
    beside: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return f"{shown(self.value)} {self.unit}".strip()

    @property
    def verdict(self) -> str:
        return {None: "", True: "met", False: "NOT MET"}[self.met]


def shown(value: float) -> str:
    """A number with as many digits as mean something."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def table(figures: Iterable[Figure]) -> str:
    head = ("benchmark", "figure", "budget", "", "beside it")
    rows = [
        (f"{one.benchmark}: {one.what}", one.text, one.budget, one.verdict, one.beside)
        for one in figures
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    ruler = tuple("─" * width for width in widths)
    return "\n".join(_row(row, widths) for row in (head, ruler, *rows))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
