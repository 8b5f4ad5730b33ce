"""The table of rules: which kinds each finds, when it can find anything, and how it looks."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mnemolog.policy.redaction import (
    assignments,
    commands,
    key_blocks,
    numbers,
    personal,
    tokens,
    web,
)
from mnemolog.policy.redaction.outline import NAMES, NAMES_ABROAD, NAMES_OF_CHANCE, Outline
from mnemolog.policy.redaction.placeholders import cover
from mnemolog.policy.redaction.spans import Find, Span, settle


class Rule(NamedTuple):
    """One rule; `is_near` is the cheap question that spares most texts the search."""

    kinds: frozenset[str]
    is_near: Callable[[Outline], bool]
    find: Find


_PHONE_WORDS = tuple("phone tel mobile cell whatsapp fax sms handy".split())
_PHONE_WORDS_ABROAD = tuple(
    "móvil telé телефон 電話 电话 手机 手機 联系 号码 號碼 전화 携帯".split()
)
_KEY_WORDS = ("private", "kty", "age-secret", "ib", "caqee", "ageam", "ls0tls1")


def _is_near_private_key(seen: Outline) -> bool:
    return seen.has_run and seen.has_any(_KEY_WORDS)


def _is_near_jwt(seen: Outline) -> bool:
    return seen.has_run and "eyj" in seen.folded


def _is_near_token(seen: Outline) -> bool:
    return seen.has_run


def _is_near_name(seen: Outline) -> bool:
    return seen.has_name


def _is_near_address(seen: Outline) -> bool:
    return "@" in seen.folded


def _is_near_signature(seen: Outline) -> bool:
    return seen.has_run and "://" in seen.folded


def _is_near_header(seen: Outline) -> bool:
    # Short credentials are no long word, but base64 mostly ends in an equals sign.
    is_clear = seen.has_name or seen.has_run or "=" in seen.folded
    return is_clear and seen.has_any(("auth", "bearer", "basic", "ntlm"))


def _is_near_cookie(seen: Outline) -> bool:
    return "=" in seen.folded and "cookie" in seen.folded


def _is_near_command(seen: Outline) -> bool:
    if seen.has_name or " -" in seen.folded or seen.has_any(("identified", ":5432:")):
        return True
    return seen.has_run and "unseal" in seen.folded


def _is_near_hash(seen: Outline) -> bool:
    return "$" in seen.folded or (seen.has_run and "{ssha" in seen.folded)


def _is_near_number(seen: Outline) -> bool:
    return seen.has_long_number


def _is_near_phone(seen: Outline) -> bool:
    if not seen.has_short_number:
        return False
    is_abroad = not seen.is_ascii and seen.has_any(_PHONE_WORDS_ABROAD)
    return seen.has_long_number or is_abroad or seen.has_any(_PHONE_WORDS)


_WORD_ENDS = ("", " ", "\n", "\t")
# A name, or what joins one to its value.
_LEADS = re.compile(
    "|".join((*NAMES, *NAMES_OF_CHANCE, *NAMES_ABROAD, "value", "str", "text"))
    + r"|\b(?:is|was|are|es|ist|est|to)\b"
)


def find_named(text: str, folded: str) -> Iterator[Span]:
    """What flags and names give; what a flag gives is not judged once more by its name."""
    given = settle(commands.find_flags(text, folded)) if "-" in folded else []
    yield from given
    # What leads on may have a value of its own behind it; all else that ends as a word does cannot.
    given = [
        one
        for one in given
        if text[one.end : one.end + 1] in _WORD_ENDS
        and not _LEADS.search(folded, one.start, one.end)
    ]
    if given:
        text, folded = cover(text, given), cover(folded, given)
    yield from assignments.find_assigned(text, folded)


def _rule(kinds: str, is_near: Callable[[Outline], bool], find: Find) -> Rule:
    return Rule(frozenset(kinds.split()), is_near, find)


RULES: tuple[Rule, ...] = (
    _rule("private-key", _is_near_private_key, key_blocks.find_private_keys),
    _rule("jwt", _is_near_jwt, key_blocks.find_jwt),
    _rule("api-key", _is_near_token, tokens.find_tokens),
    _rule("api-key password", _is_near_name, find_named),
    _rule("api-key password", _is_near_address, web.find_in_urls),
    _rule("api-key", _is_near_signature, web.find_signed),
    _rule("api-key password", _is_near_header, web.find_authorization),
    _rule("cookie", _is_near_cookie, web.find_cookies),
    _rule("password", _is_near_command, commands.find_in_commands),
    _rule("password", _is_near_hash, commands.find_hashes),
    _rule("iban", _is_near_number, numbers.find_ibans),
    _rule("card", _is_near_number, numbers.find_cards),
    _rule("ssn", _is_near_number, numbers.find_ssns),
    _rule("email", _is_near_address, personal.find_emails),
    _rule("phone", _is_near_phone, personal.find_phones),
)
