"""The manners of writing a name and its value, and which of them give the one to the other."""

import re
from typing import NamedTuple

from mnemolog.policy.redaction.names import Family, is_act, is_folder
from mnemolog.policy.redaction.randomness import has_digit, is_random
from mnemolog.policy.redaction.values import Value, is_code, is_issue, is_secret, is_uuid, is_wordy


class Written(NamedTuple):
    """A name that starts at `start`, without its quotes, how it is joined to a value, and that."""

    text: str
    start: int
    head: re.Match[str]
    of: Family
    value: Value
    name: str

    @property
    def before(self) -> str:
        """The character before the name."""
        return self.text[max(0, self.start - 1) : self.start]

    @property
    def after(self) -> str:
        """The character after the value."""
        return self.text[self.value.end : self.value.end + 1]

    def is_secret(self, *, is_quoted: bool) -> bool:
        """Whether the value would be hidden if it were written so."""
        return is_secret(self.value.text, self.of, is_quoted=is_quoted)


_LINE_START = re.compile(
    r"[\s>+*#!/-]*(?:export |set |env |ENV |ARG |SET |-e |--env |-D|[\"'])?[\w.\-$]*"
)
_SETTER = re.compile(
    r"(?:use|add|put|new|create|expect|authenticate|login|check|verify|is)?_?"
    r"(?:user|db|api|auth|access|private|client|secret)?_?(?:pass|pwd|secret|token|key|cred)"
)
_SIGN = re.compile(r"[A-Za-z!@#$%^&*]")
LONGEST_SAID = 64
# Before `the password to …`: without one of these something else is done with it.
_GIVES = re.compile(r"set|chang|updat|default|switch|assign|equal", re.IGNORECASE)
_MECHANISM = re.compile(
    r"[A-Z]{3,12}[0-9]?(?:-[A-Z]{1,8}[0-9]?|-[0-9]{1,3})*|scram-sha-[0-9]{1,3}(?:-plus)?"
)
_NUMBERED = re.compile(
    r"(?:sha|md|oauth|argon|base|utf|pbkdf|pkcs|rsa|aes|ipv|tls|ssl|step|option|day|phase|[a-z])?"
    r"[\d.]+"
)
_CELL = re.compile(r"\|[ ]{0,16}[*_`]{0,3}(?:\w{1,16}[ ])?$")
_CELL_END = re.compile(r"[*_`]{0,3}[ ]{0,40}(?:\||$|\n)")
# Under these stands where a secret is to be taken from.
_COMES_FROM = re.compile(r"[-.]{0,2}(?:[Ll]oad|[Ii]mport)[_-]?[Cc]redential")
_OF_SECRETS = re.compile("Auth|Token|Secret|Cred|Key|Type")
# Before `pass:`: what came out of a test, `100% pass`, `tests pass: yes`.
_TESTED = re.compile(r"(?:% |--- |\btests? )$", re.IGNORECASE)
_LINE_END = ("", "\n", "\r")


def is_meant(it: Written) -> bool:
    """Whether this way of writing a name and a value gives the one to the other."""
    head = it.head
    if it.value.is_quoted and " " in it.value.text and it.name.lower() == "pass":
        return False  # a verb, and what passes
    if sign := head["sign"]:
        if sign == "->" and _is_behind_arrow(it):
            return False
        return _is_given(it, sign) and not _is_described(it, sign)
    if head["said"] is not None:
        return _is_said(it) if it.of is Family.PASSWORD else _is_plainly_random(it)
    if head["call"] is not None:
        return it.value.is_quoted and it.is_secret(is_quoted=True) and _is_set(it)
    if head["pair"] is not None:
        return _is_pair(it)
    if head["cell"] is not None:
        return _is_in_cell(it)
    if head["below"] is not None:
        return _is_below(it)
    if head["tag"] is not None:
        is_element = it.before == "<" and it.text.startswith("</", it.value.end)
        return is_element and it.is_secret(is_quoted=it.of is Family.PASSWORD)
    return it.is_secret(is_quoted=it.value.is_quoted)


