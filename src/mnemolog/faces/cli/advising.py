"""What an error advises, in the words of the command line."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnemolog.errors import MnemologError

_SENTENCES = re.compile(r"(?<=[.;])\s+")
# A Python program chooses a handle; whoever types chooses by these options.
_HANDLES = re.compile(r"\bhandle\b|Memory\.open|`for_agent`|`for_user`")
_OPTIONS = "Leave out --agent and --user."
_WORDS = {
    "Give ids, types, time_range, tags, topic or agents;":
        "Give --id, --types, --tag, --topic, --by, --since or --until.",
    "or use clear_session.": "",
    "`get_entries` lists what there is.": "`mnemolog log` lists what there is.",
    "`list_sessions` lists what there is.": "`mnemolog sessions` lists what there is.",
    "Give the session's id or None first, then `text=`.":
        "Words to look for come before the SESSION; `mnemolog sessions` lists what there is.",
    "Load it, or leave the id out to have a new one made.": "Choose another name.",
    "Give ISO 8601 such as 2026-11-15T09:00:00.000Z, a datetime, or epoch milliseconds.":
        "Give a date such as 2026-11-15, or a time such as 2026-11-15T09:00:00Z.",
}  # fmt: skip
_FIELDS = {"time_range.start": "--since", "time_range.end": "--until", "as_of": "--as-of"}


def message_of(error: "MnemologError") -> str:
    """What was refused, by the option that it was given with."""
    field = str(error.details.get("field"))
    option = _FIELDS.get(field)
    return error.message.replace(f"The {field} ", f"{option} ", 1) if option else error.message


def advice_of(error: "MnemologError") -> str:
    """What to do about an error, for somebody who types commands."""
    return " ".join(filter(None, map(_typed, _SENTENCES.split(error.advice))))


def _typed(sentence: str) -> str:
    if _HANDLES.search(sentence):
        return _OPTIONS
    return _WORDS.get(sentence, sentence)
