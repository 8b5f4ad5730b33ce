"""How these tests reach a server: a real one, in a thread or in a process of its own."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from mnemolog import Memory
from mnemolog.faces.http import serving
from mnemolog.faces.mcp.http import bind
from mnemolog.stores.files.serving import tokens

WAIT = 60.0


class Server(NamedTuple):
    """A server that runs: where it is, what it serves, and its owner's token."""

    url: str
    token: str
    root: Path
    built: serving.Built | None = None

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def client(self, token: str | None = None, **headers: str) -> httpx2.Client:
        """A client that brings a token: the owner's unless told."""
        sent = {"Authorization": f"Bearer {self.token if token is None else token}", **headers}
        return httpx2.Client(base_url=f"{self.url}/api/v1", headers=sent, timeout=WAIT)

    @property
    def memory(self) -> Memory:
        assert self.built is not None
        return self.built.house.memory


@contextmanager
def in_thread(
    root: Path,
    settings: Mapping[str, object] | None = None,
    work_agents: Path | None = None,
    opened: Memory | None = None,
) -> Iterator[Server]:
    """A server in a thread of this process, on a port that the system picks."""
    with opened or Memory.open(root, settings=settings, environ={}) as memory:
        token = tokens.owner_token(str(root))
        folder = None if work_agents is None else str(work_agents)
        with bind("127.0.0.1", 0) as listening:
            port = listening.getsockname()[1]
            built = serving.build(serving.Where(memory, str(root), token, {}, folder), port)
            server = serving.make_server(built)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            try:
                _wait_until(lambda: server.started or not thread.is_alive())
                assert server.started
                yield Server(f"http://127.0.0.1:{port}", token, root, built)
            finally:
                server.should_exit = True
                thread.join(WAIT)
            assert not thread.is_alive()


def _wait_until(is_so: Any) -> None:
    deadline = time.monotonic() + WAIT
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


wait_until = _wait_until


@contextmanager
def in_process(root: Path, *more: str) -> Iterator[tuple[Server, subprocess.Popen[str]]]:
    """`mnemolog serve` as a process of its own."""
    environ = {name: value for name, value in os.environ.items() if name != "MNEMOLOG_ROOT"}
    words = ["--root", str(root), "--json", "serve", "--port", "0", *more]
    started = subprocess.Popen(
        [sys.executable, "-m", "mnemolog", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
    )
    assert started.stdout is not None
    with started:
        try:
            told = json.loads(started.stdout.readline())
            token = (root / "token").read_text().strip()
            server = Server(told["url"].rstrip("/"), token, root)
            _wait_until(lambda: answers(server))
            yield server, started
        finally:
            started.kill()


def answers(server: Server) -> bool:
    """Whether somebody who asks now is let in."""
    try:
        return httpx2.get(f"{server.url}/healthz", timeout=WAIT).status_code == 200
    except httpx2.TransportError:
        return False


def finished(client: httpx2.Client, job_id: str) -> dict[str, Any]:
    """A job once it is over."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        job: dict[str, Any] = client.get(f"/jobs/{job_id}").json()
        if job["state"] not in ("queued", "running"):
            return job
        time.sleep(0.02)
    raise AssertionError("the job goes on and on")


def stream(client: httpx2.Client, wanted: int, **more: Any) -> list[dict[str, Any]]:
    """So many events of a stream, as soon as they have come."""
    found: list[dict[str, Any]] = []
    with client.stream("GET", "/events", **more) as response:
        assert response.status_code == 200
        event: dict[str, Any] = {}
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if name in ("id", "event"):
                event[name] = value
            elif name == "data":
                event["data"] = json.loads(value)
            elif not line and "event" in event:
                found.append(event)
                event = {}
                if len(found) == wanted:
                    return found
    return found