def _is_given(it: Written, sign: str) -> bool:
    _, _, word, is_quoted = it.value
    if is_secret(word, it.of, is_quoted=is_quoted):
        return True
    if it.of is Family.KEY and sign == "=" and it.before in ("?", "&"):
        return it.name == "key" and is_uuid(word)
    return not is_quoted and it.of is not Family.KEY and _is_literal(it, sign)


def _is_described(it: Written, sign: str) -> bool:
    """`update_password: always`, `AUTH=PLAIN`, `auth: cleanups`, `100% pass: …`."""
    name, word = it.name.lower(), it.value.text
    if is_folder(name, word) or name.rpartition(".")[2] == word.lower():
        return True
    if name == "pass" and (_TESTED.search(it.text, max(0, it.start - 8), it.start) or _is_test(it)):
        return True
    if _COMES_FROM.match(it.name) or _is_in_message_id(it):
        return True
    if sign == ":" and (_is_type(it) or _is_subject(it)):
        return True
    if name.endswith("auth") and not it.value.is_quoted:
        is_subject = name == "auth" and sign == ":" and is_wordy(word)
        return is_subject or _MECHANISM.fullmatch(word) is not None
    return is_act(it.name) and is_wordy(word)


def _is_test(it: Written) -> bool:
    """`PASS: test_reading`, `PASS: test/udev.pl`: what came out of a test."""
    return it.name == "PASS" and "test" in it.value.text.lower()


def _is_in_message_id(it: Written) -> bool:
    """`…/CAD21AoADYz_Z8aoPW=u8kgT@mail.example`: a name by chance, in the id of a message."""
    name = it.name
    return "@" in it.value.text and len(name) >= 10 and has_digit(name) and is_random(name)


def _is_type(it: Written) -> bool:
    """`token: TokenType`, `secret: Value<Text>`: a class whose name says what it stands for."""
    word = it.value.text
    if it.value.is_quoted or it.of is Family.PASSWORD:
        return False
    if it.after == "<" and word.isalpha():
        return True
    is_camel = word.isalpha() and word[0].isupper() and not word[1:].islower()
    return is_camel and len(word) <= LONGEST_SAID and _OF_SECRETS.search(word) is not None


def _is_subject(it: Written) -> bool:
    """`fix(next-auth): Handler of …`: what a commit does, and where."""
    is_part = it.before == "(" and it.head["close"] == ")" and not it.value.is_quoted
    return is_part and not has_digit(it.value.text)


def _is_behind_arrow(it: Written) -> bool:
    """`def read(token: Token) -> Block`, `password + salt -> Argon2id`: what comes of it."""
    if it.value.is_quoted:
        return is_wordy(it.value.text)
    return ")" in it.head["close"] or not (_begins_line(it) or _is_plainly_random(it))


def _is_said(it: Written) -> bool:
    """`the password is hunter2`: a word with a digit in it, or one in quotes."""
    word = it.value.text
    name = it.name.lower()
    if name == "pass" or word.startswith(("/", "--")) or it.before == "/":
        return False
    if is_issue(word) and not it.value.is_quoted:
        return False
    if is_folder(name, word) or (name == "pwd" and it.before == "("):
        return False
    if it.head["said"].strip() == "to" and not _GIVES.search(it.text, *_before_and_name(it)):
        return False
    if it.value.is_quoted:
        is_clear = bool(it.head["said"].strip()) or not (is_wordy(word) or is_code(word))
        return is_clear and it.is_secret(is_quoted=True)
    if not 6 <= len(word) <= LONGEST_SAID or not has_digit(word) or not _SIGN.search(word):
        return False
    return not _NUMBERED.fullmatch(word.lower()) and it.is_secret(is_quoted=False)


def _before_and_name(it: Written) -> tuple[int, int]:
    return max(0, it.start - 60), it.head.start("close")


def _is_plainly_random(it: Written) -> bool:
    """`the token 5f2b…`: long, and by chance."""
    word = it.value.text
    if it.of is Family.KEY or it.before == "/" or "." in word or len(word) < 20:
        return False
    return has_digit(word) and is_random(word) and it.is_secret(is_quoted=False)


