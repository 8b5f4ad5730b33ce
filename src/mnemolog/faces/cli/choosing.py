"""Which entries a verb means, as options of it."""

from typing import Any

import click

from mnemolog.faces.cli.call import Call
from mnemolog.faces.cli.options import Verb, given, last_moment, names, span

_OPTIONS = [
    click.option("--id", "ids", metavar="ID", multiple=True, help="This entry; or any of."),
    click.option("--types", metavar="A,B", help="Entries of these types."),
    click.option("--tag", "tags", metavar="TAG", multiple=True, help="With this tag or below it."),
    click.option("--topic", metavar="TOPIC", multiple=True, help="With this tag or topic."),
    click.option("--by", metavar="AGENT", multiple=True, help="By this agent; or any of."),
    click.option("--since", metavar="TIME", help="From this time on (ISO 8601)."),
    click.option(
        "--until", metavar="TIME", callback=last_moment,
        help="Up to this time (ISO 8601; a date means its end, in UTC).",
    ),
]  # fmt: skip


def criteria(function: Verb) -> Verb:
    """Give a verb the options that say which entries it means."""
    return given(function, _OPTIONS)


def chosen(
    *,
    ids: tuple[str, ...],
    types: str | None,
    tags: tuple[str, ...],
    topic: tuple[str, ...],
    by: tuple[str, ...],
    since: str | None,
    until: str | None,
) -> dict[str, Any]:
    """The criteria that the options give; an entry must meet all of them."""
    wanted = {
        "ids": list(ids),
        "types": names(types),
        "tags": list(tags),
        "topic": list(topic),
        "agents": list(by),
        "time_range": span(since, until),
    }
    return {name: value for name, value in wanted.items() if value}


def owned(call: Call, session: str | None, wanted: dict[str, Any]) -> tuple[Call, dict[str, Any]]:
    """Without a session: how to reach what the user who was named owns, or what an id names."""
    if session is not None:
        return call, wanted
    if call.user is None and "ids" not in wanted:
        raise click.UsageError("Name a SESSION; or give --user, or --id, for what users own.")
    if call.user is None or call.agent is not None:
        return call, wanted
    return call._replace(user=None), {**wanted, "user_id": [call.user]}
