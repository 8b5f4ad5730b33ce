"""What may be stored, and how deep it may lie."""

import json

import pytest

from mnemolog.model.plain import MAX_DEPTH, is_too_deep


def nested(depth: int) -> bytes:
    return b'{"a":[' * (depth // 2) + b"1" + b"]}" * (depth // 2)


def test_only_what_opens_far_more_than_may_be_stored_is_too_deep():
    assert not is_too_deep(nested(MAX_DEPTH))
    assert not is_too_deep(nested(2 * MAX_DEPTH))
    assert is_too_deep(nested(2 * MAX_DEPTH + 2))
    assert is_too_deep(b"[" * 1_000_000)


def test_what_lies_side_by_side_is_not_deep():
    assert not is_too_deep(json.dumps([[{}]] * 10_000).encode())


@pytest.mark.parametrize("text", ["{" * 1000, '\\"{' * 1000, "\\\\" + "[" * 1000, '"' * 500 + "{"])
def test_brackets_in_a_text_mean_nothing(text):
    assert not is_too_deep(json.dumps({"content": text, "more": text}).encode())
