"""The prompt of a root's own: what its memory-agents are told instead of the package's."""

from hashlib import sha256

from mnemolog import fs
from mnemolog.errors import SettingsError
from mnemolog.fs import Disk
from mnemolog.model.lesson import Prompt

FILE = "prompts/memory/MEMORY_AGENT.md"
MAX_BYTES = 64 * 1024
# Whoever may write the prompt decides what is learned about everybody.
_FOR_OTHERS = 0o022


def read(disk: Disk) -> Prompt | None:
    """The prompt, or None where the root has none; one that cannot be used is refused."""
    status = disk.stat(FILE)
    if status is None:
        return None
    if not status.is_regular:
        raise _refused("it is no plain file", "Put the text itself there, or remove it.")
    if status.mode & _FOR_OTHERS:
        raise _refused("others may write to it", f"Run `chmod 600` on {FILE} after you read it.")
    if status.size > MAX_BYTES:
        raise _refused(f"it has more than {MAX_BYTES:,} bytes", "Shorten it.")
    return _prompt(fs.read_all(disk, FILE))


def _prompt(content: bytes) -> Prompt:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise _refused("it is not UTF-8 text", "Save it as UTF-8.") from None
    if not text.strip():
        raise _refused("it is empty", "Remove it, and the one of the package is used.")
    return Prompt(FILE, text, sha256(content).hexdigest()[:12])


def begin(disk: Disk, text: str) -> bool:
    """Put a text there to be edited; False if there is one already, which stays."""
    folder = FILE.rpartition("/")[0]
    disk.mkdir(folder)
    try:
        fs.write_new(disk, FILE, text.encode())
    except FileExistsError:
        return False
    disk.sync_folder(folder)
    return True


def _refused(why: str, advice: str) -> SettingsError:
    return SettingsError(f"The prompt {FILE} cannot be used: {why}.", advice=advice, path=FILE)
