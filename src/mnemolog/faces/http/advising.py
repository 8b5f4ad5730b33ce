"""What an error advises, in the words of the HTTP API."""

import re

_SENTENCES = re.compile(r"(?<=[.;])\s+")
# A Python program chooses a handle; a request chooses by its headers, within its token.
_HANDLES = re.compile(r"\bhandle\b|Memory\.open|`for_agent`|`for_user`")
_HEADERS = "Leave out Mnemolog-Agent and Mnemolog-User, or use a token that reaches further."
_SESSIONS = "`GET /sessions` lists what there is."
_WORDS = {
    "`get_entries` lists what there is.":
        "`GET /sessions/{session_id}/entries` lists what there is.",
    "`list_sessions` lists what there is.": _SESSIONS,
    "Give the session's id or None first, then `text=`.": _SESSIONS,
}  # fmt: skip


def advised(advice: str) -> str:
    """What to do about an error, for somebody who sends requests."""
    return " ".join(map(_sent, _SENTENCES.split(advice)))


def _sent(sentence: str) -> str:
    return _HEADERS if _HANDLES.search(sentence) else _WORDS.get(sentence, sentence)
