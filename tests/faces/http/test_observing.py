"""What an operator sees: figures, and a log that never says what anybody said."""

import json
import logging
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mnemolog import Memory
from mnemolog.errors import LockTimeoutError
from mnemolog.faces.http import logs, spans
from mnemolog.faces.http.metrics import Figures
from mnemolog.model.observing import Fact, observe
from tests.faces.http.servers import in_process, in_thread

SECRET = "the marmot whistles twice"


@pytest.fixture
def facts():
    """What the core tells."""
    found: list[Fact] = []
    forget = observe(found.append)
    yield found
    forget()


def named(found, name):
    return [fact for fact in found if fact.name == name]


def figures(server):
    with server.client() as client:
        text = client.get(f"{server.url}/metrics").text
    rows = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in rows}, text


def test_the_figures_come_in_a_type_that_prometheus_takes(tmp_path):
    with in_thread(tmp_path / "store") as server, server.client() as client:
        kind = client.get(f"{server.url}/metrics").headers["content-type"]
    assert kind == "text/plain; version=0.0.4; charset=utf-8"


@pytest.mark.req(
    "S002-188", "S002-189", "S002-190", "S002-191", "S002-192", "S002-193", "S002-194", "S002-195"
)
def test_the_eight_metrics_are_counted_and_hold_no_content(tmp_path):
    root = tmp_path / "store"
    with in_thread(root) as server, server.client() as client:
        session = client.post("/sessions", json={"user_id": "ann"}).json()["id"]
        for n in range(5):
            entry = {"type": "note", "content": f"{SECRET} {n}"}
            client.post(f"/sessions/{session}/entries", json=entry)
        client.post("/search", json={"text": SECRET, "kinds": ["entry"]})
        plan = client.post(
            "/plans", json={"action": "compact", "selector": {"session_id": session}}
        ).json()
        client.post(f"/plans/{plan['plan_id']}/run", json={"confirm": True})
        assert server.built is not None
        server.built.house.jobs._pool.shutdown(wait=True)
        log = next((root / "sessions" / session).glob("memory*.jsonl"))
        with log.open("ab") as file:
            file.write(b"damaged\n")
        client.post(f"/sessions/{session}/entries", json={"type": "note", "content": "after it"})
        found, text = figures(server)
    assert found["memory_sessions_active"] == 1
    assert found["memory_entries_total"] == 6
    assert found["memory_size_bytes"] > 0
    assert found["memory_operations_write_duration_ms_count"] == 6
    assert found["memory_operations_query_duration_ms_count"] == 1
    assert found["memory_locks_contention_count_total"] >= 0
    assert found["memory_compaction_count_total"] == 1
    assert found["memory_errors_corruption_count"] == 1
    assert SECRET not in text
    assert session not in text


def test_charts_that_ask_at_once_begin_with_one_and_the_same_moment(tmp_path):
    names = ["memory.size.bytes", "memory.entries.total", "memory.sessions.active"] * 4
    with in_thread(tmp_path / "store") as server, ThreadPoolExecutor(len(names)) as pool:

        def ask(name):
            with server.client() as client:
                return client.get("/stats/series", params={"metric": name}).json()["t"]

        begins = list(pool.map(ask, names))
    assert [len(one) for one in begins] == [1] * len(names)
    assert len({one[0] for one in begins}) == 1


@pytest.mark.req("S002-193")
def test_a_writer_that_finds_the_lock_taken_is_counted(tmp_path, facts):
    with Memory.open(tmp_path / "store", settings={"concurrency.lock_timeout_ms": 50}) as memory:
        session = memory.create_session().id
        memory.add_memory(session, type="note", content="first")
        with Memory.open(tmp_path / "store") as other, other.brought_back(session):
            pass
        lock = (tmp_path / "store" / "sessions" / session / "lock").open("r+b")
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LockTimeoutError):
            memory.add_memory(session, type="note", content="second")
        lock.close()
    assert len(named(facts, "lock.contended")) >= 1
    assert len(named(facts, "lock.timeout")) == 1


@pytest.mark.req("S002-196", "S002-197", "S002-198", "S002-199")
def test_each_kind_of_event_has_its_level():
    levels = {name: logging.getLevelName(level) for name, (level, _) in logs.LEVELS.items()}
    for name in ("lock.acquired", "lock.released", "cache.hit", "cache.miss"):
        assert levels[name] == "DEBUG"
    for name in ("session.created", "session.archived", "compaction.started", "compaction.ended"):
        assert levels[name] == "INFO"
    assert levels["lock.timeout"] == levels["size.near_limit"] == "WARNING"
    assert levels["damage"] == "ERROR"


