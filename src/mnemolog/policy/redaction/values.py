"""Reads the value that follows a name, and judges whether it is a secret."""

import re
from typing import NamedTuple

from mnemolog.policy.redaction.names import Family
from mnemolog.policy.redaction.randomness import changes, has_digit, has_letter, is_hex, is_random
from mnemolog.policy.redaction.stand_ins import is_stand_in

# No value is followed further than this, so that every name costs the same.
LONGEST = 4096
# Longer ones are judged by their beginning: no person and no template writes them.
LONGEST_JUDGED = 120

# Around the quotes: what turns a text into bytes, a secret, an optional.
_WRAPPERS = (
    r"(?:new[ ])?(?:[A-Za-z0-9]{1,12}\.)?(?:String|Buffer\.from|[Bb]ytes|[Bb]ytearray|Some|Ok|Just"
    r"|(?:url|standard_|b64)?[Dd]ecode(?:String|Base64)?|b64decode|Guid|quote|strip|_|t|atob|utf8"
    r"|ByteString|HexToBytes|fromhex|unhexlify|\[\]byte|str|raw"
    r"|[A-Z]\w{0,24}?(?:Secret|Credential|String|Password|Secure|Plain|Token)\w{0,24})\("
)
_OPEN = (
    rf"(?:{_WRAPPERS}){{0,2}}[@$:rbfuRBFUL]{{0,2}}(\\{{0,3}}(?:\"\"\"|``|'''|[\"'`\u201c\u2018«]))"
)
_CLOSERS = {"\u201c": "\u201d", "\u2018": "\u2019", "«": "»"}
_WORD = r"[^\s\"'`<>;&\\\u201c\u201d\uff0c\u3002\uff1b]{1,1024}"
_BARE = re.compile(_WORD)
# What follows in a list of settings: `password=hunter2,vers=3`.
_NEXT_SETTING = re.compile(r",[a-z][\w.-]{0,40}=")
_BEGIN = re.compile(f"{_OPEN}|{_WORD}")

