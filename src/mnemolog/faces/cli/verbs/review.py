"""`mnemolog review`"""

from typing import TYPE_CHECKING, BinaryIO

import click

from mnemolog.faces.cli import screen, words
from mnemolog.faces.cli.call import Call, verb
from mnemolog.faces.cli.differing import say_hunks
from mnemolog.faces.cli.intake import text_in

if TYPE_CHECKING:
    from mnemolog.model.lesson import Waiting

ACTIONS = ("list", "show", "accept", "reject")


@click.command()
@click.argument("action", metavar="[ACTION]", default="list")
@click.argument("proposal", metavar="ID", required=False)
@click.option("--file", metavar="FILE", type=click.File("rb"), help="Accept this text instead.")
@click.option("--expected", metavar="HASH", help="The hash of the node that you saw.")
@click.option("--reason", metavar="TEXT", default="", help="Why it is rejected.")
@verb
def review(
    call: Call,
    action: str,
    proposal: str | None,
    file: BinaryIO | None,
    expected: str | None,
    reason: str,
) -> None:
    """Decide about what was proposed for the graph.

    `list` shows what waits, `show ID` what a proposal would change, `accept ID` writes it, `reject
    ID` takes it away. Proposals to SOUL.md and AGENTS.md always wait here, others if they rest on
    what a tool said.
    """
    if action not in ACTIONS:
        raise click.UsageError(f"ACTION is one of {', '.join(ACTIONS)}.")
    if (proposal is None) != (action == "list"):
        raise click.UsageError("Give the ID of a proposal; `review list` shows them.")
    with call.memory() as memory:
        if proposal is None:
            _list(call, memory.proposals())
        elif action == "show":
            say_hunks(call, memory.proposal_diff(proposal))
        elif action == "accept":
            text = None if file is None else text_in(file)
            done = memory.accept_proposal(proposal, text, expected=expected)
            _tell(call, done._asdict(), f"{done.address} {done.status}, version {done.version}")
        else:
            memory.reject_proposal(proposal, reason)
            _tell(call, {"id": proposal, "status": "rejected"}, f"{proposal} rejected")


def _list(call: Call, waiting: "list[Waiting]") -> None:
    if call.as_json:
        for one in waiting:
            screen.emit(one)
    else:
        shown = (
            (one.id, one.user_id, one.edit.address, one.distiller, words.moment(one.created_at),
             one.why)
            for one in waiting
        )  # fmt: skip
        screen.table(("id", "user", "node", "by", "since", "why"), shown, nothing="Nothing waits.")


def _tell(call: Call, facts: dict[str, object], line: str) -> None:
    if call.as_json:
        screen.emit(facts)
    else:
        screen.say((line, "good"))
