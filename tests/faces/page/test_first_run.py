"""The first minutes: an empty memory, the link that signs in, the first entry, a demo to remove."""

import re
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Browser, expect

from tests.faces.page.driving import Server, Tab, serving, visiting


def test_from_an_empty_store_to_the_first_found_entry(browser: Browser, served: Server):
    context = browser.new_context()
    tab = Tab(context.new_page(), served)
    page = tab.page
    page.goto(served.link)
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing remembered yet")
    assert page.url == f"{served.url}/"
    expect(page.get_by_role("main")).to_contain_text("name this one with --root")
    page.get_by_role("button", name="Write a first entry…").click()
    page.keyboard.type("The ledger closes at midnight")
    page.get_by_role("button", name="Write it").click()
    hit = page.locator("ol.hits > li").first
    expect(hit).to_contain_text("The ledger closes at midnight")
    hit.get_by_role("link", name="The ledger").click()
    expect(page.locator(".raw")).to_contain_text("The checksum holds")
    page.goto(served.link)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    assert tab.wrong == []
    context.close()


def test_a_link_that_was_used_says_so_to_whoever_opens_it_next(browser: Browser, store: Path):
    with serving(store) as server:
        first, second = browser.new_context(), browser.new_context()
        page = first.new_page()
        page.goto(server.link)
        expect(page.get_by_role("heading", level=1)).to_have_text("Nothing remembered yet")
        page = second.new_page()
        page.goto(server.link)
        expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        expect(page.get_by_role("alert")).to_contain_text("was used before, or is too old")
        expect(page.locator(".dot")).to_have_count(0)
        page.get_by_label("Code or link").fill(server.cli("token", "link").strip().split()[-1])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Nothing remembered yet")
        first.close()
        second.close()


def test_the_first_entry_of_an_agent_changes_the_view_and_the_demo_can_be_removed(
    browser: Browser, store: Path
):
    with serving(store) as server, visiting(browser, server) as tab:
        page = tab.open("/")
        page.get_by_role("button", name="Cursor").click()
        expect(page.locator(".copied pre")).to_contain_text("mcpServers")
        page.get_by_role("button", name="Fill with the demo week").click()
        expect(page.get_by_role("grid", name="Sessions")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="demo-week-payments")).to_contain_text("10")
        page.get_by_role("button", name="Remove the demo week…").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Delete 2 sessions: 14 entries")
        expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
        expect(dialog.get_by_role("button", name="Delete 2 sessions")).to_be_disabled()
        dialog.get_by_label("Type 14 to confirm").fill("14")
        dialog.get_by_role("button", name="Delete 2 sessions").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Nothing remembered yet")
        assert server.api("GET", "/sessions")["total"] == 0
        server.cli("add", "written by an agent elsewhere")
        expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
        assert re.search(r"1 session\b", page.inner_text(".bulk"))


def test_a_server_that_stops_is_told_and_what_was_shown_stays(browser: Browser, store: Path):
    with serving(store) as server:
        server.session("talk", [{"type": "note", "content": "still here"}])
        port = int(server.url.rsplit(":", 1)[1])
        with visiting(browser, server) as tab:
            page = tab.open("/sessions/talk")
            expect(page.locator(".dot")).to_have_attribute("data-state", "live")
            server.end()
            expect(page.locator(".dot")).not_to_have_attribute("data-state", "live")
            expect(page.get_by_role("feed")).to_contain_text("still here")
            with serving(store, port) as again:
                again.api("POST", "/sessions/talk/entries", {"type": "note", "content": "and back"})
                expect(page.locator(".dot")).to_have_attribute("data-state", "live")
                expect(page.get_by_role("feed")).to_contain_text("and back")


def test_a_page_that_asked_too_much_counts_down_until_it_may_ask_again(
    browser: Browser, store: Path
):
    store.mkdir()
    (store / "config.toml").write_text("[server]\nrequests_per_minute = 6\n")
    with serving(store) as server, visiting(browser, server) as tab:
        page = tab.open("/sessions")
        with pytest.raises(HTTPError, match="429"):
            all(server.api("GET", "/me") for _ in range(60))
        page.get_by_role("link", name="Health").click()
        again = page.get_by_role("alert").first.get_by_role("button")
        expect(again).to_have_text(re.compile(r"Try again in \d+ s"))
        expect(again).to_be_disabled()
        expect(again).to_have_text("Try again")
        expect(again).to_be_enabled()
