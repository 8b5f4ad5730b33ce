"""Signing in and out, and who is asking."""

import os
from importlib.metadata import version

from litestar import get, post
from litestar.params import JSONBody

from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.passes import Pass
from mnemolog.faces.http.shapes import Login, Me, Reach, SignedIn


def _reach(known: Pass) -> Reach:
    return Reach(agents=known.agents, users=known.users, read_only=known.read_only)


@post("/login", sync_to_thread=True, status_code=200)
def login(caller: Asking, data: JSONBody[Login]) -> SignedIn:
    """Exchange a one-time code for a token of this page."""
    token, known = caller.house.desk.sign_in(data.code)
    return SignedIn(token=token, expires_at=known.expires_at, scope=_reach(known))


@post("/logout", sync_to_thread=True, status_code=204)
def logout(caller: Asking) -> None:
    """Make the page's token worthless."""
    caller.house.desk.sign_out(caller.known)


@get("/me", sync_to_thread=False)
def me(caller: Asking) -> Me:
    """Who is asking, and which parts there are."""
    folder, name = os.path.split(caller.house.root.rstrip("/"))
    return Me(
        kind=caller.known.kind,
        scope=_reach(caller.known),
        agent=None if caller.reach.beside else caller.reach.agent,
        user=caller.reach.user if len(caller.known.users) < 2 else None,
        expires_at=caller.known.expires_at,
        root=os.path.join(os.path.basename(folder), name),
        version=version("mnemolog"),
        capabilities=caller.capabilities(),
    )


ROUTES = [login, logout, me]
