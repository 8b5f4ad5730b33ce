"""`mnemolog serve`"""

import os

import click

from mnemolog.errors import NotAllowedError
from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call, is_address, verb
from mnemolog.faces.cli.listening import address, listening


@click.command()
@listening(7077)
@click.option(
    "--work-agent",
    metavar="FOLDER",
    help="Also serve the NDJSON sessions of the agents below FOLDER/.work-agent.",
)
@verb
def serve(
    call: Call, host: str, port: int, allow_host: tuple[str, ...], work_agent: str | None
) -> None:
    """Serve this memory: API, page and MCP.

    Prints a link that signs a browser in, once. Programs send the token, which is the file `token`
    in the root, as `Authorization: Bearer`. Ends with Ctrl-C or SIGTERM, after everything that was
    accepted is done.
    """
    _expect_libraries()
    if is_address(call.root):
        raise NotAllowedError("The token lies in a folder.", advice="Give a folder as the root.")
    if call.agent is not None or call.user is not None:
        raise NotAllowedError(
            "A server is for all agents and users.",
            advice="Make tokens for some of them: `mnemolog token new --for-agent NAME`.",
        )
    with call.memory(make=True) as memory:
        from mnemolog.faces.http import logs, serving
        from mnemolog.faces.mcp import binding
        from mnemolog.stores.files.serving import tokens

        settings = memory.settings.server
        has_token = tokens.has_token(call.root)
        binding.check_host(host, has_token=has_token, behind_tls=settings.behind_tls)
        token = tokens.owner_token(call.root)
        folder = None if work_agent is None else os.path.abspath(work_agent)
        where = serving.Where(memory, call.root, token, os.environ, folder, allow_host)
        with binding.bind(host, port) as bound:
            name, number = bound.getsockname()[:2]
            built = serving.build(where, number, name)
            logs.begin(settings.log_level)
            _say(call, f"{address(name, number)}/", built.house.desk.new_code())
            serving.serve(built, [bound])


def _say(call: Call, url: str, code: str) -> None:
    link = f"{url}#code={code}"
    if call.as_json:
        screen.emit({"url": url, "link": link})
        return
    screen.say(f"Serving {call.root} at {url}")
    screen.say("Open this to sign in; it works once, for ten minutes:")
    screen.say(f"  {link}")


def _expect_libraries() -> None:
    from importlib.util import find_spec

    for name in ("litestar", "uvicorn", "mcp"):
        if find_spec(name) is None:
            raise click.UsageError(
                "The server needs extras: pip install 'mnemolog[server,mcp]', or in a clone"
                " pip install '.[server,mcp]'."
            )
