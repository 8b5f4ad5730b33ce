"""Arguments as a model sends them: nothing about them is taken for granted."""

from collections.abc import Mapping
from typing import Any

from mnemolog.errors import SchemaInvalidError, SizeLimitError, shown
from mnemolog.policy.compartments import check_metadata

Arguments = Mapping[str, Any]
MOST_HITS = 100
MAX_TOKENS = 2000
LEAST_TOKENS = 100
MOST_TOKENS = 20_000
_MOST_TEXTS = 256
_LONGEST = 1 << 20
# The work that a search makes grows with its question.
LONGEST_QUERY = 10_000


def text(given: Arguments, name: str, *, required: bool = False, longest: int = _LONGEST) -> str:
    """A text; empty if it was not given."""
    value = given.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str) or (required and not value.strip()):
        raise SchemaInvalidError(
            f"`{name}` must be a text that is not empty, not {shown(value)}."
            if required
            else f"`{name}` must be a text, not {shown(value)}.",
            advice=f"Call again with `{name}`.",
            field=name,
        )
    if len(value) > longest:
        raise SizeLimitError(
            f"`{name}` has {len(value):,} characters; {longest:,} are the most.",
            advice="Send less.",
            field=name,
        )
    return value


def texts(given: Arguments, name: str) -> list[str]:
    """A list of texts; empty if it was not given."""
    value = given.get(name)
    if value is None or value == "":
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise SchemaInvalidError(
            f"`{name}` must be a list of texts, not {shown(value)}.",
            advice=f'Send `{name}` as ["one", "two"].',
            field=name,
        )
    if len(value) > _MOST_TEXTS:
        raise SchemaInvalidError(
            f"`{name}` has {len(value):,} texts; {_MOST_TEXTS} are the most.",
            advice="Send fewer.",
            field=name,
        )
    return [one for one in value if one.strip()]


def flag(given: Arguments, name: str) -> bool:
    """True or false; false if it was not given."""
    value = given.get(name)
    if value is None or value == "" or isinstance(value, bool):
        return bool(value)
    raise SchemaInvalidError(
        f"`{name}` must be true or false, not {shown(value)}.",
        advice=f"Call again with `{name}` true or false, or without it.",
        field=name,
    )


def whole(given: Arguments, name: str, most: int) -> int | None:
    """A whole number from 1 on; None if it was not given."""
    value = _number(given, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise SchemaInvalidError(
            f"`{name}` must be a whole number from 1 to {most}, not {shown(value)}.",
            advice=f"Call again with `{name}` from 1 to {most}, or without it.",
            field=name,
        )
    return value


def budget(given: Arguments) -> int:
    """How long an answer may be, in tokens; a wish out of bounds is brought within them."""
    value = _number(given, "max_tokens")
    if value is None:
        return MAX_TOKENS
    if isinstance(value, bool) or not isinstance(value, int):
        raise SchemaInvalidError(
            f"`max_tokens` must be a whole number, not {shown(value)}.",
            advice=f"Leave it out for {MAX_TOKENS}.",
            field="max_tokens",
        )
    return min(max(value, LEAST_TOKENS), MOST_TOKENS)


def _number(given: Arguments, name: str) -> Any:
    """What was given; JSON has one kind of number, so 5.0 is whole."""
    value = given.get(name)
    if value == "":
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def filled(given: Arguments, *names: str) -> None:
    """Refuse an argument that is there and empty, where leaving it out means everything."""
    for name in names:
        value = given.get(name)
        said = value if isinstance(value, list) else [value]
        if value is not None and not any(one.strip() for one in said if isinstance(one, str)):
            raise SchemaInvalidError(
                f"`{name}` is empty, and nothing was cleared.",
                advice=f"Name what to clear, or leave `{name}` out to clear all of it.",
                field=name,
            )


def note_id(given: Arguments) -> str | None:
    """The id of a note, which may also be called its key."""
    names = [one for one in (text(given, "id"), text(given, "key")) if one.strip()]
    if len(set(names)) > 1:
        raise SchemaInvalidError(
            "`id` and `key` are the same thing, and these differ.",
            advice="Send one of them.",
            field="key",
        )
    return names[0] if names else None


def metadata(given: Arguments) -> dict[str, str]:
    """Texts under names; empty if it was not given."""
    return check_metadata(given.get("metadata"))
