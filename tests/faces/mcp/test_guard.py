"""The door of the HTTP server: Host, Origin and token, and which addresses it may be bound to."""

import http.client
import json
import stat
import subprocess
import sys

import pytest

from mnemolog.errors import NotAllowedError
from mnemolog.faces.mcp import http as face
from tests.faces.mcp.clients import environment, words

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "curl", "version": "1"},
    },
}


def answer(address, changed=None, method="POST", path="/mcp", **more):
    """The status and headers of one request; None as a value leaves a header out."""
    sent = {
        "Host": address.host,
        "Authorization": f"Bearer {address.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **(changed or {}),
    }
    wire = http.client.HTTPConnection(address.host, timeout=30)
    wire.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    body = json.dumps(HELLO).encode()
    for name, value in {**sent, **more, "Content-Length": str(len(body))}.items():
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                wire.putheader(name, one)
    wire.endheaders(body)
    got = wire.getresponse()
    told = got.status, {name.lower() for name, _ in got.getheaders()}, got.read()
    wire.close()
    return told


def own_origin(address):
    return f"http://{address.host}"


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": None}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Authorization": None}, 401),
        ({"Authorization": "Bearer "}, 401),
        ({"Authorization": "Bearer " + "0" * 64}, 401),
        ({"Authorization": "Basic " + "0" * 64}, 401),
        ({}, 200),
    ],
)
def test_a_request_must_name_the_server_come_from_no_page_and_bring_the_token(
    address, changed, status
):
    told, headers, _ = answer(address, changed)
    assert told in ((status, 400) if changed == {"Host": None} else (status,))
    assert not {name for name in headers if name.startswith("access-control")}


def test_the_servers_own_names_and_origins_are_let_in(address):
    port = address.host.rpartition(":")[2]
    assert answer(address, {"Origin": own_origin(address)})[0] == 200
    assert answer(address, {"Host": f"LOCALHOST:{port}"})[0] == 200
    assert answer(address, {"Authorization": f"bearer  {address.token}"})[0] == 200


def test_a_request_that_says_two_things_is_not_let_in(address):
    right = f"Bearer {address.token}"
    assert answer(address, {"Authorization": [right, "Bearer x"]})[0] == 401
    assert answer(address, {"Origin": [own_origin(address), "http://evil.example"]})[0] == 403


@pytest.mark.parametrize("path", ["/", "/mcp", "/docs", "/../token"])
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "DELETE", "PUT"])
def test_no_path_and_no_method_goes_around_the_door(address, method, path):
    assert answer(address, {"Authorization": None}, method, path)[0] == 401
    foreign = {"Origin": "http://evil.example"}
    assert answer(address, foreign, method, path)[0] == 403


def test_refusals_do_not_tell_the_token(address):
    for changed in ({"Host": "x"}, {"Origin": "http://x"}, {"Authorization": "Bearer x"}):
        assert address.token.encode() not in answer(address, changed)[2]


def test_the_token_is_for_its_owner_alone(shared_root, address):
    assert stat.S_IMODE((shared_root / "token").stat().st_mode) == 0o600
    assert len(address.token) == 64


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_other_addresses_need_a_token_and_tls_in_front(host):
    for has_token, behind_tls in ((False, False), (True, False), (False, True)):
        with pytest.raises(NotAllowedError, match=r"127\.0\.0\.1"):
            face.check_host(host, has_token=has_token, behind_tls=behind_tls)
    face.check_host(host, has_token=True, behind_tls=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machines_own_addresses_need_neither(host):
    face.check_host(host, has_token=False, behind_tls=False)


def test_the_command_refuses_to_be_reached_from_elsewhere_and_makes_no_token(root):
    command = [sys.executable, *words(root, "--http", "--host", "0.0.0.0", "--behind-tls")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 5
    assert "E_NOT_ALLOWED" in done.stderr
    assert not (root / "token").exists()
