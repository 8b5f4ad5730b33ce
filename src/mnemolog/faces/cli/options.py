"""A date without a time, where an option takes a moment: it means the whole day, in UTC."""

import re

import click

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def last_moment(context: click.Context, option: click.Parameter, given: str | None) -> str | None:
    """Of a bare date its last moment, for `--until` and `--as-of`; all else as it was given."""
    is_date = given is not None and _DATE.fullmatch(given.strip())
    return f"{str(given).strip()}T23:59:59.999Z" if is_date else given
