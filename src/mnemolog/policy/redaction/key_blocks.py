"""Private keys and JSON Web Tokens: blocks whose beginning says what they are."""

import re
from collections.abc import Iterator

from mnemolog.policy.redaction.randomness import is_random
from mnemolog.policy.redaction.spans import Span

PRIVATE_KEY, JWT = "private-key", "jwt"
# The longest block that is followed to its end; an RSA key of 16,384 bits has 12,500 characters.
LONGEST = 16384

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|-----BEGIN ")
# Without an end: lines of base64, joined by what source code and JSON put between them.
_BODY = re.compile(
    r"(?:(?:\\[nrt]|[\s\"'+,;.#*>|\\]){0,40}"
    r"(?:[A-Za-z-]{3,20}: [^\n\\]{1,80}|[A-Za-z0-9+/=]{12,80})){0,300}"
)
_DER = re.compile(
    r"M(?<![A-Za-z0-9+/]M)[A-Za-z0-9+/]{2,6}(?:IBAAK[A-Za-z0-9+/]|IBADANBgkqhkiG9w0BAQ|AgEAMBMGByqGSM49"
    r"|CAQEE)[A-Za-z0-9+/]{24,8000}={0,2}"
)
_PUTTY = re.compile(
    r"Private-Lines: [0-9]{1,3}[\r\n]{1,2}(?:[A-Za-z0-9+/=]{1,80}[\r\n]{0,2}){1,100}"
)
# The beginning of a PEM block, once more in base64.
_TWICE = re.compile(
    r"LS0tLS1CRUdJTiB(?:QUklWQVRF|SU0EgUFJJ|FQyBQUk|PUEVOU1NI|EU0EgUFJJ|FTkNSWVBU)"
    r"[A-Za-z0-9+/]{20,16000}={0,2}"
)
_AGE = re.compile("AGE-SECRET-KEY-1[0-9A-Z]{40,70}")
_JWK = re.compile(
    r"[\s,{\"'](?:d|k|p|q|dp|dq|qi)\\{0,3}[\"']?\s{0,4}:\s{0,4}\\{0,3}[\"']([\w-]{20,3000})(?![\w-])"
)
_JWT = re.compile(
    r"eyJ(?:(?<![A-Za-z0-9_-]eyJ)|(?<=\\[nrt]eyJ))(?:[\w+/=-]{8,4000}\.(?:eyJ[\w+/=-]{5,8000}|[\w-]{0,2000}\.[\w-]{8,4000})"
    r"(?:\.[\w+/=-]{1,4000}){0,3}|(?:hbGci|0eXAi|raWQi|jdHki)[\w+/=-]{6,4000})",
    re.ASCII,
)


def find_private_keys(text: str, folded: str) -> Iterator[Span]:
    """Blocks of private keys, whole or cut off, with the lines around them."""
    at = 0
    while begin := _BEGIN.search(text, at):
        at = _block_end(text, begin.end())
        yield Span(begin.start(), at, PRIVATE_KEY)
    for search in (_DER, _TWICE, _PUTTY, _AGE):
        for found in search.finditer(text):
            yield Span(found.start(), found.end(), PRIVATE_KEY)
    if "kty" in folded:
        for found in _JWK.finditer(text):
            if is_random(found[1]):
                yield Span(*found.span(1), PRIVATE_KEY)


def find_jwt(text: str, folded: str) -> Iterator[Span]:
    """JSON Web Tokens, signed, encrypted or cut off after the header."""
    for found in _JWT.finditer(text):
        yield Span(found.start(), found.end(), JWT)


def _block_end(text: str, start: int) -> int:
    end = _END.search(text, start, start + LONGEST)
    if end and not end[0].startswith("-----BEGIN"):
        return end.end()
    body = _BODY.match(text, start, end.start() if end else len(text))
    return body.end() if body else start
