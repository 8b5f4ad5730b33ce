"""Secrets made at run time from random characters, in places where people leave them.

Nothing here is a live secret: every value is drawn from a seeded generator when it is needed.
`SEEN` places were at hand while the rules were written; `UNSEEN` ones were written afterwards and
no rule was changed for them: a place that made somebody change a rule belongs to `SEEN`.
"""

import base64
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
WORD = UPPER + LOWER + DIGITS
HEX = "0123456789abcdef"
BASE32 = UPPER + "234567"
DASH = WORD + "-_"
STANDARD = WORD + "+/"


class Sample(NamedTuple):
    """A text, the secret in it, and what kind of secret it is."""

    kind: str
    text: str
    secret: str


def drawn(chance: random.Random, letters: str, count: int) -> str:
    return "".join(chance.choices(letters, k=count))


# beginning, alphabet, length of the rest; a tuple has several parts joined by what stands between
VENDORS: list[tuple[str, str, int]] = [
    ("AKIA", BASE32, 16), ("ASIA", BASE32, 16), ("AIza", DASH, 35), ("GOCSPX-", DASH, 28),
    ("ya29.", DASH, 120), ("LTAI", WORD, 20), ("AKID", WORD, 32), ("dop_v1_", HEX, 64),
    ("doo_v1_", HEX, 64), ("nfp_", WORD, 36), ("sbp_", HEX, 40), ("pscale_tkn_", DASH, 43),
    ("dapi", HEX, 32), ("dp.pt.", WORD, 43), ("hvs.", DASH, 90), ("pul-", HEX, 40),
    ("glc_", STANDARD, 120), ("NRAK-", UPPER + DIGITS, 27), ("sntryu_", HEX, 64),
    ("phx_", WORD, 43), ("ghp_", WORD, 36), ("gho_", WORD, 36), ("ghu_", WORD, 36),
    ("ghs_", WORD, 36), ("ghr_", WORD, 76), ("github_pat_", WORD, 82), ("glpat-", DASH, 20),
    ("gldt-", DASH, 20), ("glrt-", DASH, 20), ("GR1348941", DASH, 20), ("ATBB", WORD, 32),
    ("ATATT3xFfGF0", DASH, 180), ("sqp_", HEX, 40), ("bkua_", HEX, 40), ("npm_", WORD, 36),
    ("pypi-AgEIcHlwaS5vcmc", DASH, 150), ("rubygems_", HEX, 48), ("oy2", LOWER + DIGITS, 43),
    ("dckr_pat_", DASH, 27), ("CLOJARS_", LOWER + DIGITS, 60), ("sk_live_", WORD, 24),
    ("sk_test_", WORD, 24), ("rk_live_", WORD, 24), ("pk_live_", WORD, 24), ("whsec_", WORD, 32),
    ("sq0atp-", DASH, 22), ("sq0csp-", DASH, 43), ("shpat_", HEX, 32), ("shpss_", HEX, 32),
    ("rzp_live_", WORD, 14), ("FLWSECK_TEST-", HEX, 32), ("EZAK", WORD, 54),
    ("shippo_live_", HEX, 40), ("sk-proj-", DASH, 120), ("sk-ant-api03-", DASH, 93),
    ("sk-or-v1-", HEX, 64), ("sk-", WORD, 48), ("gsk_", WORD, 52), ("hf_", UPPER + LOWER, 34),
    ("r8_", WORD, 37), ("pplx-", WORD, 48), ("xai-", WORD, 80), ("pcsk_", WORD, 70),
    ("tvly-", WORD, 32), ("nvapi-", DASH, 64), ("apify_api_", WORD, 36), ("key-", HEX, 32),
    ("SK", HEX, 32), ("ntn_", WORD, 46), ("lin_api_", WORD, 40), ("figd_", DASH, 40),
    ("CFPAT-", DASH, 43), ("AGE-SECRET-KEY-1", UPPER + DIGITS, 58), ("tskey-auth-", WORD, 30),
]  # fmt: skip


