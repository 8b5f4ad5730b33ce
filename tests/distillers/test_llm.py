"""A memory-agent works through a real tool loop, and is kept to the graph by its guard."""

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel as AnyCallModel

from mnemolog.distillers.llm import MemoryAgent, open_model
from mnemolog.errors import DistillerError, SettingsError
from mnemolog.model.lesson import Prompt
from mnemolog.policy.learning import cache_key
from mnemolog.settings import Knowledge
from mnemolog.worker import Worker, default_prompt
from tests.distillers.desk import Desk
from tests.distillers.models import NODE, Script, call
from tests.worker.scribes import open_memory, talk


@pytest.fixture
def learn() -> Callable[..., tuple[Desk, Script, Any]]:
    def learned(*answers: ModelResponse, said: str = "Ann leads the payment team.", **nodes: str):
        script = Script(*answers)
        desk = Desk(MemoryAgent("bot", lambda: FunctionModel(script), Knowledge()))
        for address, body in nodes.items():
            desk._apply(address.replace("__", "/"), body, "old")
        desk.say(said)
        return desk, script, desk.learn()

    return learned


@pytest.mark.req("S003-05", "S003-06", "S003-07", "S003-10")
def test_it_reads_the_transcript_and_the_nodes_and_proposes_documents(learn):
    body = "- Leads the [[projects/payment]] team."
    _, script, proposal = learn(
        call("node_tree"), call("node_write", address="people/ann", body=body, **NODE)
    )
    assert script.offered == ["node_tree", "node_search", "node_read", "node_write", "node_patch"]
    assert "1. user, 2026-11-01: Ann leads the payment team." in script.heard[1]
    assert "There are no nodes yet." in script.heard
    (edit,) = proposal.edits
    assert (edit.address, edit.title, edit.expected) == ("people/ann", "Ann", "")
    assert edit.body == f"{body} <!-- s/m1 -->\n"
    assert [one.name for one in edit.sources] == ["s/m1"]


def test_a_node_must_be_read_before_it_is_written(learn):
    write = {"address": "people/ann", "body": "- New.", **NODE}
    _, script, proposal = learn(
        call("node_write", **write), call("node_read", address="people/ann"),
        call("node_write", **write), people__ann="- Old. <!-- s/m0 -->\n",
    )  # fmt: skip
    assert any("Read people/ann before" in one for one in script.heard)
    assert proposal.edits[0].expected != ""


def test_a_passage_is_replaced_only_where_it_stands_once_and_keeps_its_sources(learn):
    once = {"address": "people/ann", "new": "- ~~Old.~~ until 2026-11-01 <!-- s/m0 x/forged -->",
            "reason": "changed", "sources": [1]}  # fmt: skip
    _, script, proposal = learn(
        call("node_read", address="people/ann"), call("node_patch", old="O", **once),
        call("node_patch", old="- Old. <!-- s/m0 -->", **once),
        people__ann="- Old. <!-- s/m0 -->\n- Other. <!-- s/m0 -->\n",
    )  # fmt: skip
    assert any("2 times, not once" in one for one in script.heard)
    assert proposal.edits[0].body.splitlines() == [
        "- ~~Old.~~ until 2026-11-01 <!-- s/m0 s/m1 -->", "- Other. <!-- s/m0 -->"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "address", ["../../etc/passwd", "people", "/people/ann", "people/../x", "a/b.md", "", "x/" * 9]
)
def test_nothing_outside_the_graph_can_be_written(learn, address):
    _, script, proposal = learn(call("node_write", address=address, body="x", **NODE))
    assert proposal.edits == ()
    assert any("An address is" in one for one in script.heard)


def test_sources_must_be_named_and_real(learn):
    wrong = [{**NODE, "sources": numbers} for numbers in ([], [2], [0])]
    _, script, proposal = learn(
        *(call("node_write", address="people/ann", body="x", **one) for one in wrong)
    )
    assert proposal.edits == ()
    assert sum("numbers from 1 to 1" in one for one in script.heard) == 3


@pytest.mark.req("S003-13", "S003-15", "S003-17")
def test_it_has_a_descriptor_a_cache_key_and_a_prompt_that_replaces_everything():
    script = Script()
    prompt = Prompt("prompts/memory/MEMORY_AGENT.md", "Only this.", "abc")
    agent = MemoryAgent("architect", lambda: FunctionModel(script), Knowledge(), prompt)
    assert agent.descriptor == {"type": "memory-agent", "id": "architect"}
    assert agent.cache_key == cache_key("architect") == "/memory-agent/architect"
    desk = Desk(agent)
    desk.say("hello")
    remarks = desk.learn().remarks
    assert script.heard[0] == "Only this."
    assert remarks[-1] == "told by prompts/memory/MEMORY_AGENT.md, sha256 abc"


def test_a_model_that_calls_everything_with_nonsense_does_no_harm():
    desk = Desk(MemoryAgent("bot", AnyCallModel, Knowledge()))
    desk.say("hello")
    with pytest.raises(DistillerError):
        desk.learn()
    assert desk.nodes == {}


