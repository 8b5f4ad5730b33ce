"""Every setting as a dotted key: its type, default and description, read off the sections."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from mnemolog.settings.sections import Section

NEVER = "never"  # how a file or an environment variable says None; TOML has no null

S = TypeVar("S", bound=Section)


class Key(NamedTuple):
    """One setting: its dotted name, what it permits, its default and what it does."""

    name: str
    annotation: Any
    permitted: str
    default: object
    description: str

    def read(self, value: object, strict: bool) -> object:
        """The value as this setting's type; raises msgspec.ValidationError."""
        if value == NEVER and self.permitted.endswith(NEVER):
            return None
        return msgspec.convert(value, self.annotation, strict=strict)


def keys_of(section: type[Section], prefix: str = "") -> Iterator[Key]:
    """All keys below a section, in the order in which they are declared."""
    for field in msgspec.structs.fields(section):
        name = prefix + field.name
        if _is_section(field.type):
            yield from keys_of(field.type, f"{name}.")
        else:
            yield _key(name, field.type, field.default)


def build(section: type[S], values: Mapping[str, object], prefix: str = "") -> S:
    """A section made of the values of its dotted keys, which have been read already."""
    made: dict[str, Any] = {}
    for field in msgspec.structs.fields(section):
        name = prefix + field.name
        nested = _is_section(field.type)
        made[field.name] = build(field.type, values, f"{name}.") if nested else values[name]
    return section(**made)


def as_given(value: object) -> object:
    """A value as somebody may give it."""
    return NEVER if value is None else msgspec.to_builtins(value)


def written(value: object) -> str:
    """A value as it is written in config.toml."""
    if value is None:
        return f'"{NEVER}"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(written(item) for item in value)}]"
    if isinstance(value, Section):
        return msgspec.json.encode(value).decode()
    return f'"{value}"' if isinstance(value, str) else _number(value)


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)


def _key(name: str, annotation: Any, default: object) -> Key:
    info = inspect.type_info(annotation)
    notes = info.extra_json_schema or {} if isinstance(info, inspect.Metadata) else {}
    permitted = notes.get("title") or _permitted(info)
    return Key(name, annotation, permitted, default, notes.get("description", ""))


def _permitted(info: inspect.Type) -> str:
    match info:
        case inspect.Metadata():
            return _permitted(info.type)
        case inspect.UnionType():
            [main] = [kind for kind in info.types if not isinstance(kind, inspect.NoneType)]
            return f"{_permitted(main)}, or {NEVER}"
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number {_range(info)}"
        case inspect.FloatType():
            return f"a number {_range(info)}"
        case inspect.LiteralType():
            return " or ".join(str(value) for value in info.values)
        case inspect.VarTupleType(item_type=inspect.StructType() as item):
            return f"a list of {{{', '.join(field.name for field in item.fields)}}}"
    raise TypeError(f"no words for a setting of type {info}")


def _range(info: inspect.IntType | inspect.FloatType) -> str:
    low = f"above {_number(info.gt)}" if info.ge is None else f"from {_number(info.ge)}"
    return f"{low} up to {_number(info.le)}"


def _number(value: Any) -> str:
    return str(int(value)) if value == int(value) else str(value)
