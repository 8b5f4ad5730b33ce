"""The table bound to a run: called by name, and rendered for every framework."""

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mnemolog.errors import InvalidFormatError, MnemologError, SchemaInvalidError, shown
from mnemolog.memory import Memory
from mnemolog.memory.running import Run
from mnemolog.tools.answers import Answer, refused
from mnemolog.tools.handlers import Desk
from mnemolog.tools.table import TABLE, Schema, Tool

_TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool, "array": list,
                           "object": dict, "number": float}  # fmt: skip


class BoundTools:
    """The tools of one run. Answers, never raises, whatever a model sends."""

    def __init__(self, memory: Memory, run: Run, own: Iterable[Tool] = ()) -> None:
        self._desk = Desk(memory, run)
        self._tools = {tool.name: tool for tool in (*TABLE, *own)}

    def __iter__(self) -> Any:
        return iter(self._tools.values())

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> Answer:
        """Call a tool by its name, with arguments as an object or as the JSON text of one."""
        try:
            tool = self._named(name)
            given = _object(arguments)
            _check_names(tool, given)
            return tool.handler(self._desk, given)
        except MnemologError as error:
            return refused(error)

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
            for tool in self._tools.values()
        ]

    def anthropic(self) -> list[dict[str, Any]]:
        """The tools as Anthropic's messages API takes them."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": self._schema(tool),
            }
            for tool in self._tools.values()
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
            for tool in self._tools.values()
        ]

    def functions(self) -> dict[str, Callable[..., str]]:
        """The tools as plain functions with names, docstrings and signatures."""
        return {tool.name: self._function(tool) for tool in self._tools.values()}

    def _function(self, tool: Tool) -> Callable[..., str]:
        def called(**arguments: Any) -> str:
            given = {name: value for name, value in arguments.items() if value is not None}
            return self.call(tool.name, given).text

        called.__name__ = called.__qualname__ = tool.name
        called.__doc__ = tool.description
        called.__signature__ = _signature(tool)  # type: ignore[attr-defined]
        called.__annotations__ = {
            name: parameter.annotation for name, parameter in _signature(tool).parameters.items()
        } | {"return": str}
        return called


def _signature(tool: Tool) -> inspect.Signature:
    ordered = sorted(tool.properties, key=lambda name: name not in tool.required)
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if name in tool.required else None,
                annotation=_TYPES[str(tool.properties[name]["type"])],
            )
            for name in ordered
        ],
        return_annotation=str,
    )


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
        raise SchemaInvalidError(f"The arguments must be an object, not {shown(arguments)}.")
    return arguments


def _check_names(tool: Tool, given: Mapping[str, Any]) -> None:
    for name in given:
        if name not in tool.properties:
            raise SchemaInvalidError(
                f"{tool.name} has no argument {shown(name)}.",
                advice=f"Use {', '.join(tool.properties)}.",
                field=str(name)[:80],
            )
