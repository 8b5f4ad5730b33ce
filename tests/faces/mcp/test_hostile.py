"""What a hostile or broken client sends: a sentence that helps, no leak, no trace of our code."""

import http.client
import itertools
import json
from contextlib import closing
from functools import partial

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from mnemolog import Memory
from mnemolog.faces.mcp.lines import mended
from mnemolog.tools import TABLE
from tests.faces.mcp.clients import ENVELOPE, asked, server, started

SECRET = "the rendezvous is at noon"
LONGEST_ERROR = 1000
VALUES: list[object] = [
    None, True, -1, 0, 1.5, 10**40, float("1e308"), "", " ", "\x00", "\x1b[31m\u202e\x9d",
    "\ud800", "theirs", "run", "../../etc/passwd", "a" * 200_000, "NEAR(", "*", "'; DROP TABLE x",
    [], [1], ["\x00"], ["x"] * 10_000, [[]], {}, {"a": 1}, {"a": {"b": "c"}}, {"\x00": "\ud800"},
]  # fmt: skip
NEEDED = {
    "save_memory": {"compartment": "run", "content": "x"},
    "get_memory": {"compartment": "session"},
    "clear_memory": {"compartment": "run"},
    "search_memory": {"query": "noon"},
    "recall_context": {},
    "read_knowledge": {},
    "write_knowledge": {"address": "tea", "content": "x"},
}


@pytest.fixture
def theirs(memory: Memory) -> str:
    """A note of another agent, in a session that `mine` is no part of."""
    session = memory.create_session(agent_ids=["b"], session_id="theirs")
    with memory.for_agent("b").run(session.id) as run:
        return run.save("session", SECRET, id="their-note").id


def is_harmless(text: str) -> bool:
    words = (SECRET, "Traceback", 'File "', "site-packages", "Exception")
    return not any(word in text for word in words)


@pytest.mark.parametrize("tool", TABLE, ids=lambda tool: tool.name)
def test_no_argument_of_any_tool_breaks_it_or_tells_what_others_wrote(memory, theirs, tool):
    async def story():
        async with Client(server(memory.for_agent("a")), mode=ENVELOPE) as client:
            for name, value in itertools.product([*tool.properties, "unknown", "\x00"], VALUES):
                told, is_error = await asked(client, tool.name, {**NEEDED[tool.name], name: value})
                assert is_harmless(told), (name, value)
                assert told.strip()
                if is_error:
                    assert told.startswith("Error: ")
                    assert len(told) < LONGEST_ERROR, (name, repr(value)[:80])

    anyio.run(story)


def test_ids_of_other_agents_do_not_exist(memory, theirs):
    async def story():
        async with Client(server(memory.for_agent("a")), mode=ENVELOPE) as client:
            ask = partial(asked, client)
            found = await ask("get_memory", {"compartment": "session", "id": theirs})
            assert found == await ask("get_memory", {"compartment": "session", "id": "no-such-id"})
            told, _ = await ask("clear_memory", {"compartment": "session", "id": theirs})
            assert told.startswith("Cleared 0 from session.")
            note = {"compartment": "session", "id": theirs, "content": "mine now"}
            assert (await ask("save_memory", note))[1] is False
            listed = (await client.list_resources()).resources
            assert not [one for one in listed if "theirs" in one.uri]
            refusals = set()
            for name in ("theirs", "nobodys"):
                with pytest.raises(MCPError) as refused:
                    await client.read_resource(f"memory://sessions/{name}")
                refusals.add(str(refused.value).replace(name, "…"))
            assert len(refusals) == 1

    anyio.run(story)
    assert [entry.text for entry in memory.get_entries("theirs")] == [SECRET]


@pytest.mark.parametrize(
    "uri",
    [
        "", "x" * 100_000, "file:///etc/passwd", "memory://nodes/x", "memory://sessions/",
        "memory://sessions/..%2f..%2fetc%2fpasswd", "memory://sessions/../../x",
        "memory://sessions/%00", "memory://sessions/%ff", "memory://sessions/" + "a" * 3000,
        "memory://sessions?after=-1", "memory://sessions?after=" + "9" * 40, "memory://sessions\n",
    ],
)  # fmt: skip
def test_a_foreign_address_is_refused_in_words(memory, uri):
    async def story():
        async with Client(server(memory), mode=ENVELOPE) as client:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert is_harmless(str(refused.value))
            assert len(str(refused.value)) < LONGEST_ERROR

    anyio.run(story)


