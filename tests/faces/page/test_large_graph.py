"""A graph of more nodes than one picture can hold: folders stand for their nodes, and open."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.faces.page import story
from tests.faces.page.driving import Server, Tab, serving

FOLDERS = {"places": 700, "plants": 1200, "stars": 400}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Nodes as somebody would have copied them into the folder: each links to two others."""
    root = tmp_path_factory.mktemp("graph") / "store"
    memory = root / f"users/{story.USER}/memory"
    for folder, many in FOLDERS.items():
        (memory / folder).mkdir(parents=True, mode=0o700)
        for number in range(many):
            text = f"- See [[{folder}/n{number // 2}]] and [[plants/n{number % 40}]].\n"
            (memory / folder / f"n{number}.md").write_text(text)
    with serving(root) as server:
        yield server


def test_folders_stand_for_their_nodes_until_they_are_opened(tab: Tab):
    page = tab.open(f"/knowledge/{story.USER}?view=graph")
    picture = page.get_by_role("application", name="Graph of nodes")
    expect(picture).to_have_attribute("aria-busy", "false")
    twin = page.locator(".twin")
    page.get_by_text("As a list: 3 nodes, 2 links").click()
    for folder, many in FOLDERS.items():
        expect(twin.get_by_role("link", name=f"{folder} ({many:,})")).to_be_visible()
    expect(page.locator("main")).to_contain_text("300 nodes with the fewest links are left out")
    twin.get_by_role("link", name="stars (400)").click()
    expect(page).to_have_url(re.compile("open=stars"))
    expect(twin).to_contain_text(re.compile(r"As a list: [1-9]\d+ nodes"))
    expect(twin.get_by_role("link", name="plants (1,200)")).to_be_visible()
    folders = page.get_by_role("group", name="Folders, which open")
    folders.get_by_role("link", name="stars").click()
    expect(twin).to_contain_text("As a list: 3 nodes")


def test_a_folder_is_opened_in_the_picture_by_keys(tab: Tab):
    page = tab.open(f"/knowledge/{story.USER}?view=graph")
    picture = page.get_by_role("application", name="Graph of nodes")
    expect(picture).to_have_attribute("aria-busy", "false")
    here = page.locator("#graph-now").inner_text().partition(" (")[0]
    picture.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"open={here}"))
    expect(page.get_by_text(re.compile(r"As a list: [1-9]\d+ nodes"))).to_be_visible()
