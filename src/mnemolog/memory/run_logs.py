"""The notes of open runs, as far as erasing and redacting have to reach them."""

from collections.abc import Set as AbstractSet

from mnemolog.policy.compartments import USE
from mnemolog.ports import LogKey
from mnemolog.ports.keeping import Lines, OpenRuns


def of_session(keeper: OpenRuns, session_id: str) -> list[LogKey]:
    """The logs of the runs of a session that nobody has ended yet."""
    found = {one.run_id for one in keeper.runs(session_id)}
    return [LogKey("run", session_id, run_id) for run_id in sorted(found)]


def with_uses(keeper: Lines, log: LogKey, ids: AbstractSet[str]) -> set[str]:
    """The ids, and those of the lines which tell that one of these notes was got."""
    meant = set(ids)
    for line in keeper.lines(log) if log.kind == "run" else ():
        if line.category == USE and isinstance(line.content, dict):
            used = line.content.get("ids")
            meant |= {line.id} if isinstance(used, list) and not ids.isdisjoint(used) else set()
    return meant
