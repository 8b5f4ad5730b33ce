"""Compacting: a log is rewritten without what nobody needs any more.

Superseded revisions, marks that no longer mark anything, and erased lines go; a judge decides which
entries are dropped for good and which move to the archive. What moves is durable there before the
new generation takes the place of the old one. What is dropped is blanked in the old files before
they are let go of. An intent makes sure of that after a crash. A line of an earlier version is
written as today's, whether it stays or moves: a log that was compacted needs no migration.

The log of a user and the shared one are one file each, which is replaced; there nothing moves, and
damage stays where it is.
"""

from collections import Counter
from collections.abc import Callable

import msgspec

from mnemolog import fs, paths
from mnemolog.fs import Disk
from mnemolog.log import intents, lines, moved, quarantine, sessions
from mnemolog.log.blanking import blank_lines
from mnemolog.log.contents import Contents, Line
from mnemolog.log.fold import Head
from mnemolog.log.lines import Draft
from mnemolog.log.places import Chain, SessionPlace, open_guard
from mnemolog.log.versions import Versions
from mnemolog.log.writer import Handle, Writer
from mnemolog.model.entry import MARKS, Entry
from mnemolog.model.ids import new_entry_id
from mnemolog.model.session import Manifest
from mnemolog.model.times import to_moment
from mnemolog.policy.compaction import Verdict, Weighed
from mnemolog.ports.keeping import Compacted
from mnemolog.stores.files.uses import read_uses

COMPACT = "compact"

Judge = Callable[[list[Weighed]], Verdict]


def compact(disk: Disk, writer: Writer, place: SessionPlace, judge: Judge, now: str) -> Compacted:
    """Rewrite a session's log as the judge decides."""
    work = _Work(disk, place, judge, now)
    fields = {"operation": COMPACT, "session_id": place.name}
    with intents.noted(disk, fields, has_begun=lambda: work.has_begun):
        sessions.rewrite(
            disk,
            writer,
            place,
            work.lines,
            operation=COMPACT,
            since=now,
            edit=work.edit,
            swapped=work.blank_dropped,
        )
    return work.result()


def finish(disk: Disk, fields: intents.Fields) -> bool:
    """Let go of what an interrupted compaction left; False if the intent is not one."""
    session_id = fields.get("session_id")
    if fields.get("operation") != COMPACT or not isinstance(session_id, str):
        return False
    place = sessions.place(session_id)
    if disk.ident(place.folder) is None:
        return True
    with Writer(disk, place, 60.0).locked():
        manifest = place.manifest(open_guard(disk, place))
        for name in filter(sessions.is_ours, sessions.orphans(disk, place, manifest)):
            fs.shred(disk, f"{place.folder}/{name}")
        disk.sync_folder(place.folder)
    return True


class _Work:
    """One compaction, from the lines that are there to those that stay."""

    def __init__(self, disk: Disk, place: SessionPlace, judge: Judge, now: str) -> None:
        self._disk = disk
        self._place = place
        self._session_id = place.name
        self._versions = place.versions
        self._name = paths.file_name(place.name)
        self._judge = judge
        self._now = now
        self.has_begun = False
        self._dropped: list[Line] = []
        self._kept: list[tuple[int, bytes]] = []

    def lines(self, handle: Handle) -> list[tuple[int, bytes]]:
        """The lines that stay; those that move are in the archive when this returns."""
        self.has_begun = True
        self._chain: Chain = handle.chain
        self._before = handle.chain.sealed_bytes + handle.tail.size
        self._is_old = not self._versions.is_settled(sessions.writable(self._place, handle))
        contents = self._contents(handle)
        self._keep_damage(contents)
        needed = [line for line in contents.lines if contents.is_needed(line)]
        self._superseded = _superseded(contents, needed)
        uses = Counter(use.id for use in read_uses(self._disk, handle.chain.folder, 0)[0])
        self._verdict = self._judge(_weighed(contents, needed, uses))
        moving = [one for one in needed if _subject(one) in self._verdict.move]
        if moving:
            path = moved.path_of(self._name, handle.chain.generation + 1)
            moved.keep(self._disk, path, [self._written(contents, one)[1] for one in moving])
        gone = self._verdict.drop | self._verdict.move
        kept = {one.entry.seq for one in needed if _subject(one) not in self._verdict.drop}
        self._dropped = [one for one in contents.lines if one.entry.seq not in kept]
        self._kept = [self._written(contents, one) for one in needed if _subject(one) not in gone]
        return self._kept

    def _contents(self, handle: Handle) -> Contents:
        """All lines that count. What only damage hides any more is hidden anew: a rewrite leaves
        damage behind."""
        contents = Contents(self._disk, handle.chain, self._versions)
        hidden = contents.hidden_by_damage()
        if not hidden:
            return contents
        seqs = range(handle.tail.seq + 1, handle.tail.seq + 1 + len(hidden))
        drafts = (Draft(self._tombstone(head)) for head in hidden)
        handle.write(b"".join(map(Draft.line, drafts, seqs)), seqs[-1])
        return Contents(self._disk, handle.chain, self._versions)

    def _tombstone(self, head: Head) -> Entry:
        return Entry(
            v=self._versions.current,
            id=new_entry_id(to_moment(self._now)),
            session_id=self._session_id,
            timestamp=min(str(head.died), self._now),
            type="tombstone",
            origin="user",
            target=head.id,
        )

    def _written(self, contents: Contents, line: Line) -> tuple[int, bytes]:
        """A line as it is from now on, with its number."""
        seq, raw = _merged(contents, line)
        return seq, _latest(raw, self._versions) if self._is_old else raw

    def _keep_damage(self, contents: Contents) -> None:
        """A rewrite leaves damaged bytes behind: they must be in quarantine before."""
        for damage, content in contents.damage:
            name = quarantine.name_of("session", self._session_id)
            if not quarantine.keep(self._disk, name, damage, content, is_leaving=True):
                raise fs.full("keep damaged bytes in quarantine; nothing was compacted")

    def edit(self, manifest: Manifest) -> Manifest:
        """The manifest remembers when it was compacted last, and to what size."""
        done = {"at": self._now, "size_bytes": sum(len(raw) for _, raw in self._kept)}
        markers = {**manifest.markers, "compacted": done}
        if self._verdict.move:
            markers["moved"] = [*manifest.markers.get("moved", ()), manifest.generation]
        return self._versions.settled(msgspec.structs.replace(manifest, markers=markers))

    def blank_dropped(self) -> None:
        """What is dropped must not survive in the blocks of the old files."""
        for number, segment in enumerate(self._chain.segments):
            spots = [
                (one.spot.offset, one.spot.length - 1)
                for one in self._dropped
                if one.spot.segment == number
            ]
            if spots:
                path = self._chain.path(segment)
                blank_lines(self._disk.open(path, "update"), spots, self._now)

    def result(self) -> Compacted:
        """What was done."""
        after = sum(len(raw) for _, raw in self._kept)
        return Compacted(
            self._before, after, len(self._verdict.drop), len(self._verdict.move), self._superseded
        )


