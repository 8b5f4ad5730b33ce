"""Serves a root over HTTP to clients that cannot send a token: the conformance suite is one.

All else is as `mnemolog mcp --http` has it, the checks of Host and Origin included.
"""

import sys

import uvicorn

from mnemolog import Memory
from mnemolog.faces import asgi
from mnemolog.faces.mcp import guard, http
from mnemolog.faces.mcp.runs import Served


def main(root: str) -> None:
    token = "0" * 64
    listening = http.bind("127.0.0.1", 0)
    port = listening.getsockname()[1]
    with Memory.open(root) as memory:
        inner = http.guarded(Served(memory), token, guard.names_of(port))

        async def app(scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
            if scope["type"] == "http":
                brought = (b"authorization", f"Bearer {token}".encode())
                scope = {**scope, "headers": [*scope["headers"], brought]}
            await inner(scope, receive, send)

        print(f"Serving http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)
        config = uvicorn.Config(app, log_level="warning", ws="none", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1])
