"""Another process that keeps a root open and answers what it sees.

    python onlooker.py ROOT

Each line on its input asks for a verb of `Memory`; each line on its output tells the ids found, or
the name of the error.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnemolog import Memory
from mnemolog.errors import MnemologError
from mnemolog.model.entry import Entry


def ids(found: Any) -> Any:
    """What was found, as plain ids."""
    if isinstance(found, Entry):
        return found.id
    if isinstance(found, list):
        return [one.id if isinstance(one, Entry) else one.entry.id for one in found]
    return found if isinstance(found, str | int | bool | None) else str(found)


def main(root: str) -> None:
    """Answer until the input ends."""
    settings = {"search.embedder": "none"}
    with Memory.open(root, settings=settings, environ={}) as memory:
        for line in sys.stdin:
            verb, args, more = json.loads(line)
            try:
                answer = ids(getattr(memory, verb)(*args, **more))
            except MnemologError as error:
                answer = f"{type(error).__name__}"
            print(json.dumps(answer), flush=True)


class Onlooker:
    """Asks the other process."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._child = child

    def __call__(self, verb: str, *args: Any, **more: Any) -> Any:
        """What the other process answers."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        print(json.dumps([verb, args, more]), file=self._child.stdin, flush=True)
        return json.loads(self._child.stdout.readline())


@contextmanager
def onlooker(root: Path) -> Iterator[Onlooker]:
    """Another process with this root open, for as long as the block runs."""
    command = [sys.executable, __file__, str(root)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        yield Onlooker(child)
        child.communicate(timeout=60)
    assert child.returncode == 0


if __name__ == "__main__":
    main(sys.argv[1])
