"""After a start of the machine: marks and columns may be lost, so all is looked at once."""

from mnemolog.index.build import Build
from mnemolog.index.catch_up import CatchUp
from mnemolog.index.database import UnfitError
from mnemolog.ports import Feed


def check(build: Build, feed: Feed, boot: str) -> None:
    """Have every log read again if the machine was started since, or the index is new."""
    found = build.db.execute("SELECT value FROM meta WHERE key = 'boot'").fetchone()
    if found == (boot,):
        return
    if not build.is_whole():
        raise UnfitError("a power loss took some of it")
    CatchUp(build, feed).note(feed.all())
    build.db.execute("REPLACE INTO meta VALUES ('boot', ?)", (boot,))


def this_boot() -> str:
    """What tells this start of the machine from the one before; empty where nobody says."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""
