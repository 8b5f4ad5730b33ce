"""Finds values by the names before them: `password = "…"`, `"apiKey": "…"`, `<token>…</token>`."""

import re
from collections.abc import Iterable, Iterator

from mnemolog.policy.redaction.manners import Written, is_meant
from mnemolog.policy.redaction.names import Family, family, is_act, is_folder
from mnemolog.policy.redaction.outline import NAMES, NAMES_ABROAD, NAMES_OF_CHANCE
from mnemolog.policy.redaction.placeholders import HIDDEN, is_hidden
from mnemolog.policy.redaction.spans import Span
from mnemolog.policy.redaction.values import LONGEST_JUDGED, Value, is_secret, is_wordy, read

# A name and what joins it to its value. Every part is bounded; \uff1a is the wide colon.
_HEAD = re.compile(
    rf"""(?: (?:{"|".join((*NAMES, *NAMES_OF_CHANCE))}) [\w.\-$]{{0,40}}+
           | (?:{"|".join(NAMES_ABROAD)}) [a-z\u0430-\u044f]{{0,2}} )
    (?P<close> [\\"'`\])}}*?!]{{0,8}} )
    (?: [ \t]{{0,16}} (?P<typed> :[ ]?&?[a-z][\w.\[\]|<>]{{0,24}}[ ]?=(?=[ ]?[^\s=>\#])
                              | [ ](?:string|str|text)[ ]?:?=(?!=) )
      | (?P<below> : [ ]? \r? \n [ \t]{{0,12}} (?= \S{{6,128}} [ \t]{{0,8}} (?: \r? \n | \Z ) ) )
      | (?P<spaced> [ \t]{{0,30}})
        (?P<sign> => | := | ={{1,3}} | !={{1,2}} | \|\| | \?\? | [?+]= | -> | <- | %3d | \uff1a
                | : (?!:) )
      | [ ] (?P<property> \{{ [ ]get;[^}}\n]{{0,40}}\}}[ ]= )
      | (?P<call> \( )
      | (?P<named> (?: ,\s{{0,60}} | \s{{1,60}} ) \\{{0,3}}["']? value \\{{0,3}}["']? \s? [:=] )
      | (?P<pair> ,[ ]? )
      | (?P<cell> [ ]{{0,16}} \| [ ]{{1,16}} `? )
      | (?P<tag> > )
      | (?P<said> [ ](?:is|was|are|es|ist|est|to)\b[ ]?:? | 是 | 为 | 為 | は | [ ](?=\S) )
    )
    (?P<gap> [ \t]{{0,30}} \*{{0,2}} [ ]? ) {HIDDEN}""",
    re.VERBOSE,
)
# A list: `["…", "…"]`, and as Go writes it; `[]byte("…")` is none.
_LIST = re.compile(r"\[\]string(?=\{)|(?=\[(?!\]))")
_ITEM = re.compile(r"\s{0,40}[\[{,]\s{0,40}(?=[\"'`])")
# As ODBC writes a value, `;PWD={…};`, but not what a program puts in.
_BRACED = re.compile(r"\{((?:[^{}\n]|\}\}){3,128})\}(?=[;\"'\s]|\Z)")
_IDENTIFIER = re.compile(r"[^\W\d][^\W\d.]*(?:[.(\[][^\d{}]*)?")
_BEFORE = re.compile(r"[\w.\-$]{0,48}")
# `the API key`, of two words.
_SECRET_KEY = re.compile(r"\b(?:api|secret|access|license|encryption|signing)[ ]$")
_OPEN_KEY = re.compile(r"\b(?:public|cache|foreign|primary|sort|partition)[ ]$")
_NO_NAME = frozenset(" \n\t\"'`,;:=&?<>(){}[]")


def find_assigned(text: str, folded: str) -> Iterator[Span]:
    """Passwords, keys, secrets and tokens that stand under a name that says so."""
    at = 0
    while head := _HEAD.search(folded, at):
        at = head.end()
        if head["hidden"]:
            continue
        start = head.start()
        if start and text[start - 1] not in _NO_NAME:
            start -= _name_before(text, start)
        name = text[start : head.start("close")]
        of = family(name)
        if of is Family.KEY:
            of = _of_two_words(folded, start)
        if of is None:
            continue
        for value in _values(text, head):
            if is_hidden(value.text):
                at = max(at, value.end)
            elif value.text and is_meant(Written(text, start, head, of, value, name)):
                yield Span(value.start, value.end, _kind(of))
                at = max(at, value.end)  # what is hidden is not read again
            elif not value.is_quoted:
                # All names inside a long word have an end of it as their value: no need to try all.
                at = max(at, value.end - LONGEST_JUDGED)


def _of_two_words(folded: str, start: int) -> Family | None:
    """What `key` is with the word before it: `the API key`, `a public key`."""
    near = max(0, start - 11)
    if _SECRET_KEY.search(folded, near, start):
        return Family.SECRET
    return None if _OPEN_KEY.search(folded, near, start) else Family.KEY


def secret_under(name: str, value: str) -> str | None:
    """The kind of a value that stands under this key of an object, or None."""
    is_named = is_folder(name, value) or (is_act(name) and is_wordy(value))
    of = None if is_named else family(name)
    return _kind(of) if of and is_secret(value, of, is_quoted=True) else None


def _kind(of: Family) -> str:
    return "password" if of is Family.PASSWORD else "api-key"


def _values(text: str, head: re.Match[str]) -> Iterable[Value]:
    """The value after a name, or the quoted ones of a list."""
    at = head.end()
    if text[at : at + 1] == "[" and head["sign"] and (opened := _LIST.match(text, at)):
        return _items(text, opened.end())
    if text[at : at + 1] == "{" and text[head.start() - 1 : head.start()] == ";":
        braced = _BRACED.match(text, at)
        if braced and not _IDENTIFIER.fullmatch(braced[1]):
            return (Value(*braced.span(1), braced[1], True),)
    value = read(text, at)
    return (value,) if value else ()


def _items(text: str, at: int) -> Iterator[Value]:
    while (item := _ITEM.match(text, at)) and (value := read(text, item.end())):
        if not value.is_quoted:
            return
        yield value
        at = value.end + 1


def _name_before(text: str, at: int) -> int:
    """How many characters of the name stand before the word that was found."""
    # A slice that goes backwards; at the very beginning None says "to the end".
    found = _BEFORE.match(text[at - 1 : at - 49 if at > 48 else None : -1])
    return found.end() if found else 0
