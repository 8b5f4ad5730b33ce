"""The plain statements of a text: no code, no quotations, no questions, nothing supposed."""

import re
from collections.abc import Iterator

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
    r"|said|told|claims?|asked|thinks?|wonder(?:s|ing)?|whether|not sure|used to|joking|kidding)\b",
    re.IGNORECASE,
)
_CONTRACTIONS = (
    (re.compile(r"\bI'm\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(I|we|they)'ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\bdon't\b", re.IGNORECASE), "do not"),
    (re.compile(r"\bmy name's\b", re.IGNORECASE), "my name is"),
)
_LONGEST = 400
_MOST = 2000


def statements(text: str) -> Iterator[str]:
    """Each sentence that states something by itself."""
    for sentence in _sentences(_without_code(text)):
        plain = sentence.strip().strip("*_")
        if plain and len(plain) <= _LONGEST and not _is_doubtful(plain):
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
