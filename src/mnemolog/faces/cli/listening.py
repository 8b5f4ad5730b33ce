"""Where a server listens, as options of a verb."""

from collections.abc import Callable

import click

from mnemolog.faces.cli.options import Verb, given


def address(host: str, port: int) -> str:
    """Where a server is reached that listens there."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def listening(port: int) -> Callable[[Verb], Verb]:
    """Give a verb --host, --port with this default, and --allow-host."""
    options = [
        click.option(
            "--host",
            metavar="ADDRESS",
            default="127.0.0.1",
            help="Listen here; 127.0.0.1 unless told.",
        ),
        click.option(
            "--port",
            metavar="N",
            type=click.IntRange(0, 65535),
            default=port,
            help=f"And on this port; {port} unless told, any that is free for 0.",
        ),
        click.option(
            "--allow-host",
            metavar="NAME",
            multiple=True,
            help="Answer to this name too, as Host: says it.",
        ),
    ]
    return lambda function: given(function, options)
