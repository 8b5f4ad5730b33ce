"""What is stated outright in free text."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mnemolog.distillers.rules.doubts import CONDITION, is_doubtful, weakens
from mnemolog.distillers.rules.facts import USER, Fact, inline, slug
from mnemolog.distillers.rules.form import Form
from mnemolog.distillers.rules.forms import FORMS
from mnemolog.distillers.rules.homes import (
    ABOUT_TOOLS,
    ABOUT_USER,
    Home,
    home,
    home_of,
    tool_of,
)
from mnemolog.distillers.rules.openings import readings
from mnemolog.distillers.rules.sentences import statements
from mnemolog.model.entry import Entry
from mnemolog.model.lesson import Source

_LAST = re.compile(
    r"[\s,]+(?:now|today|too|as well|these days|at the moment|btw|by the way|please)$", re.I
)
_JOINT = re.compile(r"[\s,;(–—-]*(?:and |so |because |also )*", re.IGNORECASE)
_CORRECTION = re.compile(
    r"(?:(?:no|oh|sorry|wait|actually|i mean|i meant|i mean to say|it is|that is|it was"
    r"|it should be|make that|on|at)[,:]? )*(?P<new>[\w'.:/ -]{1,60}?),? not (?:on |at |in "
    r"|the )?(?P<old>[\w'.:/ -]{1,40}?)[ .!]*",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    r"(?:(?:no|oh|ok|okay|haha|sorry|ah|well|wait)[,.!]? )*(?:(?:i am|i'm|i was|it was"
    r"|that was)? ?(?:just |only |a |meant as a )*(?:kidding|joking|joke|sarcasm|sarcastic|a test"
    r"|nonsense)\b|jk\b|(?:scratch|strike|ignore|forget) (?:that|it|this|what i|my last)\b"
    r"|wrong (?:chat|window)\b|that(?:'s| is| was) (?:wrong|not true|not me|not mine)\b|i meant\b"
    r"|correction\b|i misspoke|typo\b|my mistake\b)",
    re.IGNORECASE,
)


def is_said_by_user(entry: Entry) -> bool:
    """Whether a person speaks, and not an agent or a tool."""
    is_talk = entry.type == "conversation" and entry.role not in ("tool", "system")
    return is_talk and entry.origin != "tool" and (entry.role == "user" or entry.origin == "user")


def takes_back(text: str) -> bool:
    """Whether somebody says that what they said last was not meant, and not what was."""
    is_corrected = any(_CORRECTION.fullmatch(one) for one in statements(text))
    return bool(_RETRACTION.match(text.strip())) and not is_corrected


def facts(
    entry: Entry, source: Source, before: Sequence[Fact] = (), asked: str = ""
) -> Iterator[Fact]:
    """The facts that a message states in one of the forms, or corrects: `before` are those of
    its speaker's last message, `asked` is what it answers."""
    if entry.type != "conversation" or entry.origin == "tool" or entry.role in ("tool", "system"):
        return
    is_users = is_said_by_user(entry)
    known = list(before)
    forms = [form for form in FORMS if is_users or not form.is_users]
    for sentence in statements(entry.text, is_users=is_users):
        stated = list(_stated(sentence, forms, entry, source, asked))
        if not stated and is_users:
            stated = list(_corrected(sentence, known, entry, source))
        known += stated
        yield from stated


def _stated(
    sentence: str, forms: Sequence[Form], entry: Entry, source: Source, asked: str
) -> Iterator[Fact]:
    """What a sentence states; what follows it after a comma may be a statement of its own."""
    for reading in readings(sentence):
        for form in forms:
            match = form.pattern.fullmatch(reading)
            if match is not None and _is_sound(form, match, {"talk": entry.text, "asked": asked}):
                yield _fact(form, match, entry, source)
                rest = _JOINT.sub("", match.groupdict().get("tail") or "", count=1)
                if rest and len(rest) < len(sentence):
                    yield from _stated(rest, forms, entry, source, asked)
                return


def _is_sound(form: Form, match: re.Match[str], around: dict[str, str]) -> bool:
    said = {name: value or "" for name, value in match.groupdict().items()} | around
    rest = said.pop("tail", "")
    stated = match[0][: len(match[0]) - len(rest)]
    if is_doubtful(stated) or (not form.is_end and weakens(rest)):
        return False
    if not form.is_bidding and _is_conditional(stated, form):
        return False
    return form.fits(said)


def _is_conditional(stated: str, form: Form) -> bool:
    found = CONDITION.search(stated)
    is_dated = form.kind == "decision" or form.name == "remember"
    return found is not None and not (is_dated and found[0].lower() == "until")


def _corrected(
    sentence: str, known: Sequence[Fact], entry: Entry, source: Source
) -> Iterator[Fact]:
    """`It's Thursday, not Tuesday`, right after the sentence with Tuesday."""
    match = _CORRECTION.fullmatch(sentence)
    if match is None or is_doubtful(sentence):
        return
    wrong = re.compile(rf"\b{re.escape(match['old'].strip())}\b", re.IGNORECASE)
    meant = [one for one in known if one.address == USER and wrong.search(one.text)]
    for one in meant[-1:]:
        text = wrong.sub(lambda _: inline(match["new"].strip()), one.text, count=1)
        day, written = entry.timestamp[:10], entry.written_at[:10]
        yield replace(one, text=text, day=day, written=written, source=source, contradicts=one.text)


def _fact(form: Form, match: re.Match[str], entry: Entry, source: Source) -> Fact:
    found = match.groupdict()
    said = {name: _tidy(value or "") for name, value in found.items() if name != "tail"}
    about = _home(form, said, entry)
    text = form.text.format_map(said)
    text = f"{text[:1].upper()}{text[1:]}"
    if form.to == "decisions":
        text = f"**{text}**"
    return Fact(
        about.address, about.title, about.description, _section(form), text,
        entry.timestamp[:10], entry.written_at[:10], source, kind=form.kind, key=_key(form, said),
        contradicts=form.ends.format_map(said), is_one_persons=form.is_one_persons,
    )  # fmt: skip


def _key(form: Form, said: dict[str, str]) -> str:
    if callable(form.key):
        return form.key(said)
    return form.key.format_map({name: slug(value) for name, value in said.items()})


def _section(form: Form) -> str:
    if form.to == "user":
        return "Preferences" if form.kind == "preference" else "Profile"
    return {"people": "Facts", "decisions": "Decisions", "tools": "Lessons"}[form.to]


def _home(form: Form, said: dict[str, str], entry: Entry) -> Home:
    if form.to == "user":
        return ABOUT_USER
    if form.to == "people":
        return home("people", said["a"])
    if form.to == "tools":
        return ABOUT_TOOLS if tool_of(entry) or not entry.tags else home_of(entry, "topics")
    return home_of(entry, "decisions")


def _tidy(text: str) -> str:
    return _LAST.sub("", inline(text).rstrip(" .,!"))
