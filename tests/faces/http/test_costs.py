"""What showing a long session costs, counted at the door to the disk."""

import pytest

from tests.faces.http.servers import in_thread
from tests.index.counting import CountingDisk
from tests.index.searching import opened_on

LINE = 400
"""No line below is longer."""
TAIL = 65_536
"""Whoever wants to know when a session was last written to looks into its last block."""


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_a_view_of_a_session_reads_the_lines_that_it_shows(root, count):
    disk = CountingDisk(str(root))
    memory = opened_on(disk)
    sid = memory.create_session("ann", agent_ids=["architect"], session_id="long").id
    for start in range(0, count, 1000):
        numbers = range(start, start + 1000)
        memory.add_many(sid, [{"type": "note", "content": f"line {n:06}"} for n in numbers])
    memory.numbers(sid)  # the index has read what is new
    with in_thread(root, opened=memory) as server, server.client() as client:
        for path, allowed in (
            (f"/sessions/{sid}/entries?limit=100", 100 * LINE),
            (f"/sessions/{sid}/entries?around={count // 2}&limit=50", 51 * LINE),
            (f"/sessions/{sid}/entries?after_seq={count // 3}&hidden=true&limit=20", 20 * LINE),
            (f"/sessions/{sid}/minimap", 0),
            (f"/sessions/{sid}", TAIL),
            ("/sessions", 0),
            ("/hidden", 0),
            ("/stats", 0),
            ("/stats/series", 0),
        ):
            disk.reset()
            answer = client.get(path)
            assert answer.status_code == 200, answer.text
            assert disk.taken <= allowed, path
        first = client.get(f"/sessions/{sid}/entries?after_seq=0&limit=1").json()["items"][0]
        disk.reset()
        for more in ("", "/raw"):
            client.get(f"/sessions/{sid}/entries/{first['entry']['id']}{more}")
        assert disk.taken <= 2 * LINE
