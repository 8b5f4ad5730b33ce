"""One tick: from due sessions to nodes, each fact once, the marker last."""

from threading import Thread

import pytest

from mnemolog.errors import DistillerError
from mnemolog.model.lesson import Edit, Proposal, Source
from mnemolog.worker import Distillers, Worker, preview
from tests.forgetting.scanner import traces, word
from tests.worker.scribes import SAID, Failing, Scribe, Slow, open_memory, said, talk, working


def statuses(outcomes) -> dict[str, str]:
    return {one.session_id: one.status for one in outcomes}


@pytest.mark.req("S003-01", "S003-03", "S003-04", "S003-05", "S003-07", "S003-08", "S003-29")
def test_a_finished_session_becomes_a_node(memory):
    talk(memory, "s1", "We use PostgreSQL.")
    memory.reset_session("s1")
    scribe = Scribe()
    (done,) = working(memory, scribe).tick()
    assert (done.status, done.written, done.until) == ("learned", 1, 1)
    assert said(memory) == ["- We use PostgreSQL."]
    (lesson,) = scribe.lessons
    assert lesson.transcript == "## User\nWe use PostgreSQL."
    node = memory.node_reader("u1").read(SAID)
    assert node.sources == ("s1/s1-1",)
    assert memory.due_sessions() == []
    assert memory.kept_plans() == []


@pytest.mark.req("S003-06")
def test_the_next_lesson_sees_the_node_that_the_first_one_made(memory):
    talk(memory, "s1", "one")
    memory.reset_session("s1")
    worker = working(memory, Scribe())
    worker.tick()
    memory.add_conversation("s1", role="user", content="two")
    memory.reset_session("s1")
    worker.tick()
    assert said(memory) == ["- one", "- two"]


def test_a_session_that_is_too_long_for_its_distiller_is_learned_from_in_parts(memory):
    scribe = Scribe()
    scribe.most_characters = 25
    lines = [f"fact number {n}" for n in range(5)] + ["one long fact that does not fit by itself"]
    talk(memory, "s1", *lines)
    memory.reset_session("s1")
    worker = working(memory, scribe)
    outcomes = [done for _ in range(10) for done in worker.tick()]
    assert {done.status for done in outcomes} == {"learned"}
    assert [len(lesson.entries) for lesson in scribe.lessons] == [1, 1, 1, 1, 1, 1]
    assert said(memory) == [f"- {line}" for line in lines]
    assert memory.due_sessions() == []


def test_a_preview_shows_the_part_that_comes_next(memory):
    scribe = Scribe()
    scribe.most_characters = 30
    talk(memory, "s1", "fact number 1", "fact number 2", "fact number 3")
    memory.reset_session("s1")
    distillers = Distillers(memory.settings.knowledge, lambda agent, settings: scribe)
    (shown,) = preview(memory, distillers, 10)
    assert shown.proposal is not None
    assert [len(lesson.entries) for lesson in scribe.lessons] == [2]


@pytest.mark.req("S003-10", "S003-14", "S003-17", "S003-13", "S003-28")
def test_each_source_agent_has_a_memory_agent_that_is_made_when_first_met(memory):
    made: list[str] = []

    def make(agent_id, settings):
        made.append(agent_id)
        return Scribe(f"agents/{agent_id}")

    distillers = Distillers(memory.settings.knowledge, make)
    worker = Worker(memory, distillers)
    for number, agent in enumerate(["guide", "cook", "guide"]):
        memory.create_session("u1", agent_ids=[agent], session_id=f"s{number}")
    assert distillers.known() == []
    memory.add_conversation("s0", role="user", content="hello")
    memory.reset_session("s0")
    worker.tick()
    assert (made, distillers.known()) == (["guide"], ["/memory-agent/guide"])
    for sid in ("s1", "s2"):
        memory.add_conversation(sid, role="user", content="hello")
        memory.reset_session(sid)
    worker.tick()
    assert made == ["guide", "cook"]
    assert distillers.known() == ["/memory-agent/cook", "/memory-agent/guide"]
    assert said(memory, address="agents/guide") == ["- hello", "- hello"]


@pytest.mark.req("S003-24")
def test_a_tick_takes_ten_sessions_and_the_next_one_the_rest(root, clock):
    with open_memory(root, clock) as memory:
        for number in range(13):
            memory.reset_session(talk(memory, f"s{number:02}", f"fact {number}", user=f"u{number}"))
            clock.advance(seconds=1)
        worker = working(memory, Scribe())
        first = worker.tick()
        assert sorted(statuses(first)) == [f"s{number:02}" for number in range(10)]
        assert sorted(statuses(worker.tick())) == ["s10", "s11", "s12"]
        assert worker.tick() == []


