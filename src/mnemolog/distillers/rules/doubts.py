"""What takes the weight from a sentence: a supposition, a report, a joke, a moment, a tail."""

import re

SUPPOSED = re.compile(
    r"\b(?:suppose|supposing|imagine|pretend|hypothetically|would|wouldn't|could|might|maybe"
    r"|perhaps|possibly|probably|apparently|supposedly|allegedly|according to|rumou?r\w*|what about"
    r"|how about|wish|for example|e\.g|say that|says|said|told|claims?|asked|thinks?|wonder(?:s"
    r"|ing)?|not sure|used to|joking|kidding|jokes?|so-called|technically|basically|practically"
    r"|in theory|in a way|so to speak|kind of|sort of|as it were|unfortunately not|feels? like"
    r"|metaphorically|figuratively|emotionally|spiritually|in spirit|haha\w*|hehe|lol|lmao|rofl"
    r"|sarcas\w+)\b|[;:]-?[)P]|[😂🤣😜😉🙃🙄😅😆😝😏]|\.\.\.|…|[{}<>\[\]]|___| / |\bTBD\b|\bTODO\b",
    re.IGNORECASE,
)
CONDITION = re.compile(r"\b(?:if|unless|whether|until|till|but|except)\b", re.IGNORECASE)

_MOMENT = (
    r"today|tonight|tomorrow|yesterday|right now|for now|for once|just now|again|for the moment"
    r"|at this (?:point|rate|hour)|at the moment|(?:for|during) the (?:day|night|time being|weekend"
    r"|week|holidays?|summer|winter)|this (?:morning|afternoon|evening|time|minute|second|once"
    r"|weekend|instant)|(?<!since )(?<!from )(?<!as of )this (?:week|month|year)|last night|so far"
    r"|temporarily|for (?:a|an|one|two|three|a few|some|half) (?:while|bit|hour|day|night|week"
    r"|month|few)s?|until (?:tomorrow|tonight|then|later|noon|lunch)|one last time|in the meantime"
    r"|all day|first thing|half the (?:time|year|week)|on holiday"
)
# What cannot be understood without what was said before.
UNCLEAR = re.compile(
    r"(?!call )(?:(?:not to )?[\w-]+ )?(?:it|this|that|them|these|those|him|so)\b(?! \w+s? (?:is"
    r"|are)\b)",
    re.IGNORECASE,
)
MOMENT = re.compile(rf"\b(?:{_MOMENT})\b", re.IGNORECASE)

# How a tail begins that takes something back.
_WEAK = re.compile(
    r"[\s,;(–—-]*(?:and |or |so |yes,? |well,? )?(?:but|if(?! you (?:ever )?(?:need|want|ask|wonder"
    r"|are (?:wondering|asking)))|unless|except|although|though|even though|when|whenever|while|or"
    r"|until|till|at least|only|just|not (?:really|yet|any ?more|always|quite|that|officially)"
    r"|as if|like|in theory|in my (?:dreams?|head|mind|imagination|novel|story)|in the (?:first"
    r"|second) half|at half[- ]?time|in a way|haha?|lol|hehe|jk|apparently|supposedly|allegedly"
    r"|kind of|sort of|more or less|metaphorically|figuratively|in spirit|emotionally|spiritually"
    r"|at heart|in a sense|almost|practically|basically|technically|as they say|as the saying"
    r"|so to speak|i (?:think|guess|suppose|believe|wish|hope|mean)|i am told|they say|according to"
    r"|(?:right|no|yes|remember|eh|hm)[ ?!.]*$|is it|isn't|aren't|did we|didn't we|don't|do i|am i"
    r"|said|says|told|wrote|would|(?:on|at|in|for|during) (?:mondays|tuesdays|wednesdays|thursdays"
    r"|fridays|saturdays|sundays)|half|sometimes|mostly when|usually|some days|one day|someday|soon"
    r"|next (?:week|month|year)|from (?:next|tomorrow)|for (?:(?:an?|one|two|three|four|six|\d+"
    r"|some|a few|the|this|half a|the next|the whole) )?(?:while|bit|hour|day|night|week|weekend"
    r"|month|summer|winter|season|time being|semester|term|holiday|demo|test|party|photo|speech"
    r"|solo|song|interview|trial)s?|for (?:now|fun|free|nobody|laughs|my (?:kids|children|cat|dog"
    r"|sins)|once)|(?:on|at|in) (?:the )?(?:week(?:end|days|ends)|summer|winter|spring|autumn)"
    rf"|{_MOMENT})\b",
    re.IGNORECASE,
)  # fmt: skip
_REPORTED = re.compile(
    r"[\s,;–—-]*(?:or )?(?:so )?(?:the |my |our )?[\w']+(?: [\w']+)? (?:says?|said|claims?|claimed"
    r"|writes|wrote|jokes?|joked|thinks|insists)\b(?: so)?(?:[.,!]|$| it\b)|.*\b(?:(?:used to say"
    r"|always says?|always said|taught me)[ .!]*$|i (?:think|guess|suppose|believe|wish)|joking"
    r"|kidding|haha\w*|lol|hehe|sarcasm)[ .!]*$|.*[;:]-?[)P][ .]*$|.*[😂🤣😜😉🙃🙄😅😆😝😏]",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"^[\s,]*(?:(?:now|too|as well|these days|by the way|btw|actually|of course|please)\b[\s,]*)+",
    re.IGNORECASE,
)
# A question that follows a statement, and no question about it.
_ASIDE = re.compile(
    r"[\s,;–—-]*(?:(?:and|so|but|now|too),? )*(?:what|which|where|how|who|can|could|should|shall"
    r"|any|is there|are there|do you|would you|will you|does|is (?:the|that|this)|are (?:the|they)"
    r"|got any|when)\b",
    re.IGNORECASE,
)


def weakens(tail: str) -> bool:
    """Whether what follows a complete statement takes it back in part."""
    tail = _HARMLESS.sub("", tail, count=1)
    if tail.rstrip().endswith("?") and not _ASIDE.match(tail):
        return True
    return bool(_WEAK.match(tail) or _REPORTED.match(tail))


def is_doubtful(sentence: str) -> bool:
    """Whether a sentence is asked, supposed, reported, a joke, or a form to be filled in."""
    return sentence.rstrip().endswith("?") or bool(SUPPOSED.search(sentence))


def is_lasting(text: str) -> bool:
    """Whether nothing in a text ties it to the moment."""
    return not MOMENT.search(text)
