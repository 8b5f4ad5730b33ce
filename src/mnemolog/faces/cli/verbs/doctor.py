"""`mnemolog doctor`"""

import os
from collections import Counter
from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import exits, screen, words
from mnemolog.faces.cli.bars import progress
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.stores.files.doctor import Outcome, Visit


@click.command()
@click.option("--repair", is_flag=True, help="Mend what is safe to mend; no line is ever removed.")
@click.option(
    "--privacy",
    is_flag=True,
    help="Only what concerns privacy: what is past retention or should be erased by now, open "
    "erasures, modes, redaction that is off, known backups.",
)
@click.option(
    "--graph",
    is_flag=True,
    help="Only the graph: orphans, dead links, circles, nodes that are never used, stale,"
    " unreadable or hold secrets, names that collide, leftovers.",
)
@verb
def doctor(call: Call, repair: bool, privacy: bool, graph: bool) -> int:
    """Check everything below the root.

    Looks at every line, manifest, mode and leftover, and at what the root lies on. The exit code
    tells the worst that was found and could not be mended.
    """
    from mnemolog.stores.files import doctor as practice

    call.refuse_views("The doctor looks at everything below the root.")
    root = call.root
    left: Counter[str] = Counter()
    with progress("examining") as bar:
        visit = practice.visit_root(root, os.environ, bar, only_privacy=privacy, only_graph=graph)
        untouched = map(practice.Outcome, practice.examine(visit))
        for one in practice.repair(visit) if repair else untouched:
            left[one.finding.severity] += one.done is None
            with bar.aside():
                _tell(call, one)
    if not call.as_json:
        _sum_up(root, visit, left)
    return exits.ERRORS if left["error"] else exits.WARNINGS if left["warning"] else exits.OK


def _tell(call: Call, one: "Outcome") -> None:
    found = one.finding
    if call.as_json:
        import msgspec

        facts = msgspec.to_builtins(found)
        screen.emit({**facts, "repaired": one.done is not None, "done": one.done or one.failed})
        return
    screen.say((f"{found.severity:<8}", found.severity), (f"{found.code:<20}", "dim"), found.path)
    screen.say("    ", found.what)
    if one.done is not None:
        screen.say("    ", ("repaired: ", "good"), one.done)
    elif one.failed is not None:
        screen.say("    ", ("not repaired: ", "error"), one.failed)
    else:
        screen.say("    ", (found.advice, "dim"))


def _sum_up(root: str, visit: "Visit", left: Counter[str]) -> None:
    seen = visit.tally
    much = "" if visit.only_privacy else f", {seen.lines:,} lines, {seen.size_bytes:,} bytes"
    logs = f"{seen.sessions:,} sessions, {seen.logs:,} logs{much}"
    screen.say(f"{root}: {words.counted(seen.nodes, 'node') if visit.only_graph else logs} checked")
    worst = [name for name in ("error", "warning") if left[name]]
    if worst:
        counts = ", ".join(f"{left[name]:,} {name}{'s' * (left[name] > 1)}" for name in worst)
        screen.say((counts, worst[0]))
    else:
        screen.say(("healthy", "good"))
