"""Redaction: what must not reach the disk is found and replaced. Pure: no files, no clock."""

from mnemolog.policy.redaction.kinds import KINDS, Kind, kind_name
from mnemolog.policy.redaction.own_patterns import MAX_PATTERN, OwnPattern, own_pattern
from mnemolog.policy.redaction.redactor import Redacted, Redactor

__all__ = [
    "KINDS",
    "MAX_PATTERN",
    "Kind",
    "OwnPattern",
    "Redacted",
    "Redactor",
    "kind_name",
    "own_pattern",
]
