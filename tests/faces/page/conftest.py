"""What the tests of the page share: one browser and one server for each file of tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.faces.page.driving import (
    CHROMIUM,
    QUIET,
    WAIT,
    Server,
    Tab,
    serving,
    visiting,
)

expect.set_options(timeout=WAIT)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for a file; each test has profiles of its own in it.

    While it is driven, a loop runs in this thread; tests of other rooms must not meet it.
    """
    if not CHROMIUM.exists():
        pytest.skip("There is no Chromium here.")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An empty memory that is served to the tests of one file."""
    with serving(tmp_path_factory.mktemp("page") / "store") as server:
        yield server


@pytest.fixture
def tab(browser: Browser, served: Server) -> Iterator[Tab]:
    """A signed-in tab in a profile of its own."""
    with visiting(browser, served) as tab:
        yield tab


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A root for a test that wants a server of its own."""
    return tmp_path / "store"
