"""A process that is killed at each step of some work, in turn.

    python dying.py TEMPLATE FOLDER WORK ARGUMENTS

For n = 1, 2, 3, … the root TEMPLATE is copied to FOLDER/n, and a child does the work on the copy
until its n-th change of the disk, where it gets a SIGKILL: that change does not happen. It ends
with the first child that comes to its end, and prints what each step would have been.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import mnemolog.index.index
import mnemolog.policy.redaction
import mnemolog.stores.files.finder
import mnemolog.stores.files.keeper  # noqa: F401 - loaded once, before the children are made
from mnemolog import Memory
from mnemolog.stores import files
from mnemolog.testing import FixedClock
from tests.log.disks import RecordingDisk

CHANGES = {
    "append", "write_at", "truncate", "sync", "mkdir", "rename", "unlink", "rmdir", "sync_folder",
    "create",
}  # fmt: skip
LATER = datetime(2027, 12, 20, tzinfo=UTC)
MOST = 400
WORDS_ONLY = {"search.embedder": "none"}


class CountedDisk(RecordingDisk):
    """A disk that also tells when a file is created."""

    def __init__(self, root: str) -> None:
        super().__init__(Path(root))
        self.root = root  # type: ignore[assignment]

    def open(self, path: str, mode: Any) -> Any:
        if mode == "create":
            self.note("create", path)
        return super().open(path, mode)


def opened(root: Path) -> tuple[Memory, CountedDisk]:
    """A memory as everybody opens it, and the disk under it."""
    disk = CountedDisk(str(root))
    setattr(files, "RealDisk", lambda _: disk)  # noqa: B010 - what the store itself imported
    return Memory.open(root, settings=WORDS_ONLY, clock=FixedClock(LATER), environ={}), disk


def killer(last: int) -> Callable[[str, str], None]:
    """Kills this process before its change of this number."""
    left = last

    def before(name: str, path: str) -> None:
        nonlocal left
        left -= name in CHANGES
        if left == 0 and name in CHANGES:
            sys.stdout.write(f"{name} {path}\n")
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    return before


def die(root: Path, number: int, verb: str, arguments: dict[str, Any]) -> NoReturn:
    """Do the work, and die at this step of it."""
    status = 1
    try:
        memory, disk = opened(root)
        disk.before = killer(number)
        getattr(memory, verb)("talk", **arguments)
        status = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def main(template: str, folder: str, verb: str, arguments: str) -> None:
    """One child for each step; syncs are left out, for a kill does not need them."""
    os.fsync = os.fdatasync = lambda descriptor: None  # type: ignore[assignment]
    for number in range(1, MOST):
        root = Path(folder) / str(number)
        shutil.copytree(template, root)
        child = os.fork()
        if not child:
            die(root, number, verb, json.loads(arguments))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, -signal.SIGKILL), f"step {number} ended with {code}"
        if code == 0:
            return
    raise AssertionError("it never came to its end")


def killed_at_each_step(
    template: Path, folder: Path, verb: str, **arguments: Any
) -> list[tuple[str, Path]]:
    """What each step would have been, and the root as the kill left it; the last one is whole."""
    command = [sys.executable, __file__, str(template), str(folder), verb, json.dumps(arguments)]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    steps = done.stdout.splitlines()
    return [(step, folder / str(number)) for number, step in enumerate(steps, 1)]


if __name__ == "__main__":
    main(*sys.argv[1:])
