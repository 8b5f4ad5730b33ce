"""What a scan of every byte found, as the API tells it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from mnemolog.model.forgetting import Verification


def proof(found: Sequence[Verification], unreachable: Iterable[str]) -> dict[str, Any]:
    """Several scans as one proof: how much was looked through, and what is left where."""
    hits: Counter[str] = Counter()
    for one in found:
        hits.update(one.places)
    return {
        "clean": all(one.clean for one in found),
        "files": max((one.files for one in found), default=0),
        "bytes": max((one.bytes for one in found), default=0),
        "places": [{"place": name, "hits": count} for name, count in hits.items()],
        # A trace names the text that was looked for: where it stands is enough.
        "traces": [trace.partition(":")[0] for one in found for trace in one.traces],
        "elsewhere": sum(one.elsewhere for one in found),
        "unreachable": sorted(set(unreachable)),
    }
