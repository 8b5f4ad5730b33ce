"""The shapes of names, places, dates and lists that the forms are made of, as parts of patterns."""

from mnemolog.distillers.rules.lexicon import DAYS, MONTHS
from mnemolog.distillers.rules.vocabulary import TOWNS

# Capital letters of the scripts that have them, and letters of those that have none.
_CAPITALS = "".join(chr(code) for code in range(0x41, 0x587) if chr(code).isupper())
_CAPITAL = f"[{_CAPITALS}\u0590-\u06ff\u0900-\u0dff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_NAMED = rf"{_CAPITAL}[\w'-]{{0,30}}"
_JOINED = (
    "de|da|do|dos|das|del|della|di|du|van|von|der|den|la|le|les|el|al|bin|ter|ten|y|zu|nad|pod|na"
    "|ob"
)
_NO_DATE = rf"(?!(?i:{DAYS}|{MONTHS})\b)"

CAPITAL = f"(?-i:{_CAPITAL})"
NAME = (
    rf"(?-i:(?:(?:Dr|Prof|Mr|Mrs|Ms)\.? )?{_CAPITAL}[\w'-]{{1,30}}"
    rf"(?: (?:(?:{_JOINED}) ){{0,2}}{_NO_DATE}{_NAMED}){{0,3}})"
)
PLACE = (
    rf"(?-i:(?:[Tt]he |St\. )?{_CAPITAL}[\w'-]{{1,30}}"
    rf"(?:[ -](?:(?:{_JOINED}|am|an|upon|on|sur|of|the|bei|ob|im|in|near|and) ){{0,2}}"
    rf"{_NO_DATE}{_NAMED}){{0,3}}(?:, {_NO_DATE}{_NAMED})?)"
)
FIRM = (
    rf"(?-i:(?:the )?(?:St\. )?{_CAPITAL}(?:[\w'&-]|\.(?=\w)){{0,30}}"
    rf"(?: (?:(?:{_JOINED}|of|and|for|the|&) ){{0,2}}{_NO_DATE}{_NAMED}){{0,4}})"
)
DATE = (
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th|\.)?(?: of)? (?:{MONTHS})\b\.?(?:,? \d{{4}})?"
    rf"|(?:{MONTHS})\b\.? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?"
    r"|\d{1,2}[./]\d{1,2}[./]?(?:\d{4})?|\d{4}-\d\d-\d\d"
)
ZONE = (
    r"(?-i:[A-Z]{2,5})(?: ?[+-] ?\d{1,2}(?::\d\d)?)?|[A-Za-z]+/[A-Za-z_]+|(?:cet|cest|gmt|utc|wet"
    r"|eet|est|edt|cst|pst|pdt|mst|jst|ist|bst)(?: ?[+-] ?\d{1,2}(?::\d\d)?)?|(?:(?:central|eastern"
    r"|western|pacific|mountain|atlantic|european|british|greenwich|indian|japan|moscow|mean"
    r"|standard|summer|daylight|universal|coordinated) ){1,4}time"
    rf"|(?:{'|'.join(sorted(TOWNS))})(?: time)?"
)
_ITEM = (
    r"(?!(?:i|we|it|he|she|they|you|my|that|this|there|so|not|please)\b)"
    r"[\w'&+#./-]*[\w+#](?: [\w'&+#./-]*[\w+#]){0,4}?"
)
ITEMS = rf"{_ITEM}(?:(?:, {_ITEM})*,? and {_ITEM})?"
WORDS = r"[\w'&+#./-]*[\w+#](?: [\w'&+#./-]*[\w+#]){0,6}?"
OPEN = r"(?:[^.!?;\n]|\.(?=\w)){2,200}?"

# Who begins a clause of its own.
_SUBJECT = (
    "i|we|he|she|it|they|you|my|our|your|his|her|their|the|this|that|there|these|those|please|so"
    "|what|which|who|where|can|could|now|not|no|put|let|always|never|just|don't|do|thanks|lives"
    "|works|is|has|wants|comes|plays|likes|will"
)
_CLAUSE = rf"(?:(?:{_SUBJECT})\b|{CAPITAL}[\w'-]+ (?-i:[a-z]))"
_JOINTS = (
    "because|since|so|which|where|who|while|though|although|but|if|unless|until|till|except|when"
    "|whenever|now|too|as well|these days|by the way|btw|please|obviously|of course|actually"
    "|at least|only|today|tonight|tomorrow|again|right now|for now|at the moment|at this|this|last"
    "|yesterday|permanently|together|or"
)


def tail(more: str = "") -> str:
    """What may follow something that is named: a new clause, a reason, when and with whom."""
    joints = f"{_JOINTS}|{more}" if more else _JOINTS
    return rf"(?P<tail>(?: ?[,;(]| ?[–—]| - | and (?={_CLAUSE})| (?=(?:{joints})\b)).*)?[ .!]*"


# What is said at length ends where its speaker begins another clause.
OPEN_TAIL = (
    r"(?P<tail>(?:,? (?:because|although|though|but|please|if you (?:like|want|can|would))\b|, so\b"
    rf"|, since\b|, now that\b|,? (?:btw|by the way)\b| [–—-] | \(|, (?:and )?(?:{_SUBJECT})\b"
    r"|,? (?:haha?|lol)\b).*)?[ .!]*"
)
