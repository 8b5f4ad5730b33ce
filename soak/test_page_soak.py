"""The page under heavy writing: six open tabs, fifty entries a second, ten minutes long.

A tab stays as small as it was, works little, shows what was written while it is written, and
answers whoever uses it.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect, sync_playwright

from tests.faces.page.driving import CHROMIUM, QUIET, WAIT, Server, Tab, serving, visiting

pytestmark = pytest.mark.skipif(
    os.environ.get("MNEMOLOG_SOAK") != "1", reason="takes minutes; `make soak` runs it"
)

SECONDS = 600.0
WARM = 60.0  # until the windows are full
ROUNDS = 9
EACH = 10  # entries in a write
PAUSE = 0.2  # from one write to the next
CONFIG = "[server]\nrequests_per_minute = 10000000\n[storage]\nmax_session_size_mb = 500\n"
NODES = 3000
GROWTH = 1.0  # MB of heap, of about 28,000 entries that came and went
BUSY = 0.25  # of one core, for each tab
VIEWS = [
    "/sessions/busy",
    "/sessions",
    "/search?q=written",
    "/knowledge/ada",
    "/health",
    "/health?tab=charts",
]

# The entry in the middle of the window, and where it stands.
READ = """(() => {
  const one = document.elementFromPoint(500, 400).closest("article");
  return [one.dataset.entry, Math.round(one.getBoundingClientRect().top)];
})()"""


class Writer(threading.Thread):
    """Writes into one session, ten entries five times a second, until it is told to stop."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._ends = threading.Event()
        self.wrote = 0
        self.slowest = 0.0

    def run(self) -> None:
        """Write."""
        due = time.monotonic()
        while not self._ends.wait(max(0.0, due - time.monotonic())):
            began = time.monotonic()
            self._server.api("POST", "/sessions/busy/batch", {"entries": self._entries()})
            self.slowest = max(self.slowest, time.monotonic() - began)
            self.wrote += EACH
            due = max(due + PAUSE, began)

    def _entries(self) -> list[dict[str, Any]]:
        texts = [
            f"**{self.wrote + number}** was written, and so it goes on" for number in range(EACH)
        ]
        return [{"type": "conversation", "role": "user", "content": text} for text in texts]

    def __enter__(self) -> "Writer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self.join()


class Figures(NamedTuple):
    """A tab at a moment: megabytes in use, nodes, seconds it worked, and what it asked for."""

    heap: float
    nodes: int
    worked: float
    asked: int
    at: float


class Watched:
    """A tab that is measured."""

    def __init__(self, tab: Tab, path: str) -> None:
        self.page: Page = tab.open(path)
        self.asked = 0
        self.page.on("request", self._count)
        self._line: CDPSession = self.page.context.new_cdp_session(self.page)
        self._line.send("Performance.enable")
        self.seen: list[Figures] = []

    def _count(self, _: Any) -> None:
        self.asked += 1

    def look(self) -> None:
        """Measure it, after everything that nobody holds was collected."""
        told = self._told()
        worked = told["TaskDuration"]  # without what follows
        self._line.send("HeapProfiler.collectGarbage")
        told = self._told()
        heap, nodes = told["JSHeapUsedSize"] / 2**20, int(told["Nodes"])
        self.seen.append(Figures(heap, nodes, worked, self.asked, time.monotonic()))

    def _told(self) -> dict[str, float]:
        metrics = self._line.send("Performance.getMetrics")["metrics"]
        return {one["name"]: one["value"] for one in metrics}

    def share(self) -> float:
        """How much of a core the tab itself worked."""
        first, last = self.seen[0], self.seen[-1]
        return (last.worked - first.worked) / (last.at - first.at)

    def growth(self) -> float:
        """Megabytes that the last looks found more than the first ones."""
        heaps = [one.heap for one in self.seen]
        return median(heaps[-3:]) - median(heaps[:3])

    def told(self) -> str:
        """All of it as a line."""
        first, last = self.seen[0], self.seen[-1]
        heaps = " ".join(f"{one.heap:.1f}" for one in self.seen)
        asked = (last.asked - first.asked) / (last.at - first.at)
        return (
            f"heap {heaps} MB, nodes {first.nodes} to {last.nodes}, "
            f"{self.share():.1%} of a core, {asked:.1f} requests/s"
        )


