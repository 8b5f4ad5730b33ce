"""A huge body, a slow client and many slow requests stand in nobody's way."""

import socket
import sys
import threading
import time

import pytest

from mnemolog.faces.http.tickets import Tickets
from tests.faces.http.servers import in_thread


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    settings = {"server.max_body_mb": 0.1, "server.body_seconds": 1.0, "server.threads": 4}
    with in_thread(tmp_path_factory.mktemp("limits") / "store", settings) as server:
        yield server


def raw(server, head, *pieces, pause=0.0):
    """Send bytes as they are; what came back."""
    host, _, port = server.host.partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as wire:
        try:
            wire.sendall(head.encode())
            for piece in pieces:
                time.sleep(pause)
                wire.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has heard enough
        found = b""
        try:
            while chunk := wire.recv(65536):
                found += chunk
        except ConnectionResetError:
            pass
    return found


def head_of(server, extra):
    return (
        f"POST /api/v1/sessions HTTP/1.1\r\nHost: {server.host}\r\n"
        f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n{extra}\r\n\r\n"
    )


def test_a_body_that_says_it_is_huge_is_refused_before_it_comes(small):
    told = raw(small, head_of(small, "Content-Length: 1000000000"))
    assert told.startswith(b"HTTP/1.1 413")
    assert b"E_SIZE_LIMIT" in told


def test_a_body_without_a_length_is_refused_as_soon_as_it_is_too_long(small):
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    told = raw(small, head_of(small, "Transfer-Encoding: chunked"), *[chunk] * 200)
    assert told == b"" or told.startswith(b"HTTP/1.1 413")  # a reset may overtake the answer
    with small.client() as client:
        assert client.get("/me").status_code == 200


def test_a_client_that_sends_its_body_drop_by_drop_is_told_so(small):
    head = head_of(small, "Content-Length: 1000")
    told = raw(small, head, *[b" "] * 8, pause=0.3)
    assert told.startswith(b"HTTP/1.1 408")


def test_slow_clients_stand_in_nobodys_way(small):
    host, _, port = small.host.partition(":")
    slow = [socket.create_connection((host, int(port)), timeout=30) for _ in range(40)]
    try:
        for one in slow[:20]:
            one.sendall(b"GET /api/v1/me HTT")  # never finished
        for one in slow[20:]:
            one.sendall(head_of(small, "Content-Length: 1000").encode())
        with small.client() as client:
            assert [client.get("/me").status_code for _ in range(20)] == [200] * 20
    finally:
        for one in slow:
            one.close()


def test_as_many_requests_as_there_are_threads_and_more_are_all_answered(small):
    with small.client() as client:
        session = client.post("/sessions", json={}).json()["id"]
        statuses: list[int] = []

        def write(number):
            entry = {"type": "note", "content": f"{number}"}
            done = client.post(f"/sessions/{session}/entries", json=entry)
            statuses.append(done.status_code)

        threads = [threading.Thread(target=write, args=(n,)) for n in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [201] * 24
        assert client.get(f"/sessions/{session}").json()["entries"] == 24


def test_a_file_that_nobody_fetches_is_let_go_when_its_time_is_over():
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    content = bytes(1000)
    tickets.put("a.zip", "application/zip", content)
    held = sys.getrefcount(content)
    tickets.sweep()
    assert sys.getrefcount(content) == held
    now[0] = 601.0
    tickets.sweep()
    assert sys.getrefcount(content) == held - 1


def test_a_refusal_waits_for_a_small_body_so_that_the_connection_ends_in_peace(small):
    host, _, port = small.host.partition(":")
    head = f"POST /api/v1/sessions HTTP/1.1\r\nHost: {small.host}\r\nContent-Length: 30000\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=30) as wire:
        wire.sendall(head.encode())
        for _ in range(3):  # with a connection that was reset, one of these or the reading fails
            time.sleep(0.1)
            wire.sendall(b"x" * 10000)
        told = b""
        while chunk := wire.recv(65536):
            told += chunk
    assert told.startswith(b"HTTP/1.1 401")
    assert b"E_TOKEN" in told
