"""How many of 50 writes at once are still there, beside the MCP project's own memory server.

    npm install --prefix FOLDER --ignore-scripts @modelcontextprotocol/server-memory
    python -m bench.mcp_peer FOLDER

Each server is asked over stdio, as clients do that call tools in parallel: one connection with all
requests sent before an answer is waited for, and two servers on one store that are asked in turns.
What a server answered without an error counts as acknowledged; what a fresh one then tells counts
as kept.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.mcp import HELLO
from mnemolog import Memory

WRITES = 50
SCRIPT = "node_modules/@modelcontextprotocol/server-memory/dist/index.js"

Call = Callable[[int], dict[str, Any]]


class Rival(NamedTuple):
    """A server: how it is started, what stores something, and how much a store then holds."""

    name: str
    command: list[str]
    environ: dict[str, str]
    write: Call
    kept: Callable[[], int]


class Server:
    """One running server, spoken to line by line."""

    def __init__(self, rival: Rival) -> None:
        self._process = subprocess.Popen(
            rival.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **rival.environ},
        )
        self.send([HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}])
        self.answers(1)

    def send(self, messages: Sequence[dict[str, Any]]) -> None:
        """Send all of these, waiting for no answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))
        self._process.stdin.flush()

    def answers(self, count: int) -> list[dict[str, Any]]:
        """So many answers."""
        assert self._process.stdout is not None
        found: list[dict[str, Any]] = []
        while len(found) < count:
            message = json.loads(self._process.stdout.readline())
            if "id" in message and "method" not in message:
                found.append(message)
        return found

    def close(self) -> None:
        """End it by the end of its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def main() -> None:
    """Ask both and print how much each kept."""
    parser = argparse.ArgumentParser(prog="python -m bench.mcp_peer", description=__doc__)
    parser.add_argument("peer", type=Path, help="where npm installed the rival")
    peer: Path = parser.parse_args().peer
    for servers in (1, 2):
        for make in (_ours, lambda folder: _theirs(folder, peer)):
            with TemporaryDirectory() as folder:
                rival = make(Path(folder))
                acknowledged = _written(rival, servers)
                print(
                    f"{rival.name}, {servers} server(s): {WRITES} writes at once,"
                    f" {acknowledged} acknowledged, {rival.kept()} kept"
                )


def _written(rival: Rival, count: int) -> int:
    """Send the writes to so many servers in turns; says how many were acknowledged."""
    servers = [Server(rival) for _ in range(count)]
    for number in range(WRITES):
        servers[number % count].send([_request(number, rival.write(number))])
    sent = [WRITES // count + (place < WRITES % count) for place in range(count)]
    found = [
        one for server, each in zip(servers, sent, strict=True) for one in server.answers(each)
    ]
    for server in servers:
        server.close()
    return sum("error" not in one and not one["result"].get("isError") for one in found)


def _request(number: int, call: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number + 2, "method": "tools/call", "params": call}


def _ours(folder: Path) -> Rival:
    root = folder / "store"
    with Memory.open(root) as memory:
        memory.create_session(session_id="talk", agent_ids=["claude"])

    def kept() -> int:
        with Memory.open(root) as memory:
            return len(memory.get_entries("talk"))

    return Rival(
        "mnemolog",
        ["mnemolog", "--root", str(root), "mcp", "--session", "talk", "--agent", "claude"],
        {},
        lambda number: {
            "name": "save_memory",
            "arguments": {"compartment": "session", "content": f"fact {number}"},
        },
        kept,
    )


def _theirs(folder: Path, peer: Path) -> Rival:
    path = folder / "memory.jsonl"

    def kept() -> int:
        lines = path.read_text(encoding="utf-8").splitlines()
        return sum(json.loads(line)["type"] == "entity" for line in lines)

    return Rival(
        "the MCP project's memory server",
        ["node", str(peer / SCRIPT)],
        {"MEMORY_FILE_PATH": str(path)},
        lambda number: {
            "name": "create_entities",
            "arguments": {
                "entities": [
                    {"name": f"n{number}", "entityType": "t", "observations": [f"fact {number}"]}
                ]
            },
        },
        kept,
    )


if __name__ == "__main__":
    main()
