"""Proposing: what an agent must not write by itself waits for a person's yes."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from urllib.parse import unquote

import msgspec

from mnemolog.errors import (
    InputError,
    InvalidFormatError,
    NodeNotFoundError,
    NotAllowedError,
    SessionError,
)
from mnemolog.memory.proving import Proving
from mnemolog.memory.searching import Searching
from mnemolog.model.entry import FORMAT
from mnemolog.model.lesson import OWN, Edit, Source, Waiting
from mnemolog.model.node import Node, NodeReceipt, NodeVersion
from mnemolog.policy import front_matter, learning
from mnemolog.ports import LogKey

Change = Callable[[Node | None], str | None]


class Proposing(Proving, Searching):
    """How a write of an agent becomes a proposal."""

    def _proposed(
        self, user: str, address: str, change: Change, version: NodeVersion, doubt: str
    ) -> NodeReceipt | None:
        """What became of a write that needs a person's yes; None if it needs none."""
        is_asked = self._viewer.agent is not None and learning.is_guarded(address)
        if not doubt and not is_asked:
            return None
        node = self._there_now(user, address)
        edit = self._edit(address, node, change(node), version)
        why = self._reason(doubt) or learning.why_waits(edit)
        if not why:
            return None
        edit, hidden = self._without_secrets(edit)
        made_of = f"{version.by}\n{address}\n{edit.expected}\n{edit.body}"
        waiting = Waiting(
            v=FORMAT, id=sha256(made_of.encode()).hexdigest()[:24], user_id=user, edit=edit,
            distiller=version.by, created_at=version.at, why=why,
        )  # fmt: skip
        self._shelf.wait(waiting)
        return NodeReceipt(address, "waiting", 0, edit.expected, hidden, why)

    def _refuse_secret_in(self, user: str, address: object) -> None:
        """Addresses are kept word for word, so that of a new node must not hold a secret."""
        redact = self._redact(self.settings)
        if redact is None or not isinstance(address, str):
            return  # whoever is given it says what an address is
        found = redact(address.split("/"))[1]
        if found and self._there_now(user, address) is None:
            raise InvalidFormatError(
                f"This address holds what looks like a secret ({', '.join(sorted(found))}).",
                advice="Nothing was stored. Name the node by what it is about.",
                field="address",
            )

    def _without_secrets(self, edit: Edit) -> tuple[Edit, tuple[str, ...]]:
        """The edit with secrets hidden, and the kinds of them."""
        redact = self._redact(self.settings)
        if redact is None:
            return edit, ()
        body, kinds = redact(edit.body)
        return msgspec.structs.replace(edit, body=str(body)), tuple(kinds)

    def _there_now(self, user: str, address: str) -> Node | None:
        try:
            return self._shelf.read(user, address)
        except NodeNotFoundError:
            return None

    def _edit(
        self, address: str, node: Node | None, text: str | None, version: NodeVersion
    ) -> Edit:
        """A write as an edit, with what it says that it rests on, beside its text and in it."""
        if text is None and learning.why_waits(Edit(address=address, body="")):
            raise NotAllowedError(f"An agent cannot remove {address}.")
        body = front_matter.split(text or "").body
        known = set(_named_in(node.body)) if node else set()
        named = [*version.sources, *(one for one in _named_in(body) if one not in known)]
        return Edit(
            address=address,
            body=body,
            expected=node.hash if node else "",
            reason=version.reason,
            sources=tuple(map(self._source, dict.fromkeys(named))),
        )

    def _source(self, name: str) -> Source:
        """The entry that a name means, as far as this handle may see it."""
        whose, _, entry = name.rpartition("/")
        source = _source_of(unquote(whose.removeprefix(OWN)), unquote(entry), whose)
        with suppress(SessionError, InputError):
            if source.log == "session":
                self._manifest(source.session_id)
            log = LogKey(source.log, source.session_id)
            for one in self._store.read(log, self._viewer, ids=(source.entry_id,)).entries:
                return msgspec.structs.replace(source, seq=one.seq, origin=one.origin)
        return source


def _source_of(log: str, entry: str, written: str) -> Source:
    if not written.startswith(OWN):
        return Source(log, entry, 0)
    return Source(log, entry, 0, log="user" if log else "shared")


def _named_in(text: str) -> Iterator[str]:
    """The sources that the comments of a text name."""
    for piece in text.split("<!--")[1:]:
        marks = piece.partition("-->")[0].replace(",", " ").split()
        yield from (one for one in marks if "/" in one)
