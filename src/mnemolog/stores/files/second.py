"""The second program that works texts out for an index; see `index.crew`."""

import signal
import sys

from mnemolog.embedders import open_embedder
from mnemolog.index.build import identity_of
from mnemolog.index.crew import program, serve
from mnemolog.index.embedding import quick

_SOURCE = "from mnemolog.stores.files.second import main; main(sys.argv[1])"


def command(embedder: str) -> list[str]:
    """The command line of a second program with this embedder; empty where none can be."""
    return program(_SOURCE, embedder)


def main(name: str) -> None:
    """Work out what comes in until nothing more comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    embedder = None if name == "none" else open_embedder(name)
    serve(sys.stdin.buffer, sys.stdout.buffer, quick(embedder), identity_of(embedder))
