"""Controls that are seldom pressed do what they say: keys, leaving, odd texts, single entries."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from mnemolog import Memory
from tests.faces.page import story
from tests.faces.page.driving import Server, Tab, serving, visiting

LINES = "\n".join(f"line {number}" for number in range(40))
ODD: list[dict[str, Any]] = [
    {"id": "table", "type": "note", "content": "| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n"},
    {"id": "long", "type": "note", "content": LINES},
    {"id": "lines", "type": "note", "content": "**first**\nsecond"},
    {"id": "dec", "type": "decision", "content": {"decision": "Do it", "rationale": "because"}},
]


@pytest.fixture(scope="module", autouse=True)
def odd(served: Server) -> None:
    served.session("odd", ODD)
    served.session("other", [{"type": "note", "content": "something else"}])


def test_single_letters_that_were_switched_off_are_switched_on_again(tab: Tab):
    page = tab.open("/sessions")
    switch = page.get_by_label("Single letters do something")
    page.keyboard.press("?")
    switch.uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(switch).to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("button", name="Show the keys").click()
    switch.check()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page.get_by_role("heading", name="Health")).to_be_visible()


def test_whoever_comes_back_from_the_hits_goes_on_with_keys(tab: Tab):
    page = tab.open("/sessions?sort=id")
    page.keyboard.press("/")
    page.keyboard.type("note")
    expect(page.locator("ol.hits > li").first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[role=row]:focus")).to_have_attribute("data-at", "0")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search everything")).to_have_value("")


def test_letters_after_enter_are_keys_even_before_the_hits_are_there(tab: Tab):
    page = tab.open("/search")
    page.keyboard.press("/")
    page.keyboard.type("note")
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    expect(page.locator("ol.hits > li:focus")).to_be_visible()
    expect(page).to_have_url(f"{tab.server.url}/search?q=note")


def test_a_hit_says_its_title_once_and_then_the_other_fields_with_their_names(tab: Tab):
    page = tab.open("/search?q=do+it+because")
    hit = page.locator(".hit", has=page.get_by_role("link", name="Do it", exact=True)).first
    expect(hit.locator(".excerpt")).to_have_text("rationale: because")
    expect(hit.locator("mark")).to_have_text("because")


def test_arrows_choose_in_the_menu(tab: Tab):
    page = tab.open("/sessions")
    page.keyboard.press("Control+k")
    page.keyboard.type("he")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("button", name="Health")).to_be_focused()
    page.keyboard.press("ArrowUp")
    box = page.get_by_role("textbox", name="Go to or do anything")
    expect(box).to_be_focused()
    assert box.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{tab.server.url}/health")


def test_an_address_that_leads_nowhere_leads_back(tab: Tab):
    page = tab.open("/sessions")
    page.evaluate("history.pushState({}, '', '/nowhere'); dispatchEvent(new Event('popstate'))")
    expect(page.get_by_role("heading", name="Nothing is here")).to_be_visible()
    page.get_by_role("link", name="Go to the sessions").click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()


def test_an_address_that_was_mistyped_leads_to_the_page(tab: Tab):
    page = tab.open("/sesions/one")
    expect(page.get_by_role("heading", name="Nothing is here")).to_be_visible()
    page.get_by_role("link", name="Go to the sessions").click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()


def test_who_signs_out_comes_in_again_with_another_link(browser: Browser, served: Server):
    port = served.url.rsplit(":", 1)[1]
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(served.cli("token", "link", "--port", port).strip())
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
        page.keyboard.press("Control+k")
        page.keyboard.type("sign out")
        page.keyboard.press("Enter")
        box = page.get_by_label("Code or link")
        box.fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("mnemolog token link")
        box.fill(served.cli("token", "link", "--port", port).strip())
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
        expect(page.locator(".dot")).to_have_attribute("data-state", "live")
    finally:
        context.close()


def test_tables_folds_and_the_ends_of_lines_are_shown(tab: Tab):
    page = tab.open("/sessions/odd")
    expect(page.locator("article td")).to_have_text(["1", "2"])
    assert page.locator("article", has_text="first").locator("p").inner_text() == "first\nsecond"
    long = page.locator("article", has_text="line 39")
    folded = long.bounding_box()
    long.get_by_role("button", name="Show all").click()
    long.get_by_role("button", name="Show less").wait_for()
    unfolded = long.bounding_box()
    assert folded
    assert unfolded
    assert unfolded["height"] > 2 * folded["height"]


def test_an_object_that_is_edited_must_be_one(tab: Tab):
    page = tab.open("/sessions/odd/entries/dec")
    page.keyboard.press("e")
    page.get_by_label("The content").fill("{ nope")
    page.get_by_role("button", name="Save a new revision").click()
    expect(page.get_by_role("alert")).to_contain_text("This is not JSON.")
    page.get_by_label("The content").fill('{"decision": "Do it twice"}')
    page.get_by_role("button", name="Save a new revision").click()
    expect(page.locator(".whole .title")).to_have_text("Do it twice")


def test_one_entry_after_the_other_is_looked_at_hidden_and_erased(tab: Tab):
    said = [{"id": f"one-{number}", "type": "note", "content": f"{number}"} for number in range(3)]
    tab.server.session("row", said)
    page = tab.open("/sessions/row/entries/one-1")
    page.get_by_role("button", name="Entry before").click()
    expect(page.locator(".whole")).to_have_text("0")
    page.keyboard.press("]")
    expect(page.locator(".whole")).to_have_text("1")
    page.keyboard.press("h")
    expect(page.get_by_text("restorable until")).to_be_visible()
    page.keyboard.press("z")
    expect(page.get_by_text("restorable until")).to_have_count(0)
    page.get_by_role("button", name="Erase…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type 1 to confirm").fill("1")
    dialog.get_by_role("button", name="Erase 1 entry").click()
    expect(page.get_by_role("status").first).to_contain_text("1 entry erased")
    expect(page.get_by_role("article")).to_have_count(2)


PRESSED_AT_ONCE = """([text, key]) => {
  const watch = new MutationObserver(() => {
    if (document.querySelector(".whole")?.textContent.trim() !== text) return;
    watch.disconnect();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  });
  watch.observe(document.body, { childList: true, subtree: true, characterData: true });
}"""


def test_a_key_that_is_pressed_the_moment_something_is_drawn_means_what_is_drawn(tab: Tab):
    said = [{"id": f"now-{number}", "type": "note", "content": f"n{number}"} for number in range(2)]
    tab.server.session("prompt", said)
    page = tab.open("/sessions/prompt/entries/now-0")
    page.evaluate(PRESSED_AT_ONCE, ["n1", "h"])
    page.get_by_role("button", name="Next entry").click()
    expect(page.get_by_text("restorable until")).to_be_visible()
    expect(page.locator(".whole")).to_have_text("n1")


def test_a_session_is_cleared_for_ever_by_the_other_way_of_its_dialog(tab: Tab):
    tab.server.session("gone", [{"type": "note", "content": "for ever"}])
    page = tab.open("/sessions")
    page.get_by_role("checkbox", name="Select gone").check()
    page.get_by_role("button", name="Clear…").click()
    page.get_by_role("button", name="Erase for ever instead…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type 1 to confirm").fill("1")
    dialog.get_by_role("button", name="Erase 1 entry").click()
    expect(page.get_by_role("status").first).to_contain_text("1 entry erased")
    assert tab.server.api("GET", "/sessions/gone")["entries"] == 0


def test_all_that_is_shown_is_chosen_at_once(tab: Tab):
    page = tab.open("/sessions")
    every = page.get_by_label("Select all that are shown")
    every.check()
    many = tab.server.api("GET", "/sessions")["total"]
    expect(page.locator(".bulk strong")).to_have_text(f"{many} selected")
    page.get_by_role("button", name="Select none").click()
    expect(every).not_to_be_checked()


# What the layout gave out last, and the node that is nearest to a place of the canvas.
PLACES = """Object.defineProperty(Worker.prototype, "onmessage", { set(told) {
  this.addEventListener("message", (event) => {
    globalThis.places = event.data.places;
    told(event);
  });
} })"""
NEAREST = """async ([x, y]) => {
  const graph = document.querySelector("script[src]").src.replace("app", "lib/graph");
  const canvas = document.querySelector("canvas");
  const { fitting } = await import(graph);
  const view = fitting(places, canvas.clientWidth, canvas.clientHeight);
  const off = (at, pixel, shift) => places[at] * view.scale + shift - pixel;
  const far = Array.from({ length: places.length / 2 }, (_, at) =>
    Math.hypot(off(2 * at, x, view.x), off(2 * at + 1, y, view.y)));
  const least = Math.min(...far);
  return least < 10 ? far.indexOf(least) : null;
}"""


def test_the_graph_takes_the_node_that_is_nearest_to_the_pointer(browser: Browser, store: Path):
    with Memory.open(store, environ={}) as memory:
        for number in range(150):
            memory.write_node(f"made/{number}", "Alone.", user_id="ada", title=f"Node {number}")
    with serving(store) as server, visiting(browser, server) as tab:
        tab.page.add_init_script(PLACES)
        page = tab.open("/knowledge/ada?view=graph")
        canvas = page.get_by_role("application")
        expect(canvas).to_have_attribute("aria-busy", "false")
        told = server.api("GET", "/graph/ada?limit=2000")["nodes"]
        box = canvas.bounding_box()
        assert box
        met = 0
        for place in [(across, down) for across in range(200, 500, 23) for down in (150, 200, 250)]:
            nearest = page.evaluate(NEAREST, place)
            if nearest is None:
                continue
            page.mouse.move(box["x"] + place[0], box["y"] + place[1])
            expect(page.locator("#graph-now")).to_contain_text(f"{told[nearest]['title']},")
            met += 1
        assert met > 10


def test_what_can_be_mended_is_mended_from_the_page(browser: Browser, store: Path):
    story.tell(store)
    with serving(store) as server, visiting(browser, server) as tab:
        log = next(store.glob("sessions/*/memory.jsonl"))
        log.chmod(0o644)
        page = tab.open("/health?tab=doctor")
        finding = page.get_by_role("listitem").filter(has_text="mode loose")
        expect(finding).to_contain_text("mnemolog doctor --repair takes the rights of others away")
        expect(finding.get_by_role("code").last).to_have_text("mnemolog doctor --repair")
        expect(finding.get_by_role("button", name="Copy the command")).to_be_visible()
        page.get_by_role("button", name="Mend what can be…").click()
        page.get_by_role("dialog").get_by_role("button", name="Mend it").click()
        expect(page.get_by_role("status").first).to_contain_text(re.compile(r"^[1-9]\d* mended"))
        expect(finding).to_have_count(0)
        assert log.stat().st_mode & 0o777 == 0o600


def test_what_takes_long_says_what_is_waited_for(tab: Tab):
    held: list[Route] = []
    tab.page.route("**/api/v1/plans", lambda route: held.append(route))
    tab.page.goto(f"{tab.server.url}/forgetting")
    waited = tab.page.get_by_text("Counting what the next run would remove…")
    expect(waited).to_be_visible()
    held.pop().continue_()
    expect(tab.page.get_by_role("region", name="Preview")).to_be_visible()
    expect(waited).to_have_count(0)


@pytest.mark.parametrize(
    ("path", "asked", "shown"),
    [
        ("/sessions/odd", "**/sessions/odd/entries*", "article"),
        ("/search?q=first", "**/api/v1/search", "ol.hits li"),
        ("/health?tab=doctor", "**/api/v1/doctor*", "main p.ok"),
    ],
)
def test_who_does_not_want_to_wait_any_longer_need_not(tab: Tab, path: str, asked: str, shown: str):
    held: list[Route] = []
    tab.page.route(asked, lambda route: held.append(route))
    tab.page.goto(f"{tab.server.url}{path}")
    tab.page.get_by_role("button", name="Cancel").click()
    expect(tab.page.get_by_text("You stopped waiting.")).to_be_visible()
    expect(tab.page.locator(shown)).to_have_count(0)
    tab.page.unroute(asked)
    tab.page.get_by_role("button", name="Try again").click()
    expect(tab.page.locator(shown).first).to_be_visible()
    expect(tab.page.get_by_text("You stopped waiting.")).to_have_count(0)
