"""A tiny agent: prompt → tool calls → answers → next call, with a scripted model.

It speaks as the two large APIs do: the model gets the very messages and tool lists that it would
get over the wire, and its calls come back in that form. Everything passes through JSON.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mnemolog import Memory
from mnemolog.memory.running import Run
from mnemolog.tools import BoundTools, Tool, bind


class Ask(NamedTuple):
    """A tool call that a model wants to make."""

    tool: str
    arguments: dict[str, Any]


class Prompt(NamedTuple):
    """What a model gets to see in one call."""

    system: str
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]

    @property
    def text(self) -> str:
        """Everything in it, as the model reads it."""
        return "\n".join([self.system, *_texts(self.messages)])

    @property
    def last(self) -> str:
        """What the tools answered last."""
        spoke = [n for n, one in enumerate(self.messages) if one["role"] == "assistant"]
        return "\n".join(_texts(self.messages[spoke[-1] + 1 :]))


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


Turn = list[Ask] | str | Callable[[Prompt], "list[Ask] | str"]
"""What the model does in one call: ask for tools, or say its last word."""


class OpenAI:
    """Messages as the chat completions API has them."""

    def tools(self, tools: BoundTools) -> list[dict[str, Any]]:
        return tools.openai()

    def said(self, number: int, asks: list[Ask]) -> dict[str, Any]:
        calls = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": ask.tool, "arguments": json.dumps(ask.arguments)},
            }
            for place, ask in enumerate(asks)
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def answered(self, said: dict[str, Any], tools: BoundTools) -> list[dict[str, Any]]:
        return [
            {
                "role": "tool",
                "tool_call_id": call["id"],
                "content": tools.call(call["function"]["name"], call["function"]["arguments"]).text,
            }
            for call in said["tool_calls"]
        ]


class Anthropic:
    """Messages as the messages API has them."""

    def tools(self, tools: BoundTools) -> list[dict[str, Any]]:
        return tools.anthropic()

    def said(self, number: int, asks: list[Ask]) -> dict[str, Any]:
        uses = [
            {"type": "tool_use", "id": f"toolu_{number}_{place}", "name": one.tool,
             "input": one.arguments}
            for place, one in enumerate(asks)
        ]  # fmt: skip
        return {"role": "assistant", "content": uses}

    def answered(self, said: dict[str, Any], tools: BoundTools) -> list[dict[str, Any]]:
        results = []
        for use in said["content"]:
            answer = tools.call(use["name"], use["input"])
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": use["id"],
                    "content": answer.text,
                    "is_error": answer.is_error,
                }
            )
        return [{"role": "user", "content": results}]


Dialect = OpenAI | Anthropic
DIALECTS: tuple[Dialect, ...] = (OpenAI(), Anthropic())


class Agent:
    """An agent with an optional memory: with one, tools and prompt parts come by themselves.

    `prompts` are those of its last run, one for each call of the model.
    """

    def __init__(
        self,
        memory: Memory | None,
        session_id: str,
        agent_id: str,
        dialect: Dialect,
        tools: Iterable[Tool] = (),
    ) -> None:
        self.memory = memory
        self.prompts: list[Prompt] = []
        self._session_id = session_id
        self._agent_id = agent_id
        self._dialect = dialect
        self._tools = tuple(tools)

    def work(self, task: str, *turns: Turn, run_id: str | None = None) -> str:
        """One run: the model is called until it has no more to ask; gives its last word."""
        self.prompts = []
        if self.memory is None:
            return self._loop(task, turns, None)
        with self.memory.run(self._session_id, run_id=run_id, agent_id=self._agent_id) as run:
            return self._loop(task, turns, run)

    def _loop(self, task: str, turns: tuple[Turn, ...], run: Run | None) -> str:
        tools = bind(run, self._tools) if run is not None else None
        history: list[dict[str, Any]] = []
        for number, turn in enumerate(turns):
            prompt = self._prompt(task, history, tools)
            self.prompts.append(prompt)
            wanted = turn(prompt) if callable(turn) else turn
            if isinstance(wanted, str):
                return wanted
            assert tools is not None
            said = _over_the_wire(self._dialect.said(number, wanted))
            history += [said, *_over_the_wire(self._dialect.answered(said, tools))]
        self.prompts.append(self._prompt(task, history, tools))
        return ""

    def _prompt(self, task: str, history: list[dict[str, Any]], tools: BoundTools | None) -> Prompt:
        if tools is None:
            return Prompt("", [{"role": "user", "content": task}, *history], [])
        seen = tools.variables()
        first = f"{seen['memory_content']}\n\n{task}" if seen["has_memory"] else task
        messages = [{"role": "user", "content": first}, *history]
        offered = _over_the_wire(self._dialect.tools(tools))
        return Prompt(tools.system(), list(messages), offered)


def _over_the_wire(value: Any) -> Any:
    return json.loads(json.dumps(value))
