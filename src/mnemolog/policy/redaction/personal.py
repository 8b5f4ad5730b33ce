"""E-mail addresses and phone numbers."""

import re
from collections.abc import Iterator

from mnemolog.policy.redaction.randomness import has_digit, is_random
from mnemolog.policy.redaction.spans import Span

EMAIL, PHONE = "email", "phone"

# Read backwards from the @, so that nothing is read twice; both sides are bounded.
_LOCAL = re.compile(r"[A-Za-z0-9_%+'~.\u00c0-\u024f-]{1,64}")
_DOMAIN = re.compile(
    r"@(?:[A-Za-z0-9\u00c0-\u024f][A-Za-z0-9\u00c0-\u024f-]{0,62}\.){1,8}"
    r"(?:xn--[A-Za-z0-9-]{1,59}|[A-Za-z]{2,24})(?![A-Za-z0-9@(]|-[A-Za-z0-9]|:[/~])"
)
_START = re.compile(r"[A-Za-z0-9_\u00c0-\u024f]")
# What leads to the id of a message: the path of an address, or a header of its own.
_PATH = re.compile(r"://[^\s/?#]{1,100}/[^\s?#]{0,140}$")
_OF_MESSAGES = re.compile(
    r"\s*(?:[Mm]essage-?[Ii][Dd]|[Ii]n-[Rr]eply-[Tt]o|[Rr]eferences|[Rr]eport"
    r"|(?:[A-Za-z]+-)?[Dd]iscussion):"
)
_AUTHORITY = re.compile(r"://[^\s/?#]{0,200}$")
_FILES = frozenset(
    "png jpg jpeg gif svg webp ico css scss less js mjs cjs ts tsx jsx json html htm md txt py rb"
    " go rs java kt cpp sh yml yaml toml xml lock zip gz tar tgz map pdf local service"
    " socket".split()
)
# Who wrote a commit stands in its log, and whom to ask stands in lock files: both are public.
_PUBLIC_LINE = re.compile(
    r"\s*(?:(?:Author|Commit|Committer|author|committer|tagger)(?::|(?= )) .*"
    r"|[A-Za-z]+(?:-[A-Za-z]+)*-[Bb]y: .*|[A-Z][a-z]+ed by: .*|\"?deprecated\"?: .*)$"
)
_ALGORITHMS = ("@openssh.com", "@libssh.org")
_SERVICE_NAMES = frozenset("git hg svn noreply no-reply".split())

_GAP = r"[ .\-]?"
_PHONE = rf"""(?:
        (?<=\+)(?:[0-9]{_GAP}?\(?[0-9]{{1,4}}\)?|[0-9]{{2,3}}{_GAP}?\(?[0-9]{{1,4}}\)?)
            (?:[ .\-]?[0-9]{{2,5}}){{1,5}}
      | (?<=1)[ .\-]\([2-9][0-9]{{2}}\)\ ?[2-9][0-9]{{2}}[ .\-][0-9]{{4}}
      | (?<=\()[2-9][0-9]{{2}}\)\ ?[2-9][0-9]{{2}}[ .\-][0-9]{{4}}
      | (?:(?<=1)[ .\-][2-9]|(?<=[2-9]))[0-9]{{2}}([.\-])[2-9][0-9]{{2}}\1[0-9]{{4}}
      | (?:(?<=1)[ .\-][2-9]|(?<=[2-9])(?<![0-9]\ .))[0-9]{{2}}\ [2-9][0-9]{{2}}
            [ \-][0-9]{{4}}(?!\ [0-9])
    ) (?![\w/=]|[.,:\-][0-9])"""
