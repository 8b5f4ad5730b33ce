"""What the page looks like where it is not as usual: forced colours, twice as large, without
motion, without colour, by keys, under a thumb."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.faces.page import story
from tests.faces.page.driving import PHONE, Server, serving, visiting
from tests.faces.page.talks import write_talks

GRAPH = f"/knowledge/{story.USER}?view=graph&center=projects%2Fpayment-system&depth=2"
VIEWS = [
    "/sessions",
    "/sessions/talk",
    "/sessions/talk?tab=files&details=1",
    "/sessions/talk/entries/dec-database",
    "/search?q=database",
    "/search?q=database&view=context",
    GRAPH,
    *story.VIEWS,
]
TYPES = ["conversation", "decision", "finding", "note", "preference"]
# Twice as large in a window of 1280 × 800: half of the room.
TWICE = {"width": 640, "height": 400}
NARROW = {"width": 320, "height": 640}
HALF = {"width": 900, "height": 600}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The story with its proposals, and talks; one entry of them is hidden."""
    root = tmp_path_factory.mktemp("looks") / "store"
    story.tell(root)
    story.learn(root)
    with serving(root) as server:
        write_talks(server)
        entry = server.api("GET", "/sessions/long/entries?limit=1")["items"][0]["entry"]["id"]
        selector = {"session_id": "long", "ids": [entry]}
        server.api("POST", "/plans", {"action": "delete", "selector": selector, "run": True})
        yield server


def chosen(page: Page) -> list[str]:
    """What is on, and looks as if it were not, now that there are no backgrounds or shadows."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll(
             "[aria-current], [aria-pressed='true'], [aria-selected='true'], .side[data-on]")]
        .filter((one) => one.checkVisibility() && getComputedStyle(one).outlineStyle === "none")
        .map((one) => one.outerHTML.slice(0, 90))"""
    )
    return found


def test_in_forced_colours_what_is_chosen_and_what_is_drawn_can_be_seen(
    browser: Browser, served: Server
):
    with visiting(browser, served, forced_colors="active") as tab:
        for view in VIEWS:
            assert chosen(tab.open(view)) == [], view
        page = tab.open("/sessions")
        page.get_by_role("checkbox", name="Select talk").check()
        expect(page.locator("[aria-selected='true']")).to_have_count(1)
        assert chosen(page) == []
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        paper = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        for part in (".dot", ".strip i"):
            fill = page.locator(part).first.evaluate("(one) => getComputedStyle(one).background")
            assert ground not in fill
            assert paper not in fill
        page = tab.open("/search?q=database")
        looks = page.locator(".whybar").first.locator("i")
        expect(looks.nth(2)).to_be_attached()
        drawn = looks.evaluate_all("(all) => all.map((one) => getComputedStyle(one).background)")
        assert len(set(drawn)) == len(drawn) > 2
        page = tab.open(GRAPH)
        inks = page.evaluate(
            """async () => {
              const chart = document.querySelector("script[src]").src.replace("app", "parts/chart");
              const { paint } = await import(chart);
              return ["--bg", "--ink", "--accent"].map(paint);
            }"""
        )
        assert len(set(inks)) == 3


CLIPPED = """() => {
  const edge = document.documentElement.clientWidth;
  const own = (one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible";
  return [...document.querySelectorAll("main :is(button, select, input, summary, .button, .choice, h1)")]
    .filter((one) => one.checkVisibility() && !one.closest(".scroll, .tabs, .only-read"))
    .filter((one) => {
      const box = one.getBoundingClientRect();
      return box.left < -1 || box.right > edge + 1 || (one.matches("button, .button") && own(one));
    })
    .map((one) => one.outerHTML.slice(0, 90));
}"""  # noqa: E501


@pytest.mark.parametrize("window", [TWICE, NARROW, HALF], ids=["200 %", "320 px", "900 px"])
def test_twice_as_large_nothing_is_cut_off_or_beside_the_window(
    browser: Browser, served: Server, window: dict[str, int]
):
    with visiting(browser, served, viewport=window, device_scale_factor=2) as tab:
        for view in VIEWS:
            page = tab.open(view)
            assert tab.has_sideways() <= 0, view
            assert page.evaluate(CLIPPED) == [], view