@pytest.mark.req("S003-25", "S003-16", "S003-22")
def test_a_memory_agents_own_session_is_marked_and_nothing_is_learned(memory, clock):
    talk(memory, "own", "I wrote a node.")
    memory.update_session("own", metadata={"agent": {"type": "memory-agent", "id": "guide"}})
    clock.advance(hours=1)
    scribe = Scribe()
    (done,) = working(memory, scribe).tick()
    assert (done.status, scribe.lessons) == ("exempt", [])
    assert memory.due_sessions() == []


def test_a_session_with_nothing_to_learn_is_marked(memory):
    talk(memory, "s1")
    memory.add_conversation("s1", role="user", content="known", origin="recall")
    memory.reset_session("s1")
    scribe = Scribe()
    (done,) = working(memory, scribe).tick()
    assert (done.status, scribe.lessons, memory.due_sessions()) == ("nothing", [], [])


def test_a_failing_distiller_parks_only_its_own_session(memory, clock):
    for name in ("bad", "good"):
        memory.reset_session(talk(memory, name, f"the {name} fact"))
    failing = Failing("bad")
    worker = working(memory, failing)
    assert statuses(worker.tick()) == {"bad": "failed", "good": "learned"}
    assert said(memory) == ["- the good fact"]
    for minutes in (1, 4, 16, 64):
        assert worker.tick() == []
        clock.advance(minutes=minutes)
        (done,) = worker.tick()
    assert (done.status, done.error, failing.tries) == ("parked", "E_DISTILLER", 5)
    clock.advance(days=30)
    assert worker.tick() == []
    failing.sessions = ()
    memory.retry_session("bad")
    assert statuses(worker.tick()) == {"bad": "learned"}


@pytest.mark.parametrize("error", [RuntimeError("said"), KeyError("said"), DistillerError("said")])
def test_whatever_a_distiller_raises_only_its_name_is_kept(memory, root, error):
    memory.reset_session(talk(memory, "s1", "x"))
    (done,) = working(memory, Failing("s1", error=error)).tick()
    assert done.status == "failed"
    assert done.error in ("RuntimeError", "KeyError", "E_DISTILLER")
    assert "said" not in (root / "sessions" / "s1" / "manifest.json").read_text()


# --- what happens while a distiller thinks


def test_what_is_written_while_a_distiller_thinks_is_learned_next(memory):
    memory.reset_session(talk(memory, "s1", "before"))
    slow = Slow("s1")
    worker = working(memory, slow)
    ticking = Thread(target=worker.tick)
    ticking.start()
    assert slow.begun.wait(30)
    memory.add_conversation("s1", role="user", content="meanwhile")
    memory.reset_session("s1")
    slow.go.set()
    ticking.join(30)
    assert said(memory) == ["- before"]
    slow.sessions = ()
    worker.tick()
    assert said(memory) == ["- before", "- meanwhile"]


@pytest.mark.parametrize("how", ["delete", "erase", "delete_session"])
def test_what_is_deleted_while_a_distiller_thinks_does_not_come_back(memory, root, how):
    secret = word()
    memory.reset_session(talk(memory, "s1", secret))
    slow = Slow("s1")
    worker = working(memory, slow)
    ticking = Thread(target=worker.tick)
    ticking.start()
    assert slow.begun.wait(30)
    if how == "delete":
        memory.delete_memory("s1", "s1-1")
    elif how == "erase":
        memory.erase("s1", {"ids": ["s1-1"]})
    else:
        memory.delete_session("s1")
    slow.go.set()
    ticking.join(30)
    assert said(memory) == []
    assert memory.kept_plans() == []
    if how != "delete":
        assert traces(root, [secret]) == {}


def test_nothing_is_lost_and_nothing_comes_back_whatever_happens_meanwhile(memory, root):
    gone = word()
    memory.reset_session(talk(memory, "s1", "kept", "deleted", gone, "revised"))
    slow = Slow("s1")
    worker = working(memory, slow)
    ticking = Thread(target=worker.tick)
    ticking.start()
    assert slow.begun.wait(30)
    memory.delete_memory("s1", "s1-2")
    memory.erase("s1", {"ids": ["s1-3"]})
    memory.update_memory("s1", "s1-4", content="revised since")
    memory.add_conversation("s1", role="user", content="added")
    memory.reset_session("s1")
    slow.go.set()
    ticking.join(60)
    working(memory, Scribe()).tick()
    assert sorted(said(memory)) == ["- added", "- kept", "- revised since"]
    assert traces(root, [gone]) == {}
    assert [entry.text for entry in memory.get_entries("s1")] == ["kept", "revised since", "added"]


