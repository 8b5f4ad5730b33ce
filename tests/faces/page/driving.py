"""A real server in a process of its own, a real browser, and what a tab did that it must not."""

import json
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser, BrowserContext, Dialog, Page, Request, Response, expect

from tests.faces.processes import COMMAND

CHROMIUM = Path("/usr/bin/chromium")
QUIET = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
WAIT = 20_000
EVENTS = "/api/v1/events"
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


class Server:
    """A memory that is served; `cli` and `api` do to it what others would do."""

    def __init__(self, root: Path, told: dict[str, str], process: "subprocess.Popen[str]") -> None:
        self.root = root
        self._process = process
        self.url = told["url"].rstrip("/")
        self.link = told["link"]
        self.token = (root / "token").read_text().strip()

    def cli(self, *words: str, text: str | None = None) -> str:
        """Run the command line on the same root, as a process of its own."""
        call = [*COMMAND, "--root", str(self.root), *words]
        done = subprocess.run(call, capture_output=True, text=True, input=text, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def api(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the API as the owner."""
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self.token}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def session(self, session_id: str, entries: list[dict[str, Any]], **facts: Any) -> str:
        """Make a session with these entries; the id it got."""
        made = self.api("POST", "/sessions", {"session_id": session_id, **facts})["id"]
        if entries:
            self.api("POST", f"/sessions/{quote(made, safe='')}/batch", {"entries": entries})
        return str(made)

    def end(self) -> None:
        """Stop it, as an operator would."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def job(self, job_id: str) -> dict[str, Any]:
        """A job once it ended."""
        for _ in range(300):
            job: dict[str, Any] = self.api("GET", f"/jobs/{job_id}")
            if job["state"] not in ("waiting", "running", "queued"):
                return job
            time.sleep(0.1)
        raise AssertionError(f"The job {job_id} does not end.")


@contextmanager
def serving(root: Path, port: int = 0) -> Iterator[Server]:
    """Serve a root until the block ends."""
    call = [*COMMAND, "--json", "--root", str(root), "serve", "--port", str(port)]
    errors = root.parent / f"{root.name}.stderr"
    with (
        errors.open("wb") as told,
        subprocess.Popen(call, stdout=subprocess.PIPE, stderr=told, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, errors.read_text()
            server = Server(root, json.loads(line), process)
            yield server
            server.end()
        finally:
            process.kill()


class Tab:
    """A tab, and everything in it that must not happen: errors, dialogs, requests elsewhere."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.wrong: list[str] = []
        self._under_way: set[Request] = set()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("dialog", self._refuse)
        page.on("console", lambda said: self._hear(said.type, said.text))
        page.on("request", self._see)
        page.on("response", self._check)
        page.on("requestfinished", lambda request: self._under_way.discard(request))
        page.on("requestfailed", lambda request: self._under_way.discard(request))

    def _refuse(self, dialog: Dialog) -> None:
        self.wrong.append("dialog")
        dialog.dismiss()

    def _hear(self, kind: str, text: str) -> None:
        # A refused request is told by the page itself; what remains is CSP and our own mistakes.
        if kind == "error" and not text.startswith("Failed to load resource"):
            self.wrong.append(f"console: {text}")

    def _see(self, request: Request) -> None:
        if not request.url.startswith((self.server.url, "blob:")):
            self.wrong.append(f"request: {request.url}")
        if not request.url.endswith(EVENTS):
            self._under_way.add(request)

    def _check(self, answer: Response) -> None:
        # What the page asks by itself must make sense to the server; a part of it that is refused
        # may show nothing at all, like a badge.
        if answer.status == 400 and answer.request.method == "GET":
            self.wrong.append(f"refused: {answer.url}")

    def open(self, path: str) -> Page:
        """Go to an address of the page and wait until its view stands."""
        self.page.goto(self.server.url + path)
        self.page.wait_for_selector("main h1", timeout=WAIT)
        self.settle()
        expect(self.page.locator("main [aria-busy='true']")).to_have_count(0)
        return self.page

    def settle(self) -> None:
        """Wait until what was asked for has come and been drawn: quiet, two frames in a row."""
        ends, quiet = time.monotonic() + WAIT / 1000, 0
        while quiet < 2 and time.monotonic() < ends:
            self.page.evaluate(
                "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
            )
            quiet = 0 if self._under_way else quiet + 1

    def has_sideways(self) -> int:
        """By how many pixels the page is wider than its window."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width


@contextmanager
def visiting(
    browser: Browser, server: Server, token: str | None = None, **settings: Any
) -> Iterator[Tab]:
    """A signed-in tab of a profile of its own; nothing wrong may have happened in it at the end."""
    context = browser.new_context(**{"viewport": WIDE, **settings})
    try:
        tab = Tab(signed_in(context, token or server.token).new_page(), server)
        yield tab
        assert tab.wrong == []
    finally:
        context.close()


def signed_in(context: BrowserContext, token: str) -> BrowserContext:
    """A profile that has a token, as after the link of the server was opened."""
    context.add_init_script(f"localStorage.setItem('mnemolog.token', {json.dumps(token)})")
    return context


def sent(request: Request) -> int:
    """How many bytes of an answer went over the wire, packed as they were."""
    return request.sizes()["responseBodySize"]
