"""The default back end: plain files below one folder."""

import errno
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock as Mutex

from mnemolog import fs, paths
from mnemolog.errors import SettingsError, StorageIOError
from mnemolog.fs import Disk, File
from mnemolog.fs.real import RealDisk
from mnemolog.log import forks, intents, sessions
from mnemolog.log.fold import Head, count
from mnemolog.log.reader import View
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.model.entry import Entry
from mnemolog.model.observing import observers, tell
from mnemolog.model.session import Manifest, Summary
from mnemolog.policy.access import Viewer, may_see
from mnemolog.ports import Appended, Listed, LogKey, Reading, Unread, Write
from mnemolog.settings import Settings, Storage, load
from mnemolog.stores.files import archiving, keeper
from mnemolog.stores.files.batch import Batch
from mnemolog.stores.files.feed import log_name, mark
from mnemolog.stores.files.held import Held
from mnemolog.stores.files.looking import FilesLooker
from mnemolog.stores.files.root_size import RootSize

# So many logs are held open at once; each costs up to six descriptors, and some systems allow 256.
MAX_OPEN = 32

_CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)
_TRIES = 3
_FOLDERS = (paths.SESSIONS, paths.ARCHIVE, paths.INTENTS, paths.DIRTY)
IGNORE = b"# Memory is private: never commit it.\n*\n"

Look = Callable[[Head], Entry | None]


class FilesStore:
    """Logs below one root, shared safely by any number of threads and processes."""

    def __init__(self, disk: Disk, settings: Settings, versions: Versions = CURRENT) -> None:
        self._disk = disk
        self._settings = settings
        self._versions = versions
        self._unsynced: dict[LogKey, tuple[int, float, File]] = {}
        self.forget()
        forks.watch(self)
        self._prepare()

    def forget(self) -> None:
        """Let go of everything held open; the next use opens it anew."""
        self._mutex = Mutex()
        self._logs: OrderedDict[LogKey, Held] = OrderedDict()
        self._unsynced = {}
        self._root_size = RootSize(self._disk)

    def _prepare(self) -> None:
        try:
            self._make_ready()
        except StorageIOError as error:
            # Where nothing can be written, what is there can still be read.
            if error.details.get("errno") not in _CLOSED or self._disk.stat(paths.SESSIONS) is None:
                raise

    def _make_ready(self) -> None:
        # The reserve comes last: without it, the folders may not be durable yet.
        if any(self._disk.stat(path) is None for path in (*_FOLDERS, paths.RESERVE)):
            self._make_folders()
        intents.reserve(self._disk)
        intents.finish(self._disk, lambda fields: keeper.finish(self._disk, fields))

    def _make_folders(self) -> None:
        for folder in _FOLDERS:
            self._make_folder(folder)
        if self._disk.stat(".gitignore") is None:
            with suppress(FileExistsError):
                fs.write_new(self._disk, ".gitignore", IGNORE)
        self._disk.sync_folder("")

    def _make_folder(self, folder: str) -> None:
        for left in reversed(range(_TRIES)):
            try:
                return self._disk.mkdir(folder)
            except FileNotFoundError as error:
                if left:  # somebody may be at deleting `index/`
                    continue
                raise StorageIOError(  # such as /proc: only the system makes files there
                    f"Could not make the folder {folder} in the root: {error.strerror}.",
                    advice="Choose another root.",
                ) from error

    def held(self, key: LogKey) -> Held:
        """What is kept open of a log; shared by all that work on it."""
        with self._mutex:
            held = self._logs.get(key)
            if observers:
                tell("cache.miss" if held is None else "cache.hit", key.id or None)
            if held is None:
                held = self._logs[key] = Held(self._disk, key, self._settings, self._versions)
                while len(self._logs) > MAX_OPEN:
                    self._logs.popitem(last=False)
            self._logs.move_to_end(key)
            return held

    def create(self, manifest: Manifest) -> None:
        sessions.create(self._disk, self._versions.settled(manifest))
        self._mark_dirty(LogKey("session", manifest.session_id))

    def load(self, session_id: str) -> Manifest:
        return self.held(LogKey("session", session_id)).manifest()

    def change(self, session_id: str, edit: Callable[[Manifest], Manifest]) -> Manifest:
        held = self.held(LogKey("session", session_id))
        place = sessions.place(session_id, self._versions)
        work = partial(sessions.change, self._disk, held.writer, place, edit)
        after = archiving.writing(self._disk, held, self._settings, work)
        self._mark_dirty(held.key)
        return after

    def sessions(self, only: str | None = None, left_out: Unread | None = None) -> Iterator[Listed]:
        if only is not None:
            yield archiving.listed(self._disk, sessions.place(only, self._versions))
        else:
            yield from archiving.all_listed(self._disk, self._versions, left_out)

    def append(
        self, log: LogKey, writes: Sequence[Write], viewer: Viewer, storage: Storage
    ) -> Appended:
        held = self.held(log)
        if log.kind != "session":  # that was made by whoever created it
            held.ensure_exists()
        if storage.max_root_size_mb:
            self._root_size.prepare(storage.max_root_bytes)
        batch = Batch(self._disk, held, writes, viewer, storage, self._root_size)
        file = self._write(held, batch)
        warnings = batch.warnings + self._mark_dirty(log)
        durable = self._settle(held, file, batch, storage)
        return Appended(batch.seqs, batch.revised, durable, warnings, batch.used)

    def _write(self, held: Held, batch: Batch) -> File:
        written = 0
        try:
            work = partial(held.writer.append, batch.compose, batch.names)
            file = archiving.writing(self._disk, held, self._settings, work)
            written = batch.size
        finally:
            if batch.admitted:
                self._root_size.end(batch.admitted, written)
        return file

    def _settle(self, held: Held, file: File, batch: Batch, storage: Storage) -> bool:
        """Sync now, or later, as the durability level says; True if it was now."""
        if storage.durability == "os":
            return False
        if storage.durability == "batch" and not self._is_due(held.key, file, batch, storage):
            return False
        held.writer.sync(file, batch.names)
        return True

    def _is_due(self, key: LogKey, file: File, batch: Batch, storage: Storage) -> bool:
        now = time.monotonic()
        with self._mutex:
            count, since, _ = self._unsynced.pop(key, (0, now, file))
            count += len(batch.seqs)
            waited = (now - since) * 1000
            if count >= storage.batch_write_size or waited >= storage.batch_write_interval_ms:
                return True
            self._unsynced[key] = (count, since, file)
            oldest = next(iter(self._unsynced))
            waiting = self._unsynced.pop(oldest) if len(self._unsynced) > MAX_OPEN else None
        if waiting is not None:
            waiting[2].sync()
        return False

    def read(
        self,
        log: LogKey,
        viewer: Viewer,
        *,
        ids: Collection[str] | None = None,
        types: Collection[str] | None = None,
        after: int = 0,
        last: int | None = None,
        as_of: str | None = None,
        before: str | None = None,
    ) -> Reading:
        held = self.held(log)
        if not held.exists():
            return Reading(_summary(_NOTHING, []), (), iter(()))
        view = _view(held, ids, as_of)
        seen = [head for head in view.heads if not head.dead and may_see(viewer, head)]
        chosen = [
            head for head in seen if head.seq > after and (types is None or head.type in types)
        ]
        if before is not None:
            chosen = [head for head in chosen if head.first < before]
        if after:
            chosen.sort(key=lambda head: head.seq)
        if last is not None:
            chosen = chosen[-last:] if last > 0 else []
        again = _second_look(held, viewer) if as_of is None else _no_second_look
        return Reading(_summary(view, seen), view.damage, _entries(view, chosen, again))

    def looker(self) -> FilesLooker:
        """What looks closely at the logs."""
        return FilesLooker(self._disk, self.held)

    def close(self) -> None:
        with self._mutex:
            waiting = [file for _, _, file in self._unsynced.values()]
        for file in waiting:
            file.sync()
        self.forget()

    def _mark_dirty(self, key: LogKey) -> tuple[str, ...]:
        if key.kind == "run":
            return ()  # no index reads the notes of runs
        return mark(self._disk, log_name(key))


