"""Ten runs at once on one session: threads and processes, some of which are killed."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from mnemolog.memory.running import Run
from tests.tools.runner import OWN, SHARED, fill
from tests.tools.test_runs import RUNNER, runs_of

TEN = [f"worker {number}" for number in range(10)]


@pytest.mark.req("S004-025", "S004-079", "S004-086")
def test_ten_threads_with_a_run_each_keep_all_notes_and_see_only_their_own(memory, sid, folder):
    together = Barrier(len(TEN))

    def work(name: str) -> Run:
        run = memory.run(sid, agent_id="architect", run_id=name)
        together.wait()
        fill(run, name)
        if name != TEN[0]:
            run.end()
        return run

    with ThreadPoolExecutor(len(TEN)) as threads:
        runs = list(threads.map(work, TEN))
    assert [run.is_open for run in runs] == [True, *[False] * 9]
    assert len(runs[0].notes("run")) == OWN
    assert len(runs_of(folder)) == 1
    told = {entry.content for entry in memory.get_entries(sid)}
    assert told == {f"{name} told {number}" for name in TEN for number in range(SHARED)}


@pytest.mark.req("S004-025", "S004-079", "S004-086")
def test_ten_threads_saving_in_one_run_give_ten_times_their_notes(memory, sid):
    with memory.run(sid) as run, ThreadPoolExecutor(10) as threads:
        ids = list(threads.map(lambda number: run.save("run", f"note {number}").id, range(100)))
        assert len(set(ids)) == 100
        assert {note.content for note in run.get("run")} == {f"note {n}" for n in range(100)}
        assert run.size("run") == sum(len(f"note {n}") for n in range(100))


@pytest.mark.req("S004-025", "S004-079", "S004-086")
def test_ten_processes_with_a_run_each_lose_nothing_and_disturb_nobody(memory, sid, root, folder):
    verbs = ["leave" if number % 5 == 0 else "work" for number in range(len(TEN))]
    started = [
        subprocess.Popen([sys.executable, str(RUNNER), verb, str(root), sid, name])
        for verb, name in zip(verbs, TEN, strict=True)
    ]
    ended = [process.wait(timeout=60) for process in started]
    assert ended == [-signal.SIGKILL if verb == "leave" else 0 for verb in verbs]
    told = [entry.content for entry in memory.get_entries(sid)]
    assert sorted(told) == sorted(f"{name} told {n}" for name in TEN for n in range(SHARED))
    left = {one.run_id for one in memory.left_runs(sid)}
    assert left == {"worker 0", "worker 5"}
    for name in sorted(left):
        with memory.run(sid, agent_id="architect", run_id=name) as run:
            assert [note.content for note in run.notes("run")] == [
                f"{name} {number}" for number in range(OWN)
            ]
    assert runs_of(folder) == []