_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+\(?.*|[\w.$:>-]+[(\[].*|[({\[].*|\*\w+|&\w+"
    r"|-?[A-Za-z_]\w*->.*|[+|?]+|0x[0-9a-fA-F]{1,12}|(?:const|let|var|new|await|lambda|function|async|if|not|self|this)"
)
_WORDY = re.compile(r"[^\W\d_]+(?:[-_.:/,+][^\W\d_]+)*[.:,!?]*")
_PUBLIC_KEY = re.compile(r"(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp[0-9]{3}) AAAA")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_ISSUE = re.compile(r"\(?#[0-9]{1,7}")
# A digest that says so, or one with a name behind it, as containers and layers are called.
_DIGEST = re.compile(r"sha(?:1|256|512):[0-9a-f]{40,128}|[0-9a-f]{64}(?:-[a-z]+)+")
# `cluster-1`: what stands before the number says what it is.
_NUMBER_BEHIND = re.compile(r"-[0-9]{1,2}$")
_SPACE = re.compile(r"\s")
_NO_LETTER = re.compile(r"[0-9!@#$%^&*+~?=]")
_RARE_IN_LABELS = re.compile(r"[0-9#@%$^&*<>=~]")
# A label for a person begins with a capital, or ends like a sentence.
_PHRASE = re.compile(r"[a-z]{1,16}(?:[ ][a-z]{1,16}){1,5}")
_LABEL = re.compile(
    r"pass|\bnot\b|\benter\b|must|char|least|invalid|require|type|your|forgot|reset|%[sd]|{|<"
)
LONGEST_PHRASE = 40
_SHORTEST = {Family.PASSWORD: 3, Family.SECRET: 6, Family.TOKEN: 8, Family.KEY: 12}
# Numbers in quotes that are secrets; a short one under `token` may count tokens.
_FEWEST_DIGITS = {Family.SECRET: 6, Family.TOKEN: 9}


class Value(NamedTuple):
    """Where a value stands, what it is, and how it is written."""

    start: int
    end: int
    text: str
    is_quoted: bool


def read(text: str, at: int) -> Value | None:
    """The value that begins here: what is between quotes, or one word."""
    bare = _BEGIN.match(text, at)
    if bare and (opener := bare[1]):
        at = bare.end()
        end = _closing(text, at, _CLOSERS.get(opener, opener))
        if end is not None:
            return Value(at, end, text[at:end], True)
        bare = _BARE.match(text, at)
    if bare is None:
        return None
    word = bare[0]
    if "," in word and text[at - 1 : at] == "=" and (following := _NEXT_SETTING.search(word)):
        word = word[: following.start()]
    word = word.rstrip(",.:)]}|")
    return Value(at, at + len(word), word, False)


def _closing(text: str, start: int, opener: str) -> int | None:
    """The closing quote on the same line; a quote with a backslash closes only its like."""
    limit = start + LONGEST
    if len(opener) < 3:
        newline = text.find("\n", start, limit)
        limit = newline if newline >= 0 else limit
    end = text.find(opener, start, limit)
    while opener in "\"'`" and end > start and text[end - 1] == "\\":
        end = text.find(opener, end + 1, limit)
    return end if end >= 0 else None


def is_secret(value: str, of: Family, *, is_quoted: bool) -> bool:
    """Whether a value, given under a name of this family, has to be hidden."""
    if len(value) < _SHORTEST[of]:
        return False
    if len(value) > LONGEST_JUDGED:
        return is_random(value[:LONGEST_JUDGED]) and not _PUBLIC_KEY.match(value)
    # What it looks like is the cheaper question, and answers most.
    if not _looks_secret(value, of, is_quoted) or is_stand_in(value, is_quoted=is_quoted):
        return False
    # What has no quotes has no space either.
    return _PUBLIC_KEY.match(value) is None if is_quoted else not is_code(value)


def _looks_secret(value: str, of: Family, is_quoted: bool) -> bool:
    if of is Family.PASSWORD and not is_quoted:
        return _is_password(value) and " " not in value
    if is_quoted and _SPACE.search(value):
        return of is Family.PASSWORD and _is_phrase(value)
    if of is Family.PASSWORD:
        return True
    if value.isdigit():
        return is_quoted and len(value) >= _FEWEST_DIGITS.get(of, len(value) + 1)
    if of is Family.KEY:
        if is_uuid(value) or (len(value) > 40 and _DIGEST.fullmatch(value)):
            return False  # `key` alone says of an id that it leads to something
        is_long = len(value) >= (16 if is_hex(value) else 12)
        return is_long and has_digit(value) and is_random(value) and value[0] != "/"
    return _is_machine_made(value, of, is_quoted)


def is_code(value: str) -> bool:
    """Whether a value is a call or a part of one: `rules()`, `self.password`."""
    return _CODE.fullmatch(value) is not None


def is_uuid(value: str) -> bool:
    """Whether a value is a UUID."""
    return len(value) == 36 and _UUID.fullmatch(value) is not None


def is_issue(value: str) -> bool:
    """Whether a value numbers an issue: `#12`, `(#12`."""
    return _ISSUE.fullmatch(value) is not None


def is_wordy(value: str) -> bool:
    """Whether a value consists of words: letters of one case, joined by separators."""
    return _WORDY.fullmatch(value) is not None and changes(value) < 0.35


def _is_password(value: str) -> bool:
    if value.isdigit():
        return len(value) >= 4
    return _NO_LETTER.search(value) is not None and not is_wordy(value)


def _is_phrase(value: str) -> bool:
    """`Mr. N00dles`, `open sesame`, but not `Password must have 8 characters`."""
    is_odd = _RARE_IN_LABELS.search(value) is not None or _PHRASE.fullmatch(value) is not None
    return is_odd and len(value) <= LONGEST_PHRASE and _LABEL.search(value.lower()) is None


def _is_machine_made(value: str, of: Family, is_quoted: bool) -> bool:
    if is_quoted and of is Family.SECRET and len(value) >= 6:
        return True
    name = _NUMBER_BEHIND.sub("", value) if "0" <= value[-1] <= "9" else value
    if len(value) < 8 or is_wordy(name):
        return len(value) >= 20 and value.isalpha() and value.islower()
    return (has_digit(value) and has_letter(value)) or is_random(value)
