"""`mnemolog demo`"""

import os
from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import screen, words
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.hits import say_hit

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.model.entry import Entry, Receipt
    from mnemolog.model.query import Hits
    from mnemolog.model.session import Session

QUESTION = "which database do we use?"


@click.command()
@verb
def demo(call: Call) -> None:
    """Write a small memory and show it.

    It is a real one: written, read back, searched, and shown as it is on disk. It lives in a
    temporary folder and is removed at the end, unless --root names a folder.
    """
    from mnemolog.memory import Memory
    from mnemolog.stores.files import roots

    root = str(call.named_root if call.given_root else _temporary())
    try:
        with Memory.open(root) as opened:
            memory = call.view(opened)
            session = memory.create_session(
                call.user or "ada",
                agent_ids=[call.agent or "architect"],
                metadata={"project_name": "payments"},
            )
            receipts = _write(memory, session)
            # The preference is the user's, in a log of its own: it counts in every session.
            entries = [*memory.get_entries(session.id), *memory.get_preferences(session.id)]
            hits = memory.query(session.id, text=QUESTION, limit=1)
        _show(call, root, session, receipts, entries, hits)
    finally:
        if call.given_root is None:
            roots.remove(root)


def _temporary() -> str:
    base = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "/tmp"
    return os.path.join(base, f"mnemolog-demo-{os.urandom(6).hex()}")


def _write(memory: "Memory", session: "Session") -> "list[Receipt]":
    agent = session.agent_ids[0]
    message = memory.add_conversation(
        session.id, role="user", content="We move money: no order may ever be half written."
    )
    decision = memory.add_decision(
        session.id,
        made_by=agent,
        decision="Use PostgreSQL",
        rationale="Transactions, and the team knows it",
        impact="high",
        tags=["database"],
        references=[message.id],
    )
    finding = memory.add_finding(
        session.id,
        discovered_by=agent,
        severity="high",
        description="The nightly backup is never restored, so nobody knows whether it works",
        recommendation="Restore it into a scratch database every week",
        tags=["database", "operations.backup"],
    )
    preference = memory.update_preference(
        session.id, key="language", value="British English", scope="user"
    )
    return [message, decision, finding, preference]


def _show(
    call: Call,
    root: str,
    session: "Session",
    receipts: "list[Receipt]",
    entries: "list[Entry]",
    hits: "Hits",
) -> None:
    from mnemolog.stores.files import roots

    files = list(roots.files(root))
    lines = list(roots.raw_lines(root, session, entries))
    if call.as_json:
        screen.emit(
            {
                "root": root,
                "kept": call.given_root is not None,
                "session_id": session.id,
                "receipts": receipts,
                "entries": entries,
                "hits": hits,
                "files": {found.path: found.size for found in files},
                "lines": [line.decode() for line in lines],
            }
        )
        return
    screen.say(("1. Four things to remember", "strong"))
    for receipt in receipts:
        screen.say("   ", (receipt.status, "good"), " ", receipt.id)
    screen.say()
    screen.say(("2. Read back", "strong"))
    for entry in entries:
        words.say_entry(entry)
    screen.say()
    screen.say((f"3. Asked: {QUESTION}", "strong"))
    for hit in hits:
        say_hit(hit, why=True)
    screen.say()
    screen.say(("4. On disk, below ", "strong"), root)
    derived = [found for found in files if found.path.startswith("index/")]
    for found in files:
        if found not in derived:
            screen.say(f"   {words.size(found.size):>9}  {found.path}")
    screen.say(f"   {len(derived):>3} files  index/, derived: delete them whenever you like")
    screen.say()
    screen.say(("5. The lines themselves: plain text, each with its own checksum", "strong"))
    for line in lines:
        screen.emit_raw(line)
    screen.say()
    _say_next(call, root, session)


def _say_next(call: Call, root: str, session: "Session") -> None:
    if call.given_root is None:
        screen.say(("The demo's folder is removed again: ", "dim"), root)
        screen.say("Next: mnemolog init, then mnemolog add 'the first thing to remember'")
    else:
        screen.say(f"Next: mnemolog --root {root} log {session.id}")
