"""The doctor's look at one session: its lock, its manifest, its segments, and what lies beside."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import SessionError, SettingsError
from mnemolog.fs import Disk, File
from mnemolog.log import lines, manifests, sessions
from mnemolog.log.places import SessionPlace
from mnemolog.log.versions import MALFORMED
from mnemolog.model.entry import FORMAT
from mnemolog.model.session import Manifest
from mnemolog.paths import id_of
from mnemolog.settings import Settings
from mnemolog.stores.files.doctor.findings import Case, Tally, case
from mnemolog.stores.files.doctor.lines import LineCheck, each_line
from mnemolog.stores.files.doctor.mending import (
    at_rest,
    chains_in,
    is_closed,
    make_lock,
    segment_number,
    set_aside,
)
from mnemolog.stores.files.doctor.rebuilding import rebuild
from mnemolog.stores.files.doctor.runs import check_runs

_TRIES = 5


class _MovedError(Exception):
    """The session was rewritten while it was looked at."""


class SessionCheck:
    """Looks at one session's folder, beside any number of writers."""

    def __init__(
        self, disk: Disk, folder: str, tally: Tally, lock_timeout: float, now: str
    ) -> None:
        name = folder.rpartition("/")[2]
        self._disk = disk
        self._place = SessionPlace(id_of(name) or name, folder)
        self._tally = tally
        self._timeout = lock_timeout
        self._now = now

    def cases(self) -> Iterator[Case]:
        """Everything that is wrong; starts over when a rewrite comes between."""
        for _ in range(_TRIES):
            with suppress(_MovedError):
                yield from self._cases()
                return

    def _cases(self) -> Iterator[Case]:
        names = self._disk.list(self._place.folder)
        try:
            guard = self._disk.open(self._place.guard, "read")
        except FileNotFoundError:
            if self._disk.stat(self._place.folder) is not None:
                yield from self._without_manifest(names, None)
            return
        if paths.LOCK not in names:
            mend = partial(make_lock, self._disk, self._place.folder)
            yield case("lock_missing", self._place.lock, "the lock file is missing", mend)
        elif is_closed(self._disk, self._place):
            yield case("lock_closed", self._place.lock, "the lock file cannot be written to")
        content = guard.read(0, guard.size())
        try:
            manifest = manifests.parse(content, self._place.folder)
        except SessionError:
            yield from self._without_manifest(names, content)
            return
        self._place.name = manifest.session_id
        yield from self._facts(manifest)
        yield from self._segments(guard, manifest)
        yield from self._orphans(manifest)
        yield from check_runs(self._disk, self._place, self._timeout, self._now)

    def _facts(self, manifest: Manifest) -> Iterator[Case]:
        if manifest.v > FORMAT:
            what = f"the manifest has format {manifest.v}; this mnemolog writes {FORMAT}"
            yield case("manifest_newer", self._place.guard, what)
        wanted = paths.session_folder(manifest.session_id)
        if self._place.folder != wanted:
            what = f"it is the manifest of {manifest.session_id!r:.200}, which belongs to {wanted}"
            yield case("manifest_misplaced", self._place.guard, what)
        try:
            Settings().with_overrides(manifest.settings)
        except SettingsError as error:
            yield case("settings_refused", self._place.guard, error.message)

    def _segments(self, guard: File, manifest: Manifest) -> Iterator[Case]:
        check = LineCheck(self._disk, manifest.session_id, self._tally)
        *sealed, _ = manifest.segments
        for segment in manifest.segments:
            path = f"{self._place.folder}/{segment.name}"
            found = self._disk.stat(path)
            if found is None:
                self._stop_if_moved(guard)
                yield case("segment_missing", path, "a segment that the manifest names is missing")
                continue
            if segment in sealed and found.size != segment.size:
                what = f"it has {found.size:,} bytes, but was sealed with {segment.size or 0:,}"
                yield case("segment_size", path, what)
            try:
                yield from check.segment(path, is_sealed=segment in sealed)
            except FileNotFoundError:
                raise _MovedError from None

    def _stop_if_moved(self, guard: File) -> None:
        if self._disk.ident(self._place.guard) != guard.ident:
            raise _MovedError

    def _orphans(self, manifest: Manifest) -> Iterator[Case]:
        if not self._unnamed(manifest):
            return
        # A writer makes files before it names them.
        for name in at_rest(self._disk, self._place, lambda: self._unnamed(self._manifest())):
            path = f"{self._place.folder}/{name}"
            code = self._kind(manifest, name)
            what = {
                "orphan": "the manifest does not name it",
                "orphan_lines": "the manifest does not name it, but it has lines of its own",
                "stranger": "it is none of the session's files",
            }[code]
            mend = None if code == "stranger" else partial(self._remove_orphan, name)
            yield case(code, path, what, mend)

    def _unnamed(self, manifest: Manifest) -> list[str]:
        """The files that the manifest does not name; a later mnemolog may have other files."""
        if manifest.v > FORMAT:
            return []
        return sessions.orphans(self._disk, self._place, manifest)

    def _manifest(self) -> Manifest:
        content = fs.read_all(self._disk, self._place.guard)
        return manifests.parse(content, self._place.folder)

    def _kind(self, manifest: Manifest, name: str) -> str:
        if name.endswith(".tmp"):
            return "orphan"
        number = segment_number(name)
        if number is None:
            return "stranger"
        # An earlier generation was left out on purpose. Nothing may be lost of any other.
        if number[0] < manifest.generation:
            return "orphan"
        return "orphan_lines" if self._has_own_lines(manifest, name) else "orphan"

    def _has_own_lines(self, manifest: Manifest, name: str) -> bool:
        own = set(self._sums(name))
        for segment in manifest.segments:
            own.difference_update(self._sums(segment.name))
        return bool(own)

    def _sums(self, name: str) -> Iterator[bytes]:
        with suppress(FileNotFoundError):
            for _, line, _ in each_line(self._disk.open(f"{self._place.folder}/{name}", "read")):
                total = lines.verify(line.rstrip(b"\r"))
                if total is not None:
                    yield total

    def _remove_orphan(self, name: str) -> str:
        with sessions.locked(self._disk, self._place, self._timeout):
            manifest = self._manifest()
            if name not in self._unnamed(manifest):
                return "it belongs to the session by now"
            path = f"{self._place.folder}/{name}"
            is_kept = self._kind(manifest, name) == "orphan_lines"
            if is_kept:
                set_aside(self._disk, self._place, name)
            self._disk.unlink(path)
            self._disk.sync_folder(self._place.folder)
            return "moved to quarantine" if is_kept else "removed"

    def _without_manifest(self, names: list[str], content: bytes | None) -> Iterator[Case]:
        if content is not None and _is_newer(content):
            yield case("manifest_newer", self._place.guard, "a newer mnemolog wrote the manifest")
        else:
            yield self._unmanifested(names, content)
            if self._is_rebuilt():
                yield from self._cases()
                return
        for chain in chains_in(names).values():
            check = LineCheck(self._disk, self._place.name, self._tally)
            for name in chain.values():
                with suppress(FileNotFoundError):
                    yield from check.segment(f"{self._place.folder}/{name}", is_sealed=False)

    def _is_rebuilt(self) -> bool:
        """Whether there is a manifest by now: what it leaves out can be told only then."""
        with suppress(FileNotFoundError, SessionError):
            self._manifest()
            return True
        return False

    def _unmanifested(self, names: list[str], content: bytes | None) -> Case:
        mend = None
        if chains_in(names):
            mend = partial(rebuild, self._disk, self._place, self._timeout, self._now)
        if content is None:
            return case("manifest_missing", self._place.guard, "the manifest is missing", mend)
        return case("manifest_unreadable", self._place.guard, "the manifest cannot be read", mend)


def _is_newer(content: bytes) -> bool:
    """Whether bytes that are no manifest of ours may be one of a later mnemolog."""
    try:
        return msgspec.json.decode(content, type=_Versioned).v > FORMAT
    except MALFORMED:
        return False


class _Versioned(msgspec.Struct):
    v: int
