"""`mnemolog erase` and `mnemolog verify`"""

from typing import TYPE_CHECKING, Any

import click

from mnemolog.faces.cli import consent, exits, screen
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.choosing import chosen, criteria, owned

if TYPE_CHECKING:
    from mnemolog.model.forgetting import Erasure, Verification


@click.command()
@click.argument("session", required=False)
@criteria
@click.option("--whole-session", is_flag=True, help="The session itself, with all that is in it.")
@click.option("--reason", default="", metavar="WORDS", help="Why; kept in the audit.")
@click.option("--no-verify", is_flag=True, help="Do not look into every byte afterwards.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@verb
def erase(
    call: Call,
    session: str | None,
    whole_session: bool,
    reason: str,
    no_verify: bool,
    yes: bool,
    **options: Any,
) -> int:
    """Remove entries of SESSION from every file, and prove it.

    Deleted entries are meant too. Without SESSION, with --user or --id, what users own and all
    share is meant. This cannot be undone.
    """
    reach, wanted = owned(call, session, chosen(**options))
    if whole_session and wanted:
        raise click.UsageError("--whole-session and the choice of entries exclude each other.")
    if not whole_session and not wanted:
        raise click.UsageError("Say which entries are meant, or give --whole-session.")
    if whole_session:
        with reach.memory() as memory:
            memory.check_allowed("delete_session")  # before anybody is asked
    if not yes:
        with reach.memory() as memory:
            count = len(memory.would_forget(session, wanted or None, erase=True).ids)
        whose = session or ("what users own" if call.user is None else f"what {call.user} owns")
        consent.ask(call, _question(count, whose, is_all=whole_session), "Nothing was erased")
    with reach.memory() as memory, progress("erasing" if no_verify else "verifying") as bar:
        how: dict[str, Any] = {"reason": reason, "verify": not no_verify, "progress": bar}
        if whole_session and session is not None:
            done = memory.delete_session(session, **how)
        else:
            done = memory.erase(session, wanted, **how)
    return _told(call, done)


def _question(count: int, whose: str, *, is_all: bool) -> str:
    """What is asked before; what damage alone still holds of an id is not counted."""
    entries = f"{count:,} {'entry' if count == 1 else 'entries'}"
    if is_all:
        return f"Erase the whole session {whose}, with {entries}, for good?"
    return f"Erase {f'{entries} ' if count else ''}from {whose} for good?"


def _told(call: Call, done: "Erasure") -> int:
    if call.as_json:
        screen.emit(done)
    else:
        screen.say((f"{done.erased_count} erased", "strong"))
        for place, count in done.places.items():
            screen.say(f"  {place}: {count}")
        for backup in done.out_of_reach:
            screen.say((f"  out of reach: the backup {backup}", "warning"))
        if done.verification is not None:
            _told_proof(done.verification)
    return exits.OK if done.verification is None or done.verification.clean else exits.WARNINGS


@click.command()
@click.option("--text", metavar="WORDS", multiple=True, help="Words that should be gone.")
@click.option("--id", "ids", metavar="ID", multiple=True, help="An entry that should be gone.")
@verb
def verify(call: Call, text: tuple[str, ...], ids: tuple[str, ...]) -> int:
    """Look for words or entries in every byte below the root.

    Compressed files are unpacked; escaped and encoded forms are looked for too.
    """
    if not text and not ids:
        raise click.UsageError("Give --text or --id.")
    with call.memory() as memory, progress("looking") as bar:
        found = memory.verify_erasure(ids=ids, text=text, progress=bar)
    if call.as_json:
        screen.emit(found)
    else:
        _told_proof(found)
    return exits.OK if found.clean else exits.WARNINGS


def _told_proof(found: "Verification") -> None:
    if found.clean:
        looked = f"{found.files:,} files, {found.bytes:,} bytes"
        screen.say((f"gone: no trace in {looked}", "strong"))
    for place, hits in found.places.items():
        if hits:
            screen.say((f"  {place}: {hits} left", "error"))
    for trace in found.traces:
        screen.say((f"  {trace}", "error"))
    if found.elsewhere:
        screen.say(f"  said also by entries that stay: {found.elsewhere} places")
