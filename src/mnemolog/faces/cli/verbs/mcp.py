"""`mnemolog mcp`"""

from typing import TYPE_CHECKING

import click

from mnemolog.errors import NotAllowedError
from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call, is_address, verb
from mnemolog.faces.cli.listening import address, listening

if TYPE_CHECKING:
    from mnemolog.faces.mcp.runs import Served


@click.command()
@click.option("--session", metavar="ID", help="Work in this session; else in one of the client.")
@click.option("--http", "over_http", is_flag=True, help="Serve streamable HTTP instead of stdio.")
@listening(7078)
@click.option(
    "--behind-tls", is_flag=True, help="A proxy in front speaks TLS: other addresses may be bound."
)
@verb
def mcp(
    call: Call,
    session: str | None,
    over_http: bool,
    host: str,
    port: int,
    behind_tls: bool,
    allow_host: tuple[str, ...],
) -> None:
    """Serve this memory over the Model Context Protocol.

    Over standard input and output, for the client that starts it, until that closes the input. Over
    HTTP at http://HOST:PORT/mcp, for whoever has the token: the file `token` in the root.
    """
    _expect_library()
    from mnemolog.faces.mcp.runs import Served

    with call.memory(make=True) as memory:
        served = Served(memory, session, call.agent, call.user)
        if over_http:
            _serve_http(call, served, (host, port), behind_tls, allow_host)
        else:
            from mnemolog.faces.mcp import stdio

            stdio.serve(served)


def _serve_http(
    call: Call,
    served: "Served",
    where: tuple[str, int],
    behind_tls: bool,
    names: tuple[str, ...],
) -> None:
    from mnemolog.faces.mcp import http
    from mnemolog.stores.files.serving import tokens

    if is_address(call.root):
        raise NotAllowedError("The token lies in a folder.", advice="Give a folder as the root.")
    http.check_host(where[0], has_token=tokens.has_token(call.root), behind_tls=behind_tls)
    token = tokens.owner_token(call.root)
    with http.bind(*where) as bound:
        screen.say(f"Serving {address(*bound.getsockname()[:2])}{http.PATH}", err=True)
        screen.say(f"The token is the file {tokens.TOKEN} in {call.root}", err=True)
        http.serve(served, token, bound, names)


def _expect_library() -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise click.UsageError(
            "The server needs an extra: pip install 'mnemolog[mcp]', or in a clone"
            " pip install '.[mcp]'."
        )
