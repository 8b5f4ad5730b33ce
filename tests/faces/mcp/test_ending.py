"""How a server over stdio ends: at the end of its input, by a signal, when its client is gone."""

import fcntl
import json
import re
import signal
from collections.abc import Mapping

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mnemolog import Memory
from mnemolog.faces.mcp.unanswered import Unanswered
from tests.faces.mcp.clients import WAIT_SECONDS, started

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: int, method: str, params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def save(number: int, compartment: str = "session") -> dict[str, object]:
    note = {"compartment": compartment, "content": f"note {number}"}
    return request(number, "tools/call", {"name": "save_memory", "arguments": note})


def wire(*messages: Mapping[str, object]) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in messages)


def answers(told: str) -> dict[int, dict]:
    return {one["id"]: one for one in map(json.loads, told.splitlines())}


def notes(root) -> list[str]:
    with Memory.open(root) as memory:
        (session,) = memory.list_sessions()
        return [entry.text for entry in memory.get_entries(session.id)]


def left_runs(root) -> list[object]:
    return list(root.glob("sessions/*/runs/*"))


def test_what_was_asked_before_the_end_of_input_is_carried_out_and_answered(root):
    numbers = range(1, 51)
    served = started(root)
    lines = wire(request(0, "initialize", HELLO), READY, *map(save, numbers))
    told, complaints = served.communicate(lines, timeout=WAIT_SECONDS)
    assert (served.returncode, complaints) == (0, "")
    found = answers(told)
    assert [number for number in numbers if found[number]["result"]["isError"]] == []
    assert sorted(notes(root)) == sorted(f"note {number}" for number in numbers)
    assert left_runs(root) == []


def came(unanswered: Unanswered, message: Mapping[str, object]) -> None:
    unanswered.came(SessionMessage(jsonrpc_message_adapter.validate_python(message)))


def test_a_request_that_was_taken_back_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("mnemolog.faces.mcp.unanswered._PATIENCE_SECONDS", float("inf"))
    taken = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}

    async def story():
        unanswered = Unanswered()
        came(unanswered, save(1))
        came(unanswered, taken)
        with anyio.fail_after(WAIT_SECONDS):
            await unanswered.settled()

    anyio.run(story)


def test_an_answer_that_never_comes_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr("mnemolog.faces.mcp.unanswered._PATIENCE_SECONDS", 0.01)

    async def story():
        unanswered = Unanswered()
        came(unanswered, save(1))
        with anyio.fail_after(WAIT_SECONDS):
            await unanswered.settled()

    anyio.run(story)


def test_a_signal_ends_a_server_that_still_answers_after_the_end_of_its_input(root, memory, sid):
    served = started(root, "--session", sid)
    assert served.stdin is not None
    assert served.stdout is not None
    served.stdin.write(wire(request(0, "initialize", HELLO), READY, save(1, "run")))
    served.stdin.flush()
    assert {json.loads(served.stdout.readline())["id"] for _ in range(2)} == {0, 1}
    with (root / "sessions" / sid / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        served.stdin.write(wire(*map(save, range(2, 30)), request(30, "ping", {})))
        served.stdin.close()
        assert json.loads(served.stdout.readline())["id"] == 30
        served.send_signal(signal.SIGTERM)
        assert served.wait(WAIT_SECONDS) == -signal.SIGTERM
    assert served.stderr is not None
    with served.stdout, served.stderr as complaints:
        assert re.fullmatch(r"The run \w+ was not ended: .+\n", complaints.read())


def test_a_signal_ends_the_run_too(root):
    served = started(root)
    assert served.stdin is not None
    assert served.stdout is not None
    for number, line in enumerate([request(0, "initialize", HELLO), save(1, "run")]):
        served.stdin.write(wire(line))
        served.stdin.flush()
        assert json.loads(served.stdout.readline())["id"] == number
    assert len(left_runs(root)) == 1
    served.send_signal(signal.SIGTERM)
    assert served.wait(WAIT_SECONDS) == -signal.SIGTERM
    served.communicate()
    assert left_runs(root) == []


def test_a_client_that_goes_without_its_answers_gets_no_stack_trace(root):
    served = started(root)
    assert served.stdin is not None
    assert served.stdout is not None
    served.stdout.close()
    lines = [save(number, "run") for number in range(1, 21)]
    served.stdin.write(wire(request(0, "initialize", HELLO), *lines))
    served.stdin.close()
    assert served.stderr is not None
    with served.stderr as complaints:
        assert complaints.read() == ""
    assert served.wait(WAIT_SECONDS) == 0
    assert left_runs(root) == []
