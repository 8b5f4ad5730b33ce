"""The pre-filter: a few cheap looks at a text that tell which rules can find anything in it."""

import string

from mnemolog.policy.redaction.spans import fold
from mnemolog.policy.redaction.tokens import RUN

# Every name of a secret contains one of these.
NAMES = tuple("pass pw secret token key auth cred senha".split())
# What these name is made by chance, and long: without a long word nobody need look for them.
NAMES_OF_CHANCE = ("salt", "nonce", "sessid", "jsessionid")
NAMES_ABROAD = tuple("contraseñ парол 密码 密碼 口令 パスワード 비밀번호 lösenord".split())

_TOKEN = (string.ascii_letters + string.digits + "_-").encode()
_TOKENS = bytes(ord("a") if byte in _TOKEN else ord(" ") for byte in range(256))
_NUMBERS = bytes(ord("0") if byte in string.digits.encode() else ord(" ") for byte in range(256))
_BETWEEN_DIGITS = b" ().-/"
_RUN = b"a" * RUN
_LONG_NUMBER, _SHORT_NUMBER = b"0" * 9, b"0" * 7


class Outline:
    """What a text has: long words, long numbers, names of secrets, telling characters."""

    __slots__ = (
        "folded",
        "has_long_number",
        "has_name",
        "has_run",
        "has_short_number",
        "is_ascii",
        "is_plain",
    )

    def __init__(self, text: str) -> None:
        self.is_ascii = text.isascii()
        self.folded = folded = text.lower() if self.is_ascii else fold(text)
        raw = text.encode("utf-8", "surrogatepass")
        self.has_run = _RUN in raw.translate(_TOKENS)
        # Without what stands between them, the digits of a number lie side by side.
        digits = raw.translate(_NUMBERS, _BETWEEN_DIGITS)
        self.has_short_number = _SHORT_NUMBER in digits
        self.has_long_number = self.has_short_number and _LONG_NUMBER in digits
        self.has_name = (
            self.has_any(NAMES)
            or (self.has_run and self.has_any(NAMES_OF_CHANCE))
            or (not self.is_ascii and self.has_any(NAMES_ABROAD))
        )
        # No rule can find anything in a plain text; most are.
        self.is_plain = not (
            self.has_name
            or self.has_run
            or self.has_short_number
            or "@" in folded
            or "=" in folded
            or "$" in folded
            or " -" in folded
            or "identified" in folded
            or ":5432:" in folded
        )

    def has_any(self, needles: tuple[str, ...]) -> bool:
        """Whether one of the needles is in the text, in any case."""
        folded = self.folded
        for needle in needles:  # noqa: SIM110 - a generator costs as much as the search
            if needle in folded:
                return True
        return False
