"""What is stated outright in free text."""

import re
from collections.abc import Iterator

from mnemolog.distillers.rules.facts import TOOLS, USER, Fact, inline, slug
from mnemolog.distillers.rules.forms import FORMS, Form
from mnemolog.distillers.rules.homes import Home, home, home_of, tool_of
from mnemolog.distillers.rules.sentences import statements
from mnemolog.model.entry import Entry
from mnemolog.model.lesson import Source

_USER = Home(USER, "User", "Who the user is and what they prefer")
_TOOLS = Home(TOOLS, "Tools", "What was learned about tools")
# A name that begins a sentence may be no name.
_NO_NAMES = frozenset(
    "the this that these those it he she they we you i there here what who which one everyone"
    " someone nobody everybody and but so then now today tomorrow monday tuesday wednesday thursday"
    " friday saturday sunday".split()
)
# Said often, and never meant as knowledge.
_IDIOMS = re.compile(
    r"(?:call it a (?:day|night)|sleep on it|wait and see|leave it|let it go|go home|go out|move on"
    r"|take a break|have a break|grab|order|skip lunch|the one (?:that|which|with)|when|if"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|monday mornings?|work|you|this|that)\b",
    re.IGNORECASE,
)
# What a clause that follows adds is no longer the thing itself.
_CLAUSE = re.compile(
    r",? (?:because|although|though|since|while|which|who|where|unless|until|except)\b.*"
    r"|, (?:not|so|but|and|or|as|if|when|just|only|haha?|lol)\b.*| (?:haha?|lol)\b.*"
    r"| and (?:it|i|we|that|this|he|she|they)\b.*",
    re.IGNORECASE,
)
_LAST = re.compile(
    r"[\s,]+(?:now|today|too|as well|these days|at the moment|btw|by the way)$", re.I
)


def facts(entry: Entry, source: Source) -> Iterator[Fact]:
    """The facts that a message states in one of the forms."""
    if entry.type != "conversation" or entry.origin == "tool" or entry.role in ("tool", "system"):
        return
    is_user = entry.role == "user" or entry.origin == "user"
    forms = [form for form in FORMS if is_user or not form.is_users]
    for sentence in statements(entry.text):
        matches = ((form, form.pattern.fullmatch(sentence)) for form in forms)
        for form, match in matches:
            if match is not None and _is_sound(form, match):
                yield _fact(form, match, entry, source)
                break


def _is_sound(form: Form, match: re.Match[str]) -> bool:
    said = match.groupdict().get("a") or ""
    if form.to == "people":
        return said.split()[0].lower() not in _NO_NAMES
    return not _IDIOMS.match(said)


def _fact(form: Form, match: re.Match[str], entry: Entry, source: Source) -> Fact:
    said = {name: _tidy(value or "", form) for name, value in match.groupdict().items()}
    about = _home(form, said, entry)
    text = form.text.format_map(said)
    text = f"{text[:1].upper()}{text[1:]}"
    if form.to == "decisions":
        text = f"**{text}**"
    return Fact(
        about.address, about.title, about.description, _section(form), text,
        entry.timestamp[:10], source, kind=form.kind,
        key=form.key.format_map({name: slug(value) for name, value in said.items()}),
        contradicts=said["b"] if form.ends else "",
    )  # fmt: skip


def _section(form: Form) -> str:
    if form.to == "user":
        return "Preferences" if form.kind == "preference" else "Profile"
    return {"people": "Facts", "decisions": "Decisions", "tools": "Lessons"}[form.to]


def _home(form: Form, said: dict[str, str], entry: Entry) -> Home:
    if form.to == "user":
        return _USER
    if form.to == "people":
        return home("people", said["a"])
    if form.to == "tools":
        return _TOOLS if tool_of(entry) or not entry.tags else home_of(entry, "topics")
    return home_of(entry, "decisions")


def _tidy(text: str, form: Form) -> str:
    """The thing itself: what names something stops where another clause begins."""
    whole = inline(text)
    is_name = form.key != "" or form.to == "people" or form.name == "allergy"
    return _LAST.sub("", (_CLAUSE.sub("", whole) if is_name else whole).rstrip(" .,!"))
