"""Hiding secrets in a document before its first byte is written."""

import re
from collections.abc import Collection

from mnemolog.model.node import Node
from mnemolog.policy.drafting import Redact

# Stand for the names of sources meanwhile: a long random id is no secret.
_MASK = "\ue000{}\ue001"
_MASKED = re.compile("\ue000([0-9]+)\ue001")


def hidden(
    text: str, redact: Redact | None, before: Node | None, sources: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """The text with secrets hidden, and which kinds; the names of its sources stay."""
    if redact is None:
        return text, ()
    return hide_text(text, redact, {*sources, *(before.sources if before else ())})


def hide_text(text: str, redact: Redact, sources: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """The same for a text whose sources are known."""
    known = sorted(sources, key=lambda one: (-len(one), one))
    if _MASKED.search(text):
        known = []
    for number, name in enumerate(known):
        text = text.replace(name, _MASK.format(number))
    clean, kinds = redact(text)
    return _MASKED.sub(lambda found: _name(known, found), str(clean)), tuple(kinds)


def _name(known: list[str], found: re.Match[str]) -> str:
    at = int(found[1])
    return known[at] if at < len(known) else found[0]
