"""`mnemolog add`"""

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from mnemolog.faces.cli import intake, screen, words
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.model.entry import Receipt


@click.command()
@click.argument("text", required=False)
@click.option(
    "--session", metavar="ID", help="Add to this session; else to the one that changed last."
)
@click.option(
    "--create",
    is_flag=True,
    help="Make the session, unless it is there; without --session a new one.",
)
@click.option("--type", "kind", metavar="TYPE", help="conversation (default), decision, finding, …")
@click.option("--role", metavar="ROLE", help="Who speaks; `user` unless an agent writes.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; may be repeated.")
@click.option("--importance", metavar="0..1", type=float, help="Its weight; else derived.")
@click.option("--entry", metavar="JSON", help="A whole entry as JSON, instead of TEXT.")
@verb
def add(
    call: Call,
    text: str | None,
    session: str | None,
    create: bool,
    entry: str | None,
    **fields: Any,
) -> None:
    """Add an entry.

    Give TEXT, or a whole entry by --entry, or `-` to read one JSON entry from each line of the
    input. A decision's TEXT is what was decided, a finding's what was found, a preference's is
    KEY=VALUE. Lines are stored 1,000 at a time; of a batch with a bad line nothing is stored.
    """
    if (text is None) == (entry is None):
        raise click.UsageError("Give TEXT, or --entry, or - to read lines of JSON from the input.")
    if text in (None, "-") and any(value not in (None, ()) for value in fields.values()):
        raise click.UsageError("--type, --role, --tag and --importance go with TEXT only.")
    if text == "-":
        _add_lines(call, session, create)
        return
    if entry is not None:
        record = intake.from_json(entry)
    else:
        record = intake.from_text(str(text), agent=call.agent, **fields)
    intake.check(record)
    with call.memory(make=True) as memory:
        session_id, is_new = _session(call, memory, session, create)
        receipt = memory.add_memory(session_id, record)
    if call.as_json:
        screen.emit(_with_session(receipt, is_new))
    else:
        words.say_receipt(receipt)


def _session(call: Call, memory: "Memory", named: str | None, create: bool) -> tuple[str, bool]:
    """The session to add to, and whether it was made for this."""
    if named is not None and _is_there(memory, named, create):
        return named, False
    latest = [] if create else memory.list_sessions(limit=1)
    if latest:
        return latest[0].id, False
    made = memory.create_session(session_id=named).id
    if not call.as_json:
        screen.say(("Made the session ", "good"), made, err=True)
    return made, True


def _is_there(memory: "Memory", session_id: str, create: bool) -> bool:
    """Whether there is such a session; if not, that is an error unless it is to be made."""
    from mnemolog.errors import SessionNotFoundError

    try:
        return memory.load_session(session_id).id == session_id
    except SessionNotFoundError as error:
        if create:
            return False
        raise SessionNotFoundError(
            error.message,
            advice="--create makes it; `mnemolog sessions` lists what there is.",
            **error.details,
        ) from None


def _with_session(receipt: "Receipt", is_new: bool) -> dict[str, Any]:
    import msgspec

    return {**msgspec.to_builtins(receipt), "session_created": is_new}


def _add_lines(call: Call, session: str | None, create: bool) -> None:
    stored: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    session_id: str | None = None
    is_new = False
    intake.ask_to_type(sys.stdin.buffer, "entries as JSON, one on a line")
    with call.memory(make=True) as memory, progress("adding") as bar:
        for batch in intake.batches(sys.stdin.buffer):
            found = intake.records(batch, stored.total())
            if not found:
                continue
            if session_id is None:
                session_id, is_new = _session(call, memory, session, create)
            receipts = intake.store(memory, session_id, batch, found, stored.total())
            stored.update(receipt.status for receipt in receipts)
            warnings.update(text for receipt in receipts for text in receipt.warnings)
            bar(stored.total(), None)
            if call.as_json:
                with bar.aside():
                    for receipt in receipts:
                        screen.emit(_with_session(receipt, is_new))
    if not call.as_json:
        _sum_up(session_id, stored, warnings)


def _sum_up(session_id: str | None, stored: Counter[str], warnings: Counter[str]) -> None:
    if session_id is None or not stored:
        screen.say("There was nothing to add.")
        return
    counts = ", ".join(f"{count:,} {status}" for status, count in stored.items())
    screen.say((counts, "good"), ("  in ", "dim"), session_id)
    for text, count in warnings.items():
        screen.warn(f"{text} ({count:,} ×)" if count > 1 else text)
