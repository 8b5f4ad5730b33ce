"""Every argument of every verb, and values that are wrong for most of them."""

from collections.abc import Callable
from typing import Any

from mnemolog import Memory


def nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = {"in": value}
    return value


# Names and values: some of these cannot even be shown.
WRONG: dict[str, Any] = {
    "None": None,
    "a number": 5,
    "negative": -1,
    "huge": 10**30,
    "a fraction": 1.5,
    "NaN": float("nan"),
    "infinite": float("inf"),
    "a truth": True,
    "empty text": "",
    "text": "text",
    "half a character": "\ud800",
    "bytes": b"bytes",
    "an empty list": [],
    "a list of numbers": [1],
    "a list of texts": ["x"],
    "a list of nothing": [None],
    "a list of lists": [["x"]],
    "an empty object": {},
    "an object": {"x": 1},
    "an object by number": {1: 2},
    "an object of objects": {"x": object()},
    "an object of sets": {"x": {1, 2}},
    "a set": {1, 2},
    "anything": object(),
    "deep": nested(1000),
    "a deep list": [nested(1000)],
    "a range": range(3),
    "a function": nested,
    "an error": ValueError("x"),
    "complex": 2 + 3j,
}

ARGUMENTS: dict[str, list[Callable[[Memory, Any], object]]] = {
    "create_session": [
        lambda m, bad: m.create_session(bad),
        lambda m, bad: m.create_session(session_id=bad),
        lambda m, bad: m.create_session(agent_ids=bad),
        lambda m, bad: m.create_session(metadata=bad),
        lambda m, bad: m.create_session(preferences=bad),
        lambda m, bad: m.create_session(settings=bad),
        lambda m, bad: m.create_session(settings={"storage": bad}),
        lambda m, bad: m.create_session(settings={"decay.minimum": bad}),
    ],
    "load_session": [lambda m, bad: m.load_session(bad)],
    "update_session": [
        lambda m, bad: m.update_session(bad),
        lambda m, bad: m.update_session("talk", agent_ids=bad),
        lambda m, bad: m.update_session("talk", metadata=bad),
        lambda m, bad: m.update_session("talk", preferences=bad),
        lambda m, bad: m.update_session("talk", settings=bad),
    ],
    "close_session": [lambda m, bad: m.close_session(bad)],
    "delete_session": [lambda m, bad: m.delete_session(bad)],
    "list_sessions": [
        lambda m, bad: m.list_sessions(user_id=bad),
        lambda m, bad: m.list_sessions(agent_id=bad),
        lambda m, bad: m.list_sessions(state=bad),
        lambda m, bad: m.list_sessions(limit=bad),
    ],
    "add_memory": [
        lambda m, bad: m.add_memory(bad, content="x"),
        lambda m, bad: m.add_memory("talk", bad),
        *(
            lambda m, bad, field=field: m.add_memory("talk", {"content": "x", field: bad})
            for field in "id session_id timestamp type scope origin user_id agent_id run_id"
            " compartment role category content context tags references importance metadata"
            " priority made_by discovered_by decay_factor nonsense".split()
        ),
    ],
    "add_many": [
        lambda m, bad: m.add_many(bad, []),
        lambda m, bad: m.add_many("talk", bad),
        lambda m, bad: m.add_many("talk", [bad]),
    ],
    "add_conversation": [
        lambda m, bad: m.add_conversation("talk", bad),
        lambda m, bad: m.add_conversation("talk", content=bad),
        lambda m, bad: m.add_conversation("talk", {"content": {"message": bad, "role": bad}}),
        lambda m, bad: m.add_conversation("talk", {"content": {"message": "x", "metadata": bad}}),
    ],
    "add_decision": [
        lambda m, bad: m.add_decision("talk", bad),
        *(
            lambda m, bad, field=field: m.add_decision("talk", {"decision": "x", field: bad})
            for field in "decision rationale alternatives_considered alternatives impact"
            " approved_by".split()
        ),
    ],
    "add_finding": [
        lambda m, bad: m.add_finding("talk", bad),
        *(
            lambda m, bad, field=field: m.add_finding("talk", {"description": "x", field: bad})
            for field in "description severity evidence recommendation status".split()
        ),
    ],
    "update_preference": [
        lambda m, bad: m.update_preference("talk", bad),
        lambda m, bad: m.update_preference(bad, key="k", value="v"),
        *(
            lambda m, bad, field=field: m.update_preference(
                "talk", {"key": "k", "value": "v", field: bad}
            )
            for field in "key value context confidence learned_from scope user_id".split()
        ),
    ],
    "update_memory": [
        lambda m, bad: m.update_memory(bad, "m1", tags=["x"]),
        lambda m, bad: m.update_memory("talk", bad, tags=["x"]),
        lambda m, bad: m.update_memory("talk", "m1", tags=["x"], expected_seq=bad),
        *(
            lambda m, bad, field=field: m.update_memory("talk", "m1", **{field: bad})
            for field in "content tags importance metadata references context status".split()
        ),
    ],
    "get_memory": [
        lambda m, bad: m.get_memory(bad, "m1"),
        lambda m, bad: m.get_memory("talk", bad),
    ],
    "get_entries": [
        lambda m, bad: m.get_entries(bad),
        lambda m, bad: m.get_entries("talk", bad),
        lambda m, bad: m.get_entries("talk", types=bad),
        lambda m, bad: m.get_entries("talk", after=bad),
        lambda m, bad: m.get_entries("talk", last=bad),
        *(
            lambda m, bad, field=field: m.get_entries("talk", {field: bad})
            for field in "agents agent_id category role tags time_range min_importance severity"
            " status nonsense".split()
        ),
        lambda m, bad: m.get_entries("talk", time_range={"start": bad}),
    ],
    "get_decisions": [lambda m, bad: m.get_decisions("talk", bad)],
    "get_findings": [lambda m, bad: m.get_findings("talk", bad)],
    "get_preferences": [
        lambda m, bad: m.get_preferences(bad),
        lambda m, bad: m.get_preferences(user_id=bad),
    ],
    "get_statistics": [lambda m, bad: m.get_statistics(bad)],
    "for_agent": [lambda m, bad: m.for_agent(bad)],
    "for_user": [lambda m, bad: m.for_user(bad)],
}