_PHONES = re.compile(rf"[+(1-9] (?<![\w.+/=:#$-].) {_PHONE}", re.VERBOSE)
# One that stands right behind another; nobody else writes a plus after digits like that.
_NEXT_PHONE = re.compile(rf"[+(] {_PHONE}", re.VERBOSE)
# \uff1a and \uff0c are the wide colon and comma.
_ANNOUNCED = re.compile(
    r"(?:phone|telephone|tel|mobile|cell|cellphone|whatsapp|fax|sms|handy|telefon|telefono|teléfono"
    r"|móvil|portable|telefone|celular|телефон|電話|电话|手机|手機|联系方式|号码|號碼|전화|携帯)"
    r"\.?(?:[ _-]?(?:number|nummer|no\.?|num|nr\.?|#))?[\"'`*)\]]{0,3}"
    r"(?:[:=\uff1a#\uff0c,]{1,2}|[ ](?:is|at|ist|est|es)|[ ]?(?:号码|號碼)?(?:是|为|為|\uff1a))?"
    r"[\s\"'`*(]{0,4}(\+?\(?[0-9][0-9 ().\-/]{5,20}[0-9])(?![\w%]|[.,:][0-9])"
)
_DATE = re.compile(
    r"(?:19|20)[0-9]{2}[-./ ](?:0?[1-9]|1[0-2])[-./ ][0-9]{1,2}"
    r"|[0-9]{1,2}[-./][0-9]{1,2}[-./](?:19|20)[0-9]{2}"
)
_DIGITS = re.compile("[0-9]")


def find_emails(text: str, folded: str) -> Iterator[Span]:
    """E-mail addresses, except the author of a commit and names of services such as git@."""
    for domain in _DOMAIN.finditer(text):
        start = _email_start(text, domain.start())
        if start is None or domain[0].rpartition(".")[2].lower() in _FILES:
            continue
        if not domain[0].endswith(_ALGORITHMS) and not (
            _is_public(text, start)
            or _is_in_address(text, start)
            or _is_of_message(text, start, domain.start())
        ):
            yield Span(start, domain.end(), EMAIL)


def find_phones(text: str, folded: str) -> Iterator[Span]:
    """Phone numbers: international and North American ones, others where they are announced."""
    found = _PHONES.search(text)
    while found:
        if 7 <= _digits(found[0]) <= 15:
            yield Span(found.start(), found.end(), PHONE)
        found = _NEXT_PHONE.match(text, found.end()) or _PHONES.search(text, found.end())
    for found in _ANNOUNCED.finditer(folded):
        if 7 <= _digits(found[1]) <= 15 and not _DATE.match(found[1]):
            yield Span(*found.span(1), PHONE)


def _email_start(text: str, at: int) -> int | None:
    # A slice that goes backwards; at the very beginning None says "to the end".
    last = at - 65 if at > 64 else None
    local = _LOCAL.match(text[at - 1 : last : -1]) if at else None
    if local is None:
        return None
    start = at - local.end()
    while start < at and not _START.match(text, start):
        start += 1
    name = text[start:at]
    is_name = bool(name) and ".." not in name and name[-1] != "." and "//" not in name
    return start if is_name and name.lower() not in _SERVICE_NAMES else None


def _is_public(text: str, start: int) -> bool:
    near = max(0, start - 300)
    line = max(text.rfind("\n", near, start) + 1, near)
    return _PUBLIC_LINE.match(text, line, start) is not None


def _is_of_message(text: str, start: int, at: int) -> bool:
    """Whether it is the id of a message: made by a machine, where such ids stand."""
    near = max(0, start - 240)
    path = text.rfind("://", near, start)
    if path >= 0 and _PATH.match(text, path, start):
        return _is_made(text[text.rfind("/", near, start) + 1 : at])
    line = max(text.rfind("\n", near, start) + 1, near)
    return _is_made(text[start:at]) and _OF_MESSAGES.match(text, line) is not None


def _is_made(name: str) -> bool:
    """Whether a machine made it: of many digits, or by chance."""
    is_long = len(name) >= (10 if has_digit(name) else 14)
    return _digits(name) >= 8 or (is_long and is_random(name))


def _is_in_address(text: str, start: int) -> bool:
    """Whether it is the user and host of an address: another rule hides the password there."""
    near = text.rfind("://", max(0, start - 200), start)
    return near >= 0 and _AUTHORITY.match(text, near, start) is not None


def _digits(number: str) -> int:
    return len(_DIGITS.findall(number))
