"""Threads that are the first to read a manifest, all at once, in a process that has just begun."""

import subprocess
import sys

# Each child is a process that has read no manifest yet; a crash would end it by a signal.
CHILDREN = """
import os, sys, threading
from mnemolog.log.versions import CURRENT

sys.setswitchinterval(1e-6)
CONTENT = b'{"v":1,"session_id":"a","created_at":"x","segments":[{"name":"memory.jsonl"}]}'

def child():
    together = threading.Barrier(8)
    def read():
        together.wait()
        CURRENT.manifest(CONTENT)
    threads = [threading.Thread(target=read) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    os._exit(0)

ended = []
for _ in range(120):
    number = os.fork()
    if not number:
        child()
    ended.append(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
print(sum(map(bool, ended)))
"""


def test_the_first_manifests_may_be_read_by_many_threads_at_once():
    done = subprocess.run(
        [sys.executable, "-c", CHILDREN], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
