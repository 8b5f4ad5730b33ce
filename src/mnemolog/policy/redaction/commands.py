"""Credentials on a command line, in SQL, in .netrc, and hashes of passwords."""

import re
from collections.abc import Iterator
from functools import cache

from mnemolog.policy.redaction.names import Family, family
from mnemolog.policy.redaction.placeholders import HIDDEN, is_hidden
from mnemolog.policy.redaction.spans import Span
from mnemolog.policy.redaction.stand_ins import is_stand_in, is_template
from mnemolog.policy.redaction.values import (
    LONGEST_JUDGED,
    Value,
    is_issue,
    is_secret,
    is_wordy,
    read,
)

KEY, PASSWORD = "api-key", "password"

_FLAG = re.compile(
    r"-(?<![\w-]-)-?"
    r"((?:[a-z][\w.-]{0,40}?)?(?:pass|pwd|secret|token|key|auth|cred)[\w-]{0,20})"
    rf"(?:=|[ ]{{1,4}}|\",[ ]\") {HIDDEN}",
    re.VERBOSE,
)
# After a flag these go on with a sentence about it.
_SAID_OF_FLAGS = frozenset(
    "behavior behaviour mention handling usage documentation option options flag flags"
    " setting settings argument arguments parameter parameters switch and or in to is was as are"
    " when if for"
    " has have had were from with not on can cannot should must will support".split()
)
# These flags are switches: they take no value, unless one is joined to them.
_SWITCH = re.compile(r"(?:ask|prompt|no|enable|disable|without|show|skip)-")
# A sentence goes on: one of the next two words joins others, as no argument of a command does.
_SENTENCE = re.compile(
    r"(?: [a-z]{1,16})?"
    r" (?:a|an|the|on|to|of|in|for|from|into|is|as|at|by|with|and|or|when|if|not|instead"
    r"|option|flag|argument|parameter)(?= |$)"
)
# The second of two strings is the password.
_PAIR = r"s?\([\"'][^\"'\n]{1,80}[\"'],[ ]?(?=[\"'])"
# Up to here a flag belongs to its program.
_FAR = r"[^\n|;]{0,120}?"
_USER = rf"{_FAR}[ ](?:-u|--user|-a|--auth|--proxy-user)[ =]?[\"']?[\w.@%+-]{{1,64}}:"
_LOGIN = rf"[ ]login[ ]{_FAR}[ ](?:-p|-t)[ ]"
# -p is a port or a path almost everywhere; only with these programs it is a password.
_BY_PROGRAM = {
    "curl": _USER,
    "wget": _USER,
    "http": _USER,
    "mysql": rf"(?:dump|admin|import)?[ ]{_FAR}(?<=[ ])-p",
    "mariadb": rf"(?:-dump|-admin)?[ ]{_FAR}(?<=[ ])-p",
    "innobackupex": rf"[ ]{_FAR}(?<=[ ])-p",
    "sshpass": r"[ ]-p[ ]?",
    "docker": _LOGIN,
    "podman": _LOGIN,
    "helm registry": _LOGIN,
    "oc": _LOGIN,
    "az login": rf"[ ]{_FAR}(?<=[ ])(?:-p|--password)[ ]",
    "twine upload": rf"[ ]{_FAR}(?<=[ ])-p[ ]",
    "openssl": rf"[ ]enc[ ]{_FAR}(?<=[ ])-k[ ]",
    "redis-cli": rf"[ ]{_FAR}-a[ ]",
    "ldap": rf"(?:search|modify|add|whoami|delete)[ ]{_FAR}-w[ ]",
    "zip": r"[ ][^\n|;]{0,60}?(?<=[ ])-p[ ]?",
    "7z": r"a?[ ][^\n|;]{0,60}?(?<=[ ])-p",
    "mongo": rf"(?:sh|dump|restore|import|export)?[ ]{_FAR}(?<=[ ])-p[ ]",
    "psexec": rf"[ ]{_FAR}(?<=[ ])-p[ ]",
    "htpasswd": r"[ ]-[a-z]{0,4}b[a-z]{0,3}[ ]\S{1,80}[ ]\S{1,40}[ ]",
    "pass": r"(?:in|out)[ ]pass:",
    "echo ": r"(?=\S{4,64}[ ]?\|[ ]?(?:sudo[ ]-s|docker[ ]login|passwd))",
    "convertto-securestring": r"[ ](?:-string[ ]|-asplaintext[ ]|-force[ ]){0,3}",
    ":5432:": r"[^\s:/]{1,63}:[^\s:/]{1,63}:(?=[^\s:]{3,128}(?:\s|\Z))",
    "identified": r"(?:[ ]with[ ][\w']{1,40}[ ](?:by|as)|[ ]by)(?:[ ]password)?[ ]{1,4}(?=['\"])",
    "login ": r"\S{1,80}\s{1,8}password[ ]",
    "unseal": r"(?:[ ]key[ ][0-9]{1,2}:)?[ ](?=[\w+/=]{24})",
    "credential": _PAIR,
    "basicauth": _PAIR,
    "passwordtoken": _PAIR,
    "passwordauthentication": _PAIR,
    "password": r"(?:[ ]for[ ][^=\n]{1,60}=)?[ ]?=?[ ]?(?:password\()?(?=['\"])",
}
# The password's flag where the same letter in the other case is something else: a port, a pipe.
_FLAG_AS_WRITTEN = {"zip": "-P", "mysql": "-p", "mariadb": "-p"}
_SAYS_SQL = re.compile(
    r"\b(?:with|encrypted|set|alter|create|login|superuser|createdb|(?:role|user) \S{1,64}) "
    r"(?:login )?$"
)
# In a sentence things are identified by something; in SQL a user is, mostly in capitals.
_SAYS_USER = re.compile(r"\b(?:create|alter|grant|to|user|role)\b")
_IN_A_SENTENCE = tuple(" is, are, was, were, be, been,ly".split(","))
_CRYPT = re.compile(
    r"\$(?:2[abxy]?\$\d\d|[15689]|krb5[a-z]{2,6}|apr1|y|gy|argon2(?:id|i|d)|pbkdf2[\w-]{0,16}|scrypt|sha1)"
    r"\$[\w./+=,$*@:-]{20,300}|\{SSHA(?:256|512)?\}[\w+/=]{20,200}"
)


