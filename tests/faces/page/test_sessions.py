"""Hiding with undo, what is done to sessions by plans, the phone, and everything by keys alone."""

import json

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.faces.page.driving import PHONE, Server, Tab, sent, visiting
from tests.faces.page.talks import write_talks

PATHS = (
    "/sessions",
    "/sessions/talk",
    "/sessions/talk?tab=files&details=1",
    "/sessions/talk/entries/dec-database",
    "/search?q=postgres",
    "/search?q=postgres&view=context",
)


@pytest.fixture(scope="module", autouse=True)
def talks(served: Server) -> None:
    write_talks(served)
    for number in range(4):
        served.session(f"spare-{number}", [{"type": "note", "content": f"spare {number}"}] * 1)


def shown(server: Server, session: str) -> int:
    total: int = server.api("GET", f"/sessions/{session}/entries")["total"]
    return total


def test_two_hidden_in_a_row_come_back_by_two_undos_also_after_a_reload(tab: Tab):
    page = tab.open("/sessions/talk")
    articles = page.get_by_role("article")
    expect(articles).to_have_count(6)
    articles.filter(has_text="Ann leads").click()
    page.get_by_role("button", name="Hide").click()
    expect(articles).to_have_count(5)
    articles.filter(has_text="language =").click()
    page.keyboard.press("h")
    expect(articles).to_have_count(4)
    expect(page.get_by_role("status")).to_contain_text("Hidden: language")
    assert shown(tab.server, "talk") == 4
    page.keyboard.press("z")
    expect(articles).to_have_count(5)
    expect(page.get_by_role("feed")).to_contain_text("language =")
    page.reload()
    expect(articles).to_have_count(5)
    page.keyboard.press("z")
    expect(articles).to_have_count(6)
    expect(page.get_by_role("feed")).to_contain_text("Ann leads")


def test_the_first_entries_of_a_session_come_back_to_where_they_stood(tab: Tab):
    page = tab.open("/sessions/talk")
    articles = page.get_by_role("article")
    expect(articles).to_have_count(6)
    said = "No order may ever be half written."
    expect(articles.first).to_contain_text(said)
    articles.first.click()
    page.keyboard.press("h")
    expect(articles).to_have_count(5)
    page.keyboard.press("h")
    expect(articles).to_have_count(4)
    expect(page.locator(".toast")).to_have_count(2)
    for left in (5, 6):
        page.keyboard.press("z")
        expect(articles).to_have_count(left)
    expect(articles.first).to_contain_text(said)


def test_hidden_entries_fold_and_say_how_long_they_can_be_restored(tab: Tab):
    page = tab.open("/sessions/talk")
    page.get_by_role("article").filter(has_text="Ann leads").click()
    page.keyboard.press("h")
    page.get_by_role("link", name="1 hidden").click()
    fold = page.locator("details.fold-hidden")
    expect(fold).to_contain_text("1 hidden entry (restorable 30 d)")
    fold.locator("summary").click()
    expect(fold.get_by_role("article")).to_contain_text("Ann leads")
    page.keyboard.press("z")
    expect(page.locator("details.fold-hidden")).to_have_count(0)


def test_clear_archive_restore_and_delete_say_their_numbers_and_keep_to_them(tab: Tab):
    page = tab.open("/sessions?q=spare")
    pick(page, "spare-0", "spare-1")
    expect(page.locator(".bulk")).to_contain_text("2 selected")
    carry_out(page, "Clear…", "Clear 2 sessions: hide 2 entries", "Hide 2 entries")
    expect(page.get_by_role("status")).to_contain_text("2 entries hidden")
    assert [shown(tab.server, f"spare-{number}") for number in range(4)] == [0, 0, 1, 1]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Taken back")
    assert shown(tab.server, "spare-0") == 1

    pick(page, "spare-2")
    carry_out(page, "Archive…", "Archive spare-2: 1 entry", "Archive 1 session")
    row = page.get_by_role("row").filter(has_text="spare-2")
    expect(row).to_contain_text("archived")
    pick(page, "spare-2")
    carry_out(page, "Restore…", "Restore spare-2", "Restore 1 session")
    expect(row).not_to_contain_text("archived")

    pick(page, "spare-3")
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cannot be undone")
    dialog.get_by_label("Type 1 to confirm").fill("1")
    dialog.get_by_role("button", name="Delete 1 session").click()
    expect(page.get_by_role("status")).to_contain_text("0 traces left")
    expect(page.get_by_role("row").filter(has_text="spare-3")).to_have_count(0)
    assert not (tab.server.root / "sessions/spare-3").exists()


def pick(page: Page, *sessions: str) -> None:
    for session in sessions:
        page.get_by_role("checkbox", name=f"Select {session}").check()


def carry_out(page: Page, action: str, sentence: str, verb: str) -> None:
    page.get_by_role("button", name=action).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(sentence)
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name=verb).click()
    expect(dialog).to_have_count(0)
    expect(page.locator(":focus")).to_have_count(1)


