"""No text can stall redaction: four times the text takes about four times as long, not sixteen."""

import time
from pathlib import Path

import pytest

from mnemolog.policy.redaction import Redactor
from mnemolog.policy.redaction.outline import Outline
from mnemolog.policy.redaction.rules import RULES

REDACTOR = Redactor(b"k")
SMALL, LARGE = 40_000, 160_000
QUADRATIC = (LARGE / SMALL) ** 2

HOSTILE = [
    "a.", "a@", "@", "a@a.", "QUJDREVGR0hJSktM", "password=", 'password="', 'password=\\"', "9",
    "4111 ", "key", "eyJ.", "eyJhbGci", "-----BEGIN PRIVATE KEY-----", "A-", "curl -u ", "mysql -",
    "sk-", "http://a:", "://a:b", "cookie: a=bbbbbbb;", "authorization: ", "_", "=", "- ", "GB82 ",
    "+1 ", "tel 1", "$2b$10$", "MIIE", "\n", 'tokens:["a",', "bearer ", "password is ", "--pass",
    "login a password ", "Author: <a@b.c", "[REDACTED:email]", "[REDACTED", '"kty" "d":"', "hvs.",
    "xoxb-", "${", "[REDACTED:password]password=", "secret: [", "\\", "'", "token='", "\ue000",
    "identified by '", "ssn 123", "1-2-3-", "Private-Lines: 1\nA", "é@", "密码是", "key=a.b(",
    "credential('a','", "unseal key 1: ", "role a password ", "nonce=", "Basic QUJD",
    "pw=[]string{", "--pass #1", "--pass a a ", 'password to "a', "aB3" * 21 + "\n",
    "pass:pass:pass: ", "zip --password ", "--auth=PASSWORD=$A ", 'to identified by "',
    "X-by: a@b.cd ",
    "key: 0123456789abcdef pass:pass:pass: SG.", "token: AbType ", "zip -P a ",
    ":--token=pass:-", "+1 --pass :sk-", "pw=>pw=pw=", "\x1b[1mkey=\x1b[0m", "&quot;",
    "\\u0026sig=", "password:\n", "password:\nab3456\n", "| token | ", "| pass | a1! | ", ";pwd={",
    ";pwd={a1}", "h:5432:a:b:", "://a/1234567890@a.cd ", "Discussion: 12345678@a.bc ", "PASS: test",
    "pw -> a1b2c3 ", "?key=01234567-89ab-cdef-0123-456789abcdef",
    "-----BEGIN CERTIFICATE-----" + ("\n" + "aB3" * 21) * 60 + "\n",
]  # fmt: skip


def seconds(text: str) -> float:
    def once() -> float:
        start = time.process_time()
        REDACTOR.text(text)
        return time.process_time() - start

    return min(once() for _ in range(2))


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length_of_a_hostile_text(piece):
    small, large = (seconds((piece * size)[:size]) for size in (SMALL, LARGE))
    # What takes no time cannot be compared; half way to a square is far from a straight line.
    assert large < max(QUADRATIC / 1.6 * small, 0.05)


def lines() -> list[str]:
    root = Path(__file__).parent.parent.parent
    pages = [*(root / "docs").glob("*.md"), *(root / "src").rglob("*.py")]
    return [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]


def test_hardly_any_line_of_this_project_is_touched():
    ours = lines()
    hit = [line for line in ours if REDACTOR.text(line).counts]
    assert len(ours) > 5000
    assert len(hit) <= 0.001 * len(ours), hit


def test_a_plain_text_is_near_no_rule():
    """The pre-filter's one answer must agree with all of its questions."""
    plain = [seen for seen in map(Outline, lines()) if seen.is_plain]
    assert len(plain) > 1000
    assert not any(rule.is_near(seen) for seen in plain for rule in RULES)
