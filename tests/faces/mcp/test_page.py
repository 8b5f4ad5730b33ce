"""docs/mcp.md: what people copy from it is well formed, and our command takes it."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mnemolog.faces.cli.verbs.hook import hook
from mnemolog.faces.cli.verbs.mcp import mcp
from mnemolog.faces.mcp import http

PAGE = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[Any]:
    read = {"json": json.loads, "toml": tomllib.loads}[kind]
    return [read(block) for block in re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)]


def servers() -> list[dict[str, Any]]:
    found = [block[name] for block in [*blocks("json"), *blocks("toml")]
             for name in ("mcpServers", "servers", "mcp_servers") if name in block]  # fmt: skip
    return [one["mnemolog"] for one in found]


def spoken(line: str) -> list[str]:
    """The words after `mnemolog mcp` in a line that is typed."""
    return re.split(r"\s#|\s\\$", line)[0].split()


def test_every_client_is_told_a_command_that_there_is():
    told = [one["args"] for one in servers() if "command" in one]
    assert len(told) == 5
    for args in told:
        at = args.index("mcp")
        assert args[:at:2] in ([], ["--root"])
        assert mcp.make_context("mcp", args[at + 1 :]).params["agent"]


def test_every_client_over_http_is_told_the_address_and_the_token():
    told = [one for one in servers() if "command" not in one]
    assert len(told) == 4
    for one in told:
        assert one.get("url", one.get("httpUrl")) == f"http://127.0.0.1:{http.PORT}{http.PATH}"
        assert "bearer_token_env_var" in one or one["headers"]["Authorization"].startswith(
            "Bearer "
        )


@pytest.mark.parametrize("words", re.findall(r"^mnemolog mcp\b(.*)$", PAGE, re.MULTILINE))
def test_the_commands_at_the_top_are_taken(words):
    assert mcp.make_context("mcp", spoken(words)).params["port"] == http.PORT


def test_the_hooks_call_the_hook_at_all_four_events():
    (hooks,) = [block["hooks"] for block in blocks("json") if "hooks" in block]
    assert list(hooks) == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]
    for ((called,),) in ((one["hooks"] for one in each) for each in hooks.values()):
        name, verb, *words = called["command"].split()
        assert (name, verb) == ("mnemolog", "hook")
        assert hook.make_context("hook", words).params["program"] == "claude-code"
