"""The command as a process of its own, ended with the block that started it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WAIT = 60
COMMAND = [sys.executable, "-m", "mnemolog.faces.cli"]


@contextmanager
def running(words: list[str], environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    )
    with process:
        try:
            yield process
        finally:
            process.kill()
