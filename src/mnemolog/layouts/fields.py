"""What all layouts do with fields: ids by hash, what has no place, what comes back on export."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from mnemolog.errors import MnemologError
from mnemolog.model import plain
from mnemolog.model.entry import Entry
from mnemolog.model.shapes import ALIASES, DERIVED, ENVELOPE, SHAPES, snake

ORIGIN = "import"
CARRIED = "mnemolog"
MORE = "more"
OTHER_TAGS = "other_tags"
MOST_USES = 1000
"""So many uses of an entry come in; more of them change nothing, and each is a line."""

# Fields of an entry that a foreign format may have no place for.
BESIDE = (
    "type scope origin user_id agent_id run_id compartment role category content context tags"
    " references importance"
).split()
_USUAL = ("scope", "session")
_NOT_SHOWN = {"v", "session_id", "seq", "sum", "at", "created"}


def derived_id(layout: str, *parts: object) -> str:
    """An id for something that has none: the same parts always give the same id."""
    identity = "\0".join((layout, *map(str, parts)))
    return f"imp_{sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def given_id(value: object, layout: str, *parts: object) -> str:
    """The id that was given, else one by hash."""
    return value if isinstance(value, str) and value else derived_id(layout, *parts)


def settled(record: Mapping[str, Any]) -> dict[str, Any]:
    """A foreign record as an entry takes it; what has no place goes into the metadata."""
    kind = record.get("type")
    own = SHAPES.get(kind, ()) if isinstance(kind, str) else ()
    known = {*ENVELOPE, *ALIASES, *own, "priority"}
    kept = {name: value for name, value in record.items() if snake(name) in known}
    more = {name: value for name, value in record.items() if snake(name) not in known | DERIVED}
    kept.pop("session_id", None)
    if kept.get("scope") == "session":
        del kept["scope"]  # left out, as everywhere
    beside: dict[str, Any] = {MORE: more} if more else {}
    if "tags" in kept:
        kept["tags"], odd = split_tags(kept["tags"])
        beside |= {OTHER_TAGS: odd} if odd else {}
    metadata = kept.get("metadata")
    if beside and isinstance(metadata, Mapping | None):
        kept["metadata"] = {**(metadata or {}), **beside}
    kept.setdefault("origin", ORIGIN)
    return kept


def uses(record: Mapping[str, Any]) -> tuple[int, object]:
    """How often a foreign record says that it was used, and when last."""
    count = record.get("access_count", record.get("accessCount"))
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        count = 0
    return min(count, MOST_USES), record.get("last_accessed", record.get("lastAccessed"))


def split_tags(tags: object) -> tuple[object, list[Any]]:
    """The valid tags of a list, and the others; anything else is left to be refused."""
    if not isinstance(tags, list):
        return tags, []
    good = [tag for tag in tags if _is_tag(tag)]
    return good, [tag for tag in tags if tag not in good]


def _is_tag(tag: object) -> bool:
    try:
        plain.tags([tag])
    except MnemologError:
        return False
    return True


def restored_metadata(entry: Entry) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    """The metadata without what `settled` put there; that: further fields, further tags."""
    metadata = dict(entry.metadata)
    more = metadata.pop(MORE, {}) if isinstance(metadata.get(MORE), dict) else {}
    odd = metadata.pop(OTHER_TAGS, []) if isinstance(metadata.get(OTHER_TAGS), list) else []
    return metadata, more, odd


def carried(entry: Entry, shown: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an entry that differ from what a foreign record already shows of them."""
    usual = {"type": "conversation", "scope": "session", "origin": ORIGIN, "context": {},
             "tags": (), "references": ()}  # fmt: skip
    found: dict[str, Any] = {}
    for name in BESIDE:
        value = getattr(entry, name)
        if value != shown.get(name, usual.get(name)):
            found[name] = list(value) if isinstance(value, tuple) else value
    return found


def uncarried(record: dict[str, Any], fields: object) -> dict[str, Any]:
    """A record with the fields that `carried` kept; anything but such fields is ignored."""
    if isinstance(fields, Mapping):
        record |= {name: value for name, value in fields.items() if name in BESIDE}
    return {name: value for name, value in record.items() if value is not None}


def whole(entry: Entry) -> dict[str, Any]:
    """All fields of an entry that are not its defaults, but for those of its place in a log."""
    found: dict[str, Any] = {}
    for name in Entry.__struct_fields__:
        value = getattr(entry, name)
        if name not in _NOT_SHOWN and value not in (None, (), {}) and (name, value) != _USUAL:
            found[name] = list(value) if isinstance(value, tuple) else value
    return found
