"""`tokens.toml`: the hashes of tokens that a server accepts beside the owner's.

Three kinds stand in it: `scoped` ones for agents and programs, `page` ones of browsers that signed
in, and `code`s that sign a browser in once. No token is ever in it, only its SHA-256: they are long
and random, so that nobody can guess what was hashed.
"""

import hmac
import json
import secrets
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal

import msgspec

from mnemolog import fs
from mnemolog.errors import LockTimeoutError, SettingsError
from mnemolog.fs import Stat
from mnemolog.fs.real import RealDisk
from mnemolog.model.ids import check_id
from mnemolog.model.times import to_text
from mnemolog.stores.files.upkeep import lease

NAME = "tokens.toml"
Kind = Literal["scoped", "page", "code"]

_BYTES = 32
_SECONDS = 5.0
_PAUSE = 0.01


class Issued(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a token: who may use it for what, until when; never the token."""

    id: str
    kind: Kind = "scoped"
    name: str = ""
    hash: str
    agents: tuple[str, ...] = ()
    """Empty means all."""
    users: tuple[str, ...] = ()
    read_only: bool = False
    created_at: str
    expires_at: str | None = None


class _Content(msgspec.Struct, kw_only=True):
    version: Literal[1] = 1
    token: list[Issued] = []


class TokenFile:
    """The tokens of a root, for any number of processes; changes are seen at once."""

    def __init__(self, root: str) -> None:
        self._disk = RealDisk(root)
        self._known: tuple[Stat | None, dict[str, Issued]] = (None, {})

    def all(self) -> list[Issued]:
        """Every token, oldest first."""
        return list(self._read().values())

    def find(self, token: str, now: datetime, kinds: tuple[Kind, ...]) -> Issued | None:
        """What a token of these kinds stands for, unless it has expired or was revoked."""
        wanted = hashed(token)
        found = self._read().get(wanted)
        if found is None or not hmac.compare_digest(found.hash, wanted):
            return None
        return found if found.kind in kinds and _is_live(found, now) else None

    def named(self, identifier: str, now: datetime) -> Issued | None:
        """The token of this id, unless it has expired or was revoked."""
        found = (one for one in self._read().values() if one.id == identifier)
        return next((one for one in found if _is_live(one, now)), None)

    def issue(
        self,
        kind: Kind,
        now: datetime,
        lives: timedelta | None,
        *,
        name: str = "",
        agents: tuple[str, ...] = (),
        users: tuple[str, ...] = (),
        read_only: bool = False,
    ) -> tuple[str, Issued]:
        """Make a token; it is told this once."""
        token = secrets.token_urlsafe(_BYTES)
        made = Issued(
            id=f"tok_{secrets.token_hex(4)}",
            kind=kind,
            name=name,
            hash=hashed(token),
            agents=tuple(check_id(one, "agent id") for one in agents),
            users=tuple(check_id(one, "user id") for one in users),
            read_only=read_only,
            created_at=to_text(now),
            expires_at=None if lives is None else to_text(now + lives),
        )
        self._change(lambda known: [*(one for one in known if _is_live(one, now)), made])
        return token, made

    def take_code(self, code: str, now: datetime) -> Issued | None:
        """Use up a sign-in code; None if there is none, or if it was used before."""
        taken: list[Issued] = []

        def without(known: list[Issued]) -> list[Issued]:
            taken.extend(one for one in known if one.kind == "code" and one.hash == hashed(code))
            return [one for one in known if one not in taken]

        if self.find(code, now, ("code",)) is None:
            return None
        self._change(without)
        return taken[0] if taken else None

    def revoke(self, identifier: str) -> Issued | None:
        """Make a token worthless from now on; None if there is none of this id."""
        gone: list[Issued] = []

        def without(known: list[Issued]) -> list[Issued]:
            gone.extend(one for one in known if one.id == identifier)
            return [one for one in known if one.id != identifier]

        self._change(without)
        return gone[0] if gone else None

    def _read(self) -> dict[str, Issued]:
        status = self._disk.stat(NAME)
        if status is None:
            return {}
        if status != self._known[0]:
            try:
                listed = parse(fs.read_all(self._disk, NAME))
            except FileNotFoundError:  # it went since we looked
                return {}
            self._known = (status, {one.hash: one for one in listed})
        return self._known[1]

    def _change(self, edit: Callable[[list[Issued]], list[Issued]]) -> None:
        with self._held():
            before = self.all()
            after = edit(before)
            if after != before:
                fs.replace(self._disk, NAME, rendered(after))

    @contextmanager
    def _held(self) -> Iterator[None]:
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            with lease(self._disk, "tokens") as is_mine:
                if is_mine:
                    yield
                    return
            time.sleep(_PAUSE)
        raise LockTimeoutError("Another program changes the tokens.", advice="Try again.")


def hashed(token: str) -> str:
    """A token as it is kept."""
    return f"sha256:{sha256(token.encode('utf-8', 'surrogatepass')).hexdigest()}"


def parse(content: bytes) -> list[Issued]:
    """The tokens that the file lists."""
    try:
        return msgspec.convert(tomllib.loads(content.decode()), _Content).token
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise SettingsError(
            f"{NAME} in the root cannot be read: {error}.",
            advice="Correct it, or remove it and make the tokens anew with `mnemolog token new`.",
        ) from error


def rendered(tokens: list[Issued]) -> bytes:
    """The file as TOML."""
    parts = ["# Hashes of the tokens that a server accepts; `mnemolog token` writes this file.\n"]
    parts.append("version = 1\n")
    for one in tokens:
        parts.append("\n[[token]]\n")
        parts += (f"{key} = {_toml(value)}\n" for key, value in msgspec.to_builtins(one).items())
    return "".join(parts).encode()


def _toml(value: object) -> str:
    # JSON's strings, lists and switches are TOML's too, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_live(one: Issued, now: datetime) -> bool:
    return one.expires_at is None or one.expires_at > to_text(now)
