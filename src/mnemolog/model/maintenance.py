"""What purging and maintaining a root answer, and how it reads."""

from collections.abc import Iterator, Mapping

import msgspec


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """The entries that one step of a purge reached, counted by type and by where they were."""

    ids: tuple[str, ...] = ()
    by_type: dict[str, int] = {}
    by_session: dict[str, int] = {}
    by_user: dict[str, int] = {}
    """Those in the logs of users."""
    shared: int = 0
    """Those in the shared log."""

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(self.by_type.values())


class Purge(msgspec.Struct, frozen=True, kw_only=True):
    """What a purge did, or would do."""

    is_dry_run: bool
    purged_at: str
    tombstoned: Reach
    """What is past its retention: hidden now, and restorable for a while."""
    erased: Reach
    """What was hidden for so long that it cannot be undone, and what archived sessions held."""
    spared: Reach = Reach()
    """Decisions that are past their retention and stay, for somebody approved them."""
    removed_sessions: tuple[str, ...] = ()
    """The archived sessions that went as a whole."""
    failed: dict[str, str] = {}
    """The logs that could not be purged, and why."""
    needs_confirmation: bool = False
    """Nothing was ever purged here: somebody has to agree to it first."""

    def lines(self) -> Iterator[str]:
        """The report for a person, line by line."""
        would = "would be " if self.is_dry_run else ""
        yield f"{would}hidden, for they are past retention: {_told(self.tombstoned)}"
        yield from _places(self.tombstoned)
        yield f"{would}erased, for that cannot be undone any more: {_told(self.erased)}"
        yield from _places(self.erased)
        if self.spared.count:
            yield f"kept, for they were approved: {_told(self.spared)}"
        for session in self.removed_sessions:
            yield f"{would}removed as a whole: the archived session {session}"
        for name, why in self.failed.items():
            yield f"could not be purged: {name}: {why}"
        if self.needs_confirmation:
            yield (
                "This is the first purge of this memory, so nothing was purged yet. To agree:"
                " `mnemolog maintain --purge --confirm`, or purge(confirm=True)."
            )

    def __str__(self) -> str:
        return "\n".join(self.lines())


class Maintenance(msgspec.Struct, frozen=True, kw_only=True):
    """What maintaining a root did, or would do."""

    is_dry_run: bool = False
    is_elsewhere: bool = False
    """Somebody else maintains this root at the moment, so nothing was done."""
    purge: Purge | None = None
    archived: tuple[str, ...] = ()
    """The idle sessions that went into the archive."""
    compacted: tuple[str, ...] = ()
    """The sessions that were larger than their trigger."""
    ended_runs: tuple[str, ...] = ()
    """The runs that nobody had ended for a week; their notes are gone."""
    failed: dict[str, str] = {}
    """The sessions that could not be archived or compacted, and why."""
    notes: tuple[str, ...] = ()
    """What was not done, and why."""

    def lines(self) -> Iterator[str]:
        """The report for a person, line by line."""
        if self.is_elsewhere:
            yield "Another program maintains this memory at the moment; nothing was done."
            return
        if self.purge is not None:
            yield from self.purge.lines()
        would = "would be " if self.is_dry_run else ""
        for done, names in (("archived", self.archived), ("compacted", self.compacted)):
            yield f"{would}{done}: {_many(len(names), 'session')}"
            yield from (f"    {name}" for name in names)
        for run in self.ended_runs:
            yield f"{would}ended, for it was left behind: the run {run}"
        for name, why in self.failed.items():
            yield f"could not be archived or compacted: {name}: {why}"
        yield from self.notes

    def __str__(self) -> str:
        return "\n".join(self.lines())


def _told(reach: Reach) -> str:
    types = ", ".join(f"{count:,} {name}" for name, count in sorted(reach.by_type.items()))
    return _many(reach.count, "entry") + (f" ({types})" if types else "")


def _places(reach: Reach) -> Iterator[str]:
    yield from _counted("session", reach.by_session)
    yield from _counted("user", reach.by_user)
    if reach.shared:
        yield f"    {reach.shared:,} in the shared log"


def _counted(kind: str, counts: Mapping[str, int]) -> Iterator[str]:
    for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"    {count:,} in the {'log of the ' * (kind == 'user')}{kind} {name}"


def _many(count: int, noun: str) -> str:
    plural = {"entry": "entries"}.get(noun, f"{noun}s")
    return f"{count:,} {noun if count == 1 else plural}"