def vendor_tokens(chance: random.Random) -> Iterator[str]:
    """One token of every vendor whose tokens have a form of their own."""
    for beginning, alphabet, length in VENDORS:
        # The last character is no sign: at the end of a word, people would cut it off too.
        last = chance.choice(alphabet.rstrip("-_+/"))
        yield beginning + drawn(chance, alphabet, length - 1) + last
    yield f"SG.{drawn(chance, DASH, 22)}.{drawn(chance, DASH, 42)}x"
    digits = drawn(chance, DIGITS, 12)
    yield f"xoxb-{digits}-{drawn(chance, DIGITS, 13)}-{drawn(chance, WORD, 24)}"
    yield f"xapp-1-A{drawn(chance, UPPER, 10)}-{digits}-{drawn(chance, HEX, 64)}"
    yield f"{drawn(chance, DIGITS[1:], 10)}:AA{drawn(chance, WORD, 33)}"
    yield f"{drawn(chance, HEX, 32)}-us{chance.randint(1, 21)}"
    yield f"glsa_{drawn(chance, WORD, 32)}_{drawn(chance, HEX, 8)}"
    yield f"re_{drawn(chance, WORD, 8)}_{drawn(chance, WORD, 24)}"
    yield f"pat{drawn(chance, WORD, 14)}.{drawn(chance, HEX, 64)}"
    yield f"PMAK-{drawn(chance, HEX, 24)}-{drawn(chance, HEX, 34)}"
    yield f"lsv2_pt_{drawn(chance, HEX, 32)}_{drawn(chance, HEX, 10)}"


PLACES_OF_TOKENS = [
    "{}", "{}\n", "the key is {} for now", "`{}`", "({})", "curl -H 'X-Key: {}' api.host/v1",
    "export THING={}", 'thing = "{}"', "- name: deploy\n  with: {{ it: {} }}", '{{"a": "{}"}}',
    "<value>{}</value>", "https://api.host/v1?a=1&x={}&b=2", "log: got {}, retrying",
    "see https://{}@host/repo.git", "| prod | {} |", "x={};y=2", "\\n{}\\n", "你好{}。",
]  # fmt: skip


def human_password(chance: random.Random) -> str:
    """What a person makes up: words, a number, perhaps a sign."""
    words = "summer winter falcon copper river dragon orange monday garden silver".split()
    word = chance.choice(words)
    word = chance.choice([word, word.title(), word.replace("e", "3"), word + chance.choice(words)])
    return word + drawn(chance, DIGITS, chance.randint(2, 4)) + chance.choice(["", "!", "#", "$"])


def key_value(chance: random.Random) -> str:
    """What a machine makes up: hex, base62 or base64."""
    kind = chance.randrange(4)
    if kind == 0:
        return drawn(chance, HEX, chance.choice([32, 40, 64]))
    if kind == 1:
        return drawn(chance, WORD, chance.randint(20, 48))
    if kind == 2:
        return base64.b64encode(chance.randbytes(chance.randint(18, 40))).decode()
    return drawn(chance, DASH, chance.randint(24, 44)).strip("-_") + "7"


NAMES_OF_PASSWORDS = "password passwd db_password DB_PASSWORD smtpPassword pwd user_pass Passphrase"
NAMES_OF_KEYS = (
    "api_key apiKey API_KEY secret client_secret SECRET_KEY access_token authToken auth_token"
    " secret_access_key STRIPE_API_KEY signing_secret private_key encryption_key webhookSecret"
)
SEEN = [
    "{n}={v}", "export {n}={v}", '{n} = "{v}"', "{n} = '{v}'", "{n}: {v}", '{n}: "{v}"',
    '"{n}": "{v}",', "'{n}' => '{v}',", 'const {n} = "{v}";', 'String {n} = "{v}";',
    '{n} := "{v}"', "{n}='{v}',", '<{n}>{v}</{n}>', '<add key="{n}" value="{v}"/>',
    '\\"{n}\\": \\"{v}\\"', "  - name: {n}\n    value: {v}", "docker run -e {n}={v} image",
    '["{n}"] = "{v}"', 'set{n}("{v}")', "?user=me&{n}={v}&x=1", '{n}: str = "{v}"',
    "define('{n}', '{v}');", "self.{n} = '{v}'", 'if {n} == "{v}":', "-D{n}={v}",
    'let {n}: &str = "{v}";', "config.{n} = :'{v}'", '{{"name":"{n}","value":"{v}"}}',
    '{n} <- "{v}"', "{n}:\n  {v}", "| {n} | {v} |", "| `{n}` | `{v}` | note |",
    'string {n} {{ get; set; }} = "{v}";',
]  # fmt: skip
UNSEEN = [
    "[client]\nuser=app\n{n}={v}\nport=3306", 'variable "x" {{\n  {n} = "{v}"\n}}',
    "ENV {n} {v}", 'process.env.{n} = "{v}"', "os.environ['{n}'] = '{v}'", "setx {n} \"{v}\"",
    "$env:{n} = '{v}'", '@Value("{v}") String {n};', "{n}|{v}|2024", "// {n}: {v}", "# {n}={v}",
    "+{n}={v}", '    {n}="{v}" \\', 'new Client({{ {n}: "{v}", region: "eu" }})',
    "kubectl create secret generic x --from-literal={n}={v}", "{{:{n}, \"{v}\"}}",
    "{n} -> {v}", 'puts "{n}=#{{x}}"; {n} = "{v}"', "my ${n} = q({v});", "Your {n} is {v}",
    'val {n} = "{v}".toByteArray()', "[{n}]: {v}", "conn({n}=\"{v}\", host=\"db\")",
    'echo "{n}: {v}" >> .env', "(setq {n} \"{v}\")", "{n}.set('{v}')",
    "INSERT INTO cfg VALUES ('{n}', '{v}');", 'Map.of("{n}", "{v}")',
]  # fmt: skip


