"""Words: what tells one wording from another when two texts are held against each other."""

import re
import unicodedata

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts that are written without spaces: Thai to Khmer, kana, Han, Hangul."""

_FIRST_MARK = "\u0300"

# Behind a name a sign is part of it: C++ and C# are not C.
_SIGN = re.compile(r"(?<=[\w+])[+#](?![\w#])")
_SIGNS = {"+": " plus", "#": " sharp"}
# A sign may make another figure of one: $5 is not €5, nor -5 the same as 5.
_WORD = re.compile(r"(?:(?<!\w)[-\u2212](?=\d))?[^\W_]+|[$€£¥₹]")


def spelled(text: str) -> str:
    """A text with the signs behind its names as words."""
    return _SIGN.sub(lambda sign: _SIGNS[sign[0]], text)


def words_in(text: str) -> list[str]:
    """The words of a text in their order; cutting them again, joined by spaces, changes nothing."""
    return _WORD.findall(spelled(text.casefold()))


def letters(text: str) -> str:
    """A text without what is written above, below or between its letters: it would end words."""
    if text.isascii():
        return text
    return "".join(one for one in text if one < _FIRST_MARK or unicodedata.category(one)[0] != "M")
