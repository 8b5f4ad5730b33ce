"""Health in the page: figures, charts with their tables, what the doctor finds, the settings."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.faces.page import story
from tests.faces.page.driving import PHONE, Server, Tab, serving, visiting

SCOPE = re.compile(r"/api/v1/sessions\?limit=1$")
TABS = ["now", "charts", "doctor", "settings"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A store with old and new entries, one bad line, and a setting that was changed."""
    root = tmp_path_factory.mktemp("health") / "store"
    story.tell_old(root)
    (root / "config.toml").write_text("[storage]\nmax_session_size_mb = 17\n")
    log = next(root.glob("sessions/sess-old/memory.jsonl"))
    with log.open("ab") as file:
        file.write(b"this is no line of ours\n")
    with serving(root) as server:
        yield server


def test_figures_are_those_of_the_store(tab: Tab):
    page = tab.open("/health")
    total = tab.server.api("GET", "/stats")["entries"]
    figure = page.locator(".figure", has=page.get_by_text("entries", exact=True))
    expect(figure).to_contain_text(str(total))
    expect(page.get_by_role("row", name="conversation")).to_contain_text("5")
    worker = page.get_by_role("region", name="Worker")
    worker.get_by_role("button", name="Look now").click()
    expect(page.get_by_role("status").first).to_contain_text("The worker looked.")


def test_charts_name_their_units_and_have_tables(tab: Tab):
    page = tab.open("/health?tab=charts")
    growth = page.get_by_role("figure", name="Growth")
    expect(growth).to_contain_text("entries in all")
    growth.get_by_text("As a table").click()
    rows = growth.get_by_role("row")
    assert rows.last.inner_text().split("\t")[1:] == ["5", "2"]
    decay = page.get_by_role("figure", name="Decay")
    expect(decay).to_contain_text("share of its weight, over days")
    expect(decay.locator(".legend li").first).to_contain_text("conversation, note, event")
    expect(decay.locator("canvas")).to_be_visible()


# What stands on each canvas now, by canvas: its height, from where to where, and the text.
WRITTEN = """const drawn = new Map(), canvas = CanvasRenderingContext2D.prototype;
const { fillText: write, clearRect: clear } = canvas;
canvas.fillText = function (text, x, y) {
  const wide = this.measureText(text).width;
  const from = x - wide * ({ right: 1, center: 0.5 }[this.textAlign] ?? 0);
  if (!drawn.has(this.canvas)) drawn.set(this.canvas, []);
  drawn.get(this.canvas).push([Math.round(y), from, from + wide, text]);
  return write.call(this, text, x, y);
};
canvas.clearRect = function (...where) {
  drawn.delete(this.canvas);
  return clear.apply(this, where);
};
globalThis.written = () =>
  [...drawn.values()].flatMap((texts, at) => texts.map((one) => [at, ...one]));
"""


def test_what_stands_beside_and_below_a_chart_has_its_room(tab: Tab):
    ended = datetime.now(UTC)

    def enlarge(route: Route) -> None:
        """As many entries as no test can write, and a server that ran for ten minutes."""
        told = route.fetch().json()
        if "entries" in route.request.url:
            told["series"] = {name: [123_456] * len(told["t"]) for name in told["series"]}
        else:
            moments = [ended - timedelta(seconds=30 * number) for number in range(20, 0, -1)]
            told["t"] = [one.isoformat() for one in moments]
            told["series"] = {name: [1.5] * 20 for name in told["series"]}
        route.fulfill(json=told)

    tab.page.add_init_script(WRITTEN)
    tab.page.route("**/api/v1/stats/series*", enlarge)
    page = tab.open("/health?tab=charts")
    expect(page.get_by_role("figure", name="Waits for a lock").locator("canvas")).to_be_visible()
    written = sorted(set(map(tuple, page.evaluate("written()"))))
    assert any(len(one[4]) > 6 for one in written)
    assert any(re.fullmatch(r"\d\d:\d\d", one[4]) for one in written)
    assert [one for one in written if one[2] < 0] == []
    for one, other in pairwise(written):
        assert one[:2] != other[:2] or one[3] <= other[2], (one, other)


def test_a_type_that_is_far_behind_another_is_seen_in_the_growth(browser: Browser, store: Path):
    first, second = "2026-10-01T12:00:00Z", "2026-10-02T12:00:00Z"
    entries: list[dict[str, Any]] = [
        {"type": "note", "content": f"note {number}", "timestamp": first} for number in range(60)
    ]
    for at in (first, second):
        content = {"decision": "one of few"}
        entries.append({"type": "decision", "content": content, "timestamp": at})
    with serving(store) as server, visiting(browser, server) as tab:
        server.session("many", entries)
        tab.page.add_init_script(WRITTEN)
        page = tab.open("/health?tab=charts")
        growth = page.get_by_role("figure", name="Growth")
        expect(growth).to_contain_text("each line ten times the one below")
        expect(growth.locator("canvas")).to_be_visible()
        # On equal steps the two decisions would lie on the line of nothing.
        assert {"1", "10", "100"} <= {one[4] for one in page.evaluate("written()")}


def test_the_doctor_says_what_is_wrong_and_what_to_do(tab: Tab):
    page = tab.open("/health?tab=doctor")
    found = tab.server.api("GET", "/doctor")["checks"]
    assert found
    cards = page.locator("main li.card")
    expect(cards).to_have_count(len(found))
    for card, check in zip(cards.all(), found, strict=True):
        assert check["title"] in card.inner_text()
        assert check["level"] in card.inner_text()
        assert check["fix"]["command"]
    page.get_by_role("link", name="privacy only").click()
    expect(page).to_have_url(f"{tab.server.url}/health?tab=doctor&privacy=1")


def test_a_changed_setting_is_told_from_the_others(tab: Tab):
    page = tab.open("/health?tab=settings")
    page.get_by_label("Filter the settings").fill("max_session_size")
    row = page.get_by_role("row", name="max_session_size")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("17")
    expect(row).to_contain_text("by default")


@pytest.mark.parametrize("name", TABS)
def test_health_fits_a_phone(browser: Browser, served: Server, name: str):
    with visiting(browser, served, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        tab.open(f"/health?tab={name}").wait_for_timeout(300)
        assert tab.has_sideways() <= 0


def test_figures_are_shown_also_where_events_come_faster_than_answers(tab: Tab):
    tab.server.session("busy", [{"type": "note", "content": "the first"}])
    page = tab.page
    held: list[Route] = []
    page.route("**/api/v1/stats", lambda route: held.append(route))
    with page.expect_response("**/api/v1/events"), page.expect_request("**/api/v1/stats"):
        page.goto(f"{tab.server.url}/health")
    figure = page.locator(".figure", has=page.get_by_text("entries", exact=True))
    for _ in range(2):
        # The list of agents is read again by the same events, so they have come when it is.
        with page.expect_request(SCOPE):
            tab.server.api("POST", "/sessions/busy/entries", {"type": "note", "content": "on"})
    total = tab.server.api("GET", "/stats")["entries"]
    assert len(held) == 1
    early = held[0].fetch()
    body = early.json()
    with page.expect_request("**/api/v1/stats"):
        held[0].fulfill(response=early, json={**body, "entries": 7})
    expect(figure).to_contain_text("7")
    assert len(held) == 2
    held[1].continue_()
    expect(figure).to_contain_text(f"{total:,}")
