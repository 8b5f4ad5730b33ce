"""Clients that others wrote: the protocol's conformance suite, and the Inspector's command line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mnemolog import Memory
from tests.faces.mcp.clients import http_server, words

HERE = Path(__file__).parent
BIN = Path(sys.prefix) / "bin"
CLIENTS = Path(sys.prefix) / "clients"
MISSING = not (CLIENTS / ".installed").exists() and not os.environ.get("CLIENTS_NEEDED")

pytestmark = pytest.mark.skipif(MISSING, reason="`make test` installs these clients")


def run(tool: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    found = CLIENTS / "node_modules" / ".bin" / tool
    around = {"HOME": str(home), "PATH": f"{BIN}:/usr/bin:/bin", "NO_COLOR": "1"}
    command = [str(found), *arguments]
    return subprocess.run(command, env=around, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def conformance(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """One run of the whole suite, against a server that needs no token."""
    folder = tmp_path_factory.mktemp("conformance")
    baseline = str(HERE / "conformance.yml")
    with http_server(folder / "store", str(HERE / "without_token.py"), str(folder / "store")) as at:
        return run("conformance", "server", "--url", at.url, "--suite", "all",
                   "--expected-failures", baseline, home=folder)  # fmt: skip


def passed(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """How many checks passed of each scenario without a failure."""
    rows = re.findall(r"^✓ ([a-z0-9-]+): (\d+) passed, 0 failed", done.stdout, re.MULTILINE)
    return {name: int(count) for name, count in rows}


def test_every_scenario_that_applies_passes(conformance):
    assert conformance.returncode == 0, conformance.stdout + conformance.stderr
    applicable = "server-initialize ping tools-list tools-call-error resources-list prompts-list"
    assert set(applicable.split()) <= set(passed(conformance))
    assert passed(conformance)["server-sse-multiple-streams"] == 2


def test_the_suite_finds_protection_against_dns_rebinding(conformance):
    assert passed(conformance)["dns-rebinding-protection"] == 2


def inspect(home: Path, *arguments: str) -> dict:
    done = run("mcp-inspector", "--cli", *arguments, home=home)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


CALL = ("--method", "tools/call", "--tool-name", "save_memory",
        "--tool-arg", "compartment=session", "--tool-arg")  # fmt: skip
LIST = ("--method", "tools/list", "--strict")


def test_the_inspector_lists_and_calls_tools_over_stdio(root, tmp_path):
    server = (sys.executable, *words(root))
    assert len(inspect(tmp_path, *server, *LIST)["tools"]) == 7
    told = inspect(tmp_path, *server, *CALL, "content=from stdio")
    assert told["isError"] is False
    assert stored(root) == ["from stdio"]


def test_the_inspector_lists_and_calls_tools_over_http(shared_root, address, tmp_path):
    server = (address.url, "--transport", "http",
              "--header", f"Authorization: Bearer {address.token}")  # fmt: skip
    assert len(inspect(tmp_path, *server, *LIST)["tools"]) == 7
    told = inspect(tmp_path, *server, *CALL, "content=from http")
    assert told["isError"] is False
    assert "from http" in stored(shared_root)


def test_the_inspector_is_not_let_in_without_the_token(address, tmp_path):
    done = run("mcp-inspector", "--cli", address.url, "--transport", "http", *LIST, home=tmp_path)
    assert done.returncode != 0
    assert "tools" not in done.stdout


def stored(root: Path) -> list[str]:
    with Memory.open(root) as memory:
        sessions = memory.list_sessions()
        return [entry.text for each in sessions for entry in memory.get_entries(each.id)]
