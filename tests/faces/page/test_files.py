"""The page's files: what was vendored is what is shipped, and nothing grows without being seen."""

import asyncio
import gzip
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from mnemolog.faces.page import routes
from mnemolog.faces.page.routes import Page

STATIC = Path(routes.STATIC)
KB = 1024
TAKEN = re.compile(r"^import \{ ([^}]*) \} from", re.MULTILINE)
LOADED = {"View", "FirstRun"}  # by views that are fetched when they are opened


def own(*endings: str) -> Iterator[Path]:
    for path in sorted(STATIC.rglob("*")):
        if path.suffix in endings and "vendor" not in path.parts:
            yield path


def sizes(paths: Iterator[Path]) -> tuple[int, int]:
    """Bytes, and bytes of each file compressed."""
    found = [path.read_bytes() for path in paths]
    return sum(map(len, found)), sum(len(gzip.compress(one)) for one in found)


def test_vendored_files_are_the_ones_that_were_looked_at():
    named = json.loads((STATIC / "vendor/VENDOR.json").read_text())
    there = {path.name: path for path in (STATIC / "vendor").glob("*.js")}
    assert set(named) == set(there)
    for name, told in named.items():
        assert sha256(there[name].read_bytes()).hexdigest() == told["sha256"]
        assert all(one["licence"] and one["version"] for one in told["packages"].values())


def test_what_was_vendored_stays_small():
    plain, packed = sizes(iter((STATIC / "vendor").glob("*.js")))
    assert plain <= 150 * KB
    assert packed <= 56 * KB


def test_our_own_files_grow_no_further():
    assert sizes(own(".css"))[0] <= 24 * KB
    assert sizes(own(".css"))[1] <= 6 * KB
    # Above the budget, which `python -m bench page` holds against them.
    assert sizes(own(".js"))[0] <= 239 * KB
    assert sizes(own(".js"))[1] <= 97 * KB
    assert sizes(own(".svg", ".png", ".ico"))[0] <= 8 * KB


def test_every_rule_and_every_name_is_used():
    texts = {path: path.read_text() for path in own(".js")}
    said = "\n".join(texts.values()) + (STATIC / "vendor/uplot.js").read_text()
    rules = re.sub(r"\{[^{}]*\}", "{}", "".join(path.read_text() for path in own(".css")))
    unused = [
        name
        for name in set(re.findall(r"\.([a-z][\w-]*)", rules))
        if not re.search(rf"(?<![\w-]){name}(?![\w-])", said)
    ]
    assert unused == []
    for path, text in texts.items():
        others = [other for where, other in texts.items() if where != path]
        taken = {name for other in others for name in TAKEN.findall(other)}
        for name in re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", text, re.M):
            is_taken = any(name in names.split(", ") for names in taken) or name in LOADED
            assert is_taken, f"{path.name} exports {name} to nobody"
        for names in re.findall(r"^import \{ ([^}]*) \}", text, re.M):
            for name in names.split(", "):
                assert len(re.findall(rf"(?<!\w){name}(?!\w)", text)) > 1, f"{path.name}: {name}"


def test_modules_are_short_enough_to_be_read():
    long = {path.name: len(path.read_text().splitlines()) for path in own(".js")}
    assert {name: lines for name, lines in long.items() if lines > 250} == {}


def test_no_html_is_made_of_text_and_no_code_of_strings():
    doors = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|\beval\(|"
        r"new Function|createContextualFragment|srcdoc|\bstyle=\"|\bon[a-z]+=\""
    )
    assert [path.name for path in own(".js") if doors.search(path.read_text())] == []


def test_the_index_holds_no_script_or_style_of_its_own():
    index = (STATIC / "index.html").read_text()
    assert re.findall(r"<style|\sstyle=|\son\w+=", index) == []
    assert re.findall(r"<script(?![^>]*\ssrc=)", index) == []
    assert set(re.findall(r"(?:src|href)=\"([^\"]*)\"", index)) == {
        "/static/favicon.svg",
        "/static/page.css",
        "/static/app.js",
    }


def test_every_module_that_is_named_is_there():
    for path in own(".js"):
        for name in re.findall(r"(?:from|import\()\s*\"(\.[^\"]+)\"", path.read_text()):
            assert (path.parent / name).is_file(), f"{path.name} names {name}"


def test_what_is_served_for_ever_is_named_by_its_content():
    page = Page()
    given = page.answer("GET", f"/static/{page.hash}/app.js")
    assert given.status == 200
    assert "immutable" in given.keep
    assert "immutable" not in page.answer("GET", "/static/app.js").keep
    assert page.hash.encode() in page.answer("GET", "/sessions/anything").body
    assert page.answer("GET", "/nowhere").status == 404


@pytest.mark.parametrize(
    ("path", "view"),
    [
        ("/", "sessions"),
        ("/sessions/", "sessions"),
        ("/sessions/one", "session"),
        ("/sessions/one/entries/two", "entry"),
        ("/knowledge/ada/people/ann", "knowledge"),
    ],
)
def test_the_index_names_every_module_of_its_view_and_no_other_view(path: str, view: str):
    page = Page()
    index = page.answer("GET", path).body.decode()
    named = re.findall(rf'modulepreload" href="(/static/{page.hash}/[^"]*)"', index)
    assert all(page.answer("GET", one).status == 200 for one in named)
    names = {one.split(page.hash)[1] for one in named}
    assert {"/app.js", "/vendor/preact.js", "/lib/route.js", f"/views/{view}.js"} <= names
    assert [one for one in names if one.startswith("/views/")] == [f"/views/{view}.js"]


def test_a_list_of_sessions_waits_for_nothing_that_lays_texts_out():
    index = Page().answer("GET", "/sessions").body.decode()
    assert "/views/sessions.js" in index
    assert "markdown" not in index


def asked(accepted: bytes) -> tuple[dict[bytes, bytes], bytes]:
    """The headers and the bytes that go over the wire for one module."""
    sent: list = []

    async def send(message) -> None:
        sent.append(message)

    async def receive():
        raise AssertionError("the page reads nothing of a request")

    scope = {"method": "GET", "path": "/static/app.js", "headers": [(b"accept-encoding", accepted)]}
    asyncio.run(Page()(scope, receive, send))
    return dict(sent[0]["headers"]), sent[1]["body"]


@pytest.mark.parametrize("accepted", [b"gzip, deflate, br, zstd", b"br;q=1.0, GZIP; q=0.8"])
def test_files_are_sent_packed_to_whoever_takes_them_so(accepted: bytes):
    headers, body = asked(accepted)
    assert headers[b"content-encoding"] == b"gzip"
    assert headers[b"vary"] == b"accept-encoding"
    assert headers[b"content-length"] == str(len(body)).encode()
    plain = (Path(routes.STATIC) / "app.js").read_bytes()
    assert len(body) < len(plain)
    assert gzip.decompress(body) == plain


@pytest.mark.parametrize("accepted", [b"", b"br", b"gzip;q=0", b"gzip;q=0.000", b"identity"])
def test_files_are_sent_as_they_are_to_whoever_does_not(accepted: bytes):
    headers, body = asked(accepted)
    assert b"content-encoding" not in headers
    assert headers[b"vary"] == b"accept-encoding"
    assert body == (Path(routes.STATIC) / "app.js").read_bytes()
