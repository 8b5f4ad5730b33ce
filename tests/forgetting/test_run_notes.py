"""Erasing and redacting reach the notes of runs that are still open."""

import pytest

from mnemolog.testing import FixedClock
from tests.forgetting.dying import LATER, killed_at_each_step
from tests.forgetting.planting import damage, opened
from tests.forgetting.scanner import traces, word

RUNS = "sessions/talk/runs"


@pytest.fixture
def run(memory, sid):
    with memory.run(sid, agent_id="architect", run_id="job") as opened_run:
        yield opened_run


SELECTORS = {
    "ids": {"ids": ["the-note-to-go"]},
    "types": {"types": ["note"], "tags": ["private"]},
    "tags": {"tags": ["private"]},
    "time": {"time_range": {"start": "2026-11-15T10:00:00Z", "end": "2026-11-15T11:00:00Z"}},
    "agent": {"agents": ["architect"], "category": "secrets"},
    "run": {"run_id": "job", "tags": ["private"]},
}


@pytest.mark.parametrize("selector", SELECTORS)
def test_an_erasure_by_any_criterion_reaches_notes_of_an_open_run(
    memory, run, root, clock, selector
):
    secret, before = word(), word()
    run.save("run", "stays", id="kept")
    clock.advance(minutes=90)
    run.save("run", before, id="the-note-to-go", tags=["private"], category="secrets")
    run.save("run", secret, id="the-note-to-go", tags=["private"], category="secrets")
    clock.advance(minutes=90)
    run.get("run")
    done = memory.erase("talk", SELECTORS[selector])
    assert done.ids == ("the-note-to-go",)
    assert done.places["runs"] == 3, "two revisions, and the line that tells of a use"
    assert done.verification is not None
    assert done.verification.clean
    assert traces(root, [secret, before, "the-note-to-go"]) == {}
    assert memory.verify_erasure(ids=["the-note-to-go"], text=[secret, before]).clean
    assert [one.id for one in run.notes("run")] == ["kept"]
    run.save("run", "goes on", id="next")
    assert [one.text for one in run.notes("run")] == ["stays", "goes on"]


def test_notes_that_were_cleared_from_an_open_run_are_erased_too(memory, run, root):
    secret = word()
    run.save("run", secret, id="cleared-note")
    run.clear("run", id="cleared-note")
    assert traces(root, [secret]) != {}
    assert memory.erase("talk", ids=["cleared-note"]).ids == ("cleared-note",)
    assert traces(root, [secret, "cleared-note"]) == {}


def test_damage_in_the_notes_of_a_run_goes_with_the_id_that_it_names(memory, run, root):
    secret = word()
    run.save("run", secret, id="damaged-note")
    damage(root / RUNS / "job.jsonl", f'{secret}"'.encode(), f'{secret}!"'.encode())
    assert memory.erase("talk", ids=["damaged-note"]).erased_count == 1
    assert traces(root, [secret, "damaged-note"]) == {}


def test_what_a_crash_left_of_a_run_goes_with_any_erasure_in_its_session(memory, run, root):
    secret = word()
    memory.add_memory("talk", id="mine", content="x")
    (root / RUNS / "ended.jsonl.tmp").write_text(secret)
    memory.erase("talk", ids=["mine"])
    assert traces(root, [secret]) == {}
    assert (root / RUNS / "job.jsonl").exists()


def test_an_agent_erases_only_its_own_notes_of_a_run(memory, run):
    run.save("run", "of the architect", id="theirs", tags=["x"])
    with memory.run("talk", agent_id="analyst") as other:
        other.save("run", "of the analyst", id="mine", tags=["x"])
        assert memory.for_agent("analyst").erase("talk", tags=["x"]).ids == ("mine",)
        assert other.notes("run") == []
    assert [one.id for one in run.notes("run")] == ["theirs"]


def test_whose_run_it_is_stays_known_after_all_its_notes_were_erased(memory, run):
    run.save("run", "x", id="a")
    memory.erase("talk", agents=["architect"])
    (left,) = memory.left_runs("talk")
    assert (left.run_id, left.agent_id) == ("job", "architect")
    with memory.run("talk", agent_id="architect", run_id="job") as again:
        assert again.notes("run") == []


def test_redacting_hides_secrets_in_notes_of_open_runs(memory, run, root):
    secret = f"ghp_{word(4)}" + "A7b" * 12
    memory.update_session("talk", settings={"privacy.redaction": False})
    run.save("run", f"token {secret}", id="open")
    run.save("run", f"cleared {secret}", id="cleared")
    run.clear("run", id="cleared")
    memory.update_session("talk", settings={"privacy.redaction": True})
    assert memory.redact("talk", dry_run=True).entries == 2
    assert traces(root, [secret]) != {}
    assert memory.redact("talk").entries == 2
    assert traces(root, [secret]) == {}
    assert memory.verify_erasure(text=secret).clean
    (note,) = run.notes("run")
    assert note.text.startswith("token [REDACTED:api-key")
    assert memory.redact("talk").entries == 0


def test_killed_at_any_step_the_erasure_of_a_note_is_finished_by_whoever_opens_the_root(tmp_path):
    template, secret = tmp_path / "template", word()
    with opened(template, FixedClock(LATER)) as memory:
        memory.create_session(session_id="talk")
        run = memory.run("talk", run_id="job")
        run.save("run", "stays", id="kept")
        run.save("run", secret, id="the-note-to-go")
        run.get("run")
    steps = killed_at_each_step(
        template, tmp_path / "killed", "erase", ids=["the-note-to-go"], verify=False
    )
    assert len(steps) > 10
    untouched = 0
    for number, (_, copy) in enumerate(steps):
        with opened(copy, FixedClock(LATER)) as memory:
            found = [one.id for one in memory.run("talk", run_id="job").notes("run")]
        if found == ["kept"]:
            assert traces(copy, [secret, "the-note-to-go"]) == {}, f"step {number}"
        else:
            untouched += 1
            assert found == ["kept", "the-note-to-go"]
            assert untouched == number + 1, "only before its intent was noted"
    assert untouched < len(steps)
