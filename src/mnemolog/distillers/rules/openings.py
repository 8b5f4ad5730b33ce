"""How a sentence is led in before it says what it says: `By the way,`, `Big news:`."""

import re
from collections.abc import Iterator

_WORDS = (
    "and|but|so|also|well|oh|ah|aha|yes|yeah|yep|yup|aye|no|nope|ok|okay|right|sure|fine|great|good"
    "|perfect|thanks|thank you|please|hi|hello|hey|hi there|hello there|good (?:morning|afternoon"
    "|evening|day)|morning|hola|hallo|servus|by the way|btw|fyi|fwiw|actually|honestly|anyway|note"
    "|ps|p\\.s\\.|just so you know|so you know|as you know|for the record|for your (?:notes|records"
    "|information)|to be clear|heads[- ]up|one more thing|one thing|another thing|guess what|(?:big"
    "|good|great|some) news|it is official|first(?: of all| things first)?|second|third|finally"
    "|correction|small correction|since you ask|in case you (?:need|wonder|missed) it|then|now"
    "|to introduce myself|oh and|and by the way|before i forget|that reminds me|i forgot"
)
_OPENING = re.compile(rf"(?:(?:{_WORDS})(?:[,:!]| [–—-])? )+(?=\S)", re.IGNORECASE)
# A greeting may carry a name: `Hello Sam, my name is Ines`.
_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|good \w+)(?: (?-i:[^\W\d_a-z])[\w'-]+)?[,!] ", re.IGNORECASE
)
_ANNOUNCED = re.compile(
    r"\b(?:news|things?|wish|wishes|note|notes|request|rule|rules|update|reminder|favou?r|record"
    r"|records|preference|preferences|detail|details|basics|intro|fyi|heads-up|important|correction"
    r"|plea|calendar|profile|about (?:me|myself)|kitchen|household|point|change|announcement"
    r"|confession|summary|background|context|fact|facts|remark|official|settled|final|agreed"
    r"|outcome|decision|decided|lessons?|remember|careful|warning|attention|result|conclusion"
    r"|verdict|status|ps|guess what|clear|know|ask|promise|matter|version|who i am)\b",
    re.IGNORECASE,
)
_FOREIGN = re.compile(
    r"\b(?:says?|said|saying|told|tells?|wrote|writes?|reads?|sings?|goes|claims?|jokes?|joked"
    r"|asks?|asked|shouts?|quotes?|motto|slogan|lyrics?|title|headline|subject|template|example"
    r"|chapter|scene|story|novel|character|poem|letter|mail|email|ticket|message|he|she|they|him"
    r"|her|them|his|their|if(?! you\b)|would|could|might|maybe|imagine|suppose|pretend|dream|sign"
    r"|song|film|movie|game|fiction|saying|proverb|rule number|rule of|rule one|first rule"
    r"|applicant|customer|author)\b",
    re.IGNORECASE,
)
# These lead in what is a form of its own.
_OWN = re.compile(r"\b(?:decision|learn(?:ed|t)|remember|in mind|forget)$", re.IGNORECASE)
_MOST_WORDS = 10


def readings(sentence: str) -> Iterator[str]:
    """A sentence without what leads it in; then what an announcement and a colon lead in."""
    plain = _plain(sentence)
    yield plain
    lead, colon, rest = plain.partition(":")
    if colon and rest.startswith(" ") and is_announcement(lead) and not _OWN.search(lead):
        yield from readings(rest.strip())


def _plain(sentence: str) -> str:
    for pattern in (_GREETING, _OPENING):
        found = pattern.match(sentence)
        sentence = sentence[found.end() :] if found else sentence
    return sentence


def is_announcement(lead: str) -> bool:
    """Whether words before a colon announce what their speaker has to say."""
    is_short = len(lead.split()) <= _MOST_WORDS
    is_told = _ANNOUNCED.search(lead) or not _plain(f"{lead} .").strip(" .")
    return is_short and bool(is_told) and not _FOREIGN.search(lead)
