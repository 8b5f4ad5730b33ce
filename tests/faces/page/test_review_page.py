"""Review in the page: what waits for a yes is accepted, edited or rejected; the badge is right."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.faces.page import story
from tests.faces.page.driving import PHONE, Server, Tab, serving, visiting


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The story with three proposals, for each test anew, because each decides about them."""
    root = tmp_path_factory.mktemp("review") / "store"
    story.tell(root)
    story.learn(root)
    with serving(root) as server:
        yield server


def user_file(server: Server) -> str:
    return (server.root / f"users/{story.USER}/USER.md").read_text()


def test_who_looks_as_one_agent_is_told_no_number_of_proposals(tab: Tab):
    page = tab.open("/sessions")
    link = page.get_by_role("navigation", name="Views").get_by_role("link", name="Review")
    expect(link).to_have_text("Review 3")
    agent = page.get_by_role("combobox", name="Agent")
    agent.select_option("analyst")
    expect(link).to_have_text("Review")
    agent.select_option("")
    expect(link).to_have_text("Review 3")


def test_proposals_are_accepted_edited_and_rejected_and_both_tabs_count_them(
    browser: Browser, tab: Tab
):
    with visiting(browser, tab.server) as other:
        there = other.open("/sessions").get_by_role("navigation", name="Views")
        expect(there.get_by_role("link", name="Review")).to_contain_text("3")
        page = tab.open("/review")
        tools = page.get_by_role("article", name="Proposal for TOOLS.md")
        expect(tools.locator("[data-op='+']", has_text="Commits are signed")).to_have_count(1)
        expect(tools.get_by_role("link", name="Commits are signed with git.")).to_be_visible()
        assert "signed" not in (tab.server.root / f"users/{story.USER}/TOOLS.md").read_text()

        tools.get_by_role("button", name="Edit").click()
        text = tools.get_by_label("Text to be written instead")
        text.fill(text.input_value().replace("signed", "always signed"))
        tools.get_by_role("button", name="Accept this text").click()
        expect(tools).to_have_count(0)
        written = (tab.server.root / f"users/{story.USER}/TOOLS.md").read_text()
        assert "Commits are always signed with git." in written

        person = page.get_by_role("article", name="Proposal for USER.md")
        expect(person).to_have_count(2)
        person.first.get_by_role("button", name="Reject…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Why").fill("a tool should not say this")
        dialog.get_by_role("button", name="Reject it").click()
        expect(person).to_have_count(1)
        expect(there.get_by_role("link", name="Review")).to_contain_text("1")

        person.focus()
        page.keyboard.press("a")
        expect(page.get_by_text("Nothing waits for your yes.")).to_be_visible()
        expect(there.get_by_role("link", name="Review")).to_have_text("Review")
        assert user_file(tab.server).count("since") == 1
        page.goto(f"{tab.server.url}/forgetting?tab=audit")
        expect(page.get_by_role("row", name="a tool should not say this")).to_be_visible()


def test_a_proposal_whose_node_changed_is_shown_beside_what_is_there(tab: Tab):
    page = tab.open("/review")
    person = page.get_by_role("article", name="Proposal for USER.md")
    expect(person.last).not_to_contain_text("has changed since")
    person.first.get_by_role("button", name="Accept").click()
    expect(person).to_have_count(1)
    expect(person).to_contain_text("USER.md has changed since.")
    # What it would change itself, and nothing of what the first one wrote.
    expect(person.locator("[data-op='-']")).to_have_count(0)
    expect(person.locator("[data-op='+']", has_text="vim")).to_have_count(1)
    expect(person.get_by_role("group", name="What it would change")).not_to_contain_text("dark")
    person.get_by_role("button", name="Accept").click()
    texts = person.get_by_role("region", name="Two texts")
    expect(texts).to_contain_text("Prefers British English.")
    for choice in texts.get_by_label("both, one after the other").all():
        choice.check()
    texts.get_by_role("button", name="Accept this text").click()
    expect(person).to_have_count(0)
    said = user_file(tab.server)
    assert "vim" in said
    assert "dark" in said
    assert "Lives in Lisbon" in said


def test_an_edited_proposal_never_takes_the_place_of_what_came_meanwhile(tab: Tab):
    page = tab.open("/review")
    person = page.get_by_role("article", name="Proposal for USER.md")
    person.first.get_by_role("button", name="Accept").click()
    expect(person).to_have_count(1)
    person.get_by_role("button", name="Edit").click()
    text = person.get_by_label("Text to be written instead")
    text.fill(f"{text.input_value()}- Drinks tea.\n")
    person.get_by_role("button", name="Accept this text").click()
    texts = person.get_by_role("region", name="Two texts")
    expect(texts).to_contain_text("Drinks tea.")
    assert "dark" in user_file(tab.server)

    path = tab.server.root / f"users/{story.USER}/USER.md"
    path.write_text(f"{path.read_text()}- Works at night.\n")
    for there in ("dark", "Works at night."):
        expect(texts).to_contain_text(there)
        for choice in texts.get_by_label("both, one after the other").all():
            choice.check()
        texts.get_by_role("button", name="Accept this text").click()
    expect(person).to_have_count(0)
    said = user_file(tab.server)
    assert all(one in said for one in ("dark", "vim", "tea", "night", "Lives in Lisbon"))


def test_review_fits_a_phone_and_is_reached_from_knowledge(browser: Browser, served: Server):
    with visiting(browser, served, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        page = tab.open("/knowledge")
        page.get_by_role("link", name="review 3").click()
        expect(page.get_by_role("article")).to_have_count(3)
        assert tab.has_sideways() <= 0
