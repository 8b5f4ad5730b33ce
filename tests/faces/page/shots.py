"""Pictures of the page for docs/page.md: `python -m tests.faces.page.shots docs/img`."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.faces.page import story
from tests.faces.page.driving import CHROMIUM, PHONE, QUIET, Server, serving, visiting
from tests.faces.page.talks import write_talks

WINDOW = {"width": 1200, "height": 760}
PAY = story.PAGE
GRAPH = f"/knowledge/{story.USER}?view=graph&center=projects%2Fpayment-system&depth=2"


def erased(page: Page) -> None:
    """Erase by a tag and wait for the proof."""
    page.get_by_label("Tags").fill("operations")
    page.get_by_label("Reason").fill("asked by the user")
    page.get_by_role("button", name="Plan the erasure…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Type 1 to confirm").fill("1")
    dialog.get_by_role("button", name="Erase 1 entry").click()
    expect(page.get_by_role("region", name="Proof")).to_contain_text("Nothing is left")


def picked(page: Page) -> None:
    """Choose a session."""
    page.get_by_role("checkbox", name="Select talk").check()


def still(page: Page) -> None:
    """Nothing more to be done."""


def drawn(page: Page) -> None:
    """Wait for the graph."""
    expect(page.get_by_role("application")).to_have_attribute("aria-busy", "false")


Shot = tuple[str, str, Callable[[Page], None]]
LIGHT: list[Shot] = [
    ("sessions", "/sessions", still),
    ("session", "/sessions/talk", still),
    ("search", "/search?q=which+database+do+we+use", still),
    ("knowledge", PAY, still),
    ("graph", GRAPH, drawn),
    ("review", "/review", still),
    ("health", "/health", still),
    ("erase", "/forgetting?tab=erase", erased),
]
DARK: list[Shot] = [("knowledge-dark", PAY, still), ("session-dark", "/sessions/talk", still)]
HAND: list[Shot] = [("session-phone", "/sessions/talk", still), ("graph-phone", GRAPH, drawn)]
FORCED: list[Shot] = [
    ("sessions-forced", "/sessions", picked),
    ("search-forced", "/search?q=which+database+do+we+use", still),
    ("graph-forced", GRAPH, drawn),
]
TWICE: list[Shot] = [
    ("search-twice", "/search?q=which+database+do+we+use", still),
    ("knowledge-twice", PAY, still),
    ("health-twice", "/health", still),
]
HALF = {"width": 640, "height": 400}  # what twice as large leaves of a window of 1280 × 800
SMALL = {"width": 900, "height": 560}


def take(browser: Browser, server: Server, folder: Path, shots: list[Shot], **how: object) -> None:
    """Take pictures of one kind."""
    with visiting(browser, server, None, **how) as tab:
        for name, path, act in shots:
            page = tab.open(path)
            page.wait_for_timeout(900)
            act(page)
            page.wait_for_timeout(200)
            page.screenshot(path=folder / f"{name}.png")


def main(folder: Path) -> None:
    """Fill a root, serve it, and take them all."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        root = Path(home) / "pay" / ".mnemolog"
        story.tell(root)
        story.learn(root)
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        with serving(root) as server:
            write_talks(server)
            take(browser, server, folder, HAND, viewport=PHONE, is_mobile=True, has_touch=True)
            take(browser, server, folder, DARK, viewport=WINDOW, color_scheme="dark")
            take(browser, server, folder, FORCED, viewport=SMALL, forced_colors="active")
            take(browser, server, folder, TWICE, viewport=HALF)
            take(browser, server, folder, LIGHT, viewport=WINDOW)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
