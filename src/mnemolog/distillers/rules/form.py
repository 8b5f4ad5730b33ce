"""A form of words: who may say it, how, where what it says goes, and whether it is meant."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Said = Mapping[str, str]


@dataclass(frozen=True)
class Form:
    """One form: who may say it, how, where it goes, and what it says there."""

    name: str
    pattern: re.Pattern[str]
    to: str
    """`user`, `tools`, `decisions` or `people`."""
    text: str
    kind: str = "fact"
    key: str | Callable[[Said], str] = ""
    """Lines of the same key replace one another."""
    is_users: bool = True
    """Only the user is believed when it is said."""
    ends: str = ""
    """What is over from now on, on the same page."""
    fits: Callable[[Said], bool] = lambda said: True
    """Whether what is said is the sort of thing that the form is about."""
    is_bidding: bool = False
    """A condition is a part of it: `Never deploy if the build is red`."""
    is_one_persons: bool = False
    """Whoever is, or does, the same from now on takes it over."""
    is_end: bool = False
    """It says that something is over, which no tail can weaken."""


def words(pattern: str) -> re.Pattern[str]:
    """A pattern of words, in capitals or not."""
    return re.compile(pattern, re.IGNORECASE)


def user(name: str, starts: str, then: str, text: str, **more: Any) -> Form:
    """A form that goes to USER.md: one of its beginnings, and what follows."""
    return Form(name, words(f"(?:{starts}) {then}"), "user", text, **more)


def person(name: str, pattern: str, text: str, **more: Any) -> Form:
    """A form that goes to a person's node."""
    return Form(name, words(pattern), "people", text, **more)


def decided(name: str, pattern: str, text: str, **more: Any) -> Form:
    """A form that goes to the decisions; anybody may say it."""
    return Form(name, words(pattern), "decisions", text, "decision", is_users=False, **more)
