"""The report of an import: what was stored, was there, was left alone, and was refused."""

from collections import Counter

import msgspec

from mnemolog.layouts.contract import Refused

SHOWN = 1000
_KINDS = 100


class ImportReport(msgspec.Struct, kw_only=True):
    """What an import did, or with `dry_run` would do; counts are by type or by reason."""

    layout: str
    dry_run: bool
    sessions: Counter[str] = msgspec.field(default_factory=Counter)
    stored: Counter[str] = msgspec.field(default_factory=Counter)
    revised: Counter[str] = msgspec.field(default_factory=Counter)
    present: Counter[str] = msgspec.field(default_factory=Counter)
    deleted: Counter[str] = msgspec.field(default_factory=Counter)
    """What had been deleted there: it was stored and deleted here, and can be brought back."""
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    refused: list[Refused] = msgspec.field(default_factory=list)
    refused_total: int = 0
    reasons: Counter[str] = msgspec.field(default_factory=Counter)
    redactions: Counter[str] = msgspec.field(default_factory=Counter)
    adjusted: Counter[str] = msgspec.field(default_factory=Counter)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all was found."""
        found = (self.sessions, self.stored, self.revised, self.present, self.deleted, self.skipped)
        return not any(found) and not self.refused_total

    def refuse(self, file: str, line: int | None, reason: str, code: str) -> None:
        """Note a refusal; beyond a thousand only their number."""
        self.refused_total += 1
        if len(self.refused) < SHOWN:
            self.refused.append(Refused(file, line, reason, code))
        count_kind(self.reasons, reason)


def count_kind(counter: Counter[str], what: str, amount: int = 1) -> None:
    """Count by a text; so many different ones that nobody would read them count as one."""
    counter[what if what in counter or len(counter) < _KINDS else "other"] += amount
