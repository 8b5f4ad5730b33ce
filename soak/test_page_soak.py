"""The page under heavy writing: two open tabs, fifty entries a second, a heap that stays flat."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import CDPSession, expect, sync_playwright

from tests.faces.page.driving import CHROMIUM, QUIET, WAIT, Server, serving, visiting

pytestmark = pytest.mark.skipif(
    os.environ.get("MNEMOLOG_SOAK") != "1", reason="takes minutes; `make soak` runs it"
)

SECONDS = 200.0
WARM = 40.0
ROUNDS = 5
EACH = 10  # entries in a write
PAUSE = 0.2  # between two writes
CONFIG = "[server]\nrequests_per_minute = 10000000\n[storage]\nmax_session_size_mb = 500\n"
NODES = 3000


class Writer(threading.Thread):
    """Writes into one session, ten entries five times a second, until it is told to stop."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._ends = threading.Event()
        self.wrote = 0

    def run(self) -> None:
        """Write."""
        while not self._ends.wait(PAUSE):
            self._server.api("POST", "/sessions/busy/batch", {"entries": self._entries()})
            self.wrote += EACH

    def _entries(self) -> list[dict[str, Any]]:
        texts = [
            f"**{self.wrote + number}** was written, and so it goes on" for number in range(EACH)
        ]
        return [{"type": "conversation", "role": "user", "content": text} for text in texts]

    def end(self) -> None:
        """Write no more."""
        self._ends.set()
        self.join()


def figures(line: CDPSession) -> tuple[float, int]:
    """Megabytes that are still in use after everything was collected, and nodes of the document."""
    line.send("HeapProfiler.collectGarbage")
    told = {one["name"]: one["value"] for one in line.send("Performance.getMetrics")["metrics"]}
    return told["JSHeapUsedSize"] / 2**20, int(told["Nodes"])


def test_two_tabs_stay_as_small_as_they_were_while_much_is_written(tmp_path: Path, capsys: Any):
    root = tmp_path / "store"
    root.mkdir(mode=0o700)
    (root / "config.toml").write_text(CONFIG)
    seen: dict[str, list[tuple[float, int]]] = {"/sessions/busy": [], "/sessions": []}
    with sync_playwright() as playwright, serving(root) as server:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=QUIET)
        server.session("busy", [{"type": "note", "content": "the first"}])
        writer = Writer(server)
        with visiting(browser, server) as one, visiting(browser, server) as other:
            tabs = {"/sessions/busy": one, "/sessions": other}
            lines = {}
            for path, tab in tabs.items():
                tab.open(path)
                lines[path] = tab.page.context.new_cdp_session(tab.page)
                lines[path].send("Performance.enable")
            writer.start()
            for number in range(ROUNDS):
                time.sleep(WARM if number == 0 else (SECONDS - WARM) / (ROUNDS - 1))
                for path, line in lines.items():
                    tabs[path].page.evaluate("1")  # answers, so it is not stuck
                    seen[path].append(figures(line))
            writer.end()
            last, row = one.page.get_by_role("article").last, other.page.get_by_role("row").nth(1)
            expect(last).to_contain_text(f"{writer.wrote - 1} was", timeout=WAIT)
            expect(row).to_contain_text(f"{writer.wrote + 1:,}", timeout=WAIT)
            elements = one.page.evaluate("document.querySelectorAll('*').length")
        browser.close()
    with capsys.disabled():
        for path, found in seen.items():
            print(
                f"\n{path}: " + ", ".join(f"{heap:.1f} MB {nodes} nodes" for heap, nodes in found)
            )
        print(f"{writer.wrote} entries in {SECONDS:.0f} s, {writer.wrote / SECONDS:.0f} a second")
    assert elements < NODES
    for path, found in seen.items():
        heaps, nodes = zip(*found, strict=True)
        assert heaps[-1] < heaps[0] * 1.2 + 1, path
        assert nodes[-1] < nodes[0] * 1.5 + 500, path
