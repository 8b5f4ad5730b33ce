"""Models for tests: each says what it was told to say."""

from collections.abc import Callable
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from mnemolog import Memory
from mnemolog.distillers.llm import MemoryAgent
from mnemolog.worker import Worker
from tests.worker.scribes import working

NODE = {"title": "Ann", "description": "A colleague", "reason": "new", "sources": [1]}

Answer = ModelResponse | Callable[[], ModelResponse]


def call(name: str, **arguments: Any) -> ModelResponse:
    return ModelResponse(parts=[ToolCallPart(name, arguments)])


class Script:
    """A model that says what it was told to say, and remembers what it was answered."""

    def __init__(self, *answers: Answer) -> None:
        self.answers: list[Answer] = [*answers, ModelResponse(parts=[TextPart("done")])]
        self.heard: list[str] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.heard += [str(getattr(part, "content", "")) for part in messages[-1].parts]
        self.offered = [tool.name for tool in info.function_tools]
        answer = self.answers.pop(0)
        return answer if isinstance(answer, ModelResponse) else answer()


def asking(memory: Memory, script: Script) -> Worker:
    """A worker whose memory-agents ask this model."""
    settings = memory.settings.knowledge
    return working(memory, MemoryAgent("bot", lambda: FunctionModel(script), settings))
