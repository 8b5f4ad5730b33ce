"""Pairs of nodes that are perhaps the same."""

from collections.abc import Set as AbstractSet

import pytest

from mnemolog.policy import similarity
from mnemolog.policy.similarity import Sketch, similar

TEXT = "the payment service keeps every order in one table and writes each change twice to be safe"


def found(*sketches):
    return [tuple(one) for one in similar(Sketch(*one) for one in sketches)]


@pytest.mark.parametrize(
    "title", ["Payment System", "the payment system", "Payment", "Zahlung"], ids=str
)
def test_titles_with_the_same_words_make_a_pair(title):
    pairs = found(("a", "payment system", "x"), ("b/c", title, "y"))
    is_same = sorted(title.casefold().split()) == ["payment", "system"]
    assert pairs == ([("a", "b/c", "title", 1.0)] if is_same else [])


def test_of_people_one_name_may_be_a_part_of_the_other():
    assert found(("people/ann", "Ann", ""), ("people/ann-smith", "Ann Smith", "")) == [
        ("people/ann", "people/ann-smith", "name", 0.5)
    ]
    assert found(("topics/ci", "CI", ""), ("topics/ci-cache", "CI cache", "")) == []


def test_a_name_that_many_people_have_tells_nobody_apart():
    others = [(f"people/ann-{one}", f"Ann {one}", "") for one in "abcdefghijk"]
    assert found(("people/ann", "Ann", ""), *others) == []
    assert len(found(("people/ann", "Ann", ""), *others[:8])) == 8


def test_texts_that_share_most_of_their_words_in_order_make_a_pair():
    longer = f"{TEXT} since last winter"
    ((one, other, why, share),) = found(("a", "one", TEXT), ("b", "two", longer))
    assert (one, other, why) == ("a", "b", "text")
    runs = len(TEXT.split()) - 2
    assert share == round(runs / (runs + 3), 3)
    half = " ".join([*TEXT.split()[:8], "which", "is", "another", "thing", "that", "we", "know"])
    assert found(("a", "one", TEXT), ("b", "two", half)) == []


def test_comments_and_marks_are_no_part_of_a_text():
    marked = f"- ~~{TEXT}~~ <!-- s/1 s/2 and many other words that nobody reads at all -->\n"
    assert found(("a", "one", TEXT), ("b", "two", marked)) == [("a", "b", "text", 1.0)]


def test_the_four_files_and_short_texts_are_never_meant():
    assert found(("USER.md", "one", TEXT), ("b", "two", TEXT)) == []
    assert found(("a", "one", "it is green"), ("b", "two", "it is green")) == []


def test_copies_of_one_form_stay_few_pairs_for_each():
    forms = [(f"t/{one:04}", f"number {one}", f"{TEXT} for {one}") for one in range(500)]
    pairs = found(*forms)
    assert 499 <= len(pairs) <= 3 * 500
    assert {one for pair in pairs for one in pair[:2]} == {one for one, _, _ in forms}


def test_a_pair_in_the_middle_of_thousands_is_found():
    def words(number):
        return " ".join(f"w{(number * 7919 + one * one * 31) % 4001}" for one in range(30))

    nodes = [(f"t/{one:05}", f"number {one}", words(one)) for one in range(2000)]
    twin = ("u/twin", "something else", f"{words(777)} and more")
    assert [pair[:3] for pair in found(*nodes, twin)] == [("t/00777", "u/twin", "text")]


def unrelated(number: int) -> Sketch:
    words = " ".join(f"w{number * 31 + place}" for place in range(40))
    return Sketch(f"topics/{number}", f"Topic {number}", words)


def of_one_form(number: int) -> Sketch:
    return Sketch(
        f"reports/{number}", f"Report {number}", f"{TEXT} in the year {number} {TEXT[::-1]}"
    )


def of_few_forms(number: int) -> Sketch:
    said = " ".join(f"form{number % 7} part{place}" for place in range(30))
    return Sketch(f"forms/{number}", f"Form {number}", f"{said} value {number} {number * 3}")


def of_one_name(number: int) -> Sketch:
    return Sketch(f"people/{number}", f"Ann Number{number} Of{number % 50}", f"{number}")


@pytest.mark.parametrize("kind", [unrelated, of_one_form, of_few_forms, of_one_name])
def test_twice_as_many_nodes_are_compared_about_twice_as_often(kind, monkeypatch):
    counts: list[int] = []
    share = similarity._share

    class Counted(frozenset):
        def __lt__(self, other: AbstractSet[object]) -> bool:
            counts[-1] += 1
            return super().__lt__(other)

    def compared(one, other):
        counts[-1] += 1
        return share(one, other)

    monkeypatch.setattr(similarity, "_share", compared)
    monkeypatch.setattr(similarity, "frozenset", Counted, raising=False)
    for size in (300, 600, 1200):
        counts.append(0)
        similar(map(kind, range(size)))
    few, more, most = counts
    assert most <= 16 * 1200  # a node meets only the last few before it
    assert more <= 2.3 * few + 300
    assert most <= 2.3 * more + 300
