"""The table bound to a run: called by name, and rendered for every framework."""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mnemolog.errors import (
    InvalidFormatError,
    MnemologError,
    NotAllowedError,
    SchemaInvalidError,
    SessionNotFoundError,
    shown,
)
from mnemolog.memory import Memory
from mnemolog.memory.running import Run
from mnemolog.tools import prompts
from mnemolog.tools.answers import Answer, refused
from mnemolog.tools.functions import function_of
from mnemolog.tools.handlers import Desk
from mnemolog.tools.table import TABLE, Schema, Tool

# What OpenAI, Anthropic and the Model Context Protocol all accept as the name of a tool.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_logger = logging.getLogger("mnemolog.tools")


def bind(run: Run, own: Iterable[Tool] = ()) -> "BoundTools":
    """The tools of a run, and those of your own beside them."""
    assert isinstance(run.memory, Memory)
    return BoundTools(run.memory, run, own)


class BoundTools:
    """The tools of one run. Answers, never raises, whatever a model sends.

    `memory` is what is searched and recalled from: the view of the agent whose run it is.
    """

    def __init__(self, memory: Memory, run: Run, own: Iterable[Tool] = ()) -> None:
        self._desk = Desk(memory, run)
        self._tools = {tool.name: tool for tool in TABLE}
        for tool in own:
            self._add(tool)
        self.failures = 0
        """How many calls ended in an error that nobody expected."""

    def _add(self, tool: Tool) -> None:
        if not _is_name(tool.name) or tool.name in self._tools:
            raise InvalidFormatError(
                f"A tool cannot be called {shown(tool.name)}.",
                advice="Use up to 64 letters, digits, '_' and '-', and no name that is taken.",
                field="name",
            )
        self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """Call a tool by its name, with arguments as an object or as the JSON text of one."""
        try:
            tool = self._named(name)
            given = _object(arguments)
            _check(tool, given)
            return _answer(tool.handler(self._desk, given))
        except MnemologError as error:
            return refused(error)
        except Exception:  # a tool of one's own may do anything; the model's loop goes on
            self.failures += 1
            _logger.exception("the tool %s failed", shown(name))
            return Answer(
                "Error: this tool failed for a reason that it did not expect. Go on without it.",
                is_error=True,
            )

    async def call_async(
        self, name: str, arguments: Mapping[str, Any] | str | None = None
    ) -> Answer:
        """The same, awaited; it works in a thread and never blocks the loop."""
        return await asyncio.to_thread(self.call, name, arguments)

    def system(self) -> str:
        """The part of a system prompt that explains the compartments and the tools."""
        return prompts.system(self._desk.run, self)

    def block(self, max_tokens: int = prompts.BLOCK_TOKENS) -> str:
        """The notes of the run as a block for the prompt; empty when there are none, or no more."""
        try:
            return prompts.block(self._desk.run, max_tokens)
        except (NotAllowedError, SessionNotFoundError):  # the run has ended, or its session is gone
            return ""

    def variables(self) -> dict[str, object]:
        """What a prompt template needs: `has_memory` and `memory_content`."""
        return prompts.variables(self.block())

    def _named(self, name: object) -> Tool:
        if isinstance(name, str) and name in self._tools:
            return self._tools[name]
        raise InvalidFormatError(
            f"There is no tool {shown(name)}.", advice=f"Use one of {', '.join(self._tools)}."
        )

    def _schema(self, tool: Tool) -> Schema:
        return tool.schema(tuple(self._desk.run.compartments))

    def openai(self) -> list[dict[str, Any]]:
        """The tools as OpenAI's chat API takes them."""
        return [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": self._schema(tool),
                },
            }
            for tool in self
        ]

    def anthropic(self) -> list[dict[str, Any]]:
        """The tools as Anthropic's messages API takes them."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": self._schema(tool),
            }
            for tool in self
        ]

    def mcp(self) -> list[dict[str, Any]]:
        """The tools as the Model Context Protocol lists them."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": self._schema(tool),
                "annotations": {"readOnlyHint": tool.is_reading},
            }
            for tool in self
        ]

    def functions(self) -> dict[str, Callable[..., str]]:
        """The tools as plain functions with names, docstrings and signatures."""
        return {tool.name: function_of(tool, self._schema(tool), self.call) for tool in self}


def _is_name(given: object) -> bool:
    return isinstance(given, str) and _NAME.fullmatch(given) is not None


def _object(arguments: object) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            raise SchemaInvalidError(
                "The arguments are not valid JSON.", advice="Send one JSON object."
            ) from None
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise SchemaInvalidError(
            f"The arguments must be an object, not {shown(arguments)}.",
            advice="Send one JSON object.",
        )
    return arguments


def _answer(given: object) -> Answer:
    """What a tool of one's own returned; a text is an answer too."""
    if isinstance(given, Answer):
        return given
    if isinstance(given, str):
        return Answer(given)
    raise TypeError(f"a tool returns an Answer or a text, not {shown(given)}")


def _check(tool: Tool, given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in tool.properties:
            raise SchemaInvalidError(
                f"{tool.name} has no argument {shown(name)}.",
                advice=f"Use {', '.join(tool.properties)}.",
                field=str(name)[:80],
            )
    for name in tool.required:
        if name not in given:
            raise SchemaInvalidError(
                f"{tool.name} needs `{name}`.", advice=f"Call again with `{name}`.", field=name
            )
