"""The server under load: fifty clients write durably and search for a minute."""

import os
import random
import threading
import time
from statistics import quantiles

import httpx2
import pytest

from mnemolog import Memory
from tests.faces.http.servers import in_process

pytestmark = pytest.mark.skipif(
    os.environ.get("MNEMOLOG_SOAK") != "1", reason="takes minutes; `make soak` runs it"
)

CLIENTS = 50
SECONDS = 60.0
SESSIONS = 5
WORDS = "acid backup cache database erase ledger lock queue replica schema search token".split()


def test_fifty_clients_for_a_minute_meet_no_error_and_lose_nothing(tmp_path, capsys):
    root = tmp_path / "store"
    config = "[server]\nrequests_per_minute = 10000000\n[storage]\nmax_session_size_mb = 500\n"
    root.mkdir(mode=0o700)
    (root / "config.toml").write_text(config)
    acknowledged: dict[str, list[str]] = {}
    errors: list[str] = []
    waits: dict[str, list[float]] = {"write": [], "search": []}
    with in_process(root) as (server, process):
        with server.client() as client:
            sessions = [client.post("/sessions", json={}).json()["id"] for _ in range(SESSIONS)]
        end = time.monotonic() + SECONDS

        def work(number: int) -> None:
            choose = random.Random(number)
            with server.client() as client:
                while time.monotonic() < end:
                    _turn(client, choose, sessions, acknowledged, errors, waits)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        process.terminate()
        _, told = process.communicate(timeout=120)
    with capsys.disabled():
        for name, found in waits.items():
            p99 = quantiles(found, n=100)[98]
            print(f"\n{name}: {len(found)} in {SECONDS:.0f} s, p99 {p99 * 1000:.0f} ms")
    assert errors == []
    assert process.returncode == 0
    assert '"ERROR"' not in told
    with Memory.open(root, environ={}) as memory:
        for session in sessions:
            kept = {entry.id for entry in memory.get_entries(session)}
            assert set(acknowledged.get(session, ())) <= kept


def _turn(
    client: httpx2.Client,
    choose: random.Random,
    sessions: list[str],
    acknowledged: dict[str, list[str]],
    errors: list[str],
    waits: dict[str, list[float]],
) -> None:
    """One write or one search."""
    session = choose.choice(sessions)
    text = " ".join(choose.choices(WORDS, k=6))
    is_write = choose.random() < 0.5
    began = time.monotonic()
    if is_write:
        body = {"type": "note", "content": text}
        answer = client.post(f"/sessions/{session}/entries", json=body)
    else:
        answer = client.post("/search", json={"text": text, "session_id": session})
    waits["write" if is_write else "search"].append(time.monotonic() - began)
    if answer.status_code not in (200, 201):
        errors.append(answer.text)
    elif is_write:
        acknowledged.setdefault(session, []).append(answer.json()["id"])
