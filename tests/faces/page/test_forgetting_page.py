"""Forgetting in the page: erased with proof, retained as previewed, brought back, audited."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.faces.page import hostile, story
from tests.faces.page.driving import PHONE, Server, Tab, serving, visiting

TABS = ["retention", "erase", "hidden", "audit"]
SECRET = "the merger is called zebrafish"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Old and new entries, served."""
    root = tmp_path_factory.mktemp("forgetting") / "store"
    story.tell_old(root)
    with serving(root) as server:
        yield server


def holding(root: Path, words: str) -> list[str]:
    """The files below a root that hold some words, as grep would find them."""
    found = [path for path in root.rglob("*") if path.is_file()]
    return [path.name for path in found if words.encode() in path.read_bytes()]


def test_entries_of_a_tag_are_erased_with_a_proof_that_grep_agrees_with(tab: Tab):
    tab.server.session(
        "sess-secret",
        [
            {"type": "note", "content": SECRET, "tags": ["sensitive"]},
            {"type": "note", "content": f"{SECRET} too", "tags": ["sensitive"]},
            {"type": "note", "content": "the weather was fine"},
        ],
    )
    assert holding(tab.server.root, "zebrafish")
    page = tab.open("/forgetting?tab=erase")
    plan = page.get_by_role("button", name="Plan the erasure…")
    expect(plan).to_be_disabled()
    off = plan.evaluate("(one) => getComputedStyle(one).backgroundColor")
    page.get_by_label("Tags").fill("sensitive")
    page.get_by_label("Reason").fill("asked by the user")
    assert plan.evaluate("(one) => getComputedStyle(one).backgroundColor") != off
    plan.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    erase = dialog.get_by_role("button", name="Erase 2 entries")
    expect(erase).to_be_disabled()
    dialog.get_by_label("Type 2 to confirm").fill("2")
    erase.click()
    proof = page.get_by_role("region", name="Proof")
    expect(proof).to_contain_text("Nothing is left", timeout=20_000)
    expect(proof).to_contain_text("2 entries erased")
    told = proof.inner_text()
    assert re.search(r"[1-9]\d* files and [1-9][\d.]* [KM]B looked through", told)
    assert "Nothing is out of reach" in told
    places = proof.get_by_role("row").all_inner_texts()
    assert [one for one in places if not one.endswith("0 hits")] == []
    assert {"sessions", "index"} <= {one.split("\t")[0] for one in places}
    assert holding(tab.server.root, "zebrafish") == []
    assert holding(tab.server.root, "the weather was fine")

    page.get_by_label("Words that should be nowhere").fill("zebrafish")
    page.get_by_role("button", name="Look through every file").click()
    expect(page.get_by_role("region", name="verify")).to_contain_text("Nothing is left")
    assert holding(tab.server.root, "zebrafish") == []


def test_a_plan_that_takes_a_while_says_so_and_need_not_be_waited_for(tab: Tab):
    tab.server.session("sess-slow", [{"type": "note", "content": "slow", "tags": ["slow"]}])
    page = tab.open("/forgetting?tab=erase")
    held: list[Route] = []
    page.route("**/api/v1/plans", lambda one: held.append(one))
    dialog, plan = page.get_by_role("dialog"), page.get_by_role("button", name="Plan the erasure…")
    page.get_by_label("Tags").fill("slow")
    plan.click()
    expect(dialog).to_contain_text("Counting")
    dialog.get_by_role("button", name="Cancel").click()
    expect(plan).to_be_focused()
    plan.click()
    expect(dialog).to_contain_text("Counting")
    for one in held:
        one.continue_()
    expect(dialog).to_contain_text("Erase 1 entry for ever")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(plan).to_be_focused()


