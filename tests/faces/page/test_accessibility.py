"""Every view, in both themes, as axe-core sees it: no violation of WCAG 2.2 AA."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.faces.page import story
from tests.faces.page.driving import Server, serving, visiting

AXE = Path(sys.prefix) / "clients/page/node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
VIEWS = [
    "/sessions",
    "/sessions/sess-pay",
    "/search?q=database",
    "/search?q=database&view=context",
    "/knowledge",
    f"/knowledge/{story.USER}?view=graph&center=projects%2Fpayment-system&as=list",
    *story.VIEWS,
]

pytestmark = pytest.mark.skipif(
    not AXE.exists() and "CLIENTS_NEEDED" not in os.environ, reason="axe-core is not installed"
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The story with its proposals, served."""
    root = tmp_path_factory.mktemp("access") / "store"
    story.tell(root)
    story.learn(root)
    with serving(root) as server:
        yield server


def violations(page: Page, rules: dict[str, Any]) -> list[str]:
    """What axe finds, each with the first places."""
    found: list[dict[str, Any]] = page.evaluate(
        # At the top: what is half below the bar is not too small, but scrolled away.
        """async (wanted) => {
          scrollTo(0, 0);
          return (await axe.run(document, wanted)).violations;
        }""",
        # The headings of a node are its writer's own.
        {"runOnly": rules, "rules": {"heading-order": {"enabled": False}}},
    )
    return [
        f"{page.url} {one['id']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
        for one in found
    ]


# What differs between the themes is colour alone, and these views have every colour.
COLOURFUL = [VIEWS[0], VIEWS[1], VIEWS[2], f"{story.PAGE}?v=2", "/review", "/forgetting", "/health"]


@pytest.mark.parametrize(
    ("theme", "views", "rules"),
    [
        ("light", VIEWS, {"type": "tag", "values": RULES}),
        ("dark", COLOURFUL, {"type": "rule", "values": ["color-contrast"]}),
    ],
    ids=["light", "dark"],
)
def test_no_view_breaks_a_rule(
    browser: Browser, served: Server, theme: str, views: list[str], rules: dict[str, Any]
):
    with visiting(browser, served, color_scheme=theme, bypass_csp=True) as tab:
        tab.page.context.add_init_script(path=AXE)
        found = []
        for view in views:
            page = tab.open(view)
            page.wait_for_timeout(150)
            found += violations(page, rules)
        assert not found, "\n".join(found)
