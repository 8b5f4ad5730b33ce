"""Random-looking words that are no secrets: digests, commit ids, UUIDs, our own ids."""

import re
from hashlib import sha256

_ALLOWED = re.compile(
    r"""[0-9a-fA-F]{7,16} | [0-9a-fA-F]{32} | [0-9a-fA-F]{40} | [0-9a-fA-F]{56} | [0-9a-fA-F]{64}
      | [0-9a-fA-F]{96} | [0-9a-fA-F]{128}                                     # digests
      | (?:[A-Za-z][A-Za-z0-9]{0,40}[_-])?                                     # UUIDs, also named
        [0-9a-zA-Z]{8}-(?:[0-9a-zA-Z]{4}-){3}[0-9a-zA-Z]{12}
      | [A-Z][a-z]{2,15}-[0-9a-f]{40}                                         # a named commit
      | _{1,2}ZT?[A-Z]{0,3}[0-9]{1,3}[A-Za-z_]\w*                               # a symbol of C++
      | (?:[A-Z][A-Za-z]{1,30}_){1,3}[0-9a-f]{32,64}                           # a named digest
      | 0x[0-9a-fA-F]{40}                                                     # Ethereum's accounts
      | I[0-9a-f]{40}                                                          # Gerrit's changes
      | [0-9A-Za-z]{6}-(?:[0-9A-Za-z]{4}-){5}[0-9A-Za-z]{6}                    # LVM's
      | (?:mem|pref)_[0-9a-f]{20,28} | sess-\d{4}-\d{2}-\d{2}-[0-9a-z]+        # our own
      | [0-9A-HJKMNP-TV-Z]{26} | [0-9a-f]{24}                                  # ULIDs, object ids
    """,
    re.VERBOSE,
)
_MARKED = re.compile(
    r"(?:sha-?(?:1|224|256|384|512)|md5|blake[23][bs]?|integrity|digest|checksum|etag|h1|cid)"
    r"[\"']?[-:=/_ ]{1,3}[\"']?$"
    r"|[\"'][xyn][\"']:[ ]?[\"']$",  # the numbers of a public key, as a JWK names them
    re.IGNORECASE,
)
# What is public stands in blocks, too: certificates, public keys, signatures. Their lines, also on
# one line with breaks written as `\n`; what was read is never read in another way.
_BREAK = r"(?:[ \t\r]*+\n[ \t>]*+|(?:\\{1,4}r)?+\\{1,4}n)"
_BLOCK = re.compile(
    r"-----BEGIN (?:(?:NEW )?CERTIFICATE(?: REQUEST)?|X509 CRL|(?:[A-Z0-9]{2,5} )?PUBLIC KEY"
    r"|PGP (?:PUBLIC KEY BLOCK|SIGNATURE|MESSAGE)|SSH SIGNATURE)-----"
    rf"(?:{_BREAK}[A-Z][A-Za-z-]{{1,20}}:[ ][^\n\\]{{0,120}})*+(?:{_BREAK}(?={_BREAK}))?+"
    rf"(?:{_BREAK}[A-Za-z0-9+/=]{{1,80}}+)*+"
)
# What no line of a private key holds: where a certificate begins, and the names in it (2.5.4 and
# 2.5.29), in the three ways in which base64 can write them.
_OF_CERTIFICATE = re.compile(r"^MII[A-Za-z0-9+/]{3}CC|BgNV[BH]|GA1U[Ed]|YDVQQ|YDVR0")
_ADDRESS = re.compile(r"://[^\s/\"'<>`]+/[^\s\"'<>`()]*")
LONGEST_ADDRESS = 240
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def is_allowed(word: str) -> bool:
    """Whether the word has the form of a digest or of an id."""
    return _ALLOWED.fullmatch(word) is not None


def is_marked(text: str, start: int) -> bool:
    """Whether what stands before the word says that it is a digest."""
    return _MARKED.search(text, max(0, start - 16), start) is not None


def is_in_address(text: str, start: int) -> bool:
    """Whether the word stands in an address: what it names is found there, not opened by it."""
    begin = text.rfind("://", max(0, start - LONGEST_ADDRESS), start)
    return begin >= 0 and _ADDRESS.fullmatch(text, begin, start) is not None


def public_blocks(text: str) -> list[tuple[int, int]]:
    """Where certificates, public keys and signatures stand, in order."""
    if "-----BEGIN " not in text:
        return []
    return [found.span() for found in _BLOCK.finditer(text)]


def is_of_certificate(word: str) -> bool:
    """Whether a line of base64 can only be one of a certificate, or of a request for one."""
    return _OF_CERTIFICATE.search(word) is not None


def is_account(word: str) -> bool:
    """Whether the word is where coins are sent: 21 bytes in base58 that end with their sum."""
    if not 25 <= len(word) <= 36 or not all(letter in _BASE58 for letter in word):
        return False
    number = 0
    for letter in word:
        number = number * 58 + _BASE58.index(letter)
    if number >> 200:
        return False
    raw = number.to_bytes(25)
    return sha256(sha256(raw[:21]).digest()).digest()[:4] == raw[21:]