def _view(held: Held, ids: Collection[str] | None, as_of: str | None) -> View:
    if as_of is None:
        return held.reader.view() if ids is None else held.reader.find(*ids)
    view = held.view_as_of(as_of)
    return view._replace(heads=[head for head in view.heads if ids is None or head.id in ids])


_NOTHING = View([], (), 0, 0, None, ())


def _summary(view: View, seen: list[Head]) -> Summary:
    types, agents = count(seen)
    return Summary(
        counts=types,
        agents=agents,
        revisions=sum(head.revisions - 1 for head in seen),
        size_bytes=view.size,
        last_seq=view.last_seq,
        last_written=view.last_written,
        damaged=len(view.damage),
        redactions=dict(Counter(kind for head in seen for kind in head.hidden)),
    )


def _entries(view: View, heads: list[Head], again: Look) -> Iterator[Entry]:
    for head in heads:
        entry = view.entry(head) or again(head)
        if entry is not None:
            yield entry


def _second_look(held: Held, viewer: Viewer) -> Look:
    """For entries whose lines were overwritten where they lay because their log went elsewhere."""

    def look(head: Head) -> Entry | None:
        while True:
            view = held.reader.find(head.id)
            seen = [one for one in view.heads if not one.dead and may_see(viewer, one)]
            entry = view.entry(seen[0]) if seen else None
            # The files tell whether it went elsewhere again: of the reader, which others use too,
            # only that they are those which it reads now.
            if entry is not None or held.reader.find(head.id).files == view.files:
                return entry

    return look


def _no_second_look(head: Head) -> Entry | None:
    return None


def open_root(
    root: str, environ: Mapping[str, str], overrides: Mapping[str, object]
) -> tuple[RealDisk, FilesStore, Settings]:
    """Open, and where needed make, the root in this folder."""
    disk = RealDisk(root)
    settings = read_settings(disk, environ).changed(overrides)
    return disk, FilesStore(disk, settings), settings


def read_settings(disk: Disk, environ: Mapping[str, str]) -> Settings:
    """The settings of a root: `config.toml` or `config.json` if there is one, then `environ`."""
    for name in ("config.toml", "config.json"):
        if disk.stat(name) is not None:
            return load(_text(fs.read_all(disk, name), name), environ)
    return load(None, environ)


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise SettingsError(
            f"{name} is not UTF-8 text.", advice="Save it as UTF-8, or remove it."
        ) from error
