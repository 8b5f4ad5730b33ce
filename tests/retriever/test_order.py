"""A training run says what it cannot make before it makes anything."""

import pytest

from retriever.order import read_order


@pytest.mark.parametrize("words", ["small", "static small"])
def test_small_without_full_is_refused_with_the_reason(words, capsys):
    with pytest.raises(SystemExit) as ended:
        read_order(words.split())
    assert ended.value.code == 2
    assert "`small` learns from `full`" in capsys.readouterr().err


def test_sizes_are_made_in_the_order_in_which_they_need_each_other():
    assert read_order("static small full full".split()).sizes == ["full", "small", "static"]
    assert read_order(["static"]).sizes == ["static"]
