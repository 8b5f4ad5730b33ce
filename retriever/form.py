"""What is wrong with the form of a training conversation, and at which place of it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from datetime import datetime
from typing import Any

from retriever.conversations import Conversation, Question, Turn

TYPES = {"single", "multi", "temporal", "update", "preference", "inference"}
CONVERSATION = {"id": str, "domain": str, "turns": list, "questions": list}
TURN = dict.fromkeys(("id", "session", "speaker", "time", "text"), str)
QUESTION = {"question": str, "type": str, "evidence": list}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def faults(conversation: Any) -> list[str]:
    """What is wrong with anything that should be a conversation."""
    return misshapen(conversation) or list(_wrong(conversation))


def misshapen(conversation: Any) -> list[str]:
    """Where keys are missing, or values are empty or of another kind."""
    return list(_misshapen(conversation))


def _misshapen(conversation: Any) -> Iterator[str]:
    if fault := _unlike(conversation, CONVERSATION):
        yield f"the conversation {fault}"
        return
    for key, kind, shape in (("turns", "turn", TURN), ("questions", "question", QUESTION)):
        for number, one in enumerate(conversation[key], 1):
            if fault := _unlike(one, shape) or _unnamed(one):
                yield f"the {kind} number {number} {fault}"


def _unlike(record: Any, shape: Mapping[str, type]) -> str:
    """How a record differs from a shape, in words; empty where it does not."""
    if not isinstance(record, dict):
        return f"is no object but {record!r}"
    if set(record) != set(shape):
        return f"has the keys {sorted(record)}, not {sorted(shape)}"
    for key, kind in shape.items():
        if not isinstance(record[key], kind):
            return f"has {record[key]!r} as its {key}"
        if kind is str and not record[key].strip():
            return f"has nothing as its {key}"
    return ""


def _unnamed(record: Mapping[str, Any]) -> str:
    """Which turns a question names by what is no id of a turn, in words; empty where none."""
    strange = [one for one in record.get("evidence", ()) if not isinstance(one, str)]
    return f"names turns by what is no text, {strange}" if strange else ""


def _wrong(conversation: Conversation) -> Iterator[str]:
    """What is wrong with what has the right shape."""
    turns, questions = conversation["turns"], conversation["questions"]
    for one, times in Counter(turn["id"] for turn in turns).items():
        if times > 1:
            yield f"the turn {one} is there twice"
    yield from _wrong_times(turns)
    if not questions:
        yield "nothing is asked"
    known = {turn["id"] for turn in turns}
    for number, question in enumerate(questions, 1):
        place = f"the question number {number} ({question['question']})"
        yield from (f"{place} {fault}" for fault in _wrongly_asked(question, known))


def _wrong_times(turns: list[Turn]) -> Iterator[str]:
    """Times that are none, and turns before the one that they follow in their session."""
    last: dict[str, Turn] = {}
    for turn in turns:
        if not _is_time(turn["time"]):
            yield f"the turn {turn['id']} has the time {turn['time']!r}"
            continue
        before = last.setdefault(turn["session"], turn)
        if turn["time"] < before["time"]:
            yield f"the turn {turn['id']} is earlier than {before['id']}, which it follows"
        last[turn["session"]] = turn


def _is_time(text: str) -> bool:
    try:
        return bool(_TIME.fullmatch(text) and datetime.fromisoformat(text))
    except ValueError:
        return False


def _wrongly_asked(question: Question, known: Set[str]) -> Iterator[str]:
    named = Counter(question["evidence"])
    if question["type"] not in TYPES:
        yield f"has the type {question['type']!r}"
    if not named or max(named.values()) > 1:
        yield "has no evidence, or some twice"
    if unknown := named.keys() - known:
        yield f"names turns that are not there, {sorted(unknown)}"