def _is_set(it: Written) -> bool:
    """`setPassword("…")` and `password("…")`, but not `find_password("users")`."""
    name = it.name.rpartition(".")[2].lower()
    if name.startswith(("set", "with")):
        return True
    return _SETTER.match(name) is not None and not is_wordy(it.value.text)


def _is_pair(it: Written) -> bool:
    """`define("DB_PASSWORD", "…")`: both in quotes, and the name first in its brackets."""
    if it.before not in ("'", '"') or it.text[max(0, it.start - 2) : it.start - 1] not in (
        "(",
        "{",
    ):
        return False
    is_closed = it.text[it.value.end + 1 : it.value.end + 2] in (")", "]", ",", "}")
    are_quoted = it.value.is_quoted and any(quote in it.head["close"] for quote in "\"'")
    if not (is_closed and are_quoted) or is_wordy(it.value.text):
        return False
    return it.is_secret(is_quoted=False)


def _is_in_cell(it: Written) -> bool:
    """`| password | hunter2 |`: two cells of a table, with nothing else in them."""
    near = max(0, it.start - 40)
    line = max(it.text.rfind("\n", near, it.start) + 1, near)
    if not _CELL.search(it.text, line, it.start) or not _CELL_END.match(it.text, it.value.end):
        return False
    return has_digit(it.value.text) and it.is_secret(is_quoted=False)


def _is_below(it: Written) -> bool:
    """`Password:` on a line of its own, and one word on the next."""
    word = it.value.text
    if it.value.is_quoted or it.after not in _LINE_END or not _begins_line(it):
        return False
    if it.of is not Family.PASSWORD:
        return _is_plainly_random(it)
    is_odd = len(word) >= 6 and has_digit(word) and _SIGN.search(word) is not None
    return is_odd and not _NUMBERED.fullmatch(word.lower()) and it.is_secret(is_quoted=False)


def _is_literal(it: Written, sign: str) -> bool:
    """`password: postgres` on a line of its own, `PASSWORD=postgres` in an environment."""
    if sign == "=" and it.after == ";":
        is_plain = _is_in_connection(it)
    elif sign == "=" and not it.head["spaced"] and not it.head["gap"]:
        is_plain = _is_in_environment(it) or _is_in_query(it)
    else:
        is_plain = sign == ":" and _is_in_yaml(it)
    return is_plain and it.is_secret(is_quoted=True)


def _is_in_yaml(it: Written) -> bool:
    if it.after not in _LINE_END or it.head["close"] or not _begins_line(it):
        return False
    if it.of is Family.PASSWORD:
        return it.head["gap"].isspace()
    return it.head["gap"] == " " and len(it.value.text) >= 8 and it.value.text.isalnum()


def _is_in_environment(it: Written) -> bool:
    if it.name.isupper() and (it.after == " " or (it.before == " " and it.after in _LINE_END)):
        return True
    if it.before in ("'", '"') and it.after == it.before:
        return True
    is_known = it.of is not Family.TOKEN or it.name.isupper()
    return is_known and it.after in _LINE_END and _begins_line(it)


def _is_in_query(it: Written) -> bool:
    if it.before in ("?", "&"):
        return it.after in ("&", "'", '"', *_LINE_END)
    return it.before in ("'", '"', "`") and it.after == "&"  # the first of a form


def _is_in_connection(it: Written) -> bool:
    """`Server=a;User Id=b;Password=c;`, but not the statements of a program."""
    before = it.text[max(0, it.start - 2) : it.start].rstrip(" ")
    return it.name.lower() in ("password", "pwd") and before.endswith((";", '"'))


def _begins_line(it: Written) -> bool:
    """Whether the name is the first thing on its line."""
    near = max(0, it.start - 100)
    line = max(it.text.rfind("\n", near, it.start) + 1, near)
    return _LINE_START.fullmatch(it.text, line, it.head.start("close")) is not None
