"""What a name says of its value: `DB_PASSWORD` holds a password, `token_limit` does not."""

import re
from enum import Enum
from functools import lru_cache


class Family(Enum):
    """How a name speaks of its value, from the clearest to the faintest."""

    PASSWORD = "password"
    SECRET = "secret"
    TOKEN = "token"
    KEY = "key"

    # Every member is there once; Enum's own hash takes longer than what is looked up by it.
    __hash__ = object.__hash__


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z\x80-\U0010ffff]+|[0-9]+")

_PASSWORDS = tuple(
    "password passwd passwort passwords pwd passphrase passcode contraseña contrasena senha"
    " motdepasse wachtwoord lösenord пароль 密码 密碼 口令 パスワード 비밀번호".split()
)
_PASS_OF = frozenset(
    "db my sql mysql root user smtp mail imap pg ftp admin redis login key store wifi wpa"
    " ldap proxy http ssh sudo postgres mongo auth test app bind account service".split()
)
_GLUED_KEYS = tuple(
    "apikey secretkey accesskey authkey privatekey masterkey accountkey encryptionkey signingkey"
    " appkey licensekey".split()
)
_KEYS_OF = frozenset(
    "api secret access auth private master account encryption encrypt decryption signing"
    " signature app license client service ssh deploy consumer subscription admin shared"
    " write session cookie validation hmac aes des crypto cipher"
    " publishable project server user site integration webhook ingest install"
    " instrumentation developer dev prod test base security jwt gpg pgp rsa ec dsa tls ssl"
    " host wrapping data salt symmetric activation registration management rest stripe aws"
    " azure gcp google openai anthropic github gitlab slack sendgrid mailgun twilio maps map"
    " steam algolia datadog sentry cloudflare pusher firebase heroku s3 pass pre wpa network"
    " router otp totp recovery backup vault oauth".split()
)
_NOT_KEYS_OF = frozenset(
    "public pub foreign sort cache partition row object index group search dict lookup i"
    " translation hot shortcut arrow idempotency dedup unique composite candidate natural"
    " surrogate locale query order by sorted arrow enter tab escape modifier redis routing"
    " message event metric config settings storage_name answer entry item field property"
    " attribute state react list recv receive".split()
)
# After the word that names the secret: still the secret.
_STILL = frozenset(
    "value val string str text hex base base64 b64 raw plain plaintext cleartext clear"
    " default test prod production dev development staging stage live old new current"
    " previous confirmation confirm confirmed repeat repeated again verify check first"
    " second primary secondary main backup admin root user master app bytes encoded env var"
    " const here now a b v".split()
)
_TOKENS = frozenset(
    "token jwt pat bearer authtoken accesstoken csrf xsrf otp totp verifier nonce salt jsessionid"
    " phpsessid".split()
)
_PLURALS = frozenset("passwords tokens secrets keys".split())
_SECRETS = frozenset(
    "secret secrets credential credentials cred creds auth authorization signature sig pin"
    " mnemonic seed authcode".split()
)


# What is done with a secret; a word under such a name says when or how.
_ACT = re.compile(
    r"(?:update|validate|require|generate|show|hide|ask|allow|force|forgot)(?=[_A-Z-])"
)


def is_act(name: str) -> bool:
    """Whether a name tells what is done: `update_password`, `showToken`."""
    return _ACT.match(name) is not None


_PATH = re.compile(r"[/~]|[\w.-]+/[\w.-]+/")
_FOLDER = re.compile(r"\$?(?:OLD)?PWD", re.IGNORECASE)


def is_folder(name: str, value: str) -> bool:
    """`PWD=/root`: where a shell works, in every list of an environment."""
    return _PATH.match(value) is not None and _FOLDER.fullmatch(name) is not None


@lru_cache(maxsize=512)
def family(name: str) -> Family | None:
    """What a name's value is, judged by its last words; None if the name means something else."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1] in _STILL or words[-1].isdigit()):
        words.pop()
    return _family_of(words[-1], words[-2] if len(words) > 1 else "") if words else None


def _family_of(last: str, before: str) -> Family | None:
    last = last.removesuffix("s") if last in _PLURALS else last
    if last == "code" and before == "auth":
        return Family.SECRET
    if last.endswith(_PASSWORDS) or _is_pass(last):
        return Family.PASSWORD
    if last in _SECRETS or last.endswith("secret"):
        return Family.SECRET
    if last in _TOKENS or (last.endswith(("token", "salt", "nonce")) and last != "nontoken"):
        return Family.TOKEN
    if last.endswith(_GLUED_KEYS) or (last == "key" and before in _KEYS_OF):
        return Family.SECRET
    if last == "key" and before not in _NOT_KEYS_OF:
        return Family.KEY
    return None


def _is_pass(word: str) -> bool:
    return word in ("pass", "passe", "pw") or (word.endswith("pass") and word[:-4] in _PASS_OF)
