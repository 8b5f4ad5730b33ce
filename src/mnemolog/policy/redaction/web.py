"""Credentials in addresses and in HTTP headers."""

import re
from base64 import b64decode
from collections.abc import Iterator

from mnemolog.policy.redaction.names import Family
from mnemolog.policy.redaction.randomness import has_digit, is_random
from mnemolog.policy.redaction.spans import Span
from mnemolog.policy.redaction.stand_ins import is_stand_in, is_template
from mnemolog.policy.redaction.values import is_secret, is_uuid, is_wordy

KEY, PASSWORD, COOKIE = "api-key", "password", "cookie"

_USER_INFO = re.compile(r"://[^\s:@/?#\"'`<>\\]{0,100}:([^\s@\"'`<>\\]{1,200})@(?=[\w\[.{$%-])")
# `://host:9033/login?user=a@b.cd`: what is before the `@` began behind a host.
_PORT = re.compile(r"[0-9]{1,5}[/?#]")
_TOKEN_USER = re.compile(r"://([A-Za-z0-9_-]{16,200})(?::x-oauth-basic)?@(?=[\w\[])")
_DSN = re.compile(r":([^\s:@/\"'`]{1,100})@(?:tcp|udp|unix|cloudsql)?\(")
_SIGNED = re.compile(
    r"[?&](?:sig|x-amz-signature|x-amz-credential|signature|x-goog-signature|code)="
    r"([\w%+/.=~-]{16,500})"
)

_QUOTES = r"[\\\"'`\]\s]"
_AUTHORIZATION = re.compile(
    rf"authorization{_QUOTES}{{0,6}}(?:[:=,]|=>|value)[:=>]?{_QUOTES}{{0,8}}(?:f\"|`)?"
    r"(?:(bearer|basic|token|apikey|api-key|key|oauth|digest|negotiate|ntlm|jwt|geniekey|bot)"
    r"[ :]{1,2}|)"
    r"([^\s\"'`\\<>,;)\]}]{4,4000})"
)
_SCHEME = re.compile(r"(bearer|basic|ntlm)[ ]([a-z0-9._~+/=\-]{8,4000})")
_COOKIE = re.compile(
    r"cookie[\\\"']{0,4}[ ]?[:=,]\s{0,60}(?:-[ ]|[\\\"']{1,4}value[\\\"']{1,4}:\s?)?"
    r"[\\\"'`]{0,4}[\w.\-]{1,80}=([^\s;\"'`\\,]{6,4000}"
    r"(?:;[ ]?[\w.\-]{1,80}=[^\s;\"'`\\]{1,4000}){0,50})"
)


def find_in_urls(text: str, folded: str) -> Iterator[Span]:
    """Passwords and tokens between `://` and `@`."""
    for search in (_USER_INFO, _DSN):
        for found in search.finditer(text):
            if not (is_template(found[1]) or _is_filled_in(found[1]) or _PORT.match(found[1])):
                yield Span(*found.span(1), PASSWORD)
    for found in _TOKEN_USER.finditer(text):
        if is_random(found[1]) and not is_uuid(found[1]):
            yield Span(*found.span(1), KEY)


def find_signed(text: str, folded: str) -> Iterator[Span]:
    """Signatures in the query of an address, which open what they sign."""
    for found in _SIGNED.finditer(folded):
        if has_digit(found[1]) and is_random(text[found.start(1) : found.end(1)]):
            yield Span(*found.span(1), KEY)


def find_authorization(text: str, folded: str) -> Iterator[Span]:
    """The credentials of an Authorization header, and what follows Bearer or Basic."""
    for found in _AUTHORIZATION.finditer(folded):
        value = text[found.start(2) : found.end(2)]
        is_named = found[1] is not None or (has_digit(value) and len(value) >= 8)
        if is_named and not is_stand_in(value) and not (is_wordy(value) and len(value) < 24):
            yield Span(*found.span(2), _kind_of(found[1]))
    for found in _SCHEME.finditer(folded):
        value = text[found.start(2) : found.end(2)].rstrip(".")
        is_token = not is_wordy(value) and is_secret(value, Family.TOKEN, is_quoted=False)
        if _is_login(value) if found[1] == "basic" else is_token:
            yield Span(found.start(2), found.start(2) + len(value), _kind_of(found[1]))


def find_cookies(text: str, folded: str) -> Iterator[Span]:
    """What a Cookie or Set-Cookie header holds, from its first value on."""
    for found in _COOKIE.finditer(folded):
        value = text[found.start(1) : found.end(1)]
        if has_digit(value) and not is_stand_in(value):
            yield Span(*found.span(1), COOKIE)


def _is_filled_in(value: str) -> bool:
    """`PASSWORD`, as manuals write what somebody has to fill in; `password` may be one."""
    return value.isupper() and is_stand_in(value)


def _is_login(value: str) -> bool:
    """Whether the value is a name and a password as Basic writes them."""
    padded = value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4)
    try:
        said = b64decode(padded, validate=True).decode()
    except ValueError:
        return False
    return ":" in said and said.isprintable()


def _kind_of(scheme: str | None) -> str:
    return PASSWORD if scheme in ("basic", "ntlm", "digest") else KEY
