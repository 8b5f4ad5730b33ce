"""Words: what tells one wording from another when two texts are held against each other."""

import re

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
