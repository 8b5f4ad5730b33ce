"""The index as plain JSON, in the two shapes that the source documents describe.

    inverted   words, topics and hours, each with the ids of its entries
    entries    each entry with its place and its weight; tags and types with the ids of theirs

Over all sessions each list of ids becomes an object, from session ids to lists: the same id may
stand in several sessions.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from mnemolog.index import tokens
from mnemolog.model.entry import Entry
from mnemolog.policy.filters import topics
from mnemolog.policy.importance import importance

VERSION = 1


class Exported(NamedTuple):
    """An entry, where its line lies, how relevant it is now, whatever is asked, and its decay."""

    entry: Entry
    file: str
    line_number: int
    byte_offset: int
    relevance: float
    decay: float


class Indexed(NamedTuple):
    """What the index knows of one session; its entries in the order of the log."""

    session_id: str
    created_at: str
    entries: Sequence[Exported]

    @property
    def updated_at(self) -> str:
        """When it was last written to."""
        return max([self.created_at, *(one.entry.written_at for one in self.entries)])


def inverted(sessions: Sequence[Indexed], session_id: str | None) -> dict[str, Any]:
    """From words, topics and hours to ids; of one session, or of all."""
    return {
        "session_id": session_id,
        "created_at": min((one.created_at for one in sessions), default=None),
        "inverted_index": _by(sessions, session_id, words),
        "topic_index": _by(sessions, session_id, topics),
        "temporal_index": _by(sessions, session_id, lambda entry: [entry.timestamp[:13]]),
        "version": VERSION,
    }


def entries(sessions: Sequence[Indexed], session_id: str | None) -> dict[str, Any]:
    """From ids to entries, and from tags and types to ids; of one session, or of all."""
    placed = {
        one.session_id: {each.entry.id: _facts(each) for each in one.entries} for one in sessions
    }
    return {
        "version": VERSION,
        "last_updated": max((one.updated_at for one in sessions), default=None),
        "entries": placed if session_id is None else placed.get(session_id, {}),
        "tags": _by(sessions, session_id, lambda entry: entry.tags),
        "types": _by(sessions, session_id, lambda entry: [entry.type]),
    }


def decays(sessions: Sequence[Indexed], session_id: str | None) -> dict[str, Any]:
    """From ids to what age has left of each entry; of one session, or of all."""
    found = {
        one.session_id: {each.entry.id: each.decay for each in one.entries} for one in sessions
    }
    return dict(found) if session_id is None else found.get(session_id, {})


SHAPES = {"inverted": inverted, "entries": entries, "decays": decays}


def words(entry: Entry) -> list[str]:
    """The words by which an entry is found, as they stand there; each once.

    Stop words are left out, and text without spaces is cut into pairs of characters.
    """
    text = " ".join((entry.text, *entry.tags, entry.category or ""))
    found: list[str] = []
    for token in tokens.tokens(text):
        terms = tokens.terms_of(token)
        found += terms if len(terms) != 1 else (token,)
    return list(dict.fromkeys(found))


def _by(
    sessions: Sequence[Indexed],
    session_id: str | None,
    keys: Callable[[Entry], Iterable[str]],
) -> dict[str, Any]:
    found: dict[str, dict[str, list[str]]] = {}
    for one in sessions:
        for each in one.entries:
            for key in keys(each.entry):
                found.setdefault(key, {}).setdefault(one.session_id, []).append(each.entry.id)
    ordered = sorted(found.items())
    return {key: ids if session_id is None else ids[session_id] for key, ids in ordered}


def _facts(one: Exported) -> dict[str, Any]:
    entry = one.entry
    return {
        "file": one.file,
        "line_number": one.line_number,
        "byte_offset": one.byte_offset,
        "type": entry.type,
        "timestamp": entry.timestamp,
        "tags": list(entry.tags),
        "importance": importance(entry),
        "current_relevance": round(one.relevance, 6),
    }
