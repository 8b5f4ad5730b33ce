"""What stands where something was hidden: `[REDACTED:email]`, `[REDACTED:api-key:3f9a2c]`."""

import hmac
import re
from collections.abc import Iterable

from mnemolog.policy.redaction.kinds import KINDS
from mnemolog.policy.redaction.randomness import is_unguessable
from mnemolog.policy.redaction.spans import Span

TAG_DIGITS = 6
_BEGIN = "[REDACTED"
_EXISTING = re.compile(r"\[REDACTED(?::[a-z0-9-]{1,64}(?::[0-9a-f]{6})?)?\]")
# Rules see this character in the place of every character of a placeholder.
_COVER = "\ue000"
# Behind what leads to a value: nothing is there but what is hidden already.
HIDDEN = rf"(?P<hidden> {_COVER}++ (?= [,.:)\]}}|]*+ (?: [\s\"'`<>;&\\] | \Z ) ) )?"
_ONLY_COVERED = re.compile(rf"(?:{_COVER}(?:\\[nrt]|[\s,;:|=])*)+")


def placeholder(kind: str, value: str, key: bytes) -> str:
    """The placeholder for a value; a value that cannot be guessed gets a tag that tells equals."""
    if kind in KINDS and KINDS[kind].is_tagged and is_unguessable(value):
        tag = hmac.digest(key, value.encode("utf-8", "surrogatepass"), "sha256").hex()
        return f"{_BEGIN}:{kind}:{tag[:TAG_DIGITS]}]"
    return f"{_BEGIN}:{kind}]"


def covered(text: str) -> str:
    """The text with its placeholders covered, so that no rule reads a word of them."""
    if _BEGIN not in text:
        return text
    return _EXISTING.sub(lambda found: _COVER * len(found[0]), text)


def cover(text: str, spans: Iterable[Span]) -> str:
    """The text with these places covered; they are in order and disjoint."""
    parts: list[str] = []
    at = 0
    for start, end, _ in spans:
        parts += text[at:start], _COVER * (end - start)
        at = end
    return "".join((*parts, text[at:]))


def is_hidden(value: str) -> bool:
    """Whether a covered value has nothing left to hide."""
    return value.startswith(_COVER) and _ONLY_COVERED.fullmatch(value) is not None