def test_what_the_others_said_is_not_lost_with_what_was_deleted(memory):
    memory.reset_session(talk(memory, "s1", "kept", "dropped", "kept too"))
    slow = Slow(meanwhile=lambda: memory.delete_memory("s1", "s1-2"))
    (done,) = working(memory, slow).tick()
    assert [len(lesson.entries) for lesson in slow.scribe.lessons] == [3, 2]
    assert (done.status, said(memory)) == ("learned", ["- kept", "- kept too"])


def test_a_session_that_is_disturbed_again_and_again_is_put_off(memory, clock):
    memory.reset_session(talk(memory, "s1", "kept", "revised"))

    def revise():
        memory.update_memory("s1", "s1-2", content=f"revised {len(slow.scribe.lessons)}")

    slow = Slow(meanwhile=revise)
    (done,) = working(memory, slow).tick()
    assert (done.status, done.error, len(slow.scribe.lessons)) == ("stale", "E_CONCURRENT_MOD", 3)
    assert working(memory, Scribe()).tick() == []
    clock.advance(minutes=1)
    working(memory, Scribe()).tick()
    assert said(memory) == ["- kept", "- revised 3"]


def test_a_revision_made_meanwhile_is_learned_instead_of_what_it_replaced(memory, clock):
    memory.reset_session(talk(memory, "s1", "MongoDB"))
    revise = lambda: memory.update_memory("s1", "s1-1", content="PostgreSQL")  # noqa: E731
    (done,) = working(memory, Slow(meanwhile=revise)).tick()
    assert (done.status, done.dropped, said(memory)) == ("learned", 0, [])
    clock.advance(hours=1)
    working(memory, Scribe()).tick()
    assert said(memory) == ["- PostgreSQL"]


def test_an_edit_without_sources_rests_on_the_whole_lesson(memory):
    class Vague(Scribe):
        def distil(self, lesson, nodes):
            memory.delete_memory("s1", "s1-1")
            return Proposal(edits=(Edit(address="topics/x", body="a secret"),))

    memory.reset_session(talk(memory, "s1", "a secret"))
    working(memory, Vague()).tick()
    assert memory.node_reader("u1").read("topics/x") is None


def test_a_node_that_somebody_wrote_meanwhile_is_not_overwritten(memory):
    memory.reset_session(talk(memory, "s1", "one"))

    def write_first():
        slow.meanwhile = None
        memory.write_node(SAID, "- by hand\n", user_id="u1")

    slow = Slow(meanwhile=write_first)
    (done,) = working(memory, slow).tick()
    assert (done.status, len(slow.scribe.lessons)) == ("learned", 2)
    assert said(memory) == ["- by hand", "- one"]
    assert memory.kept_plans() == []


def test_if_one_node_of_a_plan_changed_none_is_written(memory):
    memory.reset_session(talk(memory, "s1", "one"))
    (due,) = memory.due_sessions()
    lesson = memory.lesson_of(due)
    made = Scribe("topics/a", "topics/b").distil(lesson, memory.node_reader("u1"))
    plan = memory.keep_plan(lesson, made, "scribe")
    memory.write_node("topics/b", "- by hand\n", user_id="u1")
    assert memory.apply_plan(plan).status == "conflict"
    assert said(memory, address="topics/a") == []


def test_many_sessions_of_one_user_reach_one_node_in_one_tick(memory):
    for number in range(10):
        memory.reset_session(talk(memory, f"s{number}", f"fact {number}"))
    done = working(memory, Scribe()).tick()
    assert {one.status for one in done} == {"learned"}
    assert sorted(said(memory)) == [f"- fact {number}" for number in range(10)]


# --- the review


def gated(memory, address: str, origin: str = "user"):
    class Proposing(Scribe):
        def distil(self, lesson, nodes):
            (made,) = super().distil(lesson, nodes).edits
            return Proposal(edits=(made,))

    memory.create_session("u1", agent_ids=["guide"], session_id="s1")
    memory.add_conversation("s1", role="user", content="be brief", origin=origin)
    memory.reset_session("s1")
    (done,) = working(memory, Proposing(address)).tick()
    return done


