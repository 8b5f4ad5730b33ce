"""Runs: an agent's notes by lifetime, around one run of it."""

import os
from collections.abc import Iterable

import msgspec

from mnemolog.errors import NotAllowedError, SessionArchivedError
from mnemolog.memory.run import Run
from mnemolog.memory.writing import Writing
from mnemolog.model.entry import FORMAT, Entry
from mnemolog.model.ids import check_id, check_name
from mnemolog.model.session import Manifest
from mnemolog.model.times import to_text
from mnemolog.policy.access import OWNER, may_change
from mnemolog.policy.compartments import NOTE, Compartment
from mnemolog.ports import LogKey, Write
from mnemolog.ports.keeping import LeftRun

__all__ = ["LeftRun", "Run", "Running"]

_FIRST = "_begun"


class Running(Writing):
    """The verbs about runs."""

    def run(
        self,
        session_id: str,
        *,
        run_id: str | None = None,
        agent_id: str | None = None,
        compartments: Iterable[Compartment] = (),
    ) -> Run:
        """Open a run on a session: its own notes, the session's, and the plan.

        Its own notes end with it. With the `run_id` of a run that crashed, that run goes on.
        `compartments` are those of your own.
        """
        manifest = self._manifest(session_id)
        view = self if agent_id is None else self.for_agent(agent_id)  # type: ignore[attr-defined]
        view._manifest(session_id)
        self._refuse_archived(manifest)
        identifier = check_name(run_id, "run id", is_made=True) or f"run_{_random()}"
        opened = Run(view, session_id, identifier, compartments)
        view._begin(session_id, identifier)
        return opened

    def left_runs(self, session_id: str | None = None) -> list[LeftRun]:
        """The runs that nobody has ended yet, of a session or of all that this handle may see; not
        for agents."""
        if session_id is not None:
            self._manifest(session_id)
        self._not_for_agents("see other runs")
        names = self._names() if session_id is None else [session_id]
        return [self._counted(run) for name in names for run in self._keeper.runs(name)]

    def _counted(self, run: LeftRun) -> LeftRun:
        log = LogKey("run", run.session_id, run.run_id)
        notes = self._store.read(log, OWNER, types={NOTE}).entries
        return run._replace(notes=sum(1 for _ in notes))

    def end_run(self, session_id: str, run_id: str) -> None:
        """End a run that nobody else will end; not for agents."""
        self._manifest(session_id)
        self._not_for_agents("end other runs")
        self._keeper.end_run(session_id, check_id(run_id, "run id"))

    def _refuse_archived(self, manifest: Manifest) -> None:
        if manifest.archived_at is not None and not self.settings.archive.auto_restore:
            raise SessionArchivedError(
                f"The session {manifest.session_id!r:.200} lies in the archive, where it is only "
                "read.",
                advice="`mnemolog restore` brings it back; archive.auto_restore lets a run do so.",
                session_id=manifest.session_id,
            )

    def _begin(self, session_id: str, run_id: str) -> None:
        """Begin a run, or go on with it if it is this viewer's."""
        first = self._first_line(session_id, run_id)
        if self._keeper.begin_run(session_id, first):
            return
        log = LogKey("run", session_id, run_id)
        found = list(self._store.read(log, OWNER).entries)
        if not all(may_change(self._viewer, one) for one in found):
            raise NotAllowedError(
                f"The run id {run_id!r:.140} is taken.",
                advice="Choose another one, or leave it out.",
            )
        # Whose run it is stays as it was, also when the owner goes on with it.
        writers = [one.agent_id for one in found if one.id == _FIRST]
        again = msgspec.structs.replace(first, agent_id=(writers or [first.agent_id])[0])
        storage = self._where(session_id).storage
        self._store.append(log, [Write(again, is_given=True)], self._viewer, storage)

    def _first_line(self, session_id: str, run_id: str) -> Entry:
        return Entry(
            v=FORMAT,
            id=_FIRST,
            session_id=session_id,
            timestamp=to_text(self._clock.now()),
            type="event",
            scope="run",
            origin=self._viewer.origin,
            agent_id=self._viewer.agent,
            run_id=run_id,
            content="The run began.",
        )


def _random() -> str:
    return os.urandom(8).hex()
