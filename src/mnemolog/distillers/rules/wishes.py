"""Whether something is wished, preferred or noted in general, and not sighed or chosen just now."""

import re

from mnemolog.distillers.rules import lexicon, vocabulary
from mnemolog.distillers.rules.doubts import UNCLEAR, is_lasting
from mnemolog.distillers.rules.lexicon import words_in

_POINTING = re.compile(
    r"(?:it|that|this|these|those|them|him|her|his|hers|you|your|yours|my|one|ones|none|neither"
    r"|either|nothing|anything|something|everything|the|not|both|option|plan|version|variant|draft"
    r"|number|choice|no\b|[a-d]\b|\d+|me|us|what|when|how|where|who|which|myself|whatever|whichever"
    r"|being|going|sleeping|death|dying|later|sooner|soon|earlier|bed|silence|\w+ number)\b"
    rf"|(?:{lexicon.DAYS})\b(?!s)|[\w-]+'s\b",
    re.IGNORECASE,
)
_BARE = r"^\w+ing$|^(?:blue|red|green|yellow|black|white|pink|grey|purple|orange)$"
_AT_HAND = re.compile(
    r"\b(?:here|there)$|\b\w+ (?-i:[A-Z])$|\b(?:page|slide|chapter|number|row|column|take|shot"
    r"|photo|picture|line) (?:one|two|three|four|five|\d)",
    re.IGNORECASE,
)
_FANCY = re.compile(
    r"to (?:think|believe|call|say|see|imagine|wait|stay|leave|skip|not|look|pass|sleep|die|forget"
    r"|pretend|ignore|laugh|be (?!called|asked|addressed|told|reminded|contacted|reached|left"
    r"|named))",
    re.IGNORECASE,
)
_STEP = re.compile(
    r"\b(?:before|first|without|after|twice|separately|instead of|away from)\b", re.I
)
_NO_LESSON = re.compile(
    r"\b(?:beer|wine|vodka|gin|tequila|rum|chilli|karaoke|seagulls?|wife|husband|mother"
    r"|mother-in-law|father|boss|kids?|toddlers?|cats?|dogs?|umbrella|sunscreen|shoes|hangover"
    r"|in-laws|sofa|couch|ex|dating|tinder|pizza|ice cream|trousers|socks|hair|haircut|dentist"
    r"|swans?|ducks?|geese|pigeons?|goats?|lend|sleep|beach|party|wedding|barbecue|neighbours?"
    r"|holiday|swim|snooze|alarm clock)\b|^(?:life|people|men|women|love|never trust|don't trust"
    r"|do not trust|\W*\d|it\b|that\b|this\b)",
    re.IGNORECASE,
)
_BIDDEN = re.compile(
    r"(?:please |do not |we(?: will| must| should)? )?(?:please |only |always |never )?",
    re.IGNORECASE,
)
_NARRATED = re.compile(
    r"(?!.*\b(?:is|are|was|has|have)\b)[\w'-]+(?: [\w'-]+)?"
    r" (?!moved|changed|cancelled|closed|retired|married|need|feed|speed)(?:\w+ed"
    r"|fell|went|came|took|ate|lost|found|got|ran|won|broke|forgot|met|saw|sang|drank|slept)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:you|it|he|she|they|life|nobody|time|rome|tomorrow|walls|customers?|no (?:one|pain)"
    r"|all (?:good|is|that)|every (?:dog|cloud|day)|a (?:journey|man)|there(?: is| are|'s) (?:no"
    r"|always|plenty|more)|all (?:men|people|things)|the (?:good old|old days|time|summer|winter of"
    r"|day (?:we|when|i)|scene|song|film|movie|guy|one|early bird|first time|sun|customer is always"
    r"|show must)|(?:i|we)(?! (?:work|live|need|use|start|finish|leave|take|close|open|meet|ship"
    r"|pay|only|never|always|deploy|cannot|can't|do not|have (?:an?|no|my|two|three|four|five"
    r"|six)\b|are (?:closed|open)|am (?:allergic|deaf|blind|vegan|vegetarian|off|away|on (?:call"
    r"|leave|duty)|in|at|left-handed|colou?r-?blind|diabetic|pregnant|not (?:available|reachable"
    r"|free|in|at)))\b))\b",
    re.IGNORECASE,
)


def is_general(thing: str, asked: str) -> bool:
    """Whether it is preferred in general; `the second one`, and a word or two in answer to a
    question, are a choice of the moment."""
    words = words_in(thing)
    is_answer = asked.rstrip().endswith("?") and len(words) <= 2 and not words[-1].endswith("s")
    if is_answer or (len(words) == 1 and re.search(_BARE, words[0])) or _AT_HAND.search(thing):
        return False
    return not _POINTING.match(thing) and not _FANCY.match(thing) and is_lasting(thing)


def is_bidding(deed: str) -> bool:
    """Whether something is asked for: it begins with a verb, and is no proverb or sigh."""
    words = words_in(deed)
    if len(words) < 2 or not is_lasting(deed) or UNCLEAR.match(deed):
        return False
    if lexicon.PROVERBS.match(deed):
        return False
    first, second = words[0], words[1]
    if first in lexicon.VERBS:
        return True
    is_other = first in lexicon.NO_VERBS or re.search(r"(?:ed|ing|ly|[^s]s)$", first)
    return not is_other and second in lexicon.DETERMINERS


def is_new_rule(rule: str) -> bool:
    """Whether somebody is bidden to do something from now on."""
    asked = re.sub(_BIDDEN, "", rule, count=1)
    is_ban = re.match(r"no (?!more\b)\w+ \w+", rule, re.IGNORECASE) and is_lasting(rule)
    is_norm = re.match(r"(?:every|all|each|any|only)\b", rule, re.I) and lexicon.NORM.search(rule)
    return is_bidding(asked) or bool(is_ban) or bool(is_norm and is_lasting(rule))


def is_worth_remembering(clause: str) -> bool:
    """Whether a clause says something that holds; people also recall old times."""
    is_told = _EMPTY.match(clause) or _NARRATED.match(clause)
    return not is_told and is_lasting(clause) and len(clause.split()) > 2


def is_lesson(text: str) -> bool:
    """Whether it is about how to work."""
    deed = _BIDDEN.sub("", text, count=1)
    is_work = set(words_in(text)) & vocabulary.WORK or _STEP.search(text)
    return is_bidding(deed) and bool(is_work) and not _NO_LESSON.search(text)