@pytest.mark.parametrize(
    "uri",
    ["memory://sessions/no", "memory://nodes/no", "memory://nodes/no/x", "memory://nodes/u1/x"],
)
def test_what_is_not_there_is_the_mistake_of_whoever_asks(memory, uri):
    memory.write_node("tea", "text", user_id="u1")

    async def story():
        async with Client(server(memory), mode=ENVELOPE) as client:
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.error.code == INVALID_PARAMS

    anyio.run(story)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nope", {}),
        ("recall", {}),
        ("recall", {"query": " "}),
        ("recall", {"query": "q" * 20_000}),
        ("system", {"x": "y"}),
    ],
)
def test_a_prompt_that_cannot_be_had_says_why(memory, name, arguments):
    async def story():
        async with Client(server(memory), mode=ENVELOPE) as client:
            with pytest.raises(MCPError, match=r"prompt|`query` has 20,000 characters"):
                await client.get_prompt(name, arguments)

    anyio.run(story)


def test_a_bug_of_ours_is_told_in_one_sentence_and_logged(memory, monkeypatch, caplog):
    def broken(*_: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr("mnemolog.faces.mcp.resources.read", broken)

    async def story():
        async with Client(server(memory), mode=ENVELOPE) as client:
            with pytest.raises(MCPError) as refused:
                await client.read_resource("memory://sessions")
            assert is_harmless(str(refused.value))

    anyio.run(story)
    assert SECRET in caplog.text


# --- lines that are no messages


def hello(number: int) -> str:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}}
    params["clientInfo"] = {"name": "\x1b]0;x\x07\u202e", "version": "1"}
    return request(number, "initialize", params)


def request(number: int, method: str, params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def test_unreadable_lines_do_not_end_a_server_and_half_characters_are_mended(root):
    half = {"compartment": "session", "content": "cut \ud83d", "id": "half"}
    lines = [
        hello(1),
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        "garbage", "[]", "[" * 5000, '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":NaN}', "\x00",
        request(2, "tools/call", {"name": 5}),
        request(3, "tools/call", {"name": "save_memory", "arguments": [1]}),
        request(4, "tools/call", {"name": "save_memory", "arguments": half}),
        request(5, "no/such/method", {}),
        request(6, "ping", {}),
    ]  # fmt: skip
    served = started(root)
    assert served.stdin is not None
    assert served.stdout is not None
    served.stdin.write("\n".join(lines) + "\n")
    served.stdin.flush()
    answers: dict[int, dict] = {}
    while len(answers) < 6:
        told = json.loads(served.stdout.readline())
        answers[told["id"]] = told
    _, complaints = served.communicate(timeout=60)
    assert [answers[number]["error"]["code"] for number in (2, 3, 5)] == [-32602, -32602, -32601]
    assert answers[4]["result"]["isError"] is False
    assert answers[6]["result"] == {}
    assert "Traceback" not in complaints
    with Memory.open(root) as memory:
        (session,) = memory.list_sessions()
        assert [entry.text for entry in memory.get_entries(session.id)] == ["cut \ufffd"]


def test_half_characters_are_mended_over_http_too(address):
    """The official client would not send them."""
    headers = {
        "Authorization": f"Bearer {address.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }

    def told(number: int, method: str, params: object) -> tuple[http.client.HTTPResponse, str]:
        with closing(http.client.HTTPConnection(address.host, timeout=60)) as wire:
            wire.request("POST", "/mcp", request(number, method, params), headers)
            got = wire.getresponse()
            return got, got.read().decode()

    first, _ = told(1, "initialize", json.loads(hello(1))["params"])
    headers["Mcp-Session-Id"] = first.headers["Mcp-Session-Id"]
    headers["MCP-Protocol-Version"] = "2025-11-25"
    half = {"compartment": "run", "content": "cut \ud83d"}
    saved, _ = told(2, "tools/call", {"name": "save_memory", "arguments": half})
    assert saved.status == 200
    _, notes = told(3, "tools/call", {"name": "get_memory", "arguments": {"compartment": "run"}})
    assert "cut \ufffd" in notes


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (r'"\ud83d\ude00"', r'"\ud83d\ude00"'),
        (r'"\uD83D\uDE00"', r'"\uD83D\uDE00"'),
        (r'"\ud83d"', r'"\ufffd"'),
        (r'"\ude00"', r'"\ufffd"'),
        (r'"\ud83d\ud83d\ude00"', r'"\ufffd\ud83d\ude00"'),
        (r'"\\ud83d"', r'"\\ud83d"'),
        (r'"\\\ud83d"', r'"\\\ufffd"'),
        (r'"\u00e4\n\""', r'"\u00e4\n\""'),
        (r'"\ud8', r'"\ud8'),
    ],
)
def test_only_halves_of_surrogate_pairs_are_replaced(line, expected):
    assert mended(line) == expected


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (r'"\ud83d\ude00"', r'"\ud83d\ude00"'), (r'"\uD83D\uDE00"', r'"\uD83D\uDE00"'),
        (r'"\ud83d"', r'"\ufffd"'), (r'"\uD83D"', r'"\ufffd"'), (r'"\uDE00x"', r'"\ufffdx"'),
        (r'"\\ud83d"', r'"\\ud83d"'),
    ],
)  # fmt: skip
def test_half_a_pair_is_replaced_and_nothing_else(sent, read):
    assert mended(sent) == read