@pytest.mark.req("S002-196", "S002-197", "S002-198")
def test_the_core_tells_of_locks_caches_sessions_compactions_and_full_logs(tmp_path, facts):
    small = {"storage.max_session_size_mb": 0.0022, "compaction.auto": False}
    with Memory.open(tmp_path / "store", settings=small) as memory:
        session = memory.create_session().id
        for _ in range(6):
            memory.add_memory(session, type="note", content="x" * 100)
        memory.compact_session(session)
        memory.archive_session(session)
        memory.restore_session(session)
        memory.delete_session(session)
    names = {fact.name for fact in facts}
    assert {"lock.acquired", "lock.released", "cache.hit", "cache.miss"} <= names
    assert {"session.created", "session.archived", "session.restored", "session.deleted"} <= names
    assert "size.near_limit" in names
    assert all(isinstance(value, int | float) for fact in facts for value in fact.numbers.values())


@pytest.mark.req("S002-201")
def test_a_compaction_says_how_much_went_and_how_long_it_took(tmp_path, facts):
    with Memory.open(tmp_path / "store") as memory:
        session = memory.create_session().id
        done = memory.add_memory(session, type="note", content="x")
        memory.update_memory(session, done.id, content="y")
        memory.compact_session(session)
    [ended] = named(facts, "compaction.ended")
    assert len(named(facts, "compaction.started")) == 1
    assert (ended.numbers["entries_before"], ended.numbers["entries_after"]) == (1, 1)
    assert ended.numbers["size_reduction_mb"] > 0
    assert ended.numbers["duration_ms"] > 0


