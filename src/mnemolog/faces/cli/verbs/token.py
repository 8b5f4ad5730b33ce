"""`mnemolog token`"""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from mnemolog.faces.cli import exits, screen
from mnemolog.faces.cli.call import Call, verb

if TYPE_CHECKING:
    from mnemolog.stores.files.serving.token_file import Issued, TokenFile

_LONGEST = 36_500


@click.command()
@click.argument("action", type=click.Choice(["new", "list", "revoke", "link"]))
@click.argument("identifier", required=False)
@click.option("--name", metavar="TEXT", default="", help="With new: what it is for.")
@click.option("--for-agent", "agents", metavar="ID", multiple=True, help="Only as this agent.")
@click.option("--for-user", "users", metavar="ID", multiple=True, help="Only for this user.")
@click.option("--read-only", is_flag=True, help="It may read and search, nothing else.")
@click.option(
    "--days", metavar="N", type=float, default=90.0, help="Good for so many days; 90 unless told."
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(1, 65535),
    default=7077,
    help="With link: the server's port; 7077 unless told.",
)
@verb
def token(
    call: Call,
    action: str,
    identifier: str | None,
    name: str,
    agents: tuple[str, ...],
    users: tuple[str, ...],
    read_only: bool,
    days: float,
    port: int,
) -> int:
    """Make, list and revoke the tokens of a server.

    `token new` makes one for an agent, a user or a program and shows it this once. `token list`
    tells which there are, and never what they are. `token revoke ID` makes one worthless at once.
    `token link` prints a link that signs a browser in, once, within ten minutes.

    The owner's own token is the file `token` in the root.
    """
    if not 0 < days <= _LONGEST:
        raise click.UsageError(f"--days is a number above 0, up to {_LONGEST}.")
    if (action == "revoke") != (identifier is not None):
        raise click.UsageError("Say `token revoke ID`; the other actions take no id.")
    file = _file(call)
    if action == "new":
        lives = timedelta(days=days)
        made = file.issue(
            "scoped", _now(), lives, name=name, agents=agents, users=users, read_only=read_only
        )
        _say_new(call, *made)
    elif action == "list":
        _say_all(call, file.all())
    elif action == "link":
        code, _ = file.issue("code", _now(), timedelta(minutes=10))
        _say_link(call, f"http://127.0.0.1:{port}/#code={code}")
    else:
        return _revoke(call, file, str(identifier))
    return exits.OK


def _now() -> datetime:
    return datetime.now(UTC)


def _file(call: Call) -> "TokenFile":
    from mnemolog.stores.files.serving.token_file import TokenFile

    with call.memory():  # says so if there is none
        return TokenFile(call.root)


def _say_new(call: Call, secret: str, made: "Issued") -> None:
    if call.as_json:
        screen.emit({"token": secret, **_facts(made)})
        return
    screen.say(secret)
    screen.say((f"{made.id}: good until {made.expires_at}", "dim"), err=True)


def _say_all(call: Call, found: "list[Issued]") -> None:
    if call.as_json:
        for one in found:
            screen.emit(_facts(one))
        return
    rows = [
        (
            one.id,
            one.kind,
            one.name,
            ", ".join((*one.agents, *one.users)) or "everything",
            "reads" if one.read_only else "writes",
            one.expires_at or "never",
        )
        for one in found
    ]
    columns = ("id", "kind", "name", "reaches", "may", "expires")
    screen.table(columns, rows, nothing="There are no tokens beside the owner's.")


def _say_link(call: Call, link: str) -> None:
    if call.as_json:
        screen.emit({"link": link})
    else:
        screen.say(link)


def _revoke(call: Call, file: "TokenFile", identifier: str) -> int:
    gone = file.revoke(identifier)
    if gone is None:
        screen.say((f"There is no token {identifier}.", "warning"), err=True)
        return exits.WARNINGS
    if call.as_json:
        screen.emit({"revoked": gone.id})
    else:
        screen.say(f"{gone.id} is worthless now.")
    return exits.OK


def _facts(one: "Issued") -> dict[str, object]:
    import msgspec

    facts: dict[str, object] = msgspec.to_builtins(one)
    facts.pop("hash")
    return {**facts, "kind": one.kind, "agents": list(one.agents), "users": list(one.users)}
