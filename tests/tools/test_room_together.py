"""The limit of a compartment holds for all who write to it at the same time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemolog.errors import SizeLimitError
from mnemolog.settings import Settings
from mnemolog.testing.opening import open_on
from mnemolog.tools import prompts
from mnemolog.tools.table import TABLE
from tests.forgetting.planting import opened
from tests.log.disks import RecordingDisk

SMALL = {"compartments.max_characters": 1000}
SIX, FOUR = "x" * 600, "y" * 400


@pytest.mark.req("S004-025", "S004-063")
@pytest.mark.parametrize("compartment", ["run", "session", "plan"])
@pytest.mark.parametrize(("more", "fits"), [(FOUR, True), (SIX, False)], ids=["fits", "does not"])
def test_a_note_that_came_between_counts(root, clock, compartment, more, fits):
    with opened(root, clock, **SMALL) as other:
        other.create_session(session_id="talk")
        theirs = other.run("talk", run_id="job")
        disk = RecordingDisk(root)
        mine = open_on(disk, Settings().changed(SMALL), clock).run("talk", run_id="job")
        left = [SIX]

        def before(name, path):
            if name == "try_lock" and left:
                theirs.save(compartment, left.pop())

        disk.before = before
        if fits:
            mine.save(compartment, more)
        else:
            with pytest.raises(SizeLimitError, match="holds 600 of 1,000 characters; 600 more"):
                mine.save(compartment, more)
        assert left == []
        assert theirs.size(compartment) == (1000 if fits else 600)


def test_ten_threads_fill_a_compartment_to_its_limit_and_no_further(root, clock):
    with opened(root, clock, **SMALL) as memory:
        memory.create_session(session_id="talk")
        run = memory.run("talk")

        def save(number: int) -> bool:
            try:
                return bool(run.save("session", f"{number:03}" + "z" * 97))
            except SizeLimitError:
                return False

        with ThreadPoolExecutor(10) as threads:
            saved = list(threads.map(save, range(40)))
        assert saved.count(True) == 10
        assert run.size("session") == 1000


def test_only_where_notes_are_put_into_the_prompt_a_model_is_told_that_they_are(memory, sid):
    run = memory.run(sid)
    assert "is always in your prompt" in prompts.system(run)
    assert "in your prompt" not in prompts.system(run, is_injected=False)
    assert not [tool.name for tool in TABLE if "prompt" in tool.description]