@pytest.mark.req("S002-199", "S002-200")
def test_the_log_is_json_lines_without_content(tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMOLOG_SERVER_LOG_LEVEL", "debug")
    root = tmp_path / "store"
    with in_process(root) as (server, process):
        with server.client() as client:
            session = client.post("/sessions", json={"user_id": "ann"}).json()["id"]
            entry = {"type": "note", "content": SECRET, "tags": ["marmot"]}
            client.post(f"/sessions/{session}/entries", json=entry)
            client.post("/search", json={"text": SECRET})
            client.get("/sessions", params={"q": SECRET})
            client.get(f"/nodes/{SECRET}")
            log = next((root / "sessions" / session).glob("memory*.jsonl"))
            with log.open("ab") as file:
                file.write(b"damaged\n")
            client.post(f"/sessions/{session}/entries", json=entry)
            client.get(f"/sessions/{session}/entries")
        process.terminate()
        _, errors = process.communicate(timeout=60)
    lines = [json.loads(line) for line in errors.splitlines()]
    wanted = {"timestamp", "level", "component", "session_id", "message", "metadata"}
    assert all(set(line) == wanted for line in lines)
    assert {"DEBUG", "INFO", "ERROR"} <= {line["level"] for line in lines}
    assert "marmot" not in errors
    routes = {line["metadata"].get("route") for line in lines if line["message"] == "request"}
    assert "/api/v1/sessions/{session_id}/entries" in routes
    assert "/api/v1/nodes/{user}" in routes
    assert [line for line in lines if line["message"] == "damage" and line["level"] == "ERROR"]
    assert [line for line in lines if line["message"] == "session.created"]


FAILING = """
import asyncio, logging, threading
from concurrent.futures import Future
from mnemolog.faces.http import logs
logs.begin("info")

def fail():
    raise KeyError("marmot")

async def failing():
    asyncio.get_running_loop().call_soon(fail)
    asyncio.get_running_loop().create_task(asyncio.to_thread(fail))
    await asyncio.sleep(0.2)

threading.Thread(target=fail).start()
asyncio.run(failing())
future = Future()
future.add_done_callback(lambda _: fail())
future.set_result("marmot")
logging.getLogger("mcp.server").warning("dropped %r: malformed", "marmot")
"""


def test_what_fails_beside_the_requests_is_told_on_lines_of_json_without_content():
    ran = subprocess.run(
        [sys.executable, "-c", FAILING], capture_output=True, text=True, check=True, timeout=60
    )
    lines = [json.loads(line) for line in ran.stderr.splitlines()]
    *failed, dropped = lines
    assert [line["metadata"]["kind"] for line in failed] == ["KeyError"] * 4
    assert all("fail" in line["metadata"]["at"][-1] for line in failed)
    assert (dropped["component"], dropped["message"]) == ("mcp.server", "dropped %r: malformed")
    assert "marmot" not in ran.stderr


def test_a_flood_of_refusals_is_one_warning_a_second_with_their_count(tmp_path):
    root = tmp_path / "store"
    with in_process(root) as (server, process):
        with server.client() as client:
            with ExitStack() as open_streams:
                for _ in range(64):
                    open_streams.enter_context(client.stream("GET", "/events"))
                refused = [client.get("/events").status_code for _ in range(40)]
            time.sleep(1.0)  # what was not told yet goes with the next request after a second
            client.get("/me")
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert refused == [503] * 40
    lines = [json.loads(line) for line in errors.splitlines()]
    busy = [line for line in lines if line["message"] == "busy"]
    assert {line["level"] for line in lines} == {"WARN"}
    assert sum(line["metadata"]["refused"] for line in busy) == 40
    assert len(busy) < 40


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_error_of_the_server(tmp_path):
    with in_process(tmp_path / "store") as (server, process):
        host, _, port = server.host.partition(":")
        with socket.create_connection((host, int(port)), timeout=60) as wire:
            head = f"POST /api/v1/sessions HTTP/1.1\r\nHost: {server.host}\r\n"
            wire.sendall(f"{head}Authorization: Bearer {server.token}\r\n".encode())
            wire.sendall(b"Content-Type: application/json\r\nContent-Length: 5000\r\n\r\n{")
            wire.shutdown(socket.SHUT_WR)
            assert not wire.recv(1000).startswith(b"HTTP/1.1 5")
        statuses = [line for line in figures(server)[1].splitlines() if "/api/v1/sessions" in line]
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert [line for line in statuses if 'status="5' in line] == []
    assert errors == ""


def test_what_is_no_http_at_all_leaves_the_log_alone(tmp_path):
    """Else whoever reaches the port could fill the disk with it."""
    with in_process(tmp_path / "store") as (server, process):
        host, _, port = server.host.partition(":")
        for nonsense in (b"\x16\x03\x01\x02\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n"):
            with socket.create_connection((host, int(port)), timeout=60) as wire:
                wire.sendall(nonsense)
                assert wire.recv(1000).startswith(b"HTTP/1.1 400")
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert errors == ""


def test_large_figures_are_told_to_the_last_digit(tmp_path):
    figures = Figures()
    figures.note(Fact("query", None, {"duration_ms": 1_234_567.25}))
    with Memory.open(tmp_path / "store", environ={}) as memory:
        text = figures.text(memory)
    assert "memory_operations_query_duration_ms_sum 1234567.25\n" in text


@pytest.fixture(scope="module")
def exported():
    """What a real OpenTelemetry SDK exports, in memory."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    yield exporter
    provider.shutdown()


ASKED = {"OTEL_TRACES_EXPORTER": "otlp"}


def test_spans_are_made_only_where_an_exporter_is_configured():
    assert spans.observer({}) is None
    assert spans.observer({"OTEL_TRACES_EXPORTER": "none"}) is None
    assert spans.observer({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}) is None
    assert spans.observer(ASKED) is not None


def test_each_write_search_and_compaction_is_a_span_without_content(tmp_path, exported):
    note = spans.observer(ASKED)
    assert note is not None
    forget = observe(note)
    try:
        with Memory.open(tmp_path / "store", environ={}) as memory:
            session = memory.create_session("ann").id
            for number in range(3):
                memory.add_memory(session, type="note", content=f"{SECRET} {number}")
            memory.query(session, text=SECRET)
            memory.compact_session(session)
    finally:
        forget()
    made = exported.get_finished_spans()
    assert [one.name for one in made] == [
        *["gen_ai.memory.write"] * 3, "gen_ai.memory.search", "gen_ai.memory.compact",
    ]  # fmt: skip
    for one in made:
        took = (one.end_time - one.start_time) / 1e6
        told = one.attributes[f"{one.name}.duration_ms"]
        assert abs(took - told) < 0.01
        assert one.attributes["gen_ai.operation.name"] == one.name.rpartition(".")[2]
        assert one.instrumentation_scope.name == "mnemolog"
        assert one.status.is_ok or one.status.is_unset
        assert SECRET not in one.to_json()
        assert session not in one.to_json()
        assert "ann" not in str(dict(one.attributes))
