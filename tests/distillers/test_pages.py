"""What people wrote into a node stays where they put it, byte for byte; only our lines change."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemolog.distillers.rules.pages import Page
from mnemolog.worker import Worker
from tests.distillers.desk import Desk
from tests.worker.scribes import open_memory

HAND = """# About me

## Notes
I like tea.


```sh
## step
make a
## step
make b


make c
```

# Work

## Notes
Boss is Bob.

## Before
I was a smoker.

## Later
end
"""
OURS = re.compile(r"- .* <!-- s/m\d.* -->|## (?:Profile|Preferences|Before)|")

ROWS = st.sampled_from(
    [
        "# One", "## Notes", "## Profile", "## Preferences", "## Before", "### Below", "text",
        "- an item", "  what belongs to it", "1. first", "> quoted", "", "   ", "```", "```sh",
        "~~~", "````", "  ```", "<!-- left", "-->", "<!-- whole -->", "| a | b |", "---",
        "- Prefers tea (since 2026-01-01) <!-- s/x1 #prefers.tea -->", "    ## code", "##no",
        "- ~~Prefers milk~~ (2026-01-01 – 2026-02-01) <!-- s/x2 -->", "## Before ##", "a\u2028## b",
    ]
)  # fmt: skip
TEXTS = st.lists(st.tuples(ROWS, st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])), max_size=25)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def without_ours(after: str, before: str) -> str:
    """A text without what was added to it, as far as that is ours to add."""
    kept, left = [], re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", before)
    for row in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", after):
        if left and row in (left[0], f"{left[0]}\n", f"{left[0]}\r\n"):
            kept.append(left.pop(0))
        else:
            assert OURS.fullmatch(row.rstrip("\r\n")), row
    return "".join(kept)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, st.booleans())
def test_what_is_not_ours_is_there_after_learning_byte_for_byte(rows, is_ended):
    before = "".join(f"{row}{end}" for row, end in rows)
    before = before if is_ended else before.rstrip("\r\n")
    assert Page.parse(before).render() == before
    desk = Desk()
    desk._apply("USER.md", before, None)
    desk.say("I live in Berlin. I prefer short answers.")
    desk.learn()
    desk.say("I moved to Lisbon.", day="2026-11-05")
    desk.learn(desk.said[-1])
    after = desk.body("USER.md")
    assert without_ours(after, before) == before
    learned = [one for one in Page.parse(after).lines() if "s/m" in one.sources[0]]
    assert [(one.text, one.is_over) for one in sorted(learned, key=lambda one: one.text)] == [
        ("**Home**: Berlin", True), ("**Home**: Lisbon", False), ("Prefers short answers", False),
    ]  # fmt: skip
    desk.learn()
    assert desk.body("USER.md") == after


def test_repeated_headings_and_code_keep_their_order(desk):
    desk._apply("USER.md", HAND, None)
    desk.say("My name is Ines.")
    desk.learn()
    added = "\n## Profile\n- **Name**: Ines (since 2026-11-01) <!-- s/m1 #name -->\n"
    assert desk.body("USER.md") == HAND + added


def test_a_line_of_ours_goes_under_the_heading_that_has_such_lines(desk):
    desk.say("My name is Ines.")
    desk.learn()
    ours = desk.body("USER.md")
    desk._apply("USER.md", f"## Profile\nMine.\n\n{ours}\nA remark.\n", None)
    desk.say("I live in Berlin.")
    desk.learn(desk.said[-1])
    home = "- **Home**: Berlin (since 2026-11-01) <!-- s/m2 #home -->\n"
    assert desk.body("USER.md") == f"## Profile\nMine.\n\n{ours}{home}\nA remark.\n"


def test_nothing_is_added_to_code_that_nobody_closed(desk):
    desk._apply("USER.md", "Run this:\n```\n## Profile\nmake", None)
    desk.say("My name is Ines.")
    desk.learn()
    line = "- **Name**: Ines (since 2026-11-01) <!-- s/m1 #name -->\n"
    assert desk.body("USER.md") == (f"Run this:\n\n## Profile\n{line}\n```\n## Profile\nmake")


def test_a_line_that_people_wrote_more_about_is_struck_where_it_stands(desk):
    desk.say("I live in Berlin.")
    desk.learn()
    desk._apply("USER.md", f"{desk.body('USER.md')}  the flat with the balcony\n", None)
    desk.say("I moved to Lisbon.", day="2026-11-05")
    desk.learn(desk.said[-1])
    assert [line.split(" <!--")[0] for line in desk.body("USER.md").splitlines()] == [
        "## Profile",
        "- ~~**Home**: Berlin~~ (2026-11-01 – 2026-11-05)",
        "  the flat with the balcony",
        "- **Home**: Lisbon (since 2026-11-05)",
    ]


def test_a_file_with_the_line_ends_of_another_system_keeps_them(tmp_path: Path):
    memory = open_memory(tmp_path)
    memory.create_session(session_id="s", user_id="u", agent_ids=["a"])
    file = tmp_path / "users" / "u" / "USER.md"
    file.parent.mkdir(parents=True)
    mine = b"# Me\r\n\r\nhello  \r\nworld\r\n\r\n\r\nbye\r\n"
    file.write_bytes(mine)
    said = memory.add_conversation("s", role="user", content="My name is Ines.", agent_id="a")
    memory.reset_session("s")
    Worker(memory).tick()
    body = file.read_bytes().partition(b"---\n\n")[2]
    assert body.startswith(mine + b"\r\n## Profile\r\n- **Name**: Ines (since ")
    assert body.endswith(b" <!-- s/%s #name -->\r\n" % said.id.encode())
