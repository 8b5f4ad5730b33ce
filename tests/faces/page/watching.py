"""How soon a view of the page stands, as its own clock tells it."""

from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import sync_playwright

from tests.faces.page.driving import CHROMIUM, QUIET, WAIT, serving, visiting

# The frame after the one in which the first entry was put into the document.
WATCH = """new MutationObserver((_, watch) => {
  if (!document.querySelector("article")) return;
  watch.disconnect();
  requestAnimationFrame(() => setTimeout(() => { globalThis.painted = performance.now(); }));
}).observe(document, { subtree: true, childList: true })"""


class Paint(NamedTuple):
    """Milliseconds until entries were drawn, those that the tab itself worked, and elements."""

    passed: float
    worked: float
    elements: int


def painted(root: Path, path: str, rounds: int) -> list[Paint]:
    """Open a session some times, each time in a new profile."""
    found = []
    with sync_playwright() as playwright, serving(root) as server:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        for _ in range(rounds):
            with visiting(browser, server) as tab:
                tab.page.add_init_script(WATCH)
                line = tab.page.context.new_cdp_session(tab.page)
                line.send("Performance.enable")
                tab.page.goto(server.url + path, wait_until="commit")
                tab.page.wait_for_selector("article", timeout=6 * WAIT)
                tab.page.wait_for_timeout(500)
                told = line.send("Performance.getMetrics")["metrics"]
                worked = next(one["value"] for one in told if one["name"] == "TaskDuration")
                passed = tab.page.evaluate("painted")
                elements = tab.page.evaluate("document.querySelectorAll('*').length")
                found.append(Paint(passed, worked * 1000, elements))
        browser.close()
    return found
