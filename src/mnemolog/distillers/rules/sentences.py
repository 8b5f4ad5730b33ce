"""The plain statements of a text: no code, no quotations, no questions, nothing supposed."""

import re
from collections.abc import Iterator
from itertools import zip_longest

_FENCE = re.compile(r"^\s*(```|~~~)")
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)|\n+")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
# A short word with a dot does not end a sentence.
_SHORT = re.compile(
    r"\b(?:mr|mrs|ms|dr|prof|st|no|vs|etc|e\.g|i\.e|approx|inc|ltd)\.$", re.IGNORECASE
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|suppose|supposing|imagine|pretend|hypothetically|would|wouldn['’]t|could|might"
    r"|maybe|perhaps|possibly|probably|what about|how about|wish|for example|e\.g|say that|says"
    r"|said|told|claims?|asked|thinks?|wonder(?:s|ing)?|whether|not sure|used to|joking|kidding"
    r"|haha\w*|lol|lmao|rofl)\b|[;:]-?[)P]|😂|🤣|😜|😉",
    re.IGNORECASE,
)
_CONTRACTIONS = (
    (re.compile(r"\bI'm\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(I|we|they)'ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\bdon't\b", re.IGNORECASE), "do not"),
    (re.compile(r"\bmy name's\b", re.IGNORECASE), "my name is"),
)
_TAKEN_BACK = re.compile(
    r"(?:oh,? |ah,? |hm+,? |no,? )?(?:wait|scratch that|correction|i mean\b|sorry, i meant"
    r"|strike that|just kidding|jk\b|kidding|not really|no, that|actually,? no|never ?mind)",
    re.IGNORECASE,
)
_LONGEST = 400
_MOST = 2000


def statements(text: str) -> Iterator[str]:
    """Each sentence that states something by itself."""
    all_of_them = [one.strip().strip("*_") for one in _sentences(_without_code(text))]
    for plain, following in zip_longest(all_of_them, all_of_them[1:], fillvalue=""):
        is_whole = plain and len(plain) <= _LONGEST and not _TAKEN_BACK.match(following)
        if is_whole and not _is_doubtful(plain):
            yield _spelled_out(plain)


def _spelled_out(sentence: str) -> str:
    """Without the contractions that would double every form."""
    sentence = sentence.replace("’", "'")
    for contraction, words in _CONTRACTIONS:
        sentence = contraction.sub(words, sentence)
    return sentence


def _without_code(text: str) -> str:
    kept, is_code = [], False
    for line in text.splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and not line.lstrip().startswith(">"):
            kept.append(_ITEM.sub("", line))
    return "\n".join(kept)


def _sentences(text: str) -> Iterator[str]:
    held = ""
    for number, part in enumerate(_END.split(text)):
        if number >= _MOST:
            return
        held = f"{held} {part}" if held else part
        if not _SHORT.search(held):
            yield held
            held = ""
    if held:
        yield held


def _is_doubtful(sentence: str) -> bool:
    return sentence.endswith("?") or '"' in sentence or bool(_SUPPOSED.search(sentence))
