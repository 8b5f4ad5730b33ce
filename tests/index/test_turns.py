"""Turns: the nearest ones in sight, against a plain walk along each log."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.index import turns
from mnemolog.index.columns import NONE
from tests.index.searching import some

LOGS = 3

# For each row: its log, how many turns back it revises (0 is a turn of its own), and whether it is
# in sight.
STORIES = st.lists(st.tuples(st.integers(0, LOGS - 1), st.integers(0, 2), st.booleans()))


class Told:
    """Rows as the index stores them, with the order of the turns beside it."""

    def __init__(self, story: list[tuple[int, int, bool]]) -> None:
        self.turn: list[int] = []
        self.previous: list[int] = []
        self.order: list[list[int]] = [[] for _ in range(LOGS)]
        self.latest: dict[int, int] = {}
        seen: list[bool] = []
        for row, (log, back, is_seen) in enumerate(story):
            own = self.order[log]
            turn = own[-back] if 0 < back <= len(own) else row
            if turn == row:
                self.previous.append(own[-1] if own else NONE)
                own.append(row)
            else:
                self.previous.append(self.previous[turn])
                seen[self.latest[turn]] = False
            self.turn.append(turn)
            self.latest[turn] = row
            seen.append(is_seen)
        self.seen = np.array(seen, bool)

    def beside(self, row: int, log: int, step: int) -> int:
        """The nearest row in sight, found by walking."""
        order = self.order[log]
        at = order.index(self.turn[row]) + step
        while 0 <= at < len(order):
            if self.seen[self.latest[order[at]]]:
                return self.latest[order[at]]
            at += step
        return len(self.turn)  # nobody


def found(told: Told, parts: int) -> list[list[int]]:
    """What the index says for every row, having read the rows in so many parts."""
    turn = np.array(told.turn, np.uint32)
    previous = np.array(told.previous, np.uint32)
    latest = following = np.zeros(0, np.uint32)
    for end in np.linspace(0, len(turn), parts + 1, dtype=int)[1:]:
        latest, following = turns.extended(latest, following, turn[:end], previous[:end])
    rows = np.arange(len(turn))
    links = (previous, following)
    return [turns.nearest(rows, told.seen, turn, latest, link).tolist() for link in links]


@some
@given(story=STORIES, parts=st.integers(1, 4))
def test_the_nearest_turns_in_sight_stand_beside_a_row(story, parts):
    told = Told(story)
    for step, beside in zip((-1, 1), found(told, parts), strict=True):
        assert beside == [told.beside(row, log, step) for row, (log, _, _) in enumerate(story)]


@pytest.mark.parametrize("hidden", [1, 31, 32, 33, 64, 65, 1000])
def test_however_many_stand_between_them_are_out_of_sight(hidden):
    told = Told([(0, 0, True), *[(0, 0, False)] * hidden, (0, 0, True), (1, 0, True)])
    before, after = found(told, 1)
    last = hidden + 1
    assert (before[last], after[0]) == (0, last)
    nobody = hidden + 3
    assert [before[0], after[last], before[-1], after[-1]] == [nobody] * 4


@pytest.mark.parametrize("circle", [1, 2, 33, 1000])
def test_a_damaged_order_that_leads_round_in_a_circle_ends_with_an_error(circle):
    rows = np.arange(circle + 1)
    latest = rows.astype(np.uint32)
    link = np.append((rows[:circle] + 1) % circle, 0).astype(np.uint32)
    with pytest.raises(ValueError, match="circle"):
        turns.nearest(rows, rows == circle, latest, latest, link)
