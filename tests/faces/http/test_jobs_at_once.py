"""Jobs that begin and end at once are all kept, and none of them disturbs another."""

from concurrent.futures import ThreadPoolExecutor

from mnemolog.faces.http.jobs import Jobs, Work
from mnemolog.faces.http.passes import Scope
from mnemolog.stores.files.jobs import JobFile


def test_many_jobs_at_once_are_all_kept(tmp_path):
    file = JobFile(str(tmp_path))
    jobs = Jobs(file, lambda job, scope: None)
    work = Work("verify", "files", lambda progress: {})
    with ThreadPoolExecutor(8) as pool:
        begun = list(pool.map(lambda _: jobs.begin(work, Scope()), range(40)))
    assert {job.id for job in begun} <= {job["id"] for job in file.read()}
