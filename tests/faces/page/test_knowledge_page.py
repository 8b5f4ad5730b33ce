"""Nodes in the page: read, linked, corrected without losing a text, reverted; the graph."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.faces.page import hostile, story
from tests.faces.page.driving import PHONE, Server, Tab, serving, visiting

PAY = story.PAGE
GRAPH = f"/knowledge/{story.USER}?view=graph&center=projects%2Fpayment-system"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The story, served."""
    root = tmp_path_factory.mktemp("knowledge") / "store"
    story.tell(root)
    with serving(root) as server:
        yield server


def file_of(server: Server, path: str) -> Path:
    return server.root / f"users/{story.USER}/memory/{path}.md"


def node_of(server: Server, path: str) -> dict[str, Any]:
    found: dict[str, Any] = server.api("GET", f"/nodes/{story.USER}/{path.replace('/', '%2F')}")
    return found


def write(server: Server, path: str, body: str) -> None:
    server.api("PUT", f"/nodes/{story.USER}/{path.replace('/', '%2F')}", {"body": body})


def test_a_node_shows_what_it_rests_on_who_links_to_it_and_which_links_are_dead(tab: Tab):
    page = tab.open(PAY)
    expect(page.get_by_role("region", name="Backlinks")).to_contain_text("leads the payment-system")
    expect(page.get_by_role("region", name="Mentions")).to_contain_text("what the Payment system")
    expect(page.locator(".paper .dead")).to_have_text("MySQL")
    expect(page.locator(".paper del")).to_have_text("Uses MongoDB.")
    expect(page.get_by_role("region", name="Versions").locator("li")).to_have_count(3)
    expect(page.get_by_role("region", name="Versions")).to_contain_text("Use PostgreSQL was dec")
    page.locator(".paper").get_by_role("link", name="source").click()
    expect(page).to_have_url(re.compile(r"/sessions/sess-pay/entries/mem_"))
    page.get_by_role("link", name=story.PAY).click()
    expect(page).to_have_url(f"{tab.server.url}{PAY}")


def test_a_line_that_rests_on_several_entries_names_each_and_a_remark_stays_as_it_is(tab: Tab):
    comment = "<!-- sess-pay/one, sess-pay/two #home --> and <!-- see sess-pay/three -->"
    write(tab.server, "topics/cited", f"- A {comment}\n")
    page = tab.open(f"/knowledge/{story.USER}/topics/cited").locator(".paper")
    names = ["source sess-pay/one", "source sess-pay/two"]
    for name in names:
        expect(page.get_by_role("link", name=name)).to_be_visible()
    expect(page.locator("li")).to_contain_text("<!-- see sess-pay/three -->")
    expect(page.locator("li")).not_to_contain_text("#home")


def test_what_a_model_would_be_told_leads_to_entries_and_nodes(tab: Tab):
    page = tab.open("/search?q=payment+system+and+backups&view=context")
    items = page.get_by_role("table").get_by_role("row")
    nodes = items.filter(has=page.locator(f"a[href^='/knowledge/{story.USER}/']"))
    expect(nodes.first).to_be_visible()
    expect(
        items.filter(has=page.locator("a[href^='/sessions/sess-pay/entries/']"))
    ).not_to_have_count(0)
    expect(items.filter(has_not=page.get_by_role("link"))).to_have_count(1)  # the heading
    page.locator(f"a[href='{PAY}']").click()
    expect(page).to_have_url(f"{tab.server.url}{PAY}")


def test_a_backlink_is_followed_and_the_way_back_leads_here(tab: Tab):
    page = tab.open(PAY)
    page.get_by_role("region", name="Backlinks").get_by_role("link", name="Bo", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bo")
    page.locator(".paper").get_by_role("link", name="payment-system").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Payment system")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bo")


def test_the_tree_goes_by_arrow_keys_and_by_words(tab: Tab):
    page = tab.open(f"/knowledge/{story.USER}")
    tree = page.get_by_role("tree")
    expect(tree.get_by_role("treeitem").first).to_have_text("USER.md")
    tree.get_by_role("treeitem").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    expect(tree.get_by_role("treeitem", name="people")).to_have_attribute("aria-expanded", "false")
    expect(tree.get_by_role("treeitem", name="Ann")).to_have_count(0)
    for key in ("ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(tree.get_by_role("treeitem", name="Ann")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Ann")
    page.get_by_role("searchbox", name="Filter the tree").fill("hikari")
    expect(tree.get_by_role("treeitem")).to_have_text([re.compile("topics"), "HikariCP"])


