"""Whoever means harm, or is merely in a hurry: floods, races, confusion, stale and forged keys."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from urllib.parse import quote

import httpx2
import pytest

from mnemolog.faces.http import feeds, jobs, plans, serving
from mnemolog.faces.http.door import Arrival
from mnemolog.faces.http.house import Caller
from mnemolog.faces.http.jobs import Jobs, Work
from mnemolog.faces.http.limits import Rate
from mnemolog.faces.http.passes import NOBODY, Pass, Scope
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.mcp.binding import bind
from mnemolog.stores.files.serving.job_file import JobFile
from mnemolog.stores.files.serving.token_file import TokenFile
from tests.faces.http import servers
from tests.faces.http.servers import finished, in_thread, wait_until


def wire_to(server):
    host, _, port = server.host.partition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def asked(server, target, *, token="", host=None, extra=""):
    """The first line of the answer to a request that is sent as it is."""
    sent = f"Authorization: Bearer {token}\r\n" if token else ""
    with wire_to(server) as wire:
        head = f"GET {target} HTTP/1.1\r\nHost: {host or server.host}\r\n{sent}{extra}"
        wire.sendall(f"{head}Connection: close\r\n\r\n".encode("latin-1"))
        found = b""
        while chunk := wire.recv(65536):
            found += chunk
    return found


def status(answer):
    return int(answer.split(b" ", 2)[1])


def narrow(*address):
    """A port whose connections take little in before somebody reads it."""
    listening = bind(*address)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return listening


def at_once(count, call):
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(call, range(count)))


# --- the door


CONFUSING = [
    "/api/v1/downloads/../sessions",
    "/api/v1/downloads//../sessions",
    "/api/v1/downloads/..%2fsessions",
    "/api/v1/downloads/%2e%2e/sessions",
    "/api/v1/login/../sessions",
    "/api/v1/login/sessions",
    "//api/v1/sessions",
    "/api//v1/sessions",
    "/API/v1/sessions",
    "/static/../api/v1/sessions",
    "/healthz/../api/v1/sessions",
    "/api/v1/sessions;/healthz",
    "/api/v1/sessions?x=/healthz",
    "/api/v1/metrics",
    "/metrics/",
    "/mcp/",
    "/mcp/../api/v1/sessions",
]


@pytest.mark.parametrize("target", CONFUSING)
def test_no_spelling_of_a_path_leads_past_the_token(server, session, target):
    answer = asked(server, target)
    assert status(answer) in (400, 401, 404, 405)
    assert session.encode() not in answer


@pytest.mark.parametrize("target", ["*", "x", "sessions", "http://elsewhere/"])
def test_a_target_that_is_no_path_is_no_failure(server, target):
    assert status(asked(server, target)) in (200, 404)


def test_a_pass_that_needs_no_token_opens_no_memory(server):
    """Were a request ever taken to the wrong route, it would still see nothing."""
    caller = Caller(server.built.house, Arrival("r", Pass(NOBODY, NOBODY), Scope()))
    with pytest.raises(RefusedError) as refused:
        caller.memory.list_sessions()
    assert refused.value.status == 401
    with pytest.raises(RefusedError):
        caller.owner("do anything")


def test_a_host_must_be_spelled_as_this_server_is_called(server):
    port = server.host.rpartition(":")[2]
    for right in (f"127.0.0.1:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        assert status(asked(server, "/healthz", host=right)) == 200
    for wrong in (
        "127.0.0.1", "localhost", f"localhost.:{port}", f"127.0.0.1.nip.io:{port}",
        f"127.1:{port}", f"0.0.0.0:{port}", f"evil@127.0.0.1:{port}", f"127.0.0.1:{port}1",
        f"127.0.0.1:{port}, evil.example", "[::]:80", f"2130706433:{port}", "evil.example",
    ):  # fmt: skip
        assert status(asked(server, "/healthz", host=wrong)) in (400, 421), wrong
    twice = asked(server, "/healthz", extra="Host: evil.example\r\n")
    assert status(twice) in (400, 421)
    whole = asked(server, f"http://evil.example:{port}/api/v1/me", token=server.token)
    assert status(whole) in (400, 404, 421)


def test_pages_of_no_other_origin_come_in(server):
    for wrong in (
        "null", "http://evil.example", f"http://{server.host}.evil.example", "file://",
        f"https://{server.host}@evil.example", f"http://{server.host}/", "http://127.0.0.1:1",
    ):  # fmt: skip
        extra = f"Origin: {wrong}\r\n"
        assert status(asked(server, "/api/v1/me", token=server.token, extra=extra)) == 403, wrong
    two = f"Origin: http://{server.host}\r\nOrigin: http://evil.example\r\n"
    assert status(asked(server, "/api/v1/me", token=server.token, extra=two)) == 403


def test_a_flood_of_headers_is_refused_and_others_are_served(server):
    flood = "".join(f"X-{n}: {'y' * 100}\r\n" for n in range(5000))
    with wire_to(server) as wire:
        try:
            wire.sendall(f"GET /healthz HTTP/1.1\r\nHost: {server.host}\r\n{flood}\r\n".encode())
            answer = wire.recv(65536)
        except (BrokenPipeError, ConnectionResetError):
            answer = b""
    assert b" 200 " not in answer[:20]
    assert status(asked(server, "/healthz")) == 200


def test_a_body_whose_length_is_told_twice_ends_the_connection_with_it(server):
    """What a proxy took for the body's end must not become a request of somebody else's."""
    hidden = f"GET /healthz HTTP/1.1\r\nHost: {server.host}\r\n\r\n"
    head = f"POST /api/v1/search HTTP/1.1\r\nHost: {server.host}\r\n"
    token = f"Authorization: Bearer {server.token}\r\n"
    lengths = f"Content-Length: {5 + len(hidden)}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with wire_to(server) as wire:
        wire.sendall(f"{head}{token}{lengths}0\r\n\r\n{hidden}".encode())
        found = b""
        while chunk := wire.recv(65536):
            found += chunk
    assert status(found) == 400
    assert found.count(b"HTTP/1.1 ") == 1
    assert b"E_FRAMING" in found


def test_a_second_request_that_never_comes_whole_is_given_up_like_a_first_one(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(serving, "_HEADER_SECONDS", 0.5)
    with in_thread(tmp_path / "store") as server, wire_to(server) as wire:
        whole = f"GET /healthz HTTP/1.1\r\nHost: {server.host}\r\n\r\n".encode()
        for _ in range(2):  # a connection may be used again, as long as it is used
            wire.sendall(whole)
            answer = b""
            while b'"ok"}' not in answer:
                answer += wire.recv(65536)
            assert b" 200 " in answer[:20]
            time.sleep(0.1)
        wire.sendall(b"GET /healthz HT")
        wire.settimeout(20)
        assert wire.recv(65536) == b"", "the server hung up"


def test_connections_that_ask_nothing_make_room_for_those_that_do(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "_most_connections", lambda: 20)
    with in_thread(tmp_path / "store") as server, ExitStack() as open_wires:
        with server.client() as client:
            assert client.get("/me").status_code == 200
            told = client.stream("GET", "/events", params={"topics": "job"})
            open_wires.enter_context(told)
            silent = [open_wires.enter_context(wire_to(server)) for _ in range(100)]
            with server.client() as late:
                assert late.get("/me").status_code == 200
        silent[0].settimeout(30)
        assert silent[0].recv(1) == b"", "the one that was silent longest was let go"


def test_connections_whose_answers_nobody_reads_make_room_for_those_that_ask(tmp_path, monkeypatch):
    monkeypatch.setattr(servers, "bind", narrow)
    monkeypatch.setattr(serving, "_most_connections", lambda: 20)
    with in_thread(tmp_path / "store") as server, ExitStack() as open_wires:
        asks = f"GET /static/vendor/preact.js HTTP/1.1\r\nHost: {server.host}\r\n\r\n" * 20
        deaf = [open_wires.enter_context(wire_to(server)) for _ in range(20)]
        for wire in deaf:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            wire.sendall(asks.encode())
        wait_until(lambda: servers.answers(server))


def test_only_so_many_streams_are_open_at_once(server, monkeypatch):
    monkeypatch.setattr(feeds, "_MOST_READERS", 1)
    with server.client() as client, client.stream("GET", "/events") as first:
        assert first.status_code == 200
        busy = client.get("/events")
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "5")
        assert client.get("/me").status_code == 200


def test_methods_that_nobody_knows_are_counted_as_one(server, owner):
    for number in range(30):
        with wire_to(server) as wire:
            head = f"M{number} /api/v1/me HTTP/1.1\r\nHost: {server.host}\r\n"
            wire.sendall(f"{head}Connection: close\r\n\r\n".encode())
            wire.recv(65536)
    text = owner.get(f"{server.url}/metrics").text
    assert 'method="OTHER"' in text
    assert 'method="M1"' not in text


# --- keys


def test_a_sign_in_code_is_good_for_one_of_many_who_use_it_at_once(server):
    code = server.built.house.desk.new_code()

    def sign_in(_):
        return httpx2.post(f"{server.url}/api/v1/login", json={"code": code}, timeout=60)

    answers = at_once(8, sign_in)
    assert sorted(one.status_code for one in answers) == [200] + [401] * 7


def test_guessing_codes_is_slowed_down(tmp_path):
    with in_thread(tmp_path / "store") as server:
        assert server.built is not None
        server.built.app._failures = Rate(120, 60, clock=lambda: 0.0)
        url = f"{server.url}/api/v1/login"
        found = [httpx2.post(url, json={"code": f"{n}"}).status_code for n in range(64)]
    assert found == [401] * 60 + [429] * 4


def test_a_ticket_is_good_for_one_of_many_who_use_it_at_once(server, owner, session):
    job = finished(owner, owner.post("/exports", json={"session_id": session}).json()["id"])
    ticket = job["result"]["ticket"]
    answers = at_once(8, lambda _: httpx2.get(f"{server.url}/api/v1/downloads/{ticket}"))
    assert sorted(one.status_code for one in answers) == [200] + [404] * 7


def test_a_token_file_that_is_edited_counts_at_once_and_shuts_when_it_is_torn(server, owner):
    kept = TokenFile(str(server.root))
    token, made = kept.issue("scoped", datetime.now(UTC), None, agents=("architect",))
    path = server.root / "tokens.toml"
    whole = path.read_text()
    with server.client(token) as client:
        assert client.get("/sessions").status_code == 200
        path.write_text(whole[: len(whole) // 2] + '"')
        torn = client.get("/sessions")
        assert (torn.status_code, torn.json()["code"]) == (401, "E_TOKEN")
        assert owner.get("/me").status_code == 200, "the owner's token is another file"
        path.write_text(whole.replace("architect", "analyst"))
        assert client.get("/me").json()["agent"] == "analyst"
        path.write_text(whole.replace(made.hash, "sha256:" + "0" * 64))
        assert client.get("/me").status_code == 401
        path.write_text(whole)
        assert client.get("/me").json()["agent"] == "architect"


def a_folder(path, whole):
    path.unlink()
    path.mkdir()


def a_link(path, whole):
    path.rename(path.with_suffix(".kept"))
    path.symlink_to(path.with_suffix(".kept"))


def nested(path, whole):
    path.write_text("token = " + "[" * 20_000)


@pytest.mark.parametrize("spoil", [a_folder, a_link, nested])
def test_a_token_file_that_cannot_be_read_leaves_the_owners_token_alone(tmp_path, spoil):
    path = tmp_path / "store" / "tokens.toml"
    with in_thread(tmp_path / "store") as server:
        kept = TokenFile(str(server.root))
        token, _ = kept.issue("scoped", datetime.now(UTC), None, agents=("architect",))
        with (
            server.client(token) as client,
            server.client() as owner,
            client.stream("GET", "/events", params={"topics": "job"}) as stream,
        ):
            lines = stream.iter_lines()
            assert next(lines).startswith("retry")
            spoil(path, path.read_text())
            refused = client.get("/me")
            assert (refused.status_code, refused.json()["code"]) == (401, "E_TOKEN")
            assert owner.get("/me").status_code == 200
            assert server.built is not None
            server.built.house.feeds.publish("job", Scope("architect"), id="job_1")
            assert [line for line in lines if line.startswith("data")] == []


# --- plans and jobs


def test_a_plan_that_many_run_at_once_is_run_once(server, owner, session):
    selector = {"session_id": session}
    made = owner.post("/plans", json={"action": "clear_session", "selector": selector}).json()
    path = f"{server.url}/api/v1/plans/{made['plan_id']}/run"
    headers = {"Authorization": f"Bearer {server.token}"}

    def run(_):
        return httpx2.post(path, json={"confirm": True}, headers=headers, timeout=60)

    answers = at_once(8, run)
    statuses = sorted(one.status_code for one in answers)
    assert statuses[0] == 200
    assert set(statuses[1:]) <= {404, 409}
    lines = (server.root / "sessions" / session / "memory.jsonl").read_text().splitlines()
    marks = [json.loads(line)["target"] for line in lines if '"type":"tombstone"' in line]
    assert len(marks) == len(set(marks)) == 3


def test_of_many_who_write_a_node_against_the_same_text_one_wins(server, owner):
    first = owner.put("/nodes/ann/raced", json={"body": "base"}).json()
    headers = {"Authorization": f"Bearer {server.token}", "If-Match": first["hash"]}

    def write(number):
        body = {"body": f"text of {number}"}
        path = f"{server.url}/api/v1/nodes/ann/raced"
        return httpx2.put(path, json=body, headers=headers, timeout=60)

    answers = at_once(8, write)
    won = [n for n, one in enumerate(answers) if one.status_code == 200]
    assert sorted(one.status_code for one in answers) == [200] + [412] * 7
    assert owner.get("/nodes/ann/raced").json()["body"].strip() == f"text of {won[0]}"


def test_of_many_who_revise_the_same_entry_against_the_same_revision_one_wins(
    server, owner, session
):
    entry = owner.get(f"/sessions/{session}/entries").json()["items"][0]["entry"]
    path = f"{server.url}/api/v1/sessions/{session}/entries/{entry['id']}"
    headers = {"Authorization": f"Bearer {server.token}"}

    def revise(number):
        body = {"content": f"text of {number}", "expected_seq": entry["seq"]}
        return httpx2.patch(path, json=body, headers=headers, timeout=60)

    assert sorted(one.status_code for one in at_once(8, revise)) == [200] + [409] * 7


@pytest.fixture
def row(tmp_path):
    """A row of jobs over a fresh folder, and a way to let its work go on."""
    found = Jobs(JobFile(str(tmp_path)), lambda job, scope: None)
    yield found
    found.close()


def held_up(action, gate, steps):
    def call(progress):
        for number in range(3):
            gate.wait(30)
            progress(number, 3)
            steps.append(number)
        return {}

    return Work(action, "steps", call)


def over(row, job):
    wait_until(lambda: job.ended_at is not None)
    return row.get(job.id, Scope()).state


def test_what_must_run_to_its_end_does_whenever_somebody_cancels_it(row):
    gate, steps = threading.Event(), list[int]()
    job = row.begin(held_up("erase", gate, steps), Scope())
    wait_until(lambda: job.state == "running")
    with pytest.raises(RefusedError) as refused:
        row.cancel(job.id, Scope())
    assert refused.value.code == "E_JOB_RUNS"
    gate.set()
    assert over(row, job) == "done"
    assert steps == [0, 1, 2]
    assert row.cancel(job.id, Scope()).state == "done", "too late is no error"


def test_a_job_that_waits_is_never_begun_once_it_is_cancelled(row):
    gate, steps = threading.Event(), list[int]()
    first = [row.begin(held_up("erase", gate, []), Scope()) for _ in range(2)]
    waiting = row.begin(held_up("erase", gate, steps), Scope())
    row.cancel(waiting.id, Scope())
    gate.set()
    assert over(row, waiting) == "cancelled"
    assert steps == []
    assert {over(row, one) for one in first} == {"done"}


def test_cancelling_while_jobs_end_never_fails(row):
    gate = threading.Event()
    gate.set()
    for _ in range(60):
        job = row.begin(held_up("export", gate, []), Scope())
        at_once(2, lambda _, job=job: row.cancel(job.id, Scope()))
        assert over(row, job) in ("done", "cancelled")


def test_a_job_that_fails_unexpectedly_is_told_in_the_log_without_what_it_said(row, caplog):
    def call(progress):
        raise KeyError("hidden words")

    job = row.begin(Work("export", "files", call), Scope())
    with caplog.at_level("ERROR", "mnemolog"):
        assert over(row, job) == "failed"
    [record] = [one for one in caplog.records if one.getMessage() == "unexpected"]
    assert record.facts["kind"] == "KeyError"
    assert "hidden words" not in str(vars(record))


def test_a_row_that_is_too_long_takes_no_more_and_forgets_none_that_waits(row, monkeypatch):
    monkeypatch.setattr(jobs, "_MOST_KEPT", 5)
    monkeypatch.setattr(jobs, "_MOST_OPEN", 20)
    gate = threading.Event()
    known = [row.begin(held_up("erase", gate, []), Scope()) for _ in range(20)]
    with pytest.raises(RefusedError) as refused:
        row.begin(held_up("erase", gate, []), Scope())
    assert refused.value.status == 503
    assert {one.id for one in row.all(Scope())} == {one.id for one in known}
    gate.set()
    assert {over(row, one) for one in known} == {"done"}
    row.begin(held_up("erase", gate, []), Scope())
    assert len(row.all(Scope())) <= 6


def test_a_scope_makes_nobody_elses_jobs_forgotten(row, monkeypatch):
    monkeypatch.setattr(jobs, "_MOST_KEPT", 10)
    work = Work("verify", "files", lambda progress: {})
    owned = row.begin(work, Scope())
    assert over(row, owned) == "done"
    for _ in range(20):
        assert over(row, row.begin(work, Scope("greedy"))) == "done"
    known = row.all(Scope())
    assert owned.id in {one.id for one in known}
    assert len(known) <= 11


def test_scopes_that_have_many_jobs_leave_room_for_others_and_for_the_owner(row):
    gate = threading.Event()

    def begun(scope):
        return row.begin(held_up("erase", gate, []), scope)

    def many(scope):
        taken = 0
        with suppress(RefusedError):
            while begun(scope):
                taken += 1
        return taken

    assert [many(Scope(name)) for name in "abcdef"] == [20, 20, 20, 20, 0, 0]
    with pytest.raises(RefusedError, match="Too many jobs") as refused:
        begun(Scope("a"))
    assert refused.value.status == 503
    assert many(Scope()) == 20
    gate.set()


def test_plans_of_one_scope_do_not_push_out_those_of_others(server, monkeypatch):
    monkeypatch.setattr(plans, "_MOST", 10)
    asked = {"action": "delete", "selector": {"tags": ["old"]}}
    with server.client() as owner, server.client(**{"Mnemolog-User": "greedy"}) as greedy:
        plan = owner.post("/plans", json=asked).json()
        for _ in range(30):
            assert greedy.post("/plans", json=asked).status_code == 201
        assert len(server.built.house.plans._made) == 10
        confirm = {"confirm": True}
        assert owner.post(f"/plans/{plan['plan_id']}/run", json=confirm).status_code == 200


def test_a_list_of_jobs_that_nobody_can_read_stops_no_start(tmp_path):
    (tmp_path / "index").mkdir()
    listed = [{"id": "job_1"}, {"id": 5, "action": []}, "x", {"id": "job_2", "action": "erase",
              "started_at": "2026-11-15T09:00:00.000Z", "state": "running"}]  # fmt: skip
    (tmp_path / "index" / "server-jobs.json").write_text(json.dumps(listed))
    found = Jobs(JobFile(str(tmp_path)), lambda job, scope: None)
    assert [(one.id, one.state) for one in found.all(Scope())] == [("job_2", "interrupted")]
    found.close()


# --- streams


def test_scopes_that_nobody_follows_any_more_make_room_for_others(server):
    owned = server.built.house.feeds
    for number in range(feeds._MOST_FEEDS + 4):
        with (
            server.client(**{"Mnemolog-Agent": f"a{number}"}) as client,
            client.stream("GET", "/events") as answer,
        ):
            assert answer.status_code == 200
        wait_until(lambda n=number: owned.of(Scope(f"a{n}")).idle_since() is not None)
    assert len(owned._feeds) <= feeds._MOST_FEEDS


def test_scopes_that_are_followed_keep_nobody_out_who_sees_everything(tmp_path, monkeypatch):
    monkeypatch.setattr(feeds, "_MOST_FEEDS", 2)
    with in_thread(tmp_path / "store") as server, ExitStack() as open_streams:
        for user, told in (("a", 200), ("b", 200), ("c", 503), ("", 200)):
            named = {"Mnemolog-User": user} if user else {}
            client = open_streams.enter_context(server.client(**named))
            stream = open_streams.enter_context(client.stream("GET", "/events"))
            assert stream.status_code == told


def test_a_feed_that_nobody_follows_for_a_while_stops_to_look(server, monkeypatch):
    owned = server.built.house.feeds
    feed = owned.of(Scope("left"))
    monkeypatch.setattr(feeds, "_IDLE_SECONDS", 0.0)
    owned.sweep()
    assert Scope("left") not in owned._feeds
    feed.join_threads()
    assert not any(thread.is_alive() for thread in feed._threads)


def test_what_is_written_right_after_a_stream_began_is_told(tmp_path):
    with in_thread(tmp_path / "store") as server, server.client() as client:
        sid = client.post("/sessions", json={"agent_ids": ["late"]}).json()["id"]
        for agent in ("", "late"):
            named = {"Mnemolog-Agent": agent} if agent else {}
            with (
                server.client(**named) as reader,
                reader.stream("GET", "/events", params={"topics": "entry"}) as answer,
            ):
                done = server.memory.add_memory(sid, type="note", content=f"for {agent}")
                line = next(line for line in answer.iter_lines() if line.startswith("data: "))
                assert json.loads(line.removeprefix("data: "))["id"] == done.id


def test_a_client_that_never_reads_its_stream_costs_a_short_queue(server, owner, session):
    with wire_to(server) as wire:
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.sendall(
            f"GET /api/v1/events HTTP/1.1\r\nHost: {server.host}\r\n"
            f"Authorization: Bearer {server.token}\r\n\r\n".encode()
        )
        feed = server.built.house.feeds.of(Scope())
        wait_until(lambda: feed.idle_since() is None)
        for number in range(20_000):
            feed.publish("job", id=f"job_{number}", text="x" * 50)
        [reader] = list(feed._readers)
        wait_until(lambda: reader._queue.qsize() <= feeds._WAITING)
        assert owner.get("/me").status_code == 200
    wait_until(lambda: feed.idle_since() is not None)


def test_a_client_that_never_reads_does_not_hold_up_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 600)
    monkeypatch.setattr(serving, "_UNREAD_SECONDS", 0.2)
    with in_thread(tmp_path / "store") as server:
        wire = wire_to(server)
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.sendall(
            f"GET /api/v1/events HTTP/1.1\r\nHost: {server.host}\r\n"
            f"Authorization: Bearer {server.token}\r\n\r\n".encode()
        )
        assert server.built is not None
        feed = server.built.house.feeds.of(Scope())
        wait_until(lambda: feed.idle_since() is None)
        for _ in range(200):
            for _ in range(100):
                feed.publish("job", text="x" * 500)
            time.sleep(0.005)
    wire.close()


def test_the_rest_of_an_answer_that_nobody_reads_does_not_hold_up_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(servers, "bind", narrow)
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 600)
    monkeypatch.setattr(serving, "_UNREAD_SECONDS", 0.2)
    with in_thread(tmp_path / "store") as server:
        wire = socket.socket()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        host, _, port = server.host.partition(":")
        wire.connect((host, int(port)))
        # Little enough to be handed over as a whole, and too much for what lies between.
        head = f"GET /static/vendor/preact.js HTTP/1.1\r\nHost: {server.host}\r\n\r\n"
        wire.sendall(head.encode() * 2)
        assert wire.recv(1) == b"H"
    wire.close()


def test_a_body_that_does_not_come_does_not_hold_up_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 600)
    monkeypatch.setattr(serving, "_UNREAD_SECONDS", 0.2)
    with in_thread(tmp_path / "store", {"server.body_seconds": 3600}) as server:
        wire = wire_to(server)
        wire.sendall(
            f"POST /api/v1/search HTTP/1.1\r\nHost: {server.host}\r\nContent-Length: 9\r\n"
            f"Authorization: Bearer {server.token}\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        assert wire.recv(100).startswith(b"HTTP/1.1 100"), "it is waited for"
    assert wire.recv(100) == b""
    wire.close()


LONG = "é" * 150
STRANGE = [
    "a" * 300,
    LONG,
    "a\u0000b",
    "\u0000",
    "~root",
    "a\nb",
    "\x7f",
    "\ufeffid",
    "𝕩" * 100,
]


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_id_means_the_same_thing_by_every_route_or_is_refused(server, owner, name):
    made = owner.post("/sessions", json={"session_id": name, "user_id": "u"})
    if made.status_code != 201:
        assert made.status_code == 400, made.text
        return
    address = f"/sessions/{quoted(name)}"
    entry = {"type": "note", "content": "here", "id": name}
    stored = owner.post(f"{address}/entries", json=entry)
    assert stored.status_code in (201, 400)
    assert owner.get(address).json()["id"] == name
    assert owner.get(f"{address}/minimap").status_code == 200
    if stored.status_code == 201:
        told = owner.get(f"{address}/entries/{quoted(name)}").json()
        assert told["entry"]["id"] == name
        assert owner.get(f"{address}/entries/{quoted(name)}/raw").json()["sum_ok"]


def test_an_id_of_dots_is_found_by_whoever_sends_it_as_it_is(server, owner):
    """Most clients take a part of a path that is only dots for a way up, however it is spelled."""
    for name in (".", ".."):
        assert owner.post("/sessions", json={"session_id": name}).status_code == 201
        target = "/api/v1/sessions/" + name.replace(".", "%2E")
        answer = asked(server, target, token=server.token)
        assert f'"id":"{name}"'.encode() in answer


def quoted(name):
    return quote(name, safe="")
