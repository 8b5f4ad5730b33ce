"""Jobs that begin and end at once are all kept, and none of them disturbs another.

That goes for jobs of several servers on one root too.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

from mnemolog.faces.http.jobs import Jobs, Work
from mnemolog.faces.http.passes import Scope
from mnemolog.stores.files.serving.job_file import JobFile
from tests.faces.http.servers import finished, in_process, in_thread


def test_many_jobs_at_once_are_all_kept(tmp_path):
    file = JobFile(str(tmp_path))
    jobs = Jobs(file, lambda job, scope: None)
    work = Work("verify", "files", lambda progress: {})
    with ThreadPoolExecutor(8) as pool:
        begun = list(pool.map(lambda _: jobs.begin(work, Scope()), range(40)))
    assert {job.id for job in begun} <= {job["id"] for job in file.read()}


def test_a_second_server_leaves_the_jobs_of_one_that_lives_alone(tmp_path):
    root = tmp_path / "store"
    gate = threading.Event()
    with in_thread(root) as first:
        assert first.built is not None
        jobs = first.built.house.jobs
        work = Work("verify", "files", lambda progress: {"waited": gate.wait(60)})
        running = jobs.begin(work, Scope())
        with in_process(root) as (second, process), second.client() as client:
            assert client.get(f"/jobs/{running.id}").status_code == 404
            other = client.post("/verify", json={"text": ["nowhere"]}).json()["id"]
            assert finished(client, other)["state"] == "done"
            process.kill()
            process.wait(60)
        gate.set()
        with first.client() as client:
            assert finished(client, running.id)["state"] == "done"
    with in_thread(root) as third, third.client() as client:
        known = {job["id"]: job["state"] for job in client.get("/jobs").json()["items"]}
    assert known == {running.id: "done", other: "done"}


def test_the_jobs_of_servers_that_were_killed_are_told_by_the_next_one(tmp_path):
    lists = [JobFile(str(tmp_path)) for _ in range(3)]
    for number, file in enumerate(lists):
        started = f"2026-11-15T00:00:0{number}.000Z"
        file.write([{"id": f"job_{number}", "action": "erase", "state": "running",
                     "started_at": started}])  # fmt: skip
    living = lists[2]
    del lists, file  # as a killed process does: its leases end with it
    found = Jobs(JobFile(str(tmp_path)), lambda job, scope: None)
    told = [(job.id, job.state) for job in found.all(Scope())]
    assert told == [("job_1", "interrupted"), ("job_0", "interrupted")]
    found.close()
    assert [job["id"] for job in living.read()] == ["job_0", "job_1", "job_2"]
