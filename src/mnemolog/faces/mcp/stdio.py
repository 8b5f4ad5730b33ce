"""The server on standard input and output, for one client that started it."""

import signal
import sys

import anyio
from mcp.server.stdio import stdio_server

from mnemolog.faces.mcp import unanswered
from mnemolog.faces.mcp.lines import MendedInput
from mnemolog.faces.mcp.runs import Runs, Served
from mnemolog.faces.mcp.server import make_server


def serve(served: Served) -> None:
    """Serve until the input ends and what came over it is answered, or the system asks to end."""
    try:
        anyio.run(_serve, Runs(served))
    except* BrokenPipeError:
        pass  # a client that is gone waits for no answer


async def _serve(runs: Runs) -> None:
    server = make_server(runs)
    async with anyio.create_task_group() as beside:
        beside.start_soon(_end_on_signal, runs)
        lines = MendedInput(sys.stdin.buffer, encoding="utf-8", errors="replace")
        async with stdio_server(anyio.wrap_file(lines)) as (received, sent):
            await unanswered.run(server, received, sent)
        beside.cancel_scope.cancel()


async def _end_on_signal(runs: Runs) -> None:
    """End the runs, then go as the signal says: a thread that waits for input cannot be ended."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for number in signals:
            await runs.end_all()
            runs.memory.close()
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
