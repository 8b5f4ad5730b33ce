"""A user's own patterns: checked once, so that none can stall a write."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mnemolog.errors import SettingsError, shown
from mnemolog.policy.redaction.kinds import kind_name
from mnemolog.policy.redaction.linear import why_not_linear
from mnemolog.policy.redaction.spans import Span

MAX_PATTERN = 1000
# A group of this name says which part of the match is hidden.
PART = "secret"


class OwnPattern(NamedTuple):
    """A checked pattern and the kind it finds."""

    kind: str
    regex: re.Pattern[str]

    def find(self, text: str) -> Iterator[Span]:
        """What the pattern matches, or its group `secret` where it has one."""
        group = PART if PART in self.regex.groupindex else 0
        for found in self.regex.finditer(text):
            if found.end(group) > found.start(group) >= 0:
                yield Span(*found.span(group), self.kind)


def own_pattern(kind: str, regex: str) -> OwnPattern:
    """Check a pattern of the user's; raises SettingsError with what to change."""
    name = kind_name(kind)
    if len(regex) > MAX_PATTERN:
        raise _refused(name, f"has {len(regex):,} characters", f"Use at most {MAX_PATTERN:,}.")
    try:
        compiled = re.compile(regex)
        reason = why_not_linear(regex)
    except (re.error, OverflowError, RecursionError) as error:
        raise _refused(name, f"does not compile: {error}", "Correct it.") from error
    if compiled.match(""):
        reason = "It also matches where nothing is: let it match one character at least."
    if reason:
        raise _refused(name, "could take too long on a hostile text", reason)
    return OwnPattern(name, compiled)


def _refused(kind: str, what: str, advice: str) -> SettingsError:
    return SettingsError(
        f"The redaction pattern of {shown(kind)} {what}.",
        advice=advice,
        key="privacy.redaction_patterns",
        kind=kind,
    )