@pytest.mark.parametrize(
    ("address", "origin", "waits"),
    [
        ("SOUL.md", "user", True),
        ("AGENTS.md", "user", True),
        ("USER.md", "user", False),
        ("USER.md", "tool", True),
        ("TOOLS.md", "agent", False),
        ("TOOLS.md", "tool", True),
        ("shared/style", "tool", True),
        ("shared/style", "user", False),
        ("topics/x", "tool", False),
    ],
)
def test_what_needs_a_persons_yes_waits_for_it(memory, address, origin, waits):
    done = gated(memory, address, origin)
    assert (done.status, done.waiting, done.written) == ("learned", int(waits), int(not waits))
    written = memory.node_reader("u1").read(address)
    assert (written is None) == waits
    review = memory.proposals("u1")
    assert [one.edit.address for one in review] == ([address] if waits else [])


def test_what_waits_follows_on_what_was_written_by_the_same_plan(memory):
    class Both(Scribe):
        def distil(self, lesson, nodes):
            sure, doubtful = lesson.entries
            make = lambda text, one: Edit(  # noqa: E731
                address="USER.md", body=text, sources=(Source("s1", one.id, one.seq, one.origin),)
            )
            return Proposal(edits=(make("- sure\n", sure), make("- sure\n- doubtful\n", doubtful)))

    memory.create_session("u1", session_id="s1")
    memory.add_conversation("s1", role="user", content="sure")
    memory.add_conversation("s1", role="tool", content="doubtful", origin="tool")
    memory.reset_session("s1")
    (done,) = working(memory, Both()).tick()
    assert (done.written, done.waiting) == (1, 1)
    node = memory.node_reader("u1").read("USER.md")
    (waiting,) = memory.proposals("u1")
    assert node.body.strip() == "- sure"
    assert waiting.edit.expected == node.hash


# --- plans


def kept(memory, *texts: str, session: str = "s1"):
    memory.reset_session(talk(memory, session, *texts))
    due = memory.due_session(session)
    lesson = memory.lesson_of(due)
    proposal = Scribe().distil(lesson, memory.node_reader("u1"))
    return due, memory.keep_plan(lesson, proposal, "scribe")


def test_a_plan_writes_a_node_once_however_often_it_is_repeated(memory):
    _, plan = kept(memory, "once")
    for _ in range(3):
        assert memory.apply_plan(plan).status == "applied"
    assert said(memory) == ["- once"]
    assert len(memory.node_versions(SAID, user_id="u1")) == 1


def test_the_receipt_of_what_waits_says_what_was_hidden_in_it(memory):
    memory.reset_session(talk(memory, "s1", "hello"))
    lesson = memory.lesson_of(memory.due_session("s1"))
    edit = Edit(address="SOUL.md", body="The password is hunter2-77x.\n")
    plan = memory.keep_plan(lesson, Proposal(edits=(edit,)), "scribe")
    (receipt,) = memory.apply_plan(plan).receipts
    assert (receipt.status, receipt.redactions) == ("waiting", ("password",))
    assert "hunter2" not in memory.proposals("u1")[0].edit.body


def test_erasing_reaches_a_plan_that_waits(memory, root):
    secret = word()
    _, plan = kept(memory, secret)
    memory.erase("s1", {"ids": ["s1-1"]})
    assert memory.kept_plans() == []
    assert memory.apply_plan(plan).status == "stale"
    assert (said(memory), traces(root, [secret])) == ([], {})


def test_a_plan_that_a_crash_left_is_finished_before_another_is_made(memory):
    kept(memory, "one")
    memory.add_conversation("s1", role="user", content="two")
    memory.reset_session("s1")
    scribe = Scribe()
    worker = working(memory, scribe)
    assert [one.status for one in worker.tick()] == ["learned"]
    assert (said(memory), scribe.lessons, memory.kept_plans()) == (["- one"], [], [])
    worker.tick()
    assert said(memory) == ["- one", "- two"]


def test_plans_for_one_node_that_a_crash_left_are_all_done_with_in_one_tick(memory):
    kept(memory, "one")
    kept(memory, "two", session="s2")
    outcomes = working(memory, Scribe()).tick()
    assert [one.status for one in outcomes] == ["learned", "learned"]
    assert sorted(said(memory)) == ["- one", "- two"]
    assert (memory.kept_plans(), memory.due_sessions()) == ([], [])


def test_a_plan_that_was_applied_and_marked_is_only_struck_out(memory):
    due, plan = kept(memory, "one")
    memory.apply_plan(plan)
    assert memory.mark_processed(due, plan.until, plan.until_sum)
    working(memory, Scribe()).tick()
    assert (said(memory), memory.kept_plans()) == (["- one"], [])


def test_a_plan_of_a_session_that_is_gone_is_struck_out(memory):
    kept(memory, "one")
    memory.delete_session("s1")
    working(memory, Scribe()).tick()
    assert (said(memory), memory.kept_plans()) == ([], [])


