"""The doctor's look into the archive: every byte that is kept there, and what vouches for it."""

from collections.abc import Iterator

from mnemolog import paths
from mnemolog.errors import CorruptionError, SessionError
from mnemolog.fs import Disk
from mnemolog.log import moved, packing, sidecars
from mnemolog.log.manifests import SEGMENT
from mnemolog.log.places import SessionPlace
from mnemolog.stores.files.doctor.findings import Case, Tally, case


def check_archive(disk: Disk, tally: Tally) -> Iterator[Case]:
    """Unpack all that lies in the archive; where a session's folder is there, that one counts."""
    for name in sidecars.names(disk):
        if disk.stat(f"{paths.SESSIONS}/{name}") is None:
            yield from _check_session(disk, name, tally)
    for name in _without_sidecar(disk):
        what = "its sidecar is missing, so the session is neither listed nor read"
        yield case("archive_damaged", sidecars.tar_of(name), what)
    for path in moved.every(disk):
        try:
            moved.read(disk, path)
        except CorruptionError as error:
            yield case("archive_damaged", path, error.message)
        except FileNotFoundError:
            continue  # its session was deleted meanwhile


def _check_session(disk: Disk, name: str, tally: Tally) -> Iterator[Case]:
    path = sidecars.path_of(name)
    place = SessionPlace(paths.id_of(name) or name, f"{paths.SESSIONS}/{name}")
    try:
        before = disk.ident(path)
        sidecar, archive = packing.opened(disk, place, path)
        tally.sessions += 1
        tally.logs += 1
        for file, pieces in packing.unpacked(disk, sidecar, archive):
            for piece in pieces if SEGMENT.fullmatch(file) else ():
                tally.size_bytes += len(piece)
                tally.lines += piece.count(b"\n")
    except FileNotFoundError:
        return  # restored or deleted meanwhile, and so it may be below
    except (SessionError, CorruptionError) as error:
        if disk.ident(path) == before:
            is_sidecar = isinstance(error, SessionError)
            where = path if is_sidecar else sidecars.tar_of(name)
            yield case("archive_damaged", where, error.message)


def _without_sidecar(disk: Disk) -> list[str]:
    """Archives that nothing vouches for; none while something is under way or left by a crash."""
    if disk.list(paths.INTENTS) not in ([], [paths.RESERVE.rpartition("/")[2]]):
        return []
    ending = sidecars.TAR_ENDING
    found = [one for one in disk.list(paths.ARCHIVE) if one.endswith(ending)]
    known = {*sidecars.session_names(disk)}
    return [name for one in found if (name := one.removesuffix(ending)) not in known]
