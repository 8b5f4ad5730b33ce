"""What several verbs take as options, and what is made of it."""

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

Verb = TypeVar("Verb", bound=Callable[..., Any])

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def given(function: Verb, options: Iterable[Callable[[Verb], Verb]]) -> Verb:
    """A verb with these options, in this order."""
    for option in reversed([*options]):
        function = option(function)
    return function


def names(types: str | None) -> list[str] | None:
    """The names in a list such as `decision,finding`."""
    return [name.strip() for name in types.split(",") if name.strip()] if types else None


def span(since: str | None, until: str | None) -> dict[str, str]:
    """A time range with the ends that were given."""
    return {side: at for side, at in (("start", since), ("end", until)) if at}


def last_moment(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Of a bare date its last moment, in UTC, for `--until` and `--as-of`; all else as it was."""
    is_date = given is not None and _DATE.fullmatch(given.strip())
    return f"{str(given).strip()}T23:59:59.999Z" if is_date else given
