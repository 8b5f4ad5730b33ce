"""Rounds: the rows that were taken in and are not stored yet.

While the texts of one round are worked out, the lines of the next one are read; see `crew`.
"""

from collections.abc import Sequence

from mnemolog.index.crew import PIECE, Crew, Piece
from mnemolog.index.working import Texts, Worked, joined

# So many rows are stored at once, as one segment.
ROUND = 16_384


class Round:
    """Some rows on their way: their numbers, their texts, what they are joined to."""

    def __init__(self, first: int, width: int, crew: Crew) -> None:
        self.first = first
        self.rows = 0
        # Row after row, flat: a list for each would be looked at by every garbage collection.
        self.values: list[float] = []
        self.tags: list[tuple[str, int]] = []
        self.links: list[tuple[int, str]] = []
        self._width = width
        self._said: list[str] = []
        self._beside: list[str] = []
        self._handed = 0
        self._pieces: list[Piece] = []
        self._crew = crew

    @property
    def is_full(self) -> bool:
        """Whether the next row begins another round."""
        return self.rows >= ROUND

    def add(self, values: Sequence[float], said: str, beside: str) -> None:
        """Add a row; its text is handed over once there are enough."""
        self.values += values
        self._said.append(said)
        self._beside.append(beside)
        self.rows += 1
        if self.rows - self._handed == PIECE:
            self.hand_over()

    def hand_over(self) -> None:
        """Have all texts worked out that are not yet."""
        start, self._handed = self._handed, self.rows
        if start < self.rows:
            texts = Texts(self._said[start:], self._beside[start:])
            self._pieces.append(self._crew.give(texts))

    def at(self, place: int, row: int) -> int:
        """Where the value of a row stands, counting columns from 0."""
        return (row - self.first) * self._width + place

    def worked(self) -> Worked:
        """What became of the texts."""
        self.hand_over()
        return joined(self._crew.done(self._pieces), self._crew.embeds)