def test_an_edit_that_meets_another_shows_all_three_texts_and_loses_neither(tab: Tab):
    write(tab.server, "topics/tea", "first line\n\nsecond line\n\nthird line\n")
    page = tab.open(f"/knowledge/{story.USER}/topics/tea?edit=1")
    mine = "first line\n\nsecond line, mine\n\nthird line\n\nmy own end\n"
    page.get_by_label("Text, as Markdown").fill(mine)
    file = file_of(tab.server, "topics/tea")
    file.write_text(file.read_text().replace("second line", "second line, by hand"))
    page.get_by_role("button", name="Save").click()
    conflict = page.get_by_role("region", name="Two texts")
    both = conflict.get_by_role("group", name=re.compile("on both sides"))
    expect(both.locator("pre")).to_have_text(
        ["second line", "second line, by hand", "second line, mine"]
    )
    assert "by hand" in file.read_text()
    assert "mine" not in file.read_text()
    expect(conflict.get_by_role("button", name="Save this text")).to_be_disabled()

    page.reload()
    expect(page.get_by_label("Text, as Markdown")).to_have_value(mine)
    page.get_by_role("button", name="Save").click()
    both.get_by_label("both").check()
    conflict.get_by_role("button", name="Save this text").click()
    expect(page.locator(".paper")).to_contain_text("my own end")
    text = file.read_text()
    assert "second line, by hand\nsecond line, mine\n" in text
    assert text.count("my own end") == 1
    drafts = "Object.keys(localStorage).filter((key) => key.startsWith('mnemolog.draft')).length"
    assert page.evaluate(drafts) == 0


def test_a_node_goes_back_to_an_earlier_version(tab: Tab):
    page = tab.open(f"{PAY}?v=1")
    page.get_by_role("button", name="Revert to v1…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Revert to v1").click()
    expect(page.locator(".paper del")).to_have_count(0)
    expect(page.locator(".paper")).to_contain_text("Uses MongoDB.")
    assert node_of(tab.server, story.PAY)["version"] == 4
    page.goto(f"{tab.server.url}{PAY}?v=3")
    page.get_by_role("button", name="Revert to v3…").click()
    dialog.get_by_role("button", name="Revert to v3").click()
    expect(page.locator(".paper")).to_contain_text("half written")


def test_the_difference_of_two_versions_is_shown_by_sign_and_word(tab: Tab):
    page = tab.open(f"{PAY}?v=2")
    diff = page.get_by_role("group", name="Changes of version 2")
    expect(diff.locator("[data-op='-']").first).to_contain_text("removed")
    expect(diff.locator("[data-op='+']", has_text="PostgreSQL")).to_have_count(1)
    expect(diff).not_to_contain_text("updatedAt: 1")


def test_a_node_that_is_gone_is_not_shown_again_while_others_change(tab: Tab):
    tab.server.api("PUT", f"/nodes/{story.USER}/spelt", {"body": "A grain.", "title": "Spelt"})
    page = tab.open(f"/knowledge/{story.USER}/spelt")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Spelt")
    tab.server.api("DELETE", f"/nodes/{story.USER}/spelt")
    expect(heading).to_have_text("No node is here")
    held: list[Route] = []
    page.route(f"**/api/v1/nodes/{story.USER}/spelt", lambda route: held.append(route))
    with page.expect_request(f"**/api/v1/nodes/{story.USER}/spelt"):
        tab.server.api("PUT", f"/nodes/{story.USER}/emmer", {"body": "Another.", "title": "Emmer"})
    expect(page.get_by_role("treeitem", name="Emmer")).to_be_visible()
    assert "Spelt" not in heading.all_inner_texts()
    for route in held:
        route.continue_()
    expect(heading).to_have_text("No node is here")


