"""Long names, many of them, and what is not there: the page keeps its form."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.faces.page.driving import PHONE, Server, Tab, serving, visiting

LONG = "a-session-of-which-somebody-thought-for-long-how-it-should-be-called-" + "k3" * 30
AGENT = "an-agent-with-a-name-that-goes-on-and-on-and-on-and-on"
USER = "somebody.with.a.long.address@of-a-company.example.org"
LISTED = "- [x] bread\n- [ ] butter\n"

# Words that stand on two lines although nothing parts them, in numbers and heads of columns.
BROKEN = """() => {
  const found = [];
  for (const cell of document.querySelectorAll("main :is(.num, thead th)")) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      for (const word of walk.currentNode.data.matchAll(/[^\\s-]+/g)) {
        const range = document.createRange();
        range.setStart(walk.currentNode, word.index);
        range.setEnd(walk.currentNode, word.index + word[0].length);
        const tops = [...range.getClientRects()].map((one) => Math.round(one.top));
        if (new Set(tops).size > 1) found.push(word[0]);
      }
    }
  }
  return found;
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A session with long names, and a number of agents and users."""
    with serving(tmp_path_factory.mktemp("crowded") / "store") as server:
        said = [{"type": "note", "agent_id": AGENT, "content": f"said {n}"} for n in range(15)]
        shopping = {"type": "conversation", "role": "user", "content": LISTED}
        nobody = {"type": "note", "content": "nobody said that the kettle is on"}
        server.session(LONG, [*said, shopping, nobody], user_id=USER, agent_ids=[AGENT])
        for number in range(6):
            of = {"user_id": f"user-{number}", "agent_ids": [f"agent-{number}"]}
            server.session(f"session-{number}", [], **of)
        yield server


VIEWS = [f"/sessions/{LONG}?tab=files", "/search?q=said&view=context", "/health"]


@pytest.mark.parametrize("window", [{"viewport": PHONE, "is_mobile": True}, {}], ids=["phone", ""])
def test_long_names_break_no_number(browser: Browser, served: Server, window: dict[str, Any]):
    with visiting(browser, served, **window) as tab:
        for view in VIEWS:
            page = tab.open(view)
            assert page.evaluate(BROKEN) == [], view
            assert tab.has_sideways() <= 0, view
            assert "&" not in page.locator("main").inner_text(), view


def test_long_names_leave_the_search_its_room(tab: Tab):
    page = tab.open("/sessions")
    expect(page.get_by_label("User", exact=True)).to_be_visible()
    box = page.get_by_role("searchbox", name="Search everything").bounding_box()
    assert box is not None
    assert box["width"] >= 300


def test_on_a_phone_the_words_that_are_searched_for_have_a_line_of_their_own(
    browser: Browser, served: Server
):
    with visiting(browser, served, viewport=PHONE, is_mobile=True, has_touch=True) as tab:
        box = tab.open("/search?q=kettle").get_by_role("searchbox", name="Search everything")
        place = box.bounding_box()
        assert place is not None
        assert place["width"] >= 300


def test_on_a_phone_a_number_without_its_heading_says_what_it_counts(
    browser: Browser, served: Server
):
    entry = {"type": "note", "content": "soon hidden", "id": "soon"}
    served.session("sess-soon", [entry], user_id="ada", agent_ids=["architect"])
    selector = {"session_id": "sess-soon", "ids": ["soon"]}
    served.api("POST", "/plans", {"action": "delete", "selector": selector, "run": True})
    with visiting(browser, served, viewport=PHONE, is_mobile=True, has_touch=True) as tab:
        audit = tab.open("/forgetting?tab=audit").get_by_role("row", name="sess-soon")
        expect(audit).to_contain_text("hide")
        expect(audit.get_by_text("entry", exact=True)).to_be_visible()
        hidden = tab.open("/forgetting?tab=hidden").get_by_role("row", name="soon hidden")
        for word in ("hidden", "until"):
            expect(hidden.get_by_text(word, exact=True)).to_be_visible()


def test_long_titles_leave_the_tree_its_form_and_short_words_whole(
    browser: Browser, served: Server
):
    served.api("PUT", f"/nodes/{USER}/topics%2Flong", {"body": "long", "title": LONG})
    found = {"type": "finding", "agent_id": AGENT, "content": {"description": "odd"}}
    served.session("odd", [found, {"content": "even", "id": "even"}])
    order = {"action": "delete", "selector": {"session_id": "odd", "ids": ["even"]}, "run": True}
    served.api("POST", "/plans", {**order, "options": {"reason": "x" * 190}})
    phone: dict[str, Any] = {"viewport": PHONE, "is_mobile": True}
    for window in (phone, {}):
        with visiting(browser, served, **window) as tab:
            page = tab.open(f"/knowledge/{USER}")
            wide = "(one) => one.scrollWidth - one.clientWidth"
            assert page.get_by_role("complementary", name="Nodes").evaluate(wide) <= 0
            page = tab.open("/sessions/odd")
            kind = page.locator("article .kind").first
            assert kind.locator("bdi").evaluate("(one) => one.getClientRects().length") == 1
            page = tab.open("/forgetting?tab=audit")
            who = page.get_by_role("cell").get_by_text("owner", exact=True).first
            assert who.evaluate("(one) => one.getClientRects().length") == 1


def test_a_name_that_is_cut_says_so_and_is_told_whole(tab: Tab):
    page = tab.open("/sessions")
    chip = page.get_by_role("group", name="User").locator(f"[title='{USER}']")
    expect(chip.locator("bdi")).to_have_text(f"{USER[:39]}…")


def test_on_a_phone_the_sessions_come_before_what_they_can_be_filtered_by(
    browser: Browser, served: Server
):
    with visiting(browser, served, viewport=PHONE, is_mobile=True, has_touch=True) as tab:
        page = tab.open("/sessions")
        expect(page.get_by_role("row").nth(3)).to_be_in_viewport()
        page.get_by_text("Filters", exact=True).click()
        page.get_by_role("link", name="active").first.click()
        expect(page).to_have_url(f"{served.url}/sessions?state=active")


def test_a_list_of_tasks_has_a_box_and_a_word_on_each_line(tab: Tab):
    page = tab.open(f"/sessions/{LONG}")
    tasks = page.locator(".markdown li")
    expect(tasks).to_have_text(["bread", "butter"])
    assert tasks.first.evaluate("(one) => one.textContent") == " bread"
    assert [one.is_checked() for one in tasks.get_by_role("checkbox").all()] == [True, False]
    assert tasks.locator("p").count() == 0


def test_a_hit_of_nobody_begins_with_its_day(tab: Tab):
    page = tab.open("/search?q=kettle")
    about = page.locator(".hit", has_text="the kettle is on").locator("p").first
    assert not about.inner_text().startswith("·")


@pytest.mark.parametrize(
    ("path", "heading"),
    [
        ("/sessions/nowhere", "nowhere"),
        (f"/sessions/{LONG}/entries/none", "none"),
        ("/knowledge/ada/nothing", "No node is here"),
    ],
)
def test_what_is_not_there_is_said_once_under_a_heading(tab: Tab, path: str, heading: str):
    page = tab.open(path)
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.locator("main")).to_contain_text("There is no")
    assert page.locator("main").inner_text().count("There is no") == 1
    # The way on is one of the page, not of the API.
    assert "GET" not in page.locator("main").inner_text()
    expect(page.locator("main").get_by_role("link").first).to_be_visible()
