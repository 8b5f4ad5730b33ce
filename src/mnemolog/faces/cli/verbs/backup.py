"""`mnemolog backup`"""

import os

import click

from mnemolog.faces.cli import exits, screen, words
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb

RESTORE = "restore"


@click.command()
@click.argument("file")
@click.argument("source", required=False)
@click.option("--with-keys", is_flag=True, help="Put the keys and tokens of the root in as well.")
@verb
def backup(call: Call, file: str, source: str | None, with_keys: bool) -> int:
    """Write everything that is not derived to one new file.

    It is a plain tar.gz, written while others go on writing: of every log it holds at least what
    was acknowledged before. What is erased later is still in it: keep it as you keep the memory. If
    something could not be copied as it should be, that is said, and the exit code is 10.

    `mnemolog backup restore FILE --root NEW` checks a backup and unpacks it into a new folder.
    """
    if file == RESTORE and source is not None:
        _restore(call, source)
    elif source is not None or file == RESTORE:
        raise click.UsageError(f"Say `backup FILE` or `backup {RESTORE} FILE --root NEW`.")
    else:
        return _backup(call, file, with_keys)
    return exits.OK


def _backup(call: Call, file: str, with_keys: bool) -> int:
    with call.memory() as memory, progress("backing up") as bar:
        done = memory.backup(file, with_keys=with_keys, progress=bar)
    code = exits.WARNINGS if done.warnings else exits.OK
    if call.as_json:
        screen.emit(done._asdict())
        return code
    sizes = f"{words.size(done.bytes)}, {words.size(done.packed_bytes)} packed"
    screen.say(
        (f"{done.sessions:,} sessions are in ", "good"),
        done.path,
        f" ({done.files:,} files, {sizes})",
    )
    for text in done.warnings:
        screen.warn(text)
    return code


def _restore(call: Call, source: str) -> None:
    from mnemolog.stores.files.moving.restoring import restore_root

    if call.given_root is None:
        raise click.UsageError("Say with --root into which new folder.")
    with progress("restoring") as bar:
        done = restore_root(source, os.path.expanduser(call.given_root), bar)
    if call.as_json:
        screen.emit(done._asdict())
    else:
        screen.say(
            (f"{done.files:,} files are restored in ", "good"),
            done.root,
            f" ({words.size(done.bytes)}, as of {words.moment(done.made_at)})",
        )
