"""What a query takes, as options of a verb."""

from typing import Any

import click

from mnemolog.faces.cli.options import Verb, given, last_moment, names, span

_OPTIONS = [
    click.option("--types", metavar="A,B", help="Only these types."),
    click.option(
        "--tag", "tags", metavar="TAG", multiple=True,
        help="Only with this tag or one below it; or any of.",
    ),
    click.option("--all-tags", is_flag=True, help="Only with every TAG, not just any of them."),
    click.option("--not-tag", "not_tags", metavar="TAG", multiple=True, help="Not with this tag."),
    click.option("--by", metavar="AGENT", multiple=True, help="Only by this agent; or any of."),
    click.option("--of", metavar="USER", multiple=True, help="Only of this user; or any of."),
    click.option("--since", metavar="TIME", help="Only from this time on (ISO 8601)."),
    click.option(
        "--until", metavar="TIME", callback=last_moment,
        help="Only up to this time (ISO 8601; a date means its end, in UTC).",
    ),
    click.option("--last", metavar="SPAN", help="Only of the last `3 days`, `week`, `2 hours`, …"),
    click.option(
        "--refs", metavar="ID", multiple=True,
        help="Only what references join to this entry, in either direction.",
    ),
    click.option("--depth", metavar="N", type=int, help="So many steps away; 1 unless told."),
    click.option("--min-importance", metavar="0..1", type=float, help="Only what weighs as much."),
]  # fmt: skip


def filters(function: Verb) -> Verb:
    """Give a verb the options that narrow a query."""
    return given(function, _OPTIONS)


def query(
    text: str | None,
    *,
    types: str | None,
    tags: tuple[str, ...],
    all_tags: bool,
    not_tags: tuple[str, ...],
    by: tuple[str, ...],
    of: tuple[str, ...],
    since: str | None,
    until: str | None,
    last: str | None,
    refs: tuple[str, ...],
    depth: int | None,
    **more: Any,
) -> dict[str, Any]:
    """The query that the words and options ask for; nothing in it that was not given."""
    if since and last:
        raise click.UsageError("--since and --last are two ways to say the same.")
    if all_tags and not tags:
        raise click.UsageError("--all-tags goes with --tag.")
    if depth is not None and not refs:
        raise click.UsageError("--depth goes with --refs.")
    wanted = {
        "text": text,
        "types": names(types),
        "all_tags" if all_tags else "tags": list(tags),
        "exclude_tags": list(not_tags),
        "agents": list(by),
        "users": list(of),
        "time_range": span(_phrase(last) if last else since, until),
        "references": list(refs),
        "max_depth": depth,
        **more,
    }
    return {name: value for name, value in wanted.items() if value not in (None, "", [], {})}


def _phrase(span: str) -> str:
    """`3 days` and `last 3 days` mean the same."""
    words = span.lower().split()
    return " ".join(words if words[:1] in (["last"], ["past"]) else ["last", *words])