@contextmanager
def opened(browser: Browser, server: Server) -> Iterator[dict[str, Watched]]:
    """Each view in a tab of a profile of its own."""
    with ExitStack() as stack:
        tabs = {path: stack.enter_context(visiting(browser, server)) for path in VIEWS}
        yield {path: Watched(tab, path) for path, tab in tabs.items()}


def newest(page: Page) -> int:
    """The number of the entry at the end of the conversation."""
    words = page.get_by_role("article").last.locator("strong").last.inner_text()
    return int(words)


def counted(page: Page) -> int:
    """How many entries the list of sessions tells."""
    return int(page.get_by_role("row").nth(1).locator(".many").inner_text().replace(",", ""))


def figured(page: Page) -> int:
    """How many entries Health tells."""
    words = page.locator(".figure", has_text="entries").first.locator("dd").inner_text()
    return int(words.replace(",", ""))


SHOWN: dict[str, Callable[[Page], int]] = {
    "/sessions/busy": newest,
    "/sessions": counted,
    "/health": figured,
}


def catch_up(page: Page, shown: Callable[[Page], int], wanted: int) -> float:
    """Wait until a tab shows what was written; the seconds that it took."""
    began = time.monotonic()
    while shown(page) < wanted:
        assert time.monotonic() < began + WAIT / 1000, f"{shown(page)} of {wanted}"
        page.wait_for_timeout(50)
    return time.monotonic() - began


def use(session: Page, search: Page) -> None:
    """Read further up while more arrives, go back to the end; search for something."""
    session.mouse.move(500, 400)
    session.mouse.wheel(0, -700)
    newer = session.get_by_role("button", name=" new")
    expect(newer).to_be_visible(timeout=WAIT)
    session.wait_for_timeout(500)  # the wheel rolls on
    read = session.evaluate(READ)
    session.wait_for_timeout(1000)
    assert session.evaluate(READ) == read
    newer.click()
    box = search.get_by_role("searchbox", name="Search everything")
    box.fill("the first")
    expect(search.locator(".hit .name").first).to_contain_text("the first", timeout=WAIT)
    box.fill("written")
    expect(search.locator(".hit .name").first).to_contain_text("was written", timeout=WAIT)


def watch(tabs: dict[str, Watched], writer: Writer, lags: dict[str, list[float]]) -> float:
    """Use the tabs and measure them, again and again; the seconds that it took."""
    began = time.monotonic()
    for number in range(ROUNDS + 1):
        wait = WARM + number * (SECONDS - WARM) / ROUNDS - (time.monotonic() - began)
        tabs["/sessions"].page.wait_for_timeout(max(0, wait * 1000))
        use(tabs["/sessions/busy"].page, tabs["/search?q=written"].page)
        for path, shown in SHOWN.items():
            lags[path].append(catch_up(tabs[path].page, shown, writer.wrote - 1))
        for tab in tabs.values():
            tab.look()
    return time.monotonic() - began


def test_tabs_stay_small_and_calm_and_show_what_is_written(tmp_path: Path, capsys: Any):
    root = tmp_path / "store"
    root.mkdir(mode=0o700)
    (root / "config.toml").write_text(CONFIG)
    lags: dict[str, list[float]] = {path: [] for path in SHOWN}
    with sync_playwright() as playwright, serving(root) as server:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        server.session("busy", [{"type": "note", "content": "the first"}], user_id="ada")
        server.api("PUT", "/nodes/ada/topics%2Fwriting", {"body": "It goes on.", "reason": "new"})
        writer = Writer(server)
        with opened(browser, server) as tabs:
            with writer:
                took = watch(tabs, writer, lags)
            for path, shown in SHOWN.items():
                catch_up(tabs[path].page, shown, writer.wrote - 1)
            elements = {
                path: tab.page.evaluate("document.querySelectorAll('*').length")
                for path, tab in tabs.items()
            }
        browser.close()
    with capsys.disabled():
        print(f"\n{writer.wrote} entries in {took:.0f} s, slowest write {writer.slowest:.2f} s")
        for path, tab in tabs.items():
            lag = f", behind at most {max(lags[path]):.1f} s" if path in lags else ""
            print(f"{path}: {tab.told()}, {elements[path]} elements{lag}")
    assert writer.wrote > 0.9 * took * EACH / PAUSE
    assert {path: many for path, many in elements.items() if many >= NODES} == {}
    assert {path: tab.growth() for path, tab in tabs.items() if tab.growth() > GROWTH} == {}
    assert {path: tab.share() for path, tab in tabs.items() if tab.share() > BUSY} == {}