def test_a_failing_model_is_told_without_its_words():
    def fails(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise ModelHTTPError(500, "m", "Ann leads the payment team")

    desk = Desk(MemoryAgent("bot", lambda: FunctionModel(fails), Knowledge()))
    desk.say("Ann leads the payment team.")
    with pytest.raises(DistillerError, match="ModelHTTPError") as raised:
        desk.learn()
    assert "payment" not in str(raised.value)


def test_the_budget_of_tokens_ends_a_run_that_goes_on_and_on():
    def endless(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return call("node_search", query="word " * 500)

    desk = Desk(MemoryAgent("bot", lambda: FunctionModel(endless), Knowledge(token_budget=2000)))
    desk.say("hello")
    with pytest.raises(DistillerError, match="UsageLimitExceeded"):
        desk.learn()


def test_without_an_endpoint_nothing_is_asked():
    with pytest.raises(SettingsError, match="needs a model and an endpoint"):
        open_model(Knowledge(), {})
    model = open_model(Knowledge(model="m", endpoint="http://127.0.0.1:9/v1"), {})
    assert model.model_name == "m"


def test_an_endpoint_that_does_not_answer_is_told():
    settings = Knowledge(model="m", endpoint="http://127.0.0.1:9/v1", time_budget_seconds=20)
    desk = Desk(MemoryAgent("bot", lambda: open_model(settings, {}), settings))
    desk.say("hello")
    with pytest.raises(DistillerError, match="The model could not finish"):
        desk.learn()


ANSWER = {
    "id": "x", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [
        {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}  # fmt: skip


HEARD: list[dict[str, Any]] = []
"""What the endpoint was asked."""


class Endpoint(BaseHTTPRequestHandler):
    """Says "done" to everybody, and keeps the connection open."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        HEARD.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        content = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    HEARD.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.req("S003-15")
def test_a_worker_tells_its_memory_agents_what_the_root_says_as_of_now(root, endpoint, caplog):
    caplog.set_level("INFO", logger="mnemolog.worker")
    with open_memory(root, distiller="llm", model="m", endpoint=endpoint) as memory:
        worker = Worker(memory)
        told: list[tuple[str, ...]] = []
        for number, text in enumerate((None, "Learn only names.", "Learn only dates.", None)):
            _write_prompt(root, text)
            memory.reset_session(talk(memory, f"s{number}", "hello"))
            (outcome,) = worker.tick()
            told.append(outcome.remarks[1:])
    asked = [one["messages"][0]["content"] for one in HEARD]
    assert asked == [default_prompt(), "Learn only names.", "Learn only dates.", default_prompt()]
    assert [len(one) for one in told] == [0, 1, 1, 0]
    assert told[1] != told[2]
    assert [one.getMessage().partition(",")[0] for one in caplog.records] == [
        "memory-agents are told by prompts/memory/MEMORY_AGENT.md",
        "memory-agents are told by prompts/memory/MEMORY_AGENT.md",
        "memory-agents are told by the package's own prompt",
    ]


def _write_prompt(root: Path, text: str | None) -> None:
    path = root / "prompts/memory/MEMORY_AGENT.md"
    path.unlink(missing_ok=True)
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o644)


def test_a_prompt_that_cannot_be_used_is_told_and_is_nobodys_failure(root, endpoint):
    with open_memory(root, distiller="llm", model="m", endpoint=endpoint) as memory:
        memory.reset_session(talk(memory, "s1", "hello"))
        _write_prompt(root, "Learn only names.")
        (root / "prompts/memory/MEMORY_AGENT.md").chmod(0o666)
        with pytest.raises(SettingsError, match="others may write"):
            Worker(memory).tick()
        assert [one.attempts for one in memory.due_sessions()] == [0]
        assert HEARD == []


def test_a_worker_goes_on_once_such_a_prompt_is_put_right(root, endpoint, caplog):
    settings = {"distiller": "llm", "model": "m", "endpoint": endpoint, "tick_seconds": 0.01}
    with open_memory(root, **settings) as memory:
        memory.reset_session(talk(memory, "s1", "hello"))
        _write_prompt(root, "Learn only names.")
        (root / "prompts/memory/MEMORY_AGENT.md").chmod(0o666)
        worker = Worker(memory)
        running = Thread(target=worker.run)
        running.start()
        while worker.ticks < 3:
            time.sleep(0.01)
        assert (running.is_alive(), HEARD) == (True, [])
        assert "nothing is learned: The prompt" in caplog.text
        _write_prompt(root, "Learn only names.")
        while memory.due_sessions():
            assert running.is_alive()
            time.sleep(0.01)
        worker.stop()
        running.join(60)


def test_lessons_in_several_threads_do_not_share_connections(endpoint):
    settings = Knowledge(model="m", endpoint=endpoint)
    agent = MemoryAgent("bot", lambda: open_model(settings, {}), settings)

    def learn(_: int) -> tuple[str, ...]:
        desk = Desk(agent)
        desk.say("hello")
        return desk.learn().remarks

    with ThreadPoolExecutor(4) as pool:
        remarks = list(pool.map(learn, range(12)))
    assert remarks == [("the model wrote nothing",)] * 12
