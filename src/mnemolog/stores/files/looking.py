"""Looking closely at the logs of a root by reading them: parts, exact lines, minimaps, files.

The index shows the same at the cost of what is shown; this is for when there is none.
"""

from collections import Counter
from collections.abc import Callable
from math import ceil

from mnemolog import fs, paths
from mnemolog.fs import Disk, Stat
from mnemolog.log import lines, quarantine
from mnemolog.log.fold import Head
from mnemolog.log.places import Place, look
from mnemolog.log.reader import View
from mnemolog.model.inspecting import Bucket, FileFact, RawLine
from mnemolog.model.times import DAY, of_file, to_moment
from mnemolog.policy.access import Viewer, may_change, may_see
from mnemolog.ports import LogKey, Use
from mnemolog.ports.looking import Placed, Span, Window
from mnemolog.stores.files.feed import log_name
from mnemolog.stores.files.held import Held
from mnemolog.stores.files.uses import read_uses


class FilesLooker:
    """Looks into what lies below one root."""

    def __init__(self, disk: Disk, held: Callable[[LogKey], Held]) -> None:
        self._disk = disk
        self._held = held

    def part(self, log: LogKey, viewer: Viewer, span: Span, most: int | None) -> Window:
        view = self._held(log).reader.view()
        seen = [head for head in view.heads if _is_wanted(head, viewer, span)]
        within = [head for head in seen if _is_in(head, span)]
        nearest = within[::-1] if span.backwards else within
        used = self._used(log)
        found = (_placed(view, head, used) for head in nearest[:most])
        return Window([one for one in found if one is not None], len(within), len(seen))

    def one(self, log: LogKey, viewer: Viewer, identifier: str) -> Placed | None:
        found = self._found(self._held(log), viewer, identifier)
        return None if found is None else _placed(*found, self._used(log))

    def raw(self, log: LogKey, viewer: Viewer, identifier: str) -> RawLine | None:
        held = self._held(log)
        found = self._found(held, viewer, identifier)
        if found is None:
            return None
        view, spot = found[0], found[1].spot
        line = view.files[spot.segment].read(spot.offset, spot.length)
        return raw_line(self._disk, held.place, line, spot.segment, spot.offset)

    def _found(self, held: Held, viewer: Viewer, identifier: str) -> tuple[View, Head] | None:
        if not held.exists():
            return None
        view = held.reader.find(identifier)
        seen = [head for head in view.heads if _is_visible(head, viewer, with_hidden=True)]
        return (view, seen[0]) if seen else None

    def minimap(self, log: LogKey, viewer: Viewer, most: int, ahead: int) -> list[Bucket]:
        heads = [h for h in self._held(log).reader.view().heads if _is_visible(h, viewer)]
        size = max(1, ceil(len(heads) / most))
        begun: dict[int, Head] = {}
        for head in heads:
            begun.setdefault(_day(head, ahead), head)
        return [
            _bucket(heads[at : at + size], set(map(id, begun.values())))
            for at in range(0, len(heads), size)
        ]

    def files(self, session_id: str) -> list[FileFact]:
        name = paths.file_name(session_id)
        folder = paths.session_folder(session_id)
        own = (path for path, status in fs.walk(self._disk, folder) if not status.is_folder)
        archived = (one for one in self._disk.list(paths.ARCHIVE) if one.startswith(f"{name}."))
        there = (*own, *(f"{paths.ARCHIVE}/{one}" for one in archived))
        found = ((path, self._disk.stat(path)) for path in there)
        return [_fact(path, status) for path, status in found if status is not None]

    def _used(self, log: LogKey) -> list[Use]:
        return read_uses(self._disk, log_name(log), 0)[0] if log.kind == "session" else []

    def quarantined(self, log: LogKey) -> int:
        return len(quarantine.files(self._disk, self._held(log).quarantine))


def raw_line(disk: Disk, place: Place, line: bytes, segment: int, offset: int) -> RawLine:
    """A line exactly as it was read, with the file that it stands in."""
    _, chain = look(disk, place)
    return RawLine(
        line=line,
        segment=chain.path(chain.segments[min(segment, len(chain.segments) - 1)]),
        offset=offset,
        sum_ok=lines.verify(line.rstrip(b"\r\n")) is not None,
    )


def _fact(path: str, status: Stat) -> FileFact:
    return FileFact(
        name=path,
        bytes=status.size,
        mode=f"{status.mode & 0o777:04o}",
        modified=of_file(status.mtime_ns),
    )


def _placed(view: View, head: Head, used: list[Use]) -> Placed | None:
    entry = view.entry(head)
    if entry is None:
        return None
    times = [use.at for use in used if use.id == head.id]
    last = max(times, default=None)
    return Placed(entry, head.first_seq, head.revisions, head.died, head.hidden, len(times), last)


def _is_in(head: Head, span: Span) -> bool:
    return head.first_seq > span.after and (span.before is None or head.first_seq < span.before)


def _is_wanted(head: Head, viewer: Viewer, span: Span) -> bool:
    return (
        (span.types is None or head.type in span.types)
        and (span.agents is None or head.agent_id in span.agents)
        and (head.dead or not span.only_hidden)
        and _is_visible(head, viewer, with_hidden=span.with_hidden or span.only_hidden)
    )


def _is_visible(head: Head, viewer: Viewer, *, with_hidden: bool = False) -> bool:
    if not may_see(viewer, head):
        return False
    return not head.dead or (with_hidden and may_change(viewer, head))


def _day(head: Head, ahead: int) -> int:
    """The number of its day, which begins so many minutes ahead."""
    return (round(to_moment(head.first).timestamp() * 1000) + ahead * 60_000) // DAY


def _bucket(heads: list[Head], begins: set[int]) -> Bucket:
    return Bucket(
        from_seq=heads[0].first_seq,
        to_seq=heads[-1].first_seq,
        at=heads[0].first,
        by_type=dict(Counter(head.type for head in heads)),
        days={head.first: head.first_seq for head in heads if id(head) in begins},
    )
