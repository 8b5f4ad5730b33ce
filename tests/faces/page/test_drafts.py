"""A server that stops and comes back: since when is told, and nothing that was typed is lost."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.faces.page import story
from tests.faces.page.driving import serving, visiting

GONE = "The server does not answer."
MINE = "Ledgers close at midnight"
TOUCHED = re.compile(MINE)
OPENS = re.compile("^(Edit|Write a first entry…)$")


@pytest.fixture
def told(store: Path) -> Path:
    """A root with the story and its proposals."""
    story.tell(store)
    story.learn(store)
    return store


@contextmanager
def interrupted(
    browser: Browser, root: Path, path: str, label: str, send: str
) -> Iterator[tuple[Page, Locator]]:
    """A page in which something is typed, and sent in vain; then the server is there again."""
    with serving(root) as server:
        port = int(server.url.rsplit(":", 1)[1])
        with visiting(browser, server) as tab:
            page = tab.open(path)
            box = page.get_by_label(label)
            if not box.count():
                opening = page.get_by_role(
                    "button", name=re.compile("^(Edit|Write a first entry…)$")
                )
                opening.first.click()
            box.fill(f"{box.input_value()}\n{MINE}\n".lstrip())
            server.end()
            page.get_by_role("button", name=send).first.click()
            expect(page.get_by_role("alert").first).to_contain_text(GONE)
            expect(box).to_have_value(TOUCHED)
            with serving(root, port):
                expect(page.locator(".dot")).to_have_attribute("data-state", "live", timeout=40_000)
                expect(box).to_have_value(TOUCHED)
                page.reload()
                expect(box).to_have_value(TOUCHED)
                page.get_by_role("button", name=send).first.click()
                yield page, box


def drafts(page: Page) -> int:
    kept: int = page.evaluate(
        "Object.keys(localStorage).filter((key) => key.startsWith('mnemolog.draft')).length"
    )
    return kept


def test_since_when_the_server_is_away_is_told(browser: Browser, told: Path):
    with serving(told) as server, visiting(browser, server) as tab:
        page = tab.open("/sessions/sess-pay")
        expect(page.locator(".dot")).to_have_attribute("data-state", "live")
        server.end()
        expect(page.get_by_role("banner")).to_contain_text(re.compile("offline since [0-9:]+"))
        expect(page.get_by_role("feed")).to_contain_text("half written")


def test_whoever_writes_a_first_entry_goes_on_when_another_one_comes(browser: Browser, store: Path):
    with serving(store) as server, visiting(browser, server) as tab:
        page = tab.open("/")
        page.get_by_role("button", name="Write a first entry…").click()
        page.keyboard.type("Ledgers close ")
        server.session("other", [{"type": "note", "content": "somebody was faster"}])
        expect(page.get_by_role("row").filter(has_text="other")).to_be_visible()
        page.keyboard.type("at midnight")
        page.reload()
        box = page.get_by_label("The first entry")
        expect(box).to_have_value(MINE)
        page.get_by_role("button", name="Write it").click()
        expect(page.locator("ol.hits > li").first).to_contain_text(MINE)
        page.get_by_role("link", name="Sessions").click()
        expect(page.get_by_role("row")).to_have_count(3)
        expect(box).to_have_count(0)


def test_a_first_entry_that_could_not_be_written_waits_for_the_server(
    browser: Browser, store: Path
):
    with interrupted(browser, store, "/", "The first entry", "Write it") as (page, _):
        expect(page.locator("ol.hits > li").first).to_contain_text(MINE)
        assert drafts(page) == 0


def test_an_edited_node_that_could_not_be_saved_waits_for_the_server(browser: Browser, told: Path):
    path = f"/knowledge/{story.USER}/{story.PAY}?edit=1"
    with interrupted(browser, told, path, "Text, as Markdown", "Save") as (page, _):
        expect(page.locator(".paper")).to_contain_text(MINE)
        assert drafts(page) == 0
    file = told / f"users/{story.USER}/memory/{story.PAY}.md"
    assert file.read_text().count(MINE) == 1


def test_an_edited_proposal_that_could_not_be_accepted_waits_for_the_server(
    browser: Browser, told: Path
):
    label, send = "Text to be written instead", "Accept this text"
    with interrupted(browser, told, "/review", label, send) as (page, box):
        expect(box).to_have_count(0)
        assert drafts(page) == 0
    assert MINE in (told / f"users/{story.USER}/USER.md").read_text()


def test_an_edited_entry_that_could_not_be_saved_waits_for_the_server(browser: Browser, told: Path):
    with serving(told) as server:
        rows = server.api("GET", "/sessions/sess-pay/entries")["items"]
    path = f"/sessions/sess-pay/entries/{rows[0]['entry']['id']}"
    with interrupted(browser, told, path, "The content", "Save a new revision") as (page, box):
        expect(page.locator(".whole")).to_contain_text(MINE)
        expect(box).to_have_count(0)
        assert drafts(page) == 0


def test_a_draft_of_a_node_that_was_thrown_away_comes_back(browser: Browser, told: Path):
    with serving(told) as server, visiting(browser, server) as tab:
        page = tab.open(f"/knowledge/{story.USER}/{story.PAY}?edit=1")
        box = page.get_by_label("Text, as Markdown")
        box.fill(MINE)
        page.get_by_role("button", name="Discard the draft").click()
        expect(box).to_have_count(0)
        assert drafts(page) == 0
        page.get_by_role("button", name="Undo").click()
        expect(box).to_have_value(MINE)
        page.reload()
        page.get_by_role("button", name="Begin anew").click()
        expect(box).to_have_value(re.compile("How orders are stored"))
        page.get_by_role("button", name="Close", exact=True).first.focus()
        page.keyboard.press("z")
        expect(box).to_have_value(MINE)


def test_a_draft_of_a_node_that_is_its_text_again_is_none(browser: Browser, told: Path):
    with serving(told) as server, visiting(browser, server) as tab:
        page = tab.open(f"/knowledge/{story.USER}/{story.PAY}?edit=1")
        box = page.get_by_label("Text, as Markdown")
        first = box.input_value()
        box.fill(MINE)
        expect(page.get_by_role("button", name="Discard the draft")).to_be_visible()
        box.fill(first)
        expect(page.get_by_role("button", name="Discard the draft")).to_have_count(0)
        page.reload()
        expect(box).to_have_value(first)
        assert drafts(page) == 0


def test_a_draft_of_an_entry_that_was_thrown_away_comes_back_unless_another_was_begun(
    browser: Browser, told: Path
):
    with serving(told) as server, visiting(browser, server) as tab:
        rows = server.api("GET", "/sessions/sess-pay/entries")["items"]
        page = tab.open(f"/sessions/sess-pay/entries/{rows[0]['entry']['id']}")
        box = page.get_by_label("The content")
        for said in (MINE, "Another"):
            page.get_by_role("button", name="Edit").click()
            box.fill(said)
            page.get_by_role("button", name="Cancel").click()
            expect(box).to_have_count(0)
        page.keyboard.press("z")
        expect(box).to_have_value("Another")
        page.keyboard.press("z")
        expect(page.get_by_role("status").last).to_contain_text("Another draft was begun since.")
        expect(box).to_have_value("Another")


def test_an_entry_that_was_revised_meanwhile_is_shown_beside_mine_and_neither_is_lost(
    browser: Browser, store: Path
):
    with serving(store) as server, visiting(browser, server) as tab:
        server.session("talk", [{"id": "said", "type": "note", "content": "first\nlast"}])
        entry = "/sessions/talk/entries/said"
        page = tab.open(entry)
        page.get_by_role("button", name="Edit").click()
        page.get_by_label("The content").fill("mine\nlast")
        server.api("PATCH", entry, {"content": "theirs\nlast"})
        expect(page.get_by_role("status").get_by_text("revised meanwhile")).to_be_visible()
        page.reload()
        expect(page.get_by_label("The content")).to_have_value("mine\nlast")
        page.get_by_role("button", name="Save a new revision").click()
        both = page.get_by_role("region", name="Two texts")
        expect(both.locator("[data-kind=open] pre")).to_have_text(["first", "theirs", "mine"])
        both.get_by_label("both, one after the other").check()
        expect(both.get_by_label("What will be written")).to_have_value("theirs\nmine\nlast")
        both.get_by_role("button", name="Save this text").click()
        expect(page.locator(".whole")).to_contain_text("theirs")
        expect(both).to_have_count(0)
        assert drafts(page) == 0
        assert server.api("GET", entry)["entry"]["content"] == "theirs\nmine\nlast"


def test_an_entry_that_is_not_being_edited_shows_its_newest_revision(browser: Browser, store: Path):
    with serving(store) as server, visiting(browser, server) as tab:
        server.session("talk", [{"id": "said", "type": "note", "content": "the first text"}])
        page = tab.open("/sessions/talk/entries/said")
        server.api("PATCH", "/sessions/talk/entries/said", {"content": "another text"})
        expect(page.locator(".whole")).to_contain_text("another text")
