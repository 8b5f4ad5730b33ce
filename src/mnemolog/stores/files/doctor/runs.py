"""The doctor's look at a session's runs: those that nobody has ended, and what a crash left."""

import shlex
from collections.abc import Iterator
from functools import partial

from mnemolog.fs import Disk
from mnemolog.log import runs, sessions
from mnemolog.log.places import SessionPlace
from mnemolog.model.times import to_moment
from mnemolog.policy.compartments import is_left
from mnemolog.ports.keeping import LeftRun
from mnemolog.stores.files.doctor.findings import Case, case
from mnemolog.stores.files.doctor.mending import at_rest


def check_runs(disk: Disk, place: SessionPlace, lock_timeout: float, now: str) -> Iterator[Case]:
    """Runs that go on or were left behind, and files of runs that were being made or ended."""
    for name in at_rest(disk, place, lambda: runs.passing(disk, place)):
        path = f"{runs.folder_of(place)}/{name}"
        mend = partial(_sweep, disk, place, lock_timeout)
        yield case("temporary", path, "a run was being begun or ended", mend)
    for one in runs.left(disk, place):
        if not one.path.endswith(runs.PASSING):
            who = f" of {one.agent_id!r:.80}" if one.agent_id else ""
            what = f"the run {one.run_id!r:.140}{who} has not ended; last used {one.last_written}"
            code = "run_left" if is_left(one.last_written, to_moment(now)) else "run_open"
            yield case(code, one.path, what, typed=("SESSION RUN", _typed(one)))


def _typed(one: LeftRun) -> str:
    """A run as a command line names it."""
    names = [one.session_id, one.run_id]
    return shlex.join(["--", *names] if any(name.startswith("-") for name in names) else names)


def _sweep(disk: Disk, place: SessionPlace, timeout: float) -> str:
    with sessions.locked(disk, place, timeout):
        runs.sweep(disk, place)
    return "overwritten and removed"
