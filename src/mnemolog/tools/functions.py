"""Tools as plain Python functions, for frameworks that read names, docstrings and signatures."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal

from mnemolog.tools.answers import Answer
from mnemolog.tools.table import Schema, Tool

_TYPES: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "number": float}

Call = Callable[[str, Mapping[str, Any]], Answer]


def function_of(tool: Tool, schema: Schema, call: Call) -> Callable[..., str]:
    """A function with the signature of the tool's schema, which answers with text."""
    signature = _signature(schema)

    def called(*args: Any, **arguments: Any) -> str:
        names = list(signature.parameters)
        twice = [name for name, _ in zip(names, args, strict=False) if name in arguments]
        if twice or len(args) > len(names):
            wrong = f"`{twice[0]}` is given twice" if twice else f"it has {len(names)} arguments"
            return f"Error: {tool.name} cannot be called so: {wrong}. Use {', '.join(names)}."
        # What is missing or unknown the tool itself says.
        given = {**dict(zip(names, args, strict=False)), **arguments}
        return call(tool.name, {n: value for n, value in given.items() if value is not None}).text

    called.__name__ = called.__qualname__ = tool.name
    called.__doc__ = _docstring(tool)
    called.__signature__ = signature  # type: ignore[attr-defined]
    called.__annotations__ = {
        name: parameter.annotation for name, parameter in signature.parameters.items()
    } | {"return": str}
    return called


def _docstring(tool: Tool) -> str:
    told = {name: one.get("description", "") for name, one in tool.properties.items()}
    rows = [f"    {name}: {text}" for name, text in told.items() if text]
    return "\n".join([tool.description, "", "Args:", *rows])


def _signature(schema: Schema) -> inspect.Signature:
    required = set(schema["required"])
    ordered = sorted(schema["properties"], key=lambda name: name not in required)
    return inspect.Signature(
        [_parameter(name, schema["properties"][name], name in required) for name in ordered],
        return_annotation=str,
    )


def _parameter(name: str, schema: Schema, is_required: bool) -> inspect.Parameter:
    kind = _annotation(schema)
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=inspect.Parameter.empty if is_required else None,
        annotation=kind if is_required else kind | None,
    )


def _annotation(schema: Schema) -> Any:
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "array":
        return list[_annotation(schema.get("items", {}))]  # type: ignore[misc]
    if kind == "object":
        values = schema.get("additionalProperties")
        return dict[str, _annotation(values) if isinstance(values, dict) else Any]  # type: ignore[misc]
    return _TYPES.get(kind, Any) if isinstance(kind, str) else Any
