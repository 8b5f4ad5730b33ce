"""Hostile text in every field an agent can write: nothing runs, nothing leaves, nothing stalls."""

from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.faces.page.driving import Server, Tab

BACK = "\u202e"
TEXTS = [
    "<script>window.hit = 1</script>",
    "<img src=x onerror='window.hit = 1'>",
    "<svg onload='window.hit = 1'></svg>",
    "<iframe srcdoc='<script>parent.hit = 1</script>'></iframe>",
    "<style>@import 'http://evil.example/x.css'; main { display: none }</style>",
    "<meta http-equiv=refresh content='0; url=http://evil.example/'>",
    "<base href='http://evil.example/'>",
    "<form action='http://evil.example/'><button>Sign in</button></form>",
    "[one](javascript:window.hit=1) [two](JaVaScRiPt:window.hit=1) [three](java\tscript:hit=1)",
    "[four](&#106;avascript:window.hit=1) [five](data:text/html,<script>hit=1</script>)",
    "[six](vbscript:hit) [seven](file:///etc/passwd) <javascript:hit=1>",
    "![picture](http://evil.example/pixel.png) [[../../x]] [a](//evil.example/)",
    "# Signed out\n\n**Your session has ended.** [Sign in](http://evil.example/login)",
    f"safe {BACK}gpj.exe\u200b and \u0007 bells",
    "> " * 2000 + "deep",
    "a_" * 20_000,
    "[" * 4000,
    "x" * 200_000,
    "z" + "\u0300" * 20_000,
    "|a|b|\n|-|-|\n" + "|c|d|\n" * 3000,
]
SESSION = "<img src=x onerror='window.hit = 1'>"
OBJECTS: list[Any] = [
    {"type": "b", "props": {"dangerouslySetInnerHTML": {"__html": TEXTS[0]}}, "key": None},
    {"decision": {"constructor": None, "type": "script", "props": {"children": "window.hit=1"}}},
    {"__proto__": {"hit": 1}, "constructor": {"prototype": {"hit": 1}}},
    {"list": [["<b>", 1], {"nodeType": 1}]},
]


@pytest.fixture(scope="module", autouse=True)
def hostile(served: Server) -> str:
    """A session full of it; the ids and names are as bad as the store allows."""
    name = "a<img src=x onerror=hit>"
    served.session("bad", [], user_id=name, agent_ids=[name, f"x{BACK}y"], metadata={name: name})
    said = [{"type": "conversation", "role": "user", "content": text} for text in TEXTS]
    noted = [{"type": "note", "content": {"text": text}, "agent_id": name} for text in TEXTS]
    shaped = [{"type": "constructor", "content": one} for one in OBJECTS]
    for one in (*said, *noted, *shaped):  # all of it is stored: nothing here may be refused
        served.api("POST", "/sessions/bad/entries", one)
    served.session(SESSION, [{"content": "in a session with a bad name"}], agent_ids=["a"])
    return name


@pytest.mark.parametrize(
    "path",
    [
        "/sessions",
        "/sessions/bad",
        "/sessions/bad?details=1&types=note",
        f"/sessions/{quote(SESSION, safe='')}?details=1",
        "/search?q=script",
        "/search?q=%3Cimg%20src%3Dx%20onerror%3Dhit%3E&types=%3Cb%3E&tags=%3Cscript%3E",
        "/search?q=signed&view=context",
    ],
)
def test_nothing_of_it_runs_leaves_or_stalls(tab: Tab, path: str):
    page = tab.open(path)
    if path == "/sessions/bad":  # its Markdown is laid out
        expect(page.locator(".markdown strong", has_text="Your session has ended")).to_be_attached()
    page.wait_for_timeout(900)  # time for what must not happen
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("window.hit") is None
    assert page.evaluate("({}).hit") is None
    assert page.locator("main iframe, main form[action], main script, main style").count() == 0
    bad = "a[href]:not([href^='/']):not([href^='http']):not([href^='mailto']):not([href^='#'])"
    assert page.locator(f"main {bad}").count() == 0
    assert page.locator("main a[target]:not([rel~='noopener'])").count() == 0
    assert tab.has_sideways() <= 0


def test_every_hostile_entry_can_be_looked_at_closely(tab: Tab):
    listed = tab.server.api("GET", "/sessions/bad/entries?limit=200")["items"]
    page = tab.open("/sessions/bad")
    for row in (listed[0], listed[13], listed[15], listed[17], listed[-1]):
        tab.open(f"/sessions/bad/entries/{row['entry']['id']}")
        expect(page.locator(".raw")).to_contain_text("The checksum holds")
    assert page.evaluate("window.hit") is None


HEAPS = [
    "w" * 1_040_000,
    "z" + "\u0300" * 100_000,
    "> " * 10_000 + "deep",
    BACK * 50_000,
    f"a{BACK}" * 20_000,
    "a_" * 32_768,
]


def test_heaps_of_text_leave_the_page_usable(tab: Tab):
    said = [{"type": "conversation", "role": "user", "content": text} for text in HEAPS]
    told = [{"type": "decision", "content": {"decision": text[:400_000]}} for text in HEAPS]
    tab.server.session("heaps", [])
    ids = [tab.server.api("POST", "/sessions/heaps/entries", one)["id"] for one in (*said, *told)]
    for path in ("/sessions/heaps", *(f"/sessions/heaps/entries/{one}" for one in ids)):
        page = tab.open(path)
        if "/entries/" in path:
            expect(page.locator(".raw")).to_contain_text("The checksum holds")
        else:
            expect(page.get_by_role("article")).to_have_count(len(ids))
        assert page.evaluate("document.querySelectorAll('*').length") < 3000
        assert tab.has_sideways() <= 0
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_characters_that_cannot_be_seen_are_shown_by_name(tab: Tab):
    page = tab.open("/search?q=gpj.exe")
    expect(page.locator("ol.hits > li").first.locator(".chip").first).to_have_text("U+202E")


def test_hostile_tags_are_refused_before_they_reach_the_page(served: Server):
    for text in TEXTS[:4]:
        with pytest.raises(HTTPError, match="400"):
            served.api("POST", "/sessions/bad/entries", {"content": "tagged", "tags": [text]})
