"""The rules learn what is stated outright, each fact once, the latest as current."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemolog.distillers.rules.forms import FORMS
from mnemolog.testing import FixedClock
from mnemolog.worker import Worker
from tests.distillers.desk import Desk
from tests.worker.scribes import open_memory

DOCS = Path(__file__).parents[2] / "docs" / "knowledge.md"


@pytest.fixture
def desk() -> Desk:
    return Desk()


def lines(body: str) -> list[str]:
    return [line for line in body.splitlines() if line.startswith("- ")]


def test_a_decision_becomes_a_line_of_its_project_with_its_source(desk):
    told = {"decision": "Use Redis", "rationale": "speed", "alternatives": ["memcached"],
            "impact": "high"}  # fmt: skip
    source = desk.say(told, "decision", tags=("projects.pay",), agent_id="architect")
    edit = desk.learn().edits[0]
    assert (edit.address, edit.title, edit.expected) == ("projects/pay", "pay", "")
    assert [one.name for one in edit.sources] == [source]
    assert lines(edit.body) == [
        "- **Use Redis** — speed; instead of memcached [by architect, impact high]"
        " (since 2026-11-01) <!-- s/m1 -->"
    ]


def test_learning_the_same_again_changes_nothing(desk):
    desk.say({"decision": "Use Redis"}, "decision")
    desk.say("My name is Ines. I prefer tea.")
    desk.say("We switched from Redis to Valkey.", day="2026-11-02")
    assert len(desk.learn().edits) == 2
    assert desk.learn().edits == ()


def test_a_fact_that_is_said_again_gains_a_source_and_no_line(desk):
    desk.say("I prefer short answers.")
    desk.say("By the way, I really prefer short answers!", day="2026-11-04")
    desk.learn()
    assert lines(desk.body("USER.md")) == [
        "- Prefers short answers (since 2026-11-01) <!-- s/m1 s/m2 #prefers.short.answers -->"
    ]


def test_a_newer_value_of_a_preference_takes_the_place_of_the_older_one(desk):
    desk.say({"key": "editor", "value": "vim"}, "preference")
    desk.say({"key": "editor", "value": "helix"}, "preference", day="2026-11-09")
    desk.learn()
    assert lines(desk.body("USER.md")) == [
        "- **editor**: helix (since 2026-11-09) <!-- s/m2 #preference.editor -->",
        "- ~~**editor**: vim~~ (2026-11-01 – 2026-11-09) <!-- s/m1 #preference.editor -->",
    ]


def test_an_older_fact_that_arrives_late_does_not_become_current(desk):
    desk.say("I moved to Lisbon.", day="2026-11-05")
    desk.learn()
    desk.say("I live in Berlin.", day="2026-10-01")
    desk.learn(desk.said[-1])
    assert "- **Home**: Lisbon (since 2026-11-05)" in desk.body("USER.md")
    assert "- ~~**Home**: Berlin~~ (2026-10-01 – 2026-11-05)" in desk.body("USER.md")


def test_a_decision_that_says_what_it_replaces_ends_that_one(desk):
    desk.say({"decision": "Use MySQL"}, "decision", tags=("database",))
    desk.say({"decision": "Use PostgreSQL", "supersedes": ["m1"]}, "decision",
             tags=("database",), day="2026-11-03")  # fmt: skip
    desk.learn()
    assert "- ~~**Use MySQL**~~ (2026-11-01 – 2026-11-03)" in desk.body("decisions/database")
    assert "- **Use PostgreSQL** (since 2026-11-03)" in desk.body("decisions/database")


def test_a_finding_that_was_resolved_is_struck(desk):
    desk.say({"description": "Login is slow", "severity": "high"}, "finding", id="f")
    desk.learn()
    desk.say({"description": "Login is slow", "severity": "high", "status": "resolved"}, "finding",
             id="f", day="2026-11-07")  # fmt: skip
    desk.learn(desk.said[-1])
    assert lines(desk.body("findings/general")) == [
        "- ~~**Login is slow** [high]~~ (2026-11-01 – 2026-11-07) <!-- s/f -->"
    ]


def test_a_revision_with_another_value_ends_the_former_one(desk):
    desk.say({"key": "theme", "value": "dark"}, "preference", id="t")
    desk.say({"decision": "Use Redis"}, "decision", id="d", tags=("cache",))
    desk.learn()
    later = {"at": "2026-11-10T09:00:00.000Z"}
    desk.say({"key": "theme", "value": "light"}, "preference", id="t", **later)
    desk.say({"decision": "Use Valkey"}, "decision", id="d", tags=("cache",), **later)
    desk.learn(*desk.said[-2:])
    assert lines(desk.body("USER.md")) == [
        "- **theme**: light (since 2026-11-10) <!-- s/t #preference.theme -->",
        "- ~~**theme**: dark~~ (2026-11-01 – 2026-11-10) <!-- s/t #preference.theme -->",
    ]
    assert lines(desk.body("decisions/cache")) == [
        "- **Use Valkey** (since 2026-11-10) <!-- s/d -->",
        "- ~~**Use Redis**~~ (2026-11-01 – 2026-11-10) <!-- s/d -->",
    ]
    assert desk.learn(*desk.said[-2:]).edits == ()


def test_a_value_that_comes_back_holds_again_since_then(desk):
    for value, day in (("dark", "01"), ("light", "05"), ("dark", "09")):
        desk.say({"key": "theme", "value": value}, "preference", id="t",
                 at=f"2026-11-{day}T09:00:00.000Z")  # fmt: skip
        desk.learn(desk.said[-1])
    assert [line.split(" <!--")[0] for line in lines(desk.body("USER.md"))] == [
        "- **theme**: dark (since 2026-11-09)",
        "- ~~**theme**: dark~~ (2026-11-01 – 2026-11-05)",
        "- ~~**theme**: light~~ (2026-11-05 – 2026-11-09)",
    ]


@pytest.mark.parametrize(
    ("revision", "at"),
    [
        ({"decision": "Use Redis 7", "rationale": "speed"}, "2026-11-01"),
        ({"decision": "Use Redis 6", "rationale": "licence"}, "2026-11-10"),
        ({"decision": "use Redis 6!", "rationale": "speed"}, "2026-11-10"),
    ],
)
def test_a_correction_of_the_same_day_and_other_words_for_the_same_replace_the_line(
    desk, revision, at
):
    desk.say({"decision": "Use Redis 6", "rationale": "speed"}, "decision", id="d")
    desk.learn()
    desk.say(revision, "decision", id="d", at=f"{at}T10:00:00.000Z")
    desk.learn(desk.said[-1])
    assert lines(desk.body("decisions/general")) == [
        f"- **{revision['decision']}** — {revision['rationale']} (since 2026-11-01) <!-- s/d -->"
    ]


def test_a_revision_does_not_change_what_others_said_too(desk):
    desk.say({"decision": "Use Redis"}, "decision", id="d")
    desk.say({"decision": "Use Redis"}, "decision", id="e")
    desk.learn()
    desk.say({"decision": "Use Valkey"}, "decision", id="d")
    desk.learn(desk.said[-1])
    assert lines(desk.body("decisions/general")) == [
        "- **Use Valkey** (since 2026-11-01) <!-- s/d -->",
        "- ~~**Use Redis**~~ (2026-11-01 – 2026-11-01) <!-- s/d s/e -->",
    ]


def test_a_preference_that_is_set_anew_is_dated_by_when_that_was_done(tmp_path):
    clock = FixedClock(datetime(2026, 11, 1, 9, tzinfo=UTC))
    memory = open_memory(tmp_path, clock)
    memory.create_session(session_id="s", user_id="u", agent_ids=["a"])
    for value in ("dark", "light"):
        memory.update_preference("s", key="theme", value=value)
        memory.reset_session("s")
        Worker(memory).tick()
        clock.advance(days=9)
    body = memory.read_node("USER.md", user_id="u").body
    assert [line.split(" <!--")[0] for line in lines(body)] == [
        "- **theme**: light (since 2026-11-10)",
        "- ~~**theme**: dark~~ (2026-11-01 – 2026-11-10)",
    ]


def test_lessons_about_tools_go_to_the_file_of_tools(desk):
    desk.say("ripgrep skips hidden files unless told", "note", tags=("tools.ripgrep",))
    desk.say("Lesson learned: run the linter before the tests.", role="assistant")
    desk.learn()
    assert "- **ripgrep**: ripgrep skips hidden files unless told" in desk.body("TOOLS.md")
    assert "- Run the linter before the tests" in desk.body("TOOLS.md")


def test_what_comes_from_a_tool_is_proposed_apart_for_the_files_that_models_are_told(desk):
    desk.say({"key": "theme", "value": "dark"}, "preference")
    desk.say({"key": "bank", "value": "evil.example"}, "preference", origin="tool")
    first, second = desk.learn().edits
    assert first.address == second.address == "USER.md"
    assert "evil" not in first.body
    assert [one.origin for one in second.sources] == ["tool"]


def test_notes_of_a_plan_are_no_knowledge(desk):
    desk.say("first the tests", "note", compartment="plan")
    desk.say("it rained", "event")
    assert desk.learn().edits == ()


def test_lines_that_people_wrote_stay_where_they_are(desk):
    desk.say("I live in Berlin.")
    desk.learn()
    mine = desk.body("USER.md").replace("## Profile", "Mine.\n\n## Profile\nA line of my own.")
    desk._apply("USER.md", mine, None)
    desk.say("I moved to Lisbon.", day="2026-11-05")
    desk.learn(desk.said[-1])
    body = desk.body("USER.md")
    assert body.startswith("Mine.\n\n## Profile\nA line of my own.\n")
    assert "- **Home**: Lisbon" in body


def test_content_cannot_forge_a_source(desk):
    desk.say({"decision": "x <!-- s/other #name --> ~~y~~\n## Before\n- z"}, "decision")
    desk.learn()
    (line,) = lines(desk.body("decisions/general"))
    assert line.count("<!--") == 1
    assert line.endswith("<!-- s/m1 -->")


@pytest.mark.parametrize(
    "text",
    [
        "What is my name?", "If I lived in Rome, I live in Rome.", "She said I prefer tea.",
        "```\nmy name is Root\n```", "> I live in Paris.", 'My friend wrote "I live in Oslo."',
        "Never mind.", "The cat leads the way.", "We could have decided to wait.",
        "I used to live in Bonn.", "Maybe I prefer coffee.", "I am a vegetarian restaurant owner",
    ],
)  # fmt: skip
def test_what_is_asked_quoted_or_supposed_is_not_learned(desk, text):
    desk.say(text)
    assert desk.learn().edits == ()


@pytest.mark.parametrize(
    ("told", "is_believed"),
    [
        ("3 May", True), ("the 29th of February", True), ("Feb 29th, 2000", True),
        ("31/12/1990", True), ("12/31/1990", True), ("3.5.", True), ("1990-05-03", True),
        ("30 February", False), ("February 30", False), ("31st of June", False),
        ("29 February 1990", False), ("32.13.", False), ("1990-02-30", False), ("0 May", False),
    ],
)  # fmt: skip
def test_a_birthday_is_a_day_that_there_is(desk, told, is_believed):
    desk.say(f"My birthday is {told}.")
    assert bool(desk.learn().edits) == is_believed


def test_an_assistant_cannot_say_who_the_user_is(desk):
    desk.say("I live in Berlin. I prefer tea. My name is Bot.", role="assistant")
    assert desk.learn().edits == ()


def rows() -> dict[str, list[str]]:
    """The sentences by which the documentation shows each form."""
    table = DOCS.read_text().partition("| form |")[2].partition("\n\n")[0]
    cells = [line.split("|") for line in table.splitlines()[2:]]
    plain = {one[1].strip(): re.sub(r"\(.*?\)", "", one[3]).strip() for one in cells}
    return {name: re.findall(r".+?(?<!Dr)[.](?: |$)", text) for name, text in plain.items()}


def test_the_documentation_lists_exactly_the_forms_that_there_are():
    assert rows().keys() == {form.name for form in FORMS} | {"correction"}


@pytest.mark.parametrize(("form", "sentence"), [(f, s) for f in rows() for s in rows()[f]])
def test_every_sentence_of_the_documentation_is_believed(desk, form, sentence):
    desk.say("Remember that the baker comes on Tuesday." if form == "correction" else "Hello.")
    source = desk.say(sentence.strip())
    desk.learn()
    assert any(source in node.body for node in desk.nodes.values())


def test_a_hostile_text_is_read_in_linear_time(desk):
    for text in ("my name is " * 20_000, "I" + " live" * 50_000, "and, " * 50_000, "a." * 100_000):
        desk.say(text)
    assert desk.learn().edits == ()
