"""A forked child searches with a database and files of its own."""

import os


def test_a_forked_child_searches_and_so_does_its_parent(memory, sid):
    memory.add_memory(sid, content="the harbour is closed")
    assert len(memory.query(sid, text="harbour")) == 1
    child = os.fork()
    if child == 0:
        found = 1
        try:
            memory.add_memory(sid, content="the harbour is open again")
            found = len(memory.query(sid, text="harbour"))
        finally:
            os._exit(0 if found == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert len(memory.query(sid, text="harbour")) == 2