def test_a_node_is_written_moved_and_deleted_and_the_delete_taken_back(tab: Tab):
    page = tab.open(f"/knowledge/{story.USER}?new=1")
    page.get_by_label("Address").fill("topics/rye")
    page.get_by_label("Title").fill("Rye")
    page.get_by_label("Text, as Markdown").fill("A grain; see [[Ann]].")
    expect(page.locator(".preview").get_by_role("link", name="Ann")).to_be_visible()
    page.get_by_label("Text, as Markdown").press("Control+Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Rye")
    page.get_by_role("button", name="Move…").click()
    page.get_by_label("New address").fill("food/rye")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    expect(page).to_have_url(re.compile("/food/rye$"))
    expect(page.get_by_role("treeitem", name="food")).to_be_visible()
    page.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete this node").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("No node is here")
    assert not file_of(tab.server, "food/rye").exists()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rye")
    assert "A grain" in file_of(tab.server, "food/rye").read_text()


def test_the_graph_goes_by_keys_and_has_a_list_twin(tab: Tab):
    page = tab.open(GRAPH)
    canvas = page.get_by_role("application", name="Graph of nodes")
    expect(canvas).to_have_attribute("aria-busy", "false")
    now = page.locator("#graph-now")
    expect(now).to_contain_text("Payment system, 6 links")
    canvas.focus()
    arrows = ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp")
    for key in arrows:
        page.keyboard.press(key)
        tab.settle()
        if "Payment system," not in now.inner_text():
            break
    here = now.inner_text().partition(",")[0]
    assert here in {"Ann", "Bo", "PostgreSQL", "ACID", "Backups", "MySQL"}
    page.get_by_text("As a list: 7 nodes").click()
    twin = page.locator(".twin")
    expect(twin.get_by_role("row")).to_have_count(8)
    expect(twin.get_by_role("row", name=re.compile("MySQL.*leads nowhere"))).to_be_visible()
    expect(page).to_have_url(re.compile("as=list"))
    page.get_by_role("link", name="2 links").click()
    expect(twin.get_by_role("row", name=re.compile("HikariCP")).first).to_be_attached()
    page.goto(tab.server.url + f"/knowledge/{story.USER}?view=graph&center=people%2Fbo")
    expect(canvas).to_have_attribute("aria-busy", "false")
    canvas.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Bo")


@pytest.mark.parametrize("path", ["", f"/{story.USER}/{story.PAY}", "/ada?new=1", GRAPH[10:]])
def test_nothing_is_wider_than_a_phone(browser: Browser, served: Server, path: str):
    with visiting(browser, served, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        page = tab.open(f"/knowledge{path}")
        page.wait_for_timeout(300)
        assert tab.has_sideways() <= 0
        assert small_targets(page) == []


def small_targets(page: Page) -> list[str]:
    """Buttons and fields that a thumb would miss; links in running text are exempt."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, .button, .leaf, .choice")]
        .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
        .filter((one) => !one.closest("label"))
        .map((one) => one.outerHTML.slice(0, 80))"""
    )
    return found


def test_a_hostile_node_is_text_and_nothing_else(tab: Tab):
    file = file_of(tab.server, "evil")
    file.write_text(hostile.document())
    tab.server.api("PUT", f"/nodes/{story.USER}/evil-three", {"body": "x", "reason": hostile.LINE})
    for path in ("evil", "evil?edit=1", "evil-three", "evil-three?v=1"):
        page = tab.open(f"/knowledge/{story.USER}/{path}")
        expect(page.locator("main")).to_contain_text("script")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
    for path in ("?view=graph", "?view=graph&center=evil&as=list"):
        tab.open(f"/knowledge/{story.USER}{path}")
    page = tab.open(f"/knowledge/{story.USER}/evil")
    assert page.evaluate("globalThis.pwned") is None
    assert page.locator("main :is(script, iframe, img, object, base, meta, form)").count() == 0
    outside = page.locator("main a:not([href^='/'])").evaluate_all(
        "(links) => links.map((one) => [new URL(one.href).protocol, one.rel])"
    )
    assert all(link == ["https:", "noopener noreferrer"] for link in outside)
    expect(page.locator(".chip", has_text="U+202E").first).to_be_visible()
    file.unlink()


def test_who_is_talked_with_is_shown_where_nothing_is_known_yet(browser: Browser, store: Path):
    with serving(store) as server, visiting(browser, server) as tab:
        server.session("talk", [{"type": "note", "content": "hello"}], user_id="ada")
        page = tab.open("/knowledge")
        expect(page.get_by_text("Nothing has been learned about ada yet.")).to_be_visible()