def test_a_plan_against_another_text_is_struck_out_and_says_so(memory):
    _, plan = kept(memory, "one")
    memory.write_node(SAID, "by hand\n", user_id="u1")
    assert memory.apply_plan(plan).status == "conflict"
    assert memory.kept_plans() == []
    assert said(memory) == ["by hand"]


@pytest.mark.parametrize("second", ["two", "one"])
def test_a_session_that_is_begun_anew_under_its_id_is_learned_from_again(memory, second):
    memory.write_node(SAID, "by hand\n", user_id="u1")
    worker = working(memory, Scribe())
    for text in ("one", second):
        memory.reset_session(talk(memory, "s1", text))
        (done,) = worker.tick()
        assert (done.status, done.written) == ("learned", 1)
        assert said(memory) == ["by hand", f"- {text}"]
        memory.delete_session("s1")
        assert said(memory) == ["by hand"]


class Odd(Scribe):
    """Proposes what it was told to."""

    def __init__(self, made) -> None:
        super().__init__()
        self.made = made

    def distil(self, lesson, nodes):
        return self.made


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (None, "E_DISTILLER"),
        (Proposal(edits=("x",)), "E_DISTILLER"),  # type: ignore[arg-type]
        (Proposal(edits=(Edit(address=SAID, body=5),)), "E_DISTILLER"),  # type: ignore[arg-type]
        (Proposal(edits=(Edit(address=SAID, body="\ud800"),)), "E_DISTILLER"),
        (Proposal(edits=(Edit(address=SAID, body="x", title="\ud800"),)), "E_DISTILLER"),
        (Proposal(edits=(Edit(address=SAID, body=""),)), "E_SCHEMA_INVALID"),
        (Proposal(edits=(Edit(address="../x", body="x"),)), "E_INVALID_FORMAT"),
        (Proposal(edits=(Edit(address=SAID, body="x" * 2_000_000),)), "E_SIZE_LIMIT"),
        (
            Proposal(edits=(Edit(address=SAID, body=f"---\nparents: [{SAID}]\n---\nx"),)),
            "E_MNEMOLOG",
        ),
    ],
)
def test_whatever_is_proposed_is_a_failure_that_backs_off_and_parks(memory, clock, made, error):
    for name in ("bad", "good"):
        memory.reset_session(talk(memory, name, f"the {name} fact", user=name))
    memory.update_session("bad", agent_ids=["odd"])
    scribes = {"odd": Odd(made), "guide": Scribe()}
    worker = Worker(memory, Distillers(memory.settings.knowledge, lambda agent, _: scribes[agent]))
    assert statuses(worker.tick()) == {"bad": "failed", "good": "learned"}
    assert (memory.kept_plans(), said(memory, "bad")) == ([], [])
    for minutes in (1, 4, 16, 64):
        assert worker.tick() == []
        clock.advance(minutes=minutes)
        (done,) = worker.tick()
    assert (done.status, done.error) == ("parked", error)
    assert [one.attempts for one in memory.parked_sessions()] == [5]


def test_a_distiller_that_cannot_be_made_is_its_sessions_failure_alone(memory):
    memory.reset_session(talk(memory, "s1", "one"))

    def make(agent, settings):
        raise ValueError("a bad plug")

    worker = Worker(memory, Distillers(memory.settings.knowledge, make))
    (done,) = worker.tick()
    assert (done.status, done.error) == ("failed", "ValueError")
    assert worker.tick() == []


def test_an_archived_session_is_learned_from_and_stays_archived(memory):
    memory.reset_session(talk(memory, "s1", "kept"))
    memory.archive_session("s1")
    (done,) = working(memory, Scribe()).tick()
    assert (done.status, said(memory)) == ("learned", ["- kept"])
    assert memory.load_session("s1").state == "archived"
    assert working(memory, Scribe()).tick() == []


def test_a_preview_changes_nothing(memory):
    memory.reset_session(talk(memory, "s1", "one"))
    memory.reset_session(talk(memory, "bad", "two"))
    distillers = Distillers(memory.settings.knowledge, lambda agent, settings: Failing("bad"))
    shown = {one.due.session_id: one for one in preview(memory, distillers, 10)}
    made = shown["s1"].proposal
    assert made is not None
    assert made.edits[0].body == "- one <!-- s1/s1-1 -->\n"
    assert (shown["bad"].proposal, shown["bad"].error) == (None, "E_DISTILLER")
    assert said(memory) == []
    assert [one.attempts for one in memory.due_sessions()] == [0, 0]
