"""Reading: sessions, their timeline as it grows, single entries, search with its reasons."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.faces.page.driving import Server, Tab, sent, visiting
from tests.faces.page.talks import LONG, write_talks


@pytest.fixture(scope="module", autouse=True)
def talks(served: Server) -> None:
    write_talks(served)


@pytest.fixture
def other(browser: Browser, served: Server) -> Iterator[Tab]:
    with visiting(browser, served) as tab:
        yield tab


def nodes(page: Page) -> int:
    count: int = page.evaluate("document.querySelectorAll('*').length")
    return count


def test_a_write_of_the_command_line_appears_in_two_tabs_and_only_in_the_right_filters(
    tab: Tab, other: Tab
):
    mine, filtered = tab.open("/sessions/talk"), other.open("/sessions/talk?types=decision")
    expect(mine.get_by_role("article")).to_have_count(6)
    expect(filtered.get_by_role("article")).to_have_count(1)
    tab.server.cli("add", "--session", "talk", "--type", "note", "the cache is warm")
    expect(mine.get_by_role("feed")).to_contain_text("the cache is warm")
    tab.server.cli("add", "--session", "talk", "--type", "decision", "Keep the cache")
    for page in (mine, filtered):
        expect(page.get_by_role("feed")).to_contain_text("Keep the cache")
    assert filtered.get_by_role("article").count() == 2


def test_what_arrives_does_not_move_what_is_read(tab: Tab):
    page = tab.open("/sessions/long")
    expect(page.get_by_role("article").last).to_contain_text(f"message {LONG - 1}")
    page.evaluate("scrollBy(0, -1500)")
    tab.settle()  # what comes near by it has come, and may have pushed what is read further down
    before = page.evaluate("scrollY")
    seen = page.evaluate("document.elementFromPoint(400, 400).closest('article').dataset.entry")
    tab.server.cli("add", "--session", "long", "a line from elsewhere")
    button = page.get_by_role("button", name="↓ 1 new")
    expect(button).to_be_visible()
    assert page.evaluate("scrollY") == before
    now = page.evaluate("document.elementFromPoint(400, 400).closest('article').dataset.entry")
    assert now == seen
    button.click()
    expect(page.get_by_role("article").last).to_contain_text("a line from elsewhere")


def test_a_reader_at_the_end_stays_there_as_a_session_outgrows_the_window(tab: Tab):
    tab.server.session("growing", [{"type": "note", "content": "the first"}])
    page = tab.open("/sessions/growing")
    last = page.get_by_role("article").last
    for turn in range(4):
        entries = [{"type": "note", "content": f"note {turn}.{number}"} for number in range(10)]
        tab.server.api("POST", "/sessions/growing/batch", {"entries": entries})
        expect(last).to_contain_text(f"note {turn}.9")
        expect(last).to_be_in_viewport()
    assert page.evaluate("scrollY") > 0


def test_a_session_that_fits_the_window_is_shown_whole(tab: Tab):
    tab.server.session("short", [{"type": "note", "content": "all there is"}])
    page = tab.open("/sessions/short")
    expect(page.get_by_role("article")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("heading", name="20")).to_be_in_viewport(ratio=1)
    high = "[document.documentElement.scrollHeight, innerHeight]"
    assert page.evaluate(f"{high}[0] - {high}[1]") <= 0


def test_a_long_session_is_read_in_windows_that_never_jump(tab: Tab):
    page = tab.open("/sessions/long")
    expect(page.get_by_role("article").first).to_be_attached()
    assert page.get_by_role("article").count() <= 200
    assert nodes(page) <= 3000
    first = page.get_by_role("article").first.get_attribute("data-entry")
    mark = page.locator(f"[data-entry='{first}']")
    mark.scroll_into_view_if_needed()
    expect(page.get_by_role("article").first).not_to_have_attribute("data-entry", str(first))
    box = mark.bounding_box()
    assert box is not None
    assert 0 <= box["y"] <= 800
    day = page.get_by_role("combobox", name="Go to").locator("option").nth(1)
    page.get_by_role("combobox", name="Go to").select_option(day.get_attribute("value"))
    expect(page.locator("article:focus")).to_contain_text("decide 0")
    assert page.get_by_role("article").count() <= 200
    assert nodes(page) <= 3000
    page.keyboard.press("]")
    expect(page.locator("article:focus .day")).to_be_visible()


def test_every_day_of_a_long_session_is_offered_and_begins_with_its_first_entry(tab: Tab):
    days = {"2026-10-01": 300, "2026-10-02": 2, "2026-10-03": 300}
    entries = [
        {"type": "note", "content": f"{day} {number}", "timestamp": f"{day}T12:00:00Z"}
        for day, many in days.items()
        for number in range(many)
    ]
    tab.server.session("three-days", entries)
    page = tab.open("/sessions/three-days")
    choice = page.get_by_role("combobox", name="Go to")
    expect(choice.locator("option")).to_have_count(4)
    for number, day in enumerate(days, 1):
        choice.select_option(index=number)
        expect(page.locator("article:focus")).to_contain_text(f"{day} 0")
    first, sparse, _ = days
    for key, shown in (("[", sparse), ("j", sparse), ("[", sparse), ("[", first), ("]", sparse)):
        page.keyboard.press(key)
        expect(page.locator("article:focus")).to_contain_text(f"{shown} {int(key == 'j')}")


def test_nothing_is_blank_while_a_long_session_is_scrolled_through(tab: Tab):
    page = tab.open("/sessions/long")
    expect(page.get_by_role("article").last).to_be_in_viewport()
    seen = page.evaluate(
        """async () => {
          const isFilled = () => [...document.querySelectorAll("article")].some((one) => {
            const { top, bottom } = one.getBoundingClientRect();
            return bottom > 250 && top < 550;
          });
          const most = [], blank = [], frame = () => new Promise(requestAnimationFrame);
          for (const step of [-350, 350]) for (let turn = 0; turn < 80; turn += 1) {
            scrollBy(0, step);
            await frame();
            most.push(document.querySelectorAll("*").length);
            if (!isFilled()) blank.push(turn);
          }
          return [Math.max(...most), blank];
        }"""
    )
    assert seen[0] < 3000
    assert seen[1] == []


def test_entries_show_all_their_fields_and_markdown_is_laid_out(tab: Tab):
    page = tab.open("/sessions/talk")
    card = page.get_by_role("article").filter(has_text="Use PostgreSQL")
    for word in ("decision", "Transactions, and", "MongoDB, MySQL", "high", "Ann", "#database"):
        expect(card).to_contain_text(word)
    finding = (
        page.get_by_role("article")
        .filter(has_text="never restored")
        .or_(page.get_by_role("article").filter(has_text="ever restored"))
    )
    for word in ("severity", "the log of the nightly run", "Restore it weekly", "open"):
        expect(finding).to_contain_text(word)
    preference = page.get_by_role("article").filter(has_text="language = British English")
    expect(preference).to_contain_text("0.9")
    expect(page.locator(".markdown li")).to_have_text(["PostgreSQL", "or MySQL"])
    page.get_by_role("link", name="Findings").click()
    expect(page.get_by_role("article")).to_have_count(1)
    page.get_by_role("link", name="Files").click()
    expect(page.get_by_role("table")).to_contain_text("memory.jsonl")
    page.get_by_role("button", name="Details").click()
    expect(page.get_by_role("complementary")).to_contain_text("architect")


def test_a_decision_is_found_explained_and_its_line_is_the_files_own(tab: Tab):
    page = tab.open("/sessions")
    page.keyboard.press("/")
    page.keyboard.type("postgres")
    hits = page.locator("ol.hits > li")
    expect(hits.first).to_contain_text("Use PostgreSQL")
    for hit in hits.all()[:3]:
        shown = [float(one) for one in hit.locator(".sums b").all_inner_texts()]
        assert round(sum(shown), 2) == float(hit.locator(".score").inner_text())
    hits.nth(1).get_by_role("button", name="why is #2 below #1?").click()
    rows = page.locator("table.below tbody tr")
    expect(rows.first).to_be_visible()
    steps = [signed(text) for text in rows.locator("td:last-child").all_inner_texts()]
    assert round(sum(steps[:-1]), 2) == steps[-1] <= 0
    hits.first.get_by_role("link", name="Use PostgreSQL").click()
    expect(page.locator(".raw")).to_contain_text("The checksum holds")
    log = (tab.server.root / "sessions/talk/memory.jsonl").read_text()
    line = next(line for line in log.splitlines() if '"id":"dec-database"' in line)
    expect(page.locator(".raw pre")).to_have_text(line)
    expect(page.get_by_role("heading", name="Referred to by")).to_be_visible()
    page.go_back()
    expect(hits.first).to_contain_text("Use PostgreSQL")


def test_what_a_title_cuts_off_is_told_below_it_with_its_marks(tab: Tab):
    said = "An entry that is told in a single line, which is long, and speaks of quokkas at its end"
    tab.server.session("one-line", [{"type": "note", "content": said}])
    page = tab.open("/search?q=quokkas")
    hit = page.locator("ol.hits > li").first
    expect(hit.locator(".excerpt")).to_have_text(said)
    expect(hit.locator(".excerpt mark")).to_have_text("quokkas")


def signed(text: str) -> float:
    return float(text.replace("−", "-").replace("+", ""))


def test_filters_of_a_search_are_in_the_address_and_come_back_from_it(tab: Tab):
    page = tab.open("/search?q=postgres")
    page.get_by_role("group", name="Type").get_by_role("link", name="finding").click()
    expect(page.locator("ol.hits > li")).to_have_count(1)
    assert "types=finding" in page.url
    page.reload()
    expect(page.locator("ol.hits > li")).to_have_count(1)
    page.go_back()
    expect(page.locator("ol.hits > li").nth(1)).to_be_visible()


def test_context_is_exactly_what_a_model_would_be_told(tab: Tab):
    # What was read counts, so that the same question may be answered otherwise a moment later.
    with tab.page.expect_response("**/api/v1/context") as asked:
        page = tab.open("/search?q=which+database&view=context")
    told = asked.value.json()
    assert "which database" in (asked.value.request.post_data or "")
    expect(page.locator("pre.exact")).to_have_text(re.compile("memory kind"))
    assert page.locator("pre.exact").text_content() == told["text"]
    expect(page.locator("[data-tokens]")).to_have_text(f"{told['tokens']:,} tokens")
    shown = page.locator("table tbody td.num").all_inner_texts()
    assert [int(one) for one in shown] == [one["tokens"] for one in told["items"]]
    assert 0.6 * told["tokens"] <= sum(map(int, shown)) <= told["tokens"]


def test_an_agents_scope_shows_nothing_of_another(tab: Tab):
    page = tab.open("/sessions")
    expect(page.get_by_role("grid")).to_contain_text("secret-plans")
    page.get_by_role("banner").get_by_label("Agent").select_option("architect")
    expect(page.get_by_role("grid")).not_to_contain_text("secret-plans")
    main = page.get_by_role("main")
    expect(main).not_to_contain_text("analyst")
    expect(main).not_to_contain_text("ben")
    page.goto(f"{tab.server.url}/search?q=zebrafish&agent=architect")
    expect(main).to_contain_text(re.compile(r"\d hits?|Nothing fits"))
    expect(page.locator("ol.hits")).not_to_contain_text("merger")
    page.goto(f"{tab.server.url}/sessions/secret-plans?agent=architect")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(main).not_to_contain_text("merger")


def test_the_first_view_is_light(tab: Tab):
    seen: list[Request] = []
    tab.page.on("requestfinished", lambda request: seen.append(request))
    page = tab.open("/sessions")
    expect(page.get_by_role("grid")).to_be_visible()
    page.wait_for_load_state("load")
    files = [request for request in seen if "/static/" in request.url]
    assert 10 < len(files) <= 40
    assert 10 * 1024 < sum(map(sent, files)) <= 80 * 1024


def test_back_leads_to_the_same_place(tab: Tab):
    page = tab.open("/sessions/long")
    expect(page.get_by_role("article").last).to_be_attached()
    card = page.get_by_role("article").filter(has_text="message 301")
    card.click()
    page.keyboard.press("Enter")
    expect(page.locator(".whole")).to_contain_text("message 301")
    page.go_back()
    expect(page.locator("article:focus")).to_contain_text("message 301")


def test_search_is_two_keys_away_and_back_leads_to_where_one_read(tab: Tab):
    page = tab.open("/sessions/long")
    expect(page.get_by_role("article").last).to_be_in_viewport()
    last = page.get_by_role("article").last
    for _ in range(40):  # until the entries that were read at first are gone
        if f"message {LONG - 1}" not in last.inner_text():
            break
        page.evaluate("scrollTo(0, 0)")
        tab.settle()
    expect(last).not_to_contain_text(f"message {LONG - 1}")
    tab.settle()
    middle = "document.elementFromPoint(400, 400).closest('article')?.dataset.entry"
    read = page.evaluate(middle)
    page.keyboard.press("/")
    page.keyboard.type("postg")
    expect(page.locator("ol.hits > li").first).to_contain_text("PostgreSQL")
    page.go_back()
    mark = page.locator(f"[data-entry='{read}']")
    expect(mark).to_be_in_viewport()
    expect(page.get_by_role("searchbox", name="Search everything")).to_have_value("")
    assert page.evaluate(middle) == read
