"""The kinds of things that are hidden, and the placeholder that stands for each."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from mnemolog.errors import SettingsError, shown


class Kind(NamedTuple):
    """One kind: its name, whether a placeholder may carry a tag, and what it covers."""

    name: str
    is_tagged: bool
    hides: str


# In the order of precedence: where two finds overlap, the earlier kind names the placeholder.
KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("private-key", True, "private keys: PEM, OpenSSH, PGP, PuTTY, JWK, age, also cut off"),
        Kind("jwt", True, "JSON Web Tokens"),
        Kind("api-key", True, "tokens of known vendors; keys, secrets and tokens by their names"),
        Kind("cookie", True, "values in Cookie and Set-Cookie headers"),
        Kind("password", True, "passwords: assigned, in URLs, in flags, in sentences; hashes"),
        Kind("iban", False, "account numbers that pass their checksum"),
        Kind("card", False, "card numbers that pass their checksum"),
        Kind("ssn", False, "US social security numbers"),
        Kind("email", False, "e-mail addresses"),
        Kind("phone", False, "phone numbers"),
    )
}
MAX_KIND = 64
_OTHER = re.compile("[^a-z0-9]+")


def kind_name(name: str) -> str:
    """A kind's name in its one spelling: `api_key` and `API key` are `api-key`."""
    plain = _OTHER.sub("-", name.lower()).strip("-")
    if not plain or len(plain) > MAX_KIND:
        raise SettingsError(
            f"{shown(name)} cannot name a kind of redaction.",
            advice=f"Use letters and digits, at most {MAX_KIND}, joined by hyphens.",
            value=name,
        )
    return plain


def built_in(name: str) -> str:
    """The name of a built-in kind in its one spelling; anything else is refused."""
    plain = kind_name(name)
    if plain not in KINDS:
        raise SettingsError(
            f"There is no kind of redaction called {shown(name)}.",
            advice=f"Use {', '.join(KINDS)}.",
            value=name,
        )
    return plain