def test_the_retention_preview_is_what_the_run_removes(tab: Tab):
    page = tab.open("/forgetting")
    preview = page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("Hide 5 entries")
    rows = [row.inner_text().split() for row in preview.get_by_role("row").all()]
    assert rows == [["conversation", "4"], ["decision", "1"]]
    rules = page.get_by_role("region", name="Rules")
    expect(rules.get_by_role("row", name="preference")).to_contain_text("730 days")
    expect(rules).to_contain_text("Decisions that the user approved are kept")
    preview.get_by_role("button", name="Run now…").click()
    page.get_by_role("dialog").get_by_role("button", name="Run: 5 entries").click()
    expect(preview).to_contain_text("Nothing: no entry is past its age.")
    expect(rules).not_to_contain_text("last run never")
    gone = tab.server.api("GET", "/hidden")["items"]
    types = [row["entry"]["type"] for row in gone if row["entry"]["session_id"] == "sess-old"]
    assert sorted(types) == ["conversation"] * 4 + ["decision"]
    left = tab.server.api("GET", "/sessions/sess-old/entries")["items"]
    assert len(left) == 2


def test_a_hidden_entry_is_brought_back(tab: Tab):
    tab.server.session("sess-hide", [{"type": "note", "content": "hide and seek"}])
    one = tab.server.api("GET", "/sessions/sess-hide/entries")["items"][0]["entry"]["id"]
    selector = {"session_id": "sess-hide", "ids": [one]}
    tab.server.api("POST", "/plans", {"action": "delete", "selector": selector, "run": True})
    assert tab.server.api("GET", "/sessions/sess-hide/entries")["items"] == []
    page = tab.open("/forgetting?tab=hidden")
    row = page.get_by_role("row", name="hide and seek")
    row.get_by_role("button", name="Bring back").click()
    expect(row).to_have_count(0)
    expect(page.locator(":focus")).to_have_count(1)
    assert len(tab.server.api("GET", "/sessions/sess-hide/entries")["items"]) == 1


def test_a_cleared_session_is_brought_back_as_a_whole(tab: Tab):
    said = [{"type": "note", "content": f"cleared {number}"} for number in range(230)]
    tab.server.session("sess-cleared", said)
    order = {"action": "clear_session", "selector": {"session_ids": ["sess-cleared"]}}
    plan = tab.server.api("POST", "/plans", order)
    done = tab.server.api("POST", f"/plans/{plan['plan_id']}/run", {"confirm": True})
    if done.get("job_id"):
        tab.server.job(done["job_id"])
    entries = "/sessions/sess-cleared/entries?limit=1"
    assert tab.server.api("GET", entries)["total"] == 0
    page = tab.open("/forgetting?tab=hidden")
    row = page.get_by_role("row", name="cleared")
    expect(row).to_have_count(200)
    page.get_by_role("button", name="Older").click()
    expect(row.first).to_be_visible()
    expect(row).to_have_count(30)
    page.get_by_role("button", name="Newest").click()
    page.get_by_role("button", name="Bring back all of sess-cleared…").click()
    page.get_by_role("dialog").get_by_role("button", name="Bring all of it back").click()
    expect(page.get_by_role("status").first).to_contain_text("230 entries brought back")
    expect(row).to_have_count(0)
    assert tab.server.api("GET", entries)["total"] == 230


def test_the_audit_tells_who_and_why_and_that_its_chain_holds(tab: Tab):
    tab.server.session("sess-audit", [{"type": "note", "content": "quietly", "tags": ["odd"]}])
    order = {"action": "erase", "selector": {"tags": ["odd"]}, "options": {"reason": hostile.LINE}}
    plan = tab.server.api("POST", "/plans", order)
    run = tab.server.api("POST", f"/plans/{plan['plan_id']}/run", {"confirm": 1})
    tab.server.job(run["job_id"])
    page = tab.open("/forgetting?tab=audit")
    expect(page.get_by_text("The chain of the audit holds")).to_be_visible()
    row = page.get_by_role("row", name="onerror").first
    expect(row).to_contain_text("erase")
    assert page.evaluate("globalThis.pwned") is None
    assert "quietly" not in page.locator("main").inner_text()

    log = tab.server.root / "audit.jsonl"
    text = log.read_text()
    log.write_text(text.replace('"entries":1', '"entries":7', 1))
    page.reload()
    expect(page.locator("main .danger").first).to_contain_text("✕")
    log.write_text(text)


@pytest.mark.parametrize("name", TABS)
def test_forgetting_fits_a_phone(browser: Browser, served: Server, name: str):
    with visiting(browser, served, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        tab.open(f"/forgetting?tab={name}").wait_for_timeout(300)
        assert tab.has_sideways() <= 0
