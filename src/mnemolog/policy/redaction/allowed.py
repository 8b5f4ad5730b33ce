"""Random-looking words that are no secrets: digests, commit ids, UUIDs, our own ids."""

import re

_ALLOWED = re.compile(
    r"""[0-9a-fA-F]{7,16} | [0-9a-fA-F]{32} | [0-9a-fA-F]{40} | [0-9a-fA-F]{56} | [0-9a-fA-F]{64}
      | [0-9a-fA-F]{96} | [0-9a-fA-F]{128}                                     # digests
      | (?:[A-Za-z][A-Za-z0-9]{0,40}[_-])?                                     # UUIDs, also named
        [0-9a-zA-Z]{8}-(?:[0-9a-zA-Z]{4}-){3}[0-9a-zA-Z]{12}
      | [A-Z][a-z]{2,15}-[0-9a-f]{40}                                         # a named commit
      | _{1,2}ZT?[A-Z]{0,3}[0-9]{1,3}[A-Za-z_]\w*                               # a symbol of C++
      | I[0-9a-f]{40}                                                          # Gerrit's changes
      | (?:mem|pref)_[0-9a-f]{20,28} | sess-\d{4}-\d{2}-\d{2}-[0-9a-z]+        # our own
      | [0-9A-HJKMNP-TV-Z]{26} | [0-9a-f]{24}                                  # ULIDs, object ids
    """,
    re.VERBOSE,
)
_MARKED = re.compile(
    r"(?:sha-?(?:1|224|256|384|512)|md5|blake[23][bs]?|integrity|digest|checksum|etag|h1|cid)"
    r"[\"']?[-:=/_ ]{1,3}[\"']?$",
    re.IGNORECASE,
)
# A certificate's beginning and whole lines of it; what was read is never read in another way.
_CERTIFICATE = re.compile(
    r"-----BEGIN (?:NEW )?CERTIFICATE(?: REQUEST)?-----"
    r"(?:[ \t\r]*+\n[ \t]*+[A-Za-z0-9+/]{16,80}+)*+[ \t\r]*+\n[ \t]*+"
)
LONGEST_CERTIFICATE = 4096


def is_allowed(word: str) -> bool:
    """Whether the word has the form of a digest or of an id."""
    return _ALLOWED.fullmatch(word) is not None


def is_marked(text: str, start: int) -> bool:
    """Whether what stands before the word says that it is a digest."""
    return _MARKED.search(text, max(0, start - 16), start) is not None


def is_in_certificate(text: str, start: int) -> bool:
    """Whether the word begins a line of a certificate, or of a request for one."""
    begin = text.rfind("-----BEGIN ", max(0, start - LONGEST_CERTIFICATE), start)
    return begin >= 0 and _CERTIFICATE.fullmatch(text, begin, start) is not None