def test_under_a_thumb_every_control_is_large_enough(browser: Browser, served: Server):
    small = """() => [...document.querySelectorAll(`button, select, textarea, summary, .button,
         .choice, .leaf, .tabs a, nav a, .bar a, .aside a, .bars a, h2 a, label:has(input),
         input:not([type=checkbox], [type=radio])`)]
      .filter((one) => one.checkVisibility())
      .filter((one) => one.getBoundingClientRect().height < 44 && !one.closest("[inert]"))
      .map((one) => one.outerHTML.slice(0, 90))"""
    with visiting(browser, served, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        for view in VIEWS:
            page = tab.open(view)
            assert page.evaluate(small) == [], view
            assert tab.has_sideways() <= 0, view


def test_with_reduced_motion_nothing_moves_by_itself(browser: Browser, served: Server):
    with visiting(browser, served, reduced_motion="reduce") as tab:
        tab.page.add_init_script(
            """const size = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
            globalThis.drawings = 0;
            Object.defineProperty(HTMLCanvasElement.prototype, "width",
              { ...size, set(value) { drawings += 1; size.set.call(this, value); } });"""
        )
        page = tab.open(GRAPH)
        expect(page.get_by_role("application")).to_have_attribute("aria-busy", "false")
        assert 1 <= page.evaluate("drawings") <= 3
        for view in ("/sessions", "/sessions/talk", "/health?tab=charts"):
            page = tab.open(view)
            page.keyboard.press("Control+k")
            assert page.evaluate("document.getAnimations().length") == 0
        slow = page.evaluate(
            """[...document.querySelectorAll("*")].filter((one) => {
              const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
              return !/^0s(, 0s)*$/.test(transitionDuration) || animationName !== "none"
                || scrollBehavior !== "auto";
            }).length"""
        )
        assert slow == 0


def test_without_colour_types_are_told_by_shape_and_word(browser: Browser, served: Server):
    with visiting(browser, served) as tab:
        page = tab.open("/search?q=&n=200&types=" + ",".join(TYPES))
        shapes = {}
        for kind in TYPES:
            hit = page.locator(f".hit[data-type='{kind}']").first
            expect(hit.locator(".top")).to_contain_text(kind)
            shapes[kind] = hit.locator(".glyph path").first.get_attribute("d")
        assert len(set(shapes.values())) == len(TYPES)
        page = tab.open("/sessions/talk")
        for kind in TYPES[1:]:
            card = page.locator(f"article[data-type='{kind}'] header").first
            expect(card).to_contain_text(kind)
            assert card.locator(".glyph path").get_attribute("d") == shapes[kind]
        page = tab.open("/health?tab=charts")
        lines = page.locator(".chart").first.locator(".legend line")
        expect(lines.nth(2)).to_be_attached()
        dashes = [one.get_attribute("stroke-dasharray") for one in lines.all()]
        assert len(set(dashes)) == len(dashes) > 2


FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  const at = document.elementFromPoint(box.left + Math.min(box.width, innerWidth) / 2,
    Math.max(box.top, 0) + Math.min(box.height, 40) / 2);
  const told = one.outerHTML.slice(0, 90);
  if (style.outlineStyle !== "solid" || parseFloat(style.outlineWidth) < 2) return `no ring: ${told}`;
  if (box.bottom <= 0 || box.top >= innerHeight) return `out of sight: ${told}`;
  if (!at || !(one.contains(at) || at.contains(one))) return `covered: ${told}`;
  return "";
}"""  # noqa: E501


@pytest.mark.parametrize(
    "view", ["/sessions", "/sessions/talk", "/search?q=database", story.PAGE, "/review", "/health"]
)
def test_whatever_the_tab_key_reaches_shows_that_it_has_the_focus(
    browser: Browser, served: Server, view: str
):
    with visiting(browser, served) as tab:
        page = tab.open(view)
        page.locator(".skip").focus()
        seen = []
        for _ in range(70):
            page.keyboard.press("Tab")
            told = page.evaluate(FOCUSED)
            if told is None:
                break
            seen.append(told)
        assert len(seen) > 12
        assert [told for told in seen if told] == []
