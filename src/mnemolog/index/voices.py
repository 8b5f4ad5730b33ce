"""Voices: whether it was a user who spoke, whose words a question wants, and what was said to last.

Read from a few English words; in other languages no voice counts more than another.
"""

import re
from itertools import pairwise

from mnemolog.index import tokens
from mnemolog.model.entry import Entry

USER = "user"

# What the column `voice` holds.
OTHERS, USERS = 0, 1

# Words in lower case, as texts are cut: "don't" is two.
_ASKER = frozenset({"i", "me", "my", "mine", "myself"})
# Who wants one wants what was answered as much as what was asked.
_SUMMARY = frozenset({"summary", "summaries", "summarize", "summarise", "overview", "recap"})
_TOLD = (
    "advised described explained gave listed mentioned outlined proposed provided recommended said"
    " showed suggested told"
).split()
_ANSWER = (
    "advice answer answers explanation explanations proposal proposals recommendation"
    " recommendations suggestion suggestions"
).split()
_ANSWERED = frozenset(
    [("did", "you"), ("had", "you"), ("have", "you")]
    + [("you", told) for told in _TOLD]
    + [("your", answer) for answer in _ANSWER]
)

# What lasts has one of these, which most texts have not.
_HINTS = ("always", "never", "ever ", "from now on", "by default", "every time", "prefer", "rather")
_SENTENCE = re.compile(r"[^.!?;:\n]+")
_OPENERS = frozenset("also and but just ok okay please so then thanks".split())
_RULES = (
    " always ", " never ", " whenever ", " every time ", " by default ", " don t ever ",
    " do not ever ",
)  # fmt: skip
_IDLE = (" never mind ", " never say never ", " always happy ", " always welcome ")
_PHRASES = (
    " from now on ", " whenever i ask ", " every time i ask ", " i d rather ", " i would rather ",
)  # fmt: skip


def is_users(entry: Entry) -> bool:
    """Whether it was a user who spoke, the one that "I" means in a question."""
    return USER in (entry.role, entry.agent_id)


def is_lasting(entry: Entry) -> bool:
    """Whether an entry says what holds from then on: a preference, or a user's rule.

    A question that it bears on seldom names it.
    """
    if entry.type == "preference":
        return True
    if not is_users(entry):
        return False
    text = entry.text.lower()
    if not any(hint in text for hint in _HINTS):
        return False
    return any(_lasts(tokens.tokens(sentence[0])) for sentence in _SENTENCE.finditer(text))


def _lasts(words: list[str]) -> bool:
    """Whether a sentence begins as a rule, asks for one, or tells what its speaker prefers."""
    first = next((at for at, word in enumerate(words) if word not in _OPENERS), 0)
    said = f" {' '.join(words)} "
    rule = f" {' '.join(words[first:])} "
    return (
        (rule.startswith(_RULES) and not rule.startswith(_IDLE))
        or any(phrase in said for phrase in _PHRASES)
        or ("please" in words and not {"always", "never"}.isdisjoint(words))
        or ("prefer" in words and "i" in words[: words.index("prefer")][-3:])
    )


def wanted(text: str) -> int | None:
    """Whose words a question wants: users' if it speaks of whoever asks, the others' if it speaks
    of what they answered; None if it does not say."""
    words = tokens.tokens(text)
    if not _SUMMARY.isdisjoint(words):
        return None
    plain = (word for word in words if not word.endswith("ly"))  # "you strongly advised"
    if not _ANSWERED.isdisjoint(pairwise(plain)):
        return OTHERS
    return None if _ASKER.isdisjoint(words) else USERS
