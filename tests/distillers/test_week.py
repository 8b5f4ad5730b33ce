"""Two weeks of real talk: what the rules make of them is what a careful person would have noted."""

from collections import Counter

import pytest

from tests.distillers import week
from tests.distillers.week import Known, Score
from tests.worker.dying import POINTS

LEAST = 0.9


@pytest.fixture(scope="module", params=[week.FIRST, week.SECOND])
def which(request) -> str:
    """Every test is about one of the weeks."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def known(tmp_path_factory, which) -> Known:
    """After a week with a worker that is started every evening for one tick."""
    return week.live(tmp_path_factory.mktemp("daily") / "store", is_daily=True, which=which)


@pytest.fixture(scope="module")
def known_late(tmp_path_factory, which) -> Known:
    """After the same week with a single tick at its end."""
    return week.live(tmp_path_factory.mktemp("late") / "store", is_daily=False, which=which)


@pytest.fixture(scope="module")
def scored(known, which) -> Score:
    return week.score(known, which)


def typed_facts(which: str, state: str) -> list[week.Row]:
    return [one for one in week.gold(which)["typed"] if one["state"] == state]


def typed_names(which: str) -> set[str]:
    return week.entries(which).keys() - week.entries(which, type="conversation").keys()


def citing(known: Known, fact: week.Row) -> list[week.Line]:
    return [one for one in known.lines if one.sources & set(fact["sources"])]


def is_in_place(fact: week.Row, lines: list[week.Line]) -> bool:
    """Whether a fact is in exactly one line, as it is, with exactly its sources."""
    if len(lines) != 1:
        return False
    (line,) = lines
    has_sources = line.sources == set(fact["sources"])
    return line.user == fact["user"] and has_sources and week.is_stated(fact, line)


def misplaced(known: Known, facts: list[week.Row]) -> list[tuple[week.Row, list[str]]]:
    return [
        (fact, [line.shown for line in citing(known, fact)])
        for fact in facts
        if not is_in_place(fact, citing(known, fact))
    ]


@pytest.mark.req("S003-01")
def test_every_session_of_the_week_is_learned_from_without_trouble(known, known_late, which):
    bad = {"failed", "parked", "conflict", "stale", "gone"}
    assert [one for one in (*known.outcomes, *known_late.outcomes) if one.status in bad] == []
    sessions = {row["session"] for row in week.week(which)}
    assert {one.session_id for one in known.outcomes} == sessions
    assert Counter(one.session_id for one in known_late.outcomes) == Counter(sessions)


@pytest.mark.req("S003-01", "S003-08")
def test_a_worker_killed_at_every_step_of_the_week_leaves_the_same(tmp_path, known_late, which):
    killed = week.live(tmp_path / "store", is_daily=False, which=which, killed=POINTS)
    assert Counter(killed.lines) == Counter(known_late.lines)
    assert Counter(killed.waiting) == Counter(known_late.waiting)
    bad = {"failed", "parked", "conflict", "stale", "gone"}
    assert [one for one in killed.outcomes if one.status in bad] == []


@pytest.mark.req("S003-01")
def test_every_typed_fact_that_holds_stands_once_in_its_node_with_exactly_its_sources(known, which):
    facts = typed_facts(which, "current")
    assert len(facts) > 25
    assert misplaced(known, facts) == []


@pytest.mark.req("S003-01")
def test_every_typed_fact_that_is_over_is_struck_through_once_with_its_date(known, which):
    facts = typed_facts(which, "over")
    assert len(facts) > 5
    assert misplaced(known, facts) == []


@pytest.mark.req("S003-01")
def test_no_other_line_rests_on_a_typed_entry(known, which):
    facts = typed_facts(which, "current") + typed_facts(which, "over")
    meant = {source for fact in facts for source in fact["sources"]}
    lines = [one for one in known.lines if one.sources & typed_names(which)]
    assert [one.shown for one in lines if not one.sources <= meant] == []
    assert len(lines) == len(facts)


@pytest.mark.req("S003-01")
def test_nothing_is_learned_from_what_came_out_of_memory(known, which):
    recalled = week.entries(which, origin="recall").keys()
    assert recalled
    assert [one.shown for one in known.lines if one.sources & recalled] == []
    assert [one for one in known.waiting if one.sources & recalled] == []


@pytest.mark.req("S003-01")
def test_what_a_tool_says_about_the_user_and_the_tools_waits_for_a_yes(known, which):
    facts = typed_facts(which, "review")
    assert facts
    for fact in facts:
        (waits,) = [one for one in known.waiting if one.sources & set(fact["sources"])]
        assert (waits.user, waits.node) == (fact["user"], fact["node"])
        assert fact["says"] in waits.text.casefold()
        assert citing(known, fact) == []
    assert len(known.waiting) == len(facts)


@pytest.mark.req("S003-01")
def test_what_is_learned_from_free_text_is_true(scored, record_property):
    record_property("lines_from_free_text", scored.lines)
    record_property("precision", round(scored.precision, 3))
    assert scored.lines > 30
    assert scored.precision >= LEAST, [one.shown for one in scored.wrong]


@pytest.mark.req("S003-01")
def test_what_is_said_in_a_documented_form_is_learned(scored, record_property):
    record_property("recall", round(scored.recall, 3))
    record_property("recall_of_documented_forms", round(scored.recall_of_forms, 3))
    missed = [one for one in scored.missed if one["is_in_a_documented_form"]]
    assert scored.recall_of_forms >= LEAST, missed


@pytest.mark.req("S003-01")
def test_it_does_not_matter_when_the_worker_runs(known, known_late):
    assert known.current
    assert known_late.current == known.current