def test_a_plan_that_the_world_overtook_shows_the_new_numbers(tab: Tab):
    tab.server.session("moving", [{"type": "note", "content": "one"}])
    page = tab.open("/sessions?q=moving")
    pick(page, "moving")
    page.get_by_role("button", name="Clear…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("hide 1 entry")
    tab.server.cli("add", "--session", "moving", "two")
    dialog.get_by_role("button", name="Hide 1 entry").click()
    expect(dialog).to_contain_text("Something changed")
    dialog.get_by_role("button", name="Hide 2 entries").click()
    expect(dialog).to_have_count(0)
    assert shown(tab.server, "moving") == 0


def test_an_export_is_handed_to_the_browser(tab: Tab):
    page = tab.open("/sessions?q=talk")
    pick(page, "talk")
    page.get_by_role("button", name="Export…").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export 1 session").click()
    text = waiting.value.path().read_text()
    assert "dec-database" in text
    assert json.loads(text)


def test_a_token_that_may_only_read_is_offered_nothing_else(browser: Browser, served: Server):
    told = json.loads(served.cli("--json", "token", "new", "--read-only"))
    with visiting(browser, served, told["token"]) as tab:
        page = tab.open("/sessions/talk")
        page.get_by_role("article").first.click()
        expect(page.get_by_role("button", name="Raw")).to_be_visible()
        expect(page.get_by_role("button", name="Hide")).to_have_count(0)
        page = tab.open("/sessions")
        pick(page, "talk")
        deeds = page.get_by_role("group", name="Actions on the selection").get_by_role("button")
        expect(deeds).to_have_text(["Export…", "Select none"])
        page = tab.open("/knowledge/ada?new=1")
        expect(page.get_by_role("textbox", name="Text, as Markdown")).to_have_count(0)


def test_a_token_of_an_agent_is_offered_no_part_that_is_the_owners(
    browser: Browser, served: Server
):
    told = json.loads(served.cli("--json", "token", "new", "--for-agent", "architect"))
    with visiting(browser, served, told["token"]) as tab:
        for path, tabs in (("/health", ["Now"]), ("/forgetting", ["Erase", "Hidden"])):
            page = tab.open(path)
            expect(page.locator("nav.tabs a")).to_have_text(tabs)
            expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.get_by_role("navigation", name="Views")).not_to_contain_text("Review")
        page.keyboard.press("Control+k")
        menu = page.get_by_role("dialog", name="Go to or do anything")
        expect(menu.get_by_role("button", name="Knowledge")).to_be_visible()
        expect(menu).not_to_contain_text("Review")


def test_the_review_asks_for_all_agents(tab: Tab):
    page = tab.open("/review?agent=architect")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("link", name="Show it for all agents").click()
    expect(page).to_have_url(f"{tab.server.url}/review")


def test_retention_asks_for_all(tab: Tab):
    page = tab.open("/forgetting?agent=architect")
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("link", name="Show it for all").click()
    expect(page.get_by_role("region", name="Preview")).to_be_visible()


def test_a_phone_scrolls_one_way_only_and_its_targets_fit_a_thumb(browser: Browser, served: Server):
    small = (
        "[...document.querySelectorAll('main button, main select, main .choice, main .tabs a, "
        "nav a')].filter(one => one.checkVisibility() && one.getBoundingClientRect().height < 43)"
        ".map(one => one.outerHTML.slice(0, 120))"
    )
    with visiting(browser, served, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        for path in PATHS:
            page = tab.open(path)
            page.wait_for_timeout(300)
            assert tab.has_sideways() <= 0, path
            assert page.evaluate(small) == [], path


def test_keys_that_come_at_once_meet_the_row_moved_to_and_keep_the_focus(tab: Tab):
    page = tab.open("/sessions")
    expect(page.locator("[data-at='2']")).to_be_visible()
    page.evaluate(
        # As on a slow machine: no frame is drawn between the keys, and frames are late.
        """async () => {
          const soon = requestAnimationFrame;
          globalThis.requestAnimationFrame = (run) => setTimeout(() => soon(run), 100);
          for (const [key, shiftKey] of [["j"], ["j"], ["x"], ["j"], ["X", true], ["."]]) {
            const target = document.activeElement;
            target.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
            await null;
          }
          await new Promise((done) => setTimeout(done, 600));
        }"""
    )
    expect(page.locator(".bulk")).to_contain_text("2 selected")
    expect(page.get_by_role("button", name="Clear…")).to_be_focused()


def test_everything_is_reached_by_keys_alone(tab: Tab):
    page = tab.open("/health")
    press = page.keyboard.press
    press("g")
    press("s")
    expect(page.get_by_role("grid")).to_be_visible()
    press("j")
    expect(page.locator("[data-at='0']")).to_be_focused()
    press("j")
    press("x")
    press("j")
    press("Shift+X")
    expect(page.locator(".bulk")).to_contain_text("2 selected")
    press(".")
    expect(page.get_by_role("button", name="Clear…")).to_be_focused()
    press("Enter")
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Clear…")).to_be_focused()
    press("/")
    page.keyboard.type("postgres")
    expect(page.locator("ol.hits > li").nth(1)).to_be_visible()
    press("Enter")
    expect(page.locator("ol.hits > li").first).to_be_focused()
    press("j")
    press("w")
    expect(page.locator("table.below")).to_be_visible()
    press("k")
    press("Enter")
    expect(page.locator(".raw pre")).to_be_visible()
    press("r")
    expect(page.locator(".raw pre")).to_be_focused()
    press("]")
    expect(page.locator(".whole")).to_contain_text("backup")
    press("u")
    expect(page.get_by_role("feed")).to_be_visible()
    press("k")
    press("r")
    expect(page.locator("article .raw")).to_contain_text("The checksum holds")
    press("?")
    keys = page.get_by_role("dialog", name="Keys")
    for label in ("Raw line", "Hide", "Undo", "Next day", "Go to or do anything", "Theme"):
        expect(keys).to_contain_text(label)
    press("Escape")
    press("Control+k")
    expect(page.get_by_role("dialog")).to_contain_text("Archive this session…")
    press("Escape")
    press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_the_first_view_asks_for_little(browser: Browser, served: Server):
    with visiting(browser, served) as tab:
        asked: list[Request] = []
        tab.page.on("requestfinished", lambda request: asked.append(request))
        tab.open("/sessions")
        tab.page.wait_for_timeout(500)
        assert len(asked) <= 40
        assert 10 * 1024 < sum(map(sent, asked)) <= 80 * 1024
