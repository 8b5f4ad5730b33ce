"""The explicit forms of words that are believed in free text; docs/knowledge.md lists them.

Each is one sentence that says one thing outright. Whatever is said in another way is not learned:
a wrong note is worse than none. In a form, `a` is what is said, `b` and `d` what it is said of.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NAME = r"(?-i:[A-Z][\w'-]{1,30}(?: [A-Z][\w'-]{1,30}){0,2})"
_THING = r"[^.!?;]{2,160}"
_SHORT = r"[^.!?;]{2,60}?"
_RELATION = (
    "wife|husband|partner|girlfriend|boyfriend|fiancée?|mother|mum|mom|father|dad|sister|brother"
    "|daughter|son|aunt|uncle|cousin|niece|nephew|grandmother|grandfather|grandma|grandpa|friend"
    "|best friend|boss|manager|colleague|co-worker|coworker|neighbour|neighbor|teacher|doctor"
    "|dentist|therapist|landlord|landlady|assistant|business partner|roommate|flatmate|dog|cat"
)
_DIETS = "vegetarian|vegan|pescatarian|lactose intolerant|gluten[- ]free|coeliac|celiac"
_OPENINGS = (
    "and|but|so|also|well|oh|yes|no|ok|okay|by the way|btw|fyi|actually|note|just so you know"
)
_OPENING = rf"(?:(?:{_OPENINGS})[,:]? )*"


@dataclass(frozen=True)
class Form:
    """One form: who may say it, how, where it goes, and what it says there."""

    name: str
    pattern: re.Pattern[str]
    to: str
    """`user`, `tools`, `decisions` or `people`."""
    text: str
    kind: str = "fact"
    key: str = ""
    """Lines of the same key replace one another."""
    is_users: bool = True
    """Only the user is believed when it is said."""
    ends: bool = False
    """`b` is over from now on."""


def _words(*starts: str, then: str = "") -> re.Pattern[str]:
    return re.compile(rf"{_OPENING}(?:{'|'.join(starts)}){then}[ .!]*", re.IGNORECASE)


def _user(
    name: str, starts: Sequence[str], then: str, text: str, kind: str = "fact", key: str = ""
) -> Form:
    return Form(name, _words(*starts, then=f" {then}"), "user", text, kind, key)


def _decided(name: str, starts: Sequence[str], then: str, text: str, *, ends: bool = False) -> Form:
    pattern = _words(*starts, then=then)
    return Form(name, pattern, "decisions", text, "decision", is_users=False, ends=ends)


def _person(name: str, words: str, text: str, *, is_users: bool) -> Form:
    return Form(name, _words(words), "people", text, is_users=is_users)


A, A_NAME = f"(?P<a>{_THING})", f"(?P<a>{_NAME})"
# A place has a name; people also move to the couch.
A_PLACE = f"(?P<a>(?-i:[A-Z]){_THING})"
# What is remembered is a sentence: it begins with its subject.
A_CLAUSE = (
    "(?P<a>(?:(?:the|my|our|your|his|her|their|we|i|you|he|she|they|it|there|a|an|all|every|no)\\b"
    f"|(?-i:[A-Z])){_THING})"
)
B = f"(?P<b>{_SHORT})"

FORMS: tuple[Form, ...] = (
    _user("name", ["my name is", "i am called", "call me"], A_NAME, "**Name**: {a}", key="name"),
    _user(
        "home",
        ["i live in", "i am living in", "i(?: have)?(?: just)? moved to", "i am based in"],
        A_PLACE, "**Home**: {a}", key="home",
    ),
    _user("time zone", ["my time ?zone is"], A, "**Time zone**: {a}", key="time-zone"),
    _user(
        "employer",
        ["i(?: now)? work (?:at|for)", "i(?: have)?(?: just)? (?:joined|started at)"],
        A_NAME, "**Employer**: {a}", key="employer",
    ),
    _user("job", ["i work as(?: an?)?", "my job is"], A, "**Job**: {a}", key="job"),
    _user("birthday", ["my birthday is(?: on)?"], A, "**Birthday**: {a}", key="birthday"),
    _user(
        "favourite",
        [r"my favou?rite (?P<b>[\w -]{2,40}?) (?:is|are)(?: now)?"],
        A, "**Favourite {b}**: {a}", key="favourite.{b}", kind="preference",
    ),
    _user("diet", ["i am(?: now)?(?: an?)?"], f"(?P<a>{_DIETS})", "**Diet**: {a}", key="diet"),
    _user("allergy", ["i am allergic to"], A, "**Allergic to**: {a}"),
    _user(
        "preference", ["i(?: really| much| strongly)? prefer"], A, "Prefers {a}", kind="preference"
    ),
    _user(
        "standing wish",
        ["(?:please )?(?P<b>always|never)"],
        f"(?P<a>(?!mind|again|ever){_THING})", "{b} {a}", kind="preference",
    ),
    _user("from now on", ["from now on,?"], A, "From now on {a}", kind="preference"),
    _user("remember", ["(?:please )?(?:remember|keep in mind)(?: that|:)"], A_CLAUSE, "{a}"),
    _person(
        "relative", f"my (?P<b>{_RELATION})(?: is(?: called| named)?|'s name is) {A_NAME}",
        "The user's {b}", is_users=True,
    ),
    _person("is my", f"{A_NAME} is my (?P<b>{_RELATION})", "The user's {b}", is_users=True),
    _person(
        "role",
        f"{A_NAME}(?: now)? (?P<b>leads|owns|manages|maintains|runs|is responsible for"
        f"|is in charge of) (?P<d>{_THING})",
        "{b} {d}", is_users=False,
    ),
    _person(
        "workplace", f"{A_NAME}(?: now)? (?P<b>works (?:at|for|as|on)) (?P<d>{_THING})",
        "{b} {d}", is_users=False,
    ),
    _decided(
        "decided",
        ["(?:we(?: have)?|the team(?: has)?) (?:decided|agreed)(?: to| on| that)?"], f" {A}", "{a}",
    ),
    _decided("decision", ["decision:"], f" {A}", "{a}"),
    _decided(
        "switched",
        ["(?:we(?: have)?|the team(?: has)?) (?:switched|moved|migrated|changed)"],
        f" from {B} to {A}", "{a} instead of {b}", ends=True,
    ),
    _decided(
        "replaced", ["we(?: have)? replaced"], f" {B} (?:with|by) {A}",
        "{a} instead of {b}", ends=True,
    ),
    _decided(
        "no longer", ["we (?:no longer use|do not use|stopped using)"],
        f" {B}(?: any ?more| any longer)?", "no longer {b}", ends=True,
    ),
    Form("lesson", _words("lessons? learned:", then=f" {A}"), "tools", "{a}", "lesson", "", False),
)  # fmt: skip
