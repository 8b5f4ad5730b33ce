"""The page's modules as TypeScript reads their comments, and the addresses that they ask for."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mnemolog.faces.page import routes
from tests.faces.page.driving import Server

STATIC = Path(routes.STATIC)
TYPES = Path(__file__).parent / "types"
CHECKER = Path(sys.prefix) / "clients/page/node_modules/.bin/tsc"


@pytest.mark.skipif(
    not CHECKER.exists() and "CLIENTS_NEEDED" not in os.environ,
    reason="TypeScript is not installed",
)
def test_every_module_agrees_with_its_types(tmp_path: Path):
    # Vendored code is told by what the page uses of it: minified, it has no types to speak of.
    shutil.copytree(STATIC, tmp_path / "static", ignore=shutil.ignore_patterns("vendor"))
    shutil.copytree(TYPES / "vendor", tmp_path / "static/vendor")
    shutil.copy(TYPES / "tsconfig.json", tmp_path)
    done = subprocess.run([CHECKER, "-p", tmp_path], capture_output=True, text=True, timeout=120)
    assert done.stdout == ""
    assert done.returncode == 0


# `get("/x")`, `useGet("/x")`, `post(url`/x/${id}`)`, `call("PUT", nodeUrl(…))`; a value in an
# address is one part.
ASKED = re.compile(
    r"""\b(?:(?:use)?([Gg]et|post)\((?:\w+ && )?|call\("([A-Z]+)",\s)\s*"""
    r"""(?:"(/[^"?]*)"|(?:url)?`((?:/|\$\{nodeUrl)[^`?]*)`"""
    r"""|(nodeUrl)\()"""
)


def addresses() -> set[tuple[str, str]]:
    """Every address that the page's modules ask for, with its method."""
    found = set()
    for path in STATIC.rglob("*.js"):
        if "vendor" in path.parts:
            continue
        for verb, named, plain, made, node in ASKED.findall(path.read_text()):
            whole = plain or made or ("/nodes/{}/{}" if node else "")
            whole = re.sub(r"\$\{nodeUrl\([^)]*\)\}", "/nodes/{}/{}", whole)
            found.add(((verb or named).upper(), re.sub(r"\$\{[^}]*\}", "{}", whole)))
    return found


def test_every_address_that_the_page_asks_for_is_one_of_the_api(served: Server):
    told = served.api("GET", "/openapi.json")["paths"]
    known = {
        (method.upper(), re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1")))
        for path, methods in told.items()
        for method in methods
    }
    asked = addresses()
    assert len(asked) > 40
    assert asked - known == set()