def tokens_in_places(seed: int) -> Iterator[Sample]:
    """Every vendor's token in every place."""
    chance = random.Random(seed)
    for place in PLACES_OF_TOKENS:
        for token in vendor_tokens(chance):
            yield Sample("vendor token", place.format(token), token)


def assigned(places: list[str], seed: int, rounds: int = 6) -> Iterator[Sample]:
    """Passwords and keys under their names, in every way of writing."""
    chance = random.Random(seed)
    made: list[tuple[str, list[str], Callable[[random.Random], str]]] = [
        ("password", NAMES_OF_PASSWORDS.split(), human_password),
        ("key", NAMES_OF_KEYS.split(), key_value),
    ]
    for place in places:
        for kind, names, make in made:
            for _ in range(rounds):
                value = make(chance)
                yield Sample(kind, place.format(n=chance.choice(names), v=value), value)


def others(seed: int, rounds: int = 20) -> Iterator[Sample]:
    """What needs no name: keys in PEM, tokens in JSON, headers, addresses, flags, numbers."""
    chance = random.Random(seed)
    for _ in range(rounds):
        for kind, place, secret in _others(chance):
            yield Sample(kind, place.format(secret), secret)


def _others(chance: random.Random) -> Iterator[tuple[str, str, str]]:
    body = "\n".join(drawn(chance, STANDARD, 64) for _ in range(8))
    yield "PEM", "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", body
    yield "PEM cut off", "key:\n-----BEGIN PRIVATE KEY-----\n{}", body
    escaped = body.replace("\n", "\\n")
    yield "PEM in JSON", '{{"k": "-----BEGIN EC PRIVATE KEY-----\\n{}\\n"}}', escaped
    parts = [f"eyJ{drawn(chance, WORD, 30)}", f"eyJ{drawn(chance, WORD, 60)}"]
    yield "JWT", "token {} expired", ".".join([*parts, drawn(chance, DASH, 42) + "7"])
    yield "URL", "postgres://app:{}@db.internal:5432/x", human_password(chance)
    yield "URL", "git clone https://{}@host.dev/a/b.git", drawn(chance, HEX, 40)
    yield "header", "Authorization: Bearer {}", drawn(chance, WORD, 40)
    login = f"admin:{human_password(chance)}"
    yield "header", "Authorization: Basic {}", base64.b64encode(login.encode()).decode()
    yield "cookie", "Cookie: sid={}; theme=dark", drawn(chance, WORD, 32)
    yield "flag", "tool --password {} --verbose", human_password(chance)
    yield "flag", "curl -u admin:{} https://host", human_password(chance)
    yield "flag", "mysql -u root -p{} shop", human_password(chance)
    yield "sentence", "hi, my password is {} thanks", human_password(chance)
    yield (
        "e-mail",
        "write to {} today",
        f"{drawn(chance, LOWER, 7)}.{drawn(chance, LOWER, 5)}@mail.org",
    )
    yield "phone", "call me: {}", f"+49 {chance.randint(150, 179)} {drawn(chance, DIGITS, 8)}"
    yield (
        "phone",
        "({}) office",
        f"{chance.randint(212, 989)}-{chance.randint(212, 989)}-{drawn(chance, DIGITS, 4)}",
    )
    yield "card", "paid with {}.", card_number(chance)
    yield "IBAN", "to {} please", iban(chance)
    yield (
        "SSN",
        "SSN {}",
        f"{chance.randint(100, 665)}-{chance.randint(10, 99)}-{chance.randint(1000, 9999)}",
    )


def card_number(chance: random.Random) -> str:
    """A card number of a known make with the right check digit."""
    digits = chance.choice(["4", "51", "37"])
    digits += drawn(chance, DIGITS, (15 if digits == "37" else 16) - 1 - len(digits))
    total = sum(
        sum(divmod(int(digit) * (2 - at % 2), 10)) for at, digit in enumerate(reversed(digits))
    )
    return digits + str(-total % 10)


def iban(chance: random.Random) -> str:
    """A German account number with the right check digits, in groups of four."""
    account = drawn(chance, DIGITS, 18)
    check = 98 - int(account + "131400") % 97
    whole = f"DE{check:02}{account}"
    return " ".join(whole[at : at + 4] for at in range(0, len(whole), 4))
