"""Numbers that prove themselves: cards by Luhn, accounts by mod 97, US social security numbers."""

import re
from collections.abc import Iterator

from mnemolog.policy.redaction.spans import Span

CARD, IBAN, SSN = "card", "iban", "ssn"

# Looking back comes after the first digit: a search that begins with a set of characters is fast.
_FREE, _AFTER = r"(?<![\w.,:/#+-]\d)", r"(?![\w/]|[.,:-]\d)"
_CARD = re.compile(rf"[2-6]{_FREE}[0-9]{{3}}(?:[ -]?[0-9]{{2,7}}){{2,4}}{_AFTER}")
_IN_GROUPS = re.compile(r"[0-9]{4}(?:[ -][0-9]{2,6})+\Z")
_MAKES = re.compile(
    r"4\d{12}(?:\d{3})?|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14,17}"
)
_SSN = re.compile(
    rf"[0-8]{_FREE}(?<!0(?=00))(?<!6(?=66))\d{{2}}-(?!00)\d\d-(?!0000)\d{{4}}{_AFTER}"
)
_SPACED_SSN = re.compile(
    r"(?:ssn|social security(?: number| no\.?)?)\W{1,4}(?:is |number )?"
    r"((?!000|666|9)\d{3} ?(?!00)\d\d ?(?!0000)\d{4})(?![\w-])"
)
_IBAN = re.compile(
    r"[A-Z](?<![A-Za-z0-9].)[A-Z][0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_LENGTHS = {
    country: int(length)
    for length, countries in {
        "15": "NO", "16": "BE", "18": "DK FI FO GL NL SD", "19": "MK SI",
        "20": "AT BA EE KZ LT LU MN XK", "21": "CH HR LI LV", "22": "BG BH CR DE GB GE IE ME RS VA",
        "23": "AE GI IL IQ OM SO TL", "24": "AD CZ ES MD PK RO SA SE SK TN VG",
        "25": "LY PT ST", "26": "IS TR", "27": "BI DJ FR GR IT MC MR SM",
        "28": "AL AZ BY CY DO GT HU LB NI PL SV", "29": "BR EG PS QA UA", "30": "JO KW MU YE",
        "31": "MT SC", "32": "LC", "33": "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip


def find_cards(text: str, folded: str) -> Iterator[Span]:
    """Card numbers of known makes whose check digit is right."""
    for found in _CARD.finditer(text):
        digits = found[0].replace(" ", "").replace("-", "")
        if len(found[0]) > len(digits) and not _IN_GROUPS.match(found[0]):
            continue  # two numbers, as the short ids of commits are
        if _MAKES.fullmatch(digits) and has_luhn(digits):
            yield Span(found.start(), found.end(), CARD)


def find_ibans(text: str, folded: str) -> Iterator[Span]:
    """Account numbers of the right length for their country whose check digits are right."""
    for found in _IBAN.finditer(text):
        if end := _iban_end(found[0]):
            yield Span(found.start(), found.start() + end, IBAN)


def find_ssns(text: str, folded: str) -> Iterator[Span]:
    """US social security numbers: with hyphens anywhere, otherwise where they are announced."""
    for found in _SSN.finditer(text):
        yield Span(found.start(), found.end(), SSN)
    if "ssn" in folded or "social security" in folded:
        for found in _SPACED_SSN.finditer(folded):
            yield Span(*found.span(1), SSN)


def has_luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others."""
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _iban_end(written: str) -> int | None:
    """Where the number ends in what was found: a following word may have been taken along."""
    length = _LENGTHS.get(written[:2])
    ends = [at for at, letter in enumerate(written, 1) if letter != " "]
    if length is None or len(ends) < length:
        return None
    number = written[: ends[length - 1]].replace(" ", "")
    turned = "".join(str(int(letter, 36)) for letter in number[4:] + number[:4])
    return ends[length - 1] if int(turned) % 97 == 1 else None
