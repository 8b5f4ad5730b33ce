"""The port of moving: whole logs out of a root and into one, backups, migration."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Protocol

from mnemolog.ports import LogKey, Progress


class Exported(NamedTuple):
    """What an export in our own form holds."""

    path: str
    logs: int
    lines: int
    bytes: int
    damaged: int
    """How many of the lines cannot be read; their bytes are carried along as they are."""
    left_out: tuple[str, ...] = ()
    """Folders whose log could not be opened, and files of the archive that cannot be read."""
    moved: int = 0
    """How many lines of what compactions moved out."""
    uses: int = 0
    """How many notes of use."""
    files: int = 0
    """How many files of graphs."""


class Taken(NamedTuple):
    """What became of one log of an export, or would."""

    log: LogKey
    status: Literal["stored", "extended", "present", "refused"]
    lines: int
    """How many lines were added."""
    reason: str = ""
    moved: int = 0
    """How many lines came beside it, of what compactions had moved out."""
    part: Literal["log", "graph"] = "log"
    """Whether this tells of a log or of a user's graph."""
    files: int = 0
    """How many files were added to a graph."""


class Imported(NamedTuple):
    """What became of an export that was read in."""

    logs: tuple[Taken, ...]
    dry_run: bool = False

    @property
    def lines(self) -> int:
        """How many lines were added."""
        return sum(one.lines for one in self.logs)

    @property
    def refused(self) -> tuple[Taken, ...]:
        """The logs and graphs that contradict what is there."""
        return tuple(one for one in self.logs if one.status == "refused")


class BackedUp(NamedTuple):
    """What a backup holds."""

    path: str
    sessions: int
    files: int
    bytes: int
    packed_bytes: int
    warnings: tuple[str, ...] = ()


class Migrated(NamedTuple):
    """What became of one log in a migration, or would."""

    log: LogKey
    status: Literal["current", "rewritten", "newer", "refused"]
    versions: dict[int, int]
    """How many lines of each version it held before; empty where the manifest tells enough."""
    lines: int = 0
    """How many lines were rewritten."""
    reason: str = ""


class Mover(Protocol):
    """The back end's part of moving. Every step survives a crash."""

    def export_native(
        self,
        logs: Sequence[LogKey] | None,
        target: str,
        now: str,
        *,
        graphs: Sequence[str] | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        """Write these logs, or all, to one new file, byte for byte, while writers go on; then the
        graphs of these users, or with all logs those of all."""

    def import_native(
        self, path: str, *, dry_run: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Read such a file in: all of it is checked before any of it is stored."""

    def backup(
        self,
        target: str,
        now: str,
        *,
        with_keys: bool = False,
        progress: Progress | None = None,
    ) -> BackedUp:
        """Write a snapshot of everything that is not derived to one new file."""

    def migrate(
        self,
        logs: Sequence[LogKey] | None,
        now: str,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Migrated]:
        """Rewrite every line of an earlier version; says of each log what became of it."""
