"""Stopping: nothing that was acknowledged is lost, nothing is left half done."""

import json
import shutil
import signal
import threading

import httpx2
import pytest

from mnemolog import Memory
from mnemolog.stores.files.serving.job_file import JobFile
from tests.faces.http.servers import in_process, in_thread


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_in_the_middle_of_writes_loses_nothing_acknowledged(tmp_path, how):
    root = tmp_path / "store"
    acknowledged: list[str] = []
    with in_process(root) as (server, process):
        with server.client() as client:
            session = client.post("/sessions", json={}).json()["id"]
        enough = threading.Event()

        def write(number):
            with server.client() as client:
                for n in range(10_000):
                    entry = {"type": "note", "content": f"{number} {n}"}
                    try:
                        done = client.post(f"/sessions/{session}/entries", json=entry)
                    except httpx2.TransportError:
                        return
                    if done.status_code != 201:
                        return
                    acknowledged.append(done.json()["id"])
                    if len(acknowledged) >= 100:
                        enough.set()

        threads = [threading.Thread(target=write, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        assert enough.wait(60)
        process.send_signal(how)
        _, errors = process.communicate(timeout=60)
        for thread in threads:
            thread.join()
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    with Memory.open(root) as memory:
        kept = {entry.id for entry in memory.get_entries(session)}
    assert len(acknowledged) >= 100
    assert set(acknowledged) <= kept


def test_open_streams_end_with_the_server(tmp_path):
    with in_process(tmp_path / "store") as (server, process):
        with server.client() as client, client.stream("GET", "/events") as response:
            lines = response.iter_lines()
            assert next(lines).startswith("retry")
            process.terminate()
            assert [line for line in lines if line.startswith("data")] == []
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in errors


def test_a_job_that_was_cut_short_is_reported_by_the_next_server(tmp_path):
    root = tmp_path / "store"
    Memory.open(root).close()
    job = {
        "id": "job_1",
        "action": "verify",
        "state": "running",
        "started_at": "2026-11-15T00:00:00.000Z",
    }
    JobFile(str(root)).write([job])
    with in_thread(root) as server, server.client() as client:
        found = client.get("/jobs/job_1").json()
    assert found["state"] == "interrupted"
    assert found["error"]["code"] == "E_INTERRUPTED"


def test_a_job_that_runs_when_the_server_stops_is_finished_first(tmp_path):
    root = tmp_path / "store"
    with in_thread(root) as server, server.client() as client:
        session = client.post("/sessions", json={}).json()["id"]
        batch = [{"type": "note", "content": f"note {n}"} for n in range(500)]
        client.post(f"/sessions/{session}/batch", json={"entries": batch})
        job = client.post("/verify", json={"text": ["nowhere to be found"]}).json()["id"]
    [kept] = [one for one in JobFile(str(root)).read() if one["id"] == job]
    assert kept["state"] in ("done", "interrupted")
    assert json.dumps(kept).count("nowhere") == 0


def test_an_erasure_that_was_cut_short_is_finished_and_its_job_is_told(tmp_path):
    root = tmp_path / "store"
    with Memory.open(root) as memory:
        session = memory.create_session().id
        entry = memory.add_memory(session, type="note", content="the marmot whistles").id
        memory.query(session, text="marmot")
    record = {"at": "2026-11-15T00:00:00.000Z", "action": "erase", "session_id": session,
              "entries": 1, "actor": "owner", "reason": "", "criteria": {"ids": 1}}  # fmt: skip
    left = {"v": 1, "operation": "erase", "kind": "session", "log": session, "run": "",
            "ids": [entry], "limits": ["1"], "audit": json.dumps(record),
            "audit_id": "0123456789abcdef"}  # fmt: skip
    (root / "intents" / "0123456789abcdef.json").write_text(json.dumps(left))
    job = {"id": "job_1", "action": "erase", "state": "running",
           "started_at": "2026-11-15T00:00:00.000Z"}  # fmt: skip
    JobFile(str(root)).write([job])
    with in_process(root) as (server, _), server.client() as client:
        assert client.get(f"/sessions/{session}/entries").json()["items"] == []
        assert client.get("/jobs/job_1").json()["state"] == "interrupted"
    found = [path for path in root.rglob("*") if path.is_file() and b"marmot" in path.read_bytes()]
    assert found == []


@pytest.mark.parametrize("comes", ["nothing", "another"])
def test_a_root_that_goes_away_is_missed_and_never_taken_for_an_empty_one(tmp_path, comes):
    root, away = tmp_path / "store", tmp_path / "away"
    with in_thread(root) as server, server.client() as client:
        session = client.post("/sessions", json={}).json()["id"]
        path = f"/sessions/{session}/entries"
        entry = {"type": "note", "content": "the marmot whistles"}
        with client.stream("GET", "/events", params={"topics": "entry"}) as stream:
            lines = stream.iter_lines()
            assert next(lines).startswith("retry")
            assert client.post(path, json=entry).status_code == 201
            root.rename(away)
            if comes == "another":
                Memory.open(root).close()
            for answer in (
                client.get("/sessions"),
                client.post("/search", json={"text": "marmot"}),
                client.post(path, json=entry),
                client.post("/sessions", json={}),
                client.put("/nodes/ann/tea", json={"body": "green"}),
                client.patch("/settings", json={"server.threads": 8}),
                httpx2.post(f"{server.url}/api/v1/login", json={"code": "none"}),
                httpx2.post(f"{server.url}/mcp", json={}, headers=client.headers),
                httpx2.get(f"{server.url}/metrics", headers=client.headers),
            ):
                assert (answer.status_code, answer.json()["code"]) == (503, "E_ROOT_GONE")
            assert httpx2.get(f"{server.url}/healthz").status_code == 200
            if comes == "nothing":
                assert "event: resync" in lines, "what looks on by itself has missed it"
                assert not root.exists()
            else:
                shutil.rmtree(root)
        away.rename(root)
        assert client.post(path, json=entry).status_code == 201
        assert client.get(path).json()["total"] == 2
        assert client.post("/search", json={"text": "marmot"}).json()["total"] == 2