def tidy(disk: Disk, writer: Writer, least: int, now: str) -> Compacted:
    """Rewrite a log of one file without what nobody needs, if that frees at least so many bytes.

    A crash leaves the log as it was or as it is to be.
    """
    with writer.locked() as handle:
        path, versions, before = writer.place.guard, writer.place.versions, handle.tail.size
        contents = Contents(disk, handle.chain, versions)
        needed = [line for line in contents.lines if contents.is_needed(line)]
        kept = {line.entry.seq for line in [*needed, *contents.lines[-1:]]}
        damage = ((one.offset, content) for one, content in contents.damage if content.strip())
        pieces = {offset: content + b"\n" for offset, content in damage}
        for line in contents.lines:
            if line.entry.seq in kept:  # the last one always: no number is given twice
                pieces[line.spot.offset] = _latest(_merged(contents, line)[1], versions)
        content = b"".join(piece for _, piece in sorted(pieces.items()))
        if before - len(content) < least:
            return Compacted(before, before, 0, 0, 0)
        old = disk.open(path, "update")
        fs.replace(disk, path, content)
        dropped = [line.spot for line in contents.lines if line.entry.seq not in kept]
        blank_lines(old, [(spot.offset, spot.length - 1) for spot in dropped], now)
        handle.follow()
    return Compacted(before, len(content), 0, 0, _superseded(contents, needed))


def _superseded(contents: Contents, needed: list[Line]) -> int:
    """How many lines a newer one took the place of; blank ones stand for nothing."""
    return sum(line.entry.type != "erased" for line in contents.lines) - len(needed)


def _latest(raw: bytes, versions: Versions) -> bytes:
    """A line as today's version writes it, newline included."""
    is_old = (versions.stored(raw) or 0) < versions.current
    return (lines.rewritten(raw.rstrip(b"\r\n"), versions) if is_old else raw) or raw


def _subject(line: Line) -> str:
    return line.entry.target or line.entry.id


def _weighed(contents: Contents, needed: list[Line], uses: Counter[str]) -> list[Weighed]:
    size: Counter[str] = Counter()
    for line in needed:
        size[_subject(line)] += len(line.raw)  # with the tombstone that hides it
    found = []
    for line in needed:
        if line.entry.type not in MARKS:
            head = contents.heads[line.entry.id]
            entry = msgspec.structs.replace(line.entry, timestamp=head.first)
            found.append(Weighed(entry, head.died, size[entry.id], uses[entry.id]))
    return found


def _merged(contents: Contents, line: Line) -> tuple[int, bytes]:
    """The line as it stands; a rewritten entry's survivor is told its first timestamp."""
    entry = line.entry
    head = contents.heads.get(entry.id)
    if entry.type in MARKS or head is None or head.first_seq in (entry.seq, entry.first_seq):
        return entry.seq, line.raw
    merged = msgspec.structs.replace(
        entry, created=head.first, first_seq=head.first_seq, seq=0, sum=""
    )
    return entry.seq, Draft(merged).line(entry.seq)
