"""Whether something was decided that will matter, or one named thing took another's place."""

import re

from mnemolog.distillers.rules import lexicon
from mnemolog.distillers.rules.doubts import UNCLEAR, is_lasting
from mnemolog.distillers.rules.lexicon import words_in
from mnemolog.distillers.rules.vocabulary import is_ordinary

_UNDECIDED = re.compile(
    r"(?:\W|\w+ed\b|the jury|(?:\w+ )?(?:dismissed|overturned|upheld|affirmed)|yes|no$|ok|okay|none"
    r"|no decision|nothing|pending|open|tbd|to be|postponed|later|granted|refused|rejected|accepted"
    r"|unclear|not yet|undecided|see|i|you|he|she|it|this|that|me|him|her|them|they|us|pizza|sushi"
    r"|pasta|ice cream|beer|nap|bed|lunch|dinner|coffee|tea|against it|the (?:\w+ )?one"
    rf"|(?:{lexicon.DAYS})|\d+|life|the (?:cat|dog|weather)|anything)\b|[(\[]",
    re.IGNORECASE,
)
_SAME_AGAIN = re.compile(
    r"\b(?:another|ones?|the same|worse|next|better|bad|good|new|hope|this|that|your|his|her|my"
    r"|it|him|them|each other|words?)\b",
    re.IGNORECASE,
)


def is_resolved(deed: str, how: str = "") -> bool:
    """Whether a decision is one that will matter: not a meal, a walk, or putting it off."""
    words = words_in(deed)
    if len(words) == 1 and (how == "to" or deed[0].islower()):
        return False
    is_treat = how != "to" and (
        (len(words) <= 4 and bool(set(words) & lexicon.FOOD))
        or all(is_ordinary(one) or one in lexicon.DETERMINERS for one in words)
    )
    if is_treat or (how == "that" and not lexicon.NORM.search(deed)):
        return False
    return not (
        lexicon.PASTIMES.match(deed)
        or _UNDECIDED.match(deed)
        or UNCLEAR.match(deed)
        or not is_lasting(deed)
    )


def is_change(before: str, after: str) -> bool:
    """Whether one named thing takes the place of another: no bulb, no meal, no town."""
    is_same = before == after or bool(_SAME_AGAIN.search(f"{before} {after}"))
    return not is_same and _is_part(before) and _is_part(after) and is_lasting(after)


def is_name(thing: str) -> bool:
    """Whether it begins with a capital letter: people move from town to town, too."""
    return thing[:1].isupper()


def is_dropped(thing: str) -> bool:
    """Whether what is no longer used is a thing by name, or a part of a system."""
    return not _SAME_AGAIN.search(thing) and _is_part(thing) and is_lasting(thing)


def _is_part(thing: str) -> bool:
    words = words_in(thing)
    if set(words) & lexicon.FOOD or set(words) & lexicon.COUNTRIES:
        return False
    if all(is_ordinary(one) or one in lexicon.DETERMINERS for one in words):
        return False
    has_article = words[0] in ("the", "a", "an", "our", "one", "some", "any")
    has_name = any(one[0].isupper() or one[0].isdigit() for one in thing.split()[1:])
    return not has_article or has_name or bool(set(words) & lexicon.PARTS)
