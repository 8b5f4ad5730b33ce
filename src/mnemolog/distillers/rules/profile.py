"""Whether what users say of themselves is meant: where they live, what they do, what they like."""

import re
from datetime import date

from mnemolog.distillers.rules import lexicon, vocabulary
from mnemolog.distillers.rules.doubts import is_lasting
from mnemolog.distillers.rules.vocabulary import is_abstract, is_ordinary

_RELATIVE = re.compile(r"\b(?:who|which|that|when|where|how|one|because|your|whatever)\b", re.I)
_LAZY = re.compile(
    r"(?:the man|the woman|the guy|sleeping|napping|waiting|complaining|eating|procrastinating|none"
    r"|nothing|silence|bed|my (?:bed|sofa)|invisible|friday|weekend|still|not|always|never|at|in|on"
    r"|also|obviously|probably|clearly|broken|gone|closed|empty|missing|dead|late|back|down|full"
    r"|out|you|me|him|her|here|there)\b",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"(?-i:[a-z])\w*(?:ing|ed)(?: .*)?|torn|dirty|wet|sold|lost|stolen|taken|hidden|open|free", re.I
)
_MOCK = re.compile(r"(?:unpaid|glorified|human|walking|professional|permanent)\b", re.IGNORECASE)
_OFFICE = re.compile(r"(?:head|director|member|secretary|dean|vice president) of \w", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")
_MONTH = re.compile(rf"\b(?:{lexicon.MONTHS})\b", re.IGNORECASE)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_LEAP_YEAR = 2000
_MOVING = re.compile(
    r"\b(?:box(?:es)?|flat|house|apartment|rent|landlord|neighbou?rs?|new (?:city|town|address"
    r"|place|home)|the move|moving|movers|removal|keys|commute|family|for (?:work|the job|a job"
    r"|love)|from [A-Z]\w+|with (?:my|the) \w+|[Nn]ews)\b"
)


def is_own_name(name: str) -> bool:
    """Whether people are called that: not `Mud`, nor `Trouble`, nor `Sherlock`."""
    return name.lower() not in lexicon.FICTION and not is_ordinary(name.lower())


def is_place(place: str) -> bool:
    """Whether people live there; they also say that they live in their mail."""
    first = re.split(r"[\s,-]", place.lower())[0]
    is_listed = first in lexicon.NO_PEOPLE | lexicon.NO_PLACES
    is_thing = is_listed or is_ordinary(first) or is_abstract(first)
    return not is_thing or first in vocabulary.TOWNS or (first in ("the", "new") and " " in place)


def is_town(place: str, talk: str) -> bool:
    """Whether a move to it is a move of house: a town one knows, or one that looks like one, or
    there is talk of moving. People also move to Linux, and to Marketing."""
    words = re.split(r"[\s,]+", place.lower())
    is_known = " ".join(words[:2]) in vocabulary.TOWNS or bool(
        {words[0], *words[0].split("-")} & (vocabulary.TOWNS | lexicon.COUNTRIES)
    )
    is_shaped = re.search(
        rf"(?:{vocabulary.TOWN_ENDS})\b|^(?:san|santa|saint|st|the|new|rio|los|las|le|la)\b",
        " ".join(words),
    )
    return is_place(place) and (is_known or bool(is_shaped) or bool(_MOVING.search(talk)))


def is_employer(name: str) -> bool:
    """Whether a name can be that of an employer."""
    first = re.sub(r"^the ", "", name, flags=re.IGNORECASE).split()[0].lower()
    is_when = re.fullmatch(rf"{lexicon.DAYS}|{lexicon.MONTHS}", first)
    if " " not in name and is_ordinary(first) and first not in ("apple", "shell", "orange"):
        return False
    return not is_when and first not in lexicon.FICTION and first not in (
        "home", "night", "free", "wrong", "right", "now", "fun", "cookies", "santa", "speed",
    )  # fmt: skip


def is_job(job: str) -> bool:
    """Whether the last word of it names an occupation."""
    last = job.split()[-1].lower()
    is_joke = last in lexicon.NO_JOBS or _MOCK.match(job)
    return not is_joke and bool(lexicon.JOB.fullmatch(last) or _OFFICE.match(job))


def is_favourite(kind: str, thing: str) -> bool:
    """Whether people keep a favourite of that kind, and the thing is named in a few words."""
    words = kind.lower().split()
    is_kept = kind.lower() in vocabulary.FAVOURITES or words[-1] in vocabulary.FAVOURITES
    is_meant = is_kept and is_lasting(f"{kind} {thing}")
    is_state = bool(_STATE.fullmatch(thing)) and words[-1] not in ("sport", "sports", "hobby")
    is_clause = thing.lower() in lexicon.DETERMINERS or bool(
        _RELATIVE.search(f"{kind} {thing}") or _LAZY.match(thing)
    )
    return is_meant and not is_state and not is_clause


def is_date(told: str) -> bool:
    """Whether there is such a day, in the year that is told or in some; 4/5 may be meant as either
    of two."""
    year, month = _YEAR.search(told), _MONTH.search(told)
    numbers = [int(one) for one in re.findall(r"\d+", _YEAR.sub("", told))]
    if month is not None:
        numbers.append(_MONTHS.index(month[0][:3].lower()) + 1)
    orders = (numbers, numbers[::-1])
    return any(_is_day(int(year[0]) if year else _LEAP_YEAR, *one) for one in orders)


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
