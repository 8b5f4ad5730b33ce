"""Writers on a disk that needs a millisecond for a sync, as most disks do that keep their promise.

What an append costs beside the sync is a larger share the faster the disk, so the budgets were
set for such a disk. A library that is loaded before libc makes one of any: no sync of ours, of a
bare loop or of SQLite returns sooner. It is built when needed, where there is Linux and a compiler.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

from bench import one_writer, ten_writers
from bench.figures import Figure

SOURCE = Path(__file__).with_name("slow_syncs.c")


def measure(folder: Path) -> list[Figure]:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        return [Figure("slow disk", "left out: needs Linux and a C compiler", 0, "figures")]
    library = folder / "slow_syncs.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    done = subprocess.run(
        [sys.executable, "-m", "bench.slow_disk", str(folder)],
        env={**os.environ, "LD_PRELOAD": str(library)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return [Figure(**one) for one in json.loads(done.stdout)]


def main() -> None:
    """Measure in this process, whose syncs are slow, and print the figures as JSON."""
    folder = Path(sys.argv[1])
    figures = []
    for name, bench in (("one", one_writer), ("ten", ten_writers)):
        (folder / name).mkdir()
        figures += bench.measure(folder / name)
    print(
        json.dumps(
            [asdict(replace(one, benchmark=f"slow disk, {one.benchmark}")) for one in figures]
        )
    )


if __name__ == "__main__":
    main()