def find_flags(text: str, folded: str) -> Iterator[Span]:
    """`--password x`, `--token=x`."""
    at = 0
    while found := _FLAG.search(folded, at):
        at = found.end()
        if found["hidden"]:
            continue
        of = family(found[1])
        value = read(text, at) if of else None
        if of is None or value is None or value.text.startswith("-") or is_hidden(value.text):
            continue
        if not value.is_quoted:
            # As with names: all flags inside a long word have an end of it as their value.
            at = max(at, value.end - LONGEST_JUDGED)
        if not value.is_quoted and _is_spoken_of(folded, found, value):
            continue
        is_clear = of is Family.PASSWORD or (of is Family.SECRET and "-" in found[1])
        if is_secret(value.text, of, is_quoted=value.is_quoted or is_clear):
            yield Span(value.start, value.end, PASSWORD if of is Family.PASSWORD else KEY)


def _is_spoken_of(folded: str, flag: re.Match[str], value: Value) -> bool:
    """Whether a sentence goes on after the flag, and gives it no value."""
    if flag[1].endswith("auth") and is_wordy(value.text):
        return True  # a method, if it is a value at all
    if flag[1].startswith(("load-cred", "import-cred")):
        return True  # where it is taken from
    if not flag[0].endswith(" "):
        return False
    if value.text.lower() in _SAID_OF_FLAGS or is_issue(value.text) or value.text[:1] == "(":
        return True
    goes_on = is_wordy(value.text) and _SENTENCE.match(folded, value.end) is not None
    return goes_on or _SWITCH.match(flag[1]) is not None


def find_in_commands(text: str, folded: str) -> Iterator[Span]:
    """`curl -u a:b`, `-p x` where it can only be a password, and the words of SQL and .netrc."""
    for program in _BY_PROGRAM:
        if program in folded:
            for found in _search(program).finditer(folded):
                if not _says_sql(program, text, folded, found.start()):
                    continue
                if not _is_its_flag(program, text[found.start() : found.end()]):
                    continue
                value = read(text, found.end())
                if value and _is_given(folded, program, found.start(), value):
                    yield Span(value.start, value.end, PASSWORD)


@cache
def _search(program: str) -> re.Pattern[str]:
    return re.compile(re.escape(program) + _BY_PROGRAM[program])


def _is_of_user(before: str) -> bool:
    if not before or before[-1] == "\n":
        return True
    return not before.endswith(_IN_A_SENTENCE) and _SAYS_USER.search(before) is not None


def _is_its_flag(program: str, head: str) -> bool:
    """Whether what leads to the value is the password's flag in the right case."""
    wanted, flag = _FLAG_AS_WRITTEN.get(program), head.rstrip(" ")
    return wanted is None or flag.endswith(wanted) or not flag.lower().endswith(wanted.lower())


def find_hashes(text: str, folded: str) -> Iterator[Span]:
    """Hashes of passwords as crypt writes them."""
    for found in _CRYPT.finditer(text):
        yield Span(found.start(), found.end(), PASSWORD)


def _is_given(folded: str, program: str, start: int, given: Value) -> bool:
    value = given.text
    if not value or value.startswith("-"):
        return False
    if program in ("login ", "convertto-securestring"):
        is_clear = given.is_quoted or "machine " in folded[max(0, start - 90) : start]
        return is_secret(value, Family.PASSWORD, is_quoted=is_clear)
    if program == "identified" and folded.startswith(". ", given.end + 1):
        return False  # no statement ends so, but a sentence
    is_sql = program in ("identified", "password")
    return not (is_template(value) if is_sql else is_stand_in(value))


def _says_sql(program: str, text: str, folded: str, start: int) -> bool:
    """Whether a word of SQL stands where SQL has it; most texts that have the word are not SQL."""
    if program == "identified":
        return text[start] == "I" or _is_of_user(folded[max(0, start - 160) : start].rstrip(" "))
    if program != "password":
        return True
    is_word = folded[start - 1 : start] == " "
    return is_word and _SAYS_SQL.search(folded, max(0, start - 80), start) is not None
