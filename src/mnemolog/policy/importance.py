"""Importance: given at the write, or derived from what the entry is."""

from collections.abc import Mapping

from mnemolog.model.entry import Entry

_BASE = {"decision": 1.0, "finding": 0.8, "preference": 0.7}
_ELSE = 0.5


def importance(entry: Entry) -> float:
    """An entry's weight from 0 to 1.

    With a base of 1.0 and a cap of 1.0 the boosts never change a decision; they are kept because
    the formula is documented so, and they do change findings.
    """
    if entry.importance is not None:
        return entry.importance
    score = _BASE.get(entry.type, _ELSE)
    content = entry.content
    if not isinstance(content, Mapping):
        return score
    if content.get("severity") == "critical" or content.get("impact") == "high":
        score *= 1.3
    if content.get("approved_by"):
        score *= 1.2
    return min(score, 1.0)
