"""Following references: in either direction, so many steps, round every cycle once."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import Memory
from tests.index.searching import WORDS_ONLY, few, ids, steady
from tests.memory.machine import QUICK


@pytest.fixture(scope="module")
def graphs() -> Iterator[Memory]:
    with TemporaryDirectory(dir=QUICK) as root, steady(Path(root), **WORDS_ONLY) as memory:
        yield memory


def add_chain(memory: Memory, sid: str, length: int = 5) -> None:
    for number in range(length):
        references = [f"m{number - 1}"] if number else []
        memory.add_memory(sid, id=f"m{number}", content=f"link {number}", references=references)


@pytest.mark.req("S002-116")
@pytest.mark.parametrize(
    ("start", "depth", "wanted"),
    [
        ("m2", 0, set()),
        ("m2", 1, {"m1", "m3"}),
        ("m2", 2, {"m0", "m1", "m3", "m4"}),
        ("m0", 2, {"m1", "m2"}),
        ("m4", 3, {"m1", "m2", "m3"}),
        ("m0", 16, {"m1", "m2", "m3", "m4"}),
        ("never-there", 5, set()),
    ],
)
def test_a_chain_is_followed_both_ways_as_far_as_asked(memory, sid, start, depth, wanted):
    add_chain(memory, sid)
    assert set(ids(memory.query(sid, references=[start], max_depth=depth))) == wanted
    asked = {"references": start, "maxDepth": depth}
    assert set(ids(memory.query_memories(sid, asked))) == wanted


@pytest.mark.req("S002-116")
def test_one_step_is_followed_unless_a_depth_is_given(memory, sid):
    add_chain(memory, sid)
    assert set(ids(memory.query(sid, references=["m2"]))) == {"m1", "m3"}


@few
@given(
    arrows=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 9)), max_size=16),
    starts=st.lists(st.integers(0, 9), min_size=1, max_size=2, unique=True),
    depth=st.integers(0, 4),
)
@pytest.mark.req("S002-116")
def test_any_graph_with_any_cycle_is_followed_like_a_plain_search(graphs, arrows, starts, depth):
    sid = graphs.create_session().id
    graphs.add_many(
        sid,
        [
            {
                "id": f"m{node}",
                "content": "x",
                "references": [f"m{to}" for at, to in arrows if at == node],
            }
            for node in range(8)
        ],
    )
    beside: dict[int, set[int]] = {node: set() for node in range(10)}
    for at, to in arrows:
        beside[at].add(to)
        beside[to].add(at)
    near = set(starts)
    for _ in range(depth):
        # What is not there leads to what refers to it if it is asked for, and nowhere else.
        going = {node for node in near if node < 8 or node in starts}
        near |= {other for node in going for other in beside[node]}
    near &= set(range(8))
    query = {"references": [f"m{start}" for start in starts], "max_depth": depth}
    found = ids(graphs.query(sid, query, limit=100))
    graphs.delete_session(sid)
    assert sorted(found) == sorted(f"m{node}" for node in near - set(starts))


@pytest.mark.req("S002-116")
def test_filters_and_text_narrow_what_references_reach(memory, sid):
    add_chain(memory, sid)
    memory.add_decision(sid, id="d", decision="choose the link", references=["m0"])
    far = {"references": ["m2"], "max_depth": 16}
    assert set(ids(memory.query(sid, far))) == {"m0", "m1", "m3", "m4", "d"}
    assert ids(memory.query(sid, far, types=["decision"])) == ["d"]
    assert ids(memory.query(sid, far, text="choose", limit=1)) == ["d"]


def test_references_go_across_sessions_when_all_are_searched(memory, sid):
    other = memory.create_session().id
    memory.add_memory(sid, id="here", content="x", references=["there"])
    memory.add_memory(other, id="there", content="y")
    assert ids(memory.query(None, references=["here"])) == ["there"]
    assert ids(memory.query(None, references=["there"])) == ["here"]
    assert ids(memory.query(sid, references=["here"])) == []
    assert ids(memory.query(sid, references=["there"])) == ["here"]


def test_an_id_in_one_session_refers_to_nothing_because_its_namesake_in_another_does(memory, sid):
    other = memory.create_session("u2", agent_ids=["stranger"]).id
    for session, references in ((sid, []), (other, ["a"])):
        memory.add_memory(session, id="a", content="x")
        memory.add_memory(session, id="namesake", content="y", references=references)
    assert ids(memory.query(sid, references=["a"])) == []
    assert ids(memory.for_agent("architect").query(None, references=["a"])) == []
    assert [hit.entry.session_id for hit in memory.query(None, references=["a"])] == [other]


@pytest.mark.parametrize("gone", ["delete", "erase"])
def test_what_refers_to_an_entry_that_is_gone_still_does(memory, sid, gone):
    add_chain(memory, sid, 4)
    getattr(memory, gone)(sid, ids=["m1"])
    assert ids(memory.query(sid, references=["m1"])) == ["m2"]
    assert set(ids(memory.query(sid, references=["m1"], max_depth=2))) == {"m2", "m3"}
    assert ids(memory.query(sid, references=["m0"], max_depth=9)) == [], "no step goes through it"


@pytest.mark.parametrize(
    "form",
    [
        {"references": ["m0"]},
        {"references": {"findings": ["m0"]}},
        {"metadata": {"references": ["m0"]}},
    ],
)
def test_references_count_in_whichever_form_they_were_written(memory, sid, form):
    memory.add_memory(sid, id="m0", content="x")
    memory.add_memory(sid, id="m1", content="y", **form)
    assert ids(memory.query(sid, references=["m0"])) == ["m1"]


def test_a_revision_takes_its_references_back(memory, sid):
    add_chain(memory, sid, 3)
    assert set(ids(memory.query(sid, references=["m1"]))) == {"m0", "m2"}
    memory.update_memory(sid, "m1", references=["m1"])
    assert set(ids(memory.query(sid, references=["m1"]))) == {"m2"}
    assert ids(memory.query(sid, references=["m0"])) == []


def test_no_step_goes_through_what_a_view_may_not_see(memory, sid):
    memory.add_memory(sid, id="a", content="x")
    memory.add_memory(
        sid, id="secret", content="y", references=["a"], scope="agent", agent_id="analyst"
    )
    memory.add_memory(sid, id="b", content="z", references=["secret"])
    far = {"references": ["a"], "max_depth": 5}
    assert set(ids(memory.for_agent("analyst").query(sid, far))) == {"secret", "b"}
    assert ids(memory.for_agent("architect").query(sid, far)) == []
