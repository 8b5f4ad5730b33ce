"""Values that stand for a secret without being one: `changeme`, `<your key>`, `${VAR}`, `str`."""

import re

from mnemolog.policy.redaction.placeholders import is_hidden

# All words are compared in lower case, without separators and without a last digit.
_WORDS = frozenset(
    # what a secret is called
    "password passwd passphrase passcode pass pwd pw token key apikey secretkey accesskey username"
    " accesstoken authtoken apitoken clientsecret privatekey credential credentials auth"
    " authorization bearer basic jwt oauth cookie session login email myapikey mysecretkey"
    # what is said instead of one
    " changeme changethis changeit replaceme fixme todo tbd tba na none null nil undefined nan void"
    " empty blank unset default placeholder redacted hidden masked removed omitted stripped"
    " locked filtered censored encrypted sensitive confidential example xxx yourpassword notset"
    # what its type is, or whether there is one
    " string str text number int integer float bool boolean bytes byte object any optional required"
    " char varchar nvarchar enum array list dict map unicode secretstr literal true false yes no"
    " enabled disabled unknown"
    # what a browser is to do with credentials
    " sameorigin include omit".split()
)
# Without quotes these too are words of a sentence or of a program.
_BARE_WORDS = frozenset(
    "user sample dummy something whatever value val thing notused file date on off enable disable"
    " never always auto automatic manual static dynamic active inactive valid invalid missing"
    " present expired revoked set get input output self this cls ctx req res args kwargs env config"
    " settings options params request response prompt ask stdin query body header headers form json"
    " yaml plain hash hashed sha md hmac rsa aes des argon bcrypt scrypt pbkdf base utf ascii hex"
    " random generated vault keyring incorrect correct wrong weak strong short long same different"
    " new old it the a an is was and or not for to in of with from private secret protected public"
    " only if when then".split()
)
_LONGEST = 120
_SEPARATORS = re.compile(r"[^\w:]+|_|[0-9]$")
_ONLY_LETTERS = {code: None for code in range(128) if not chr(code).isalpha() and code != ord(":")}
_SPOKEN = re.compile(
    r"(?:your|insert|enter|replace|change|put|paste|fill|type|provide|specify|choose)"
    r"(?![a-z]{0,3}$)[a-z]*|[a-z]*(?:(?<![tw])here|placeholder|changeme|replaceme|redacted|goeshere)"
)
_INTERPOLATED = ("${", "$(", "{{", "#{", "@{", "<%", "%(", "{}")
_TEMPLATE_FORM = r"""
        \$?<[^<>]*>? | \[[^\[\]]*\] | \{[\w.: -]*\}?                   # <your key>, [key], {key}
      | %[\w-]+(?:\([^()]*\))?% | \w+\)%                              # %KEY%, %env(KEY)%
      | -?[0-9]+(?:\.[0-9]+)?% | \$[A-Za-z_]\w* | \$\d | %[sdvq] | :[a-z_]+ | @[A-Za-z_]+
      | hmac-sha[0-9]{1,3}:[0-9a-f]+                                 # a log's keyed digest
      | &[a-z]+;.*                                                   # &lt;your key&gt;
      | [^\w\s]*                                                     # ****, ..., ---
    """
_TEMPLATE = re.compile(_TEMPLATE_FORM, re.VERBOSE)
_ELSEWHERE = r"""
        (?:env|vault|op|file|ref|secret|arn|ssm|asm|gcp|aws|azure|sops|kms|awssm|keyring|secretref
          |projects|cloud)[:/]\S*
      | (?:os|process|sys|import)\.\S+ | ENC\[.* | !\w.* | [A-Za-z][\w+.-]*://.*
      | [A-Z]\w*(?:\\{1,2}[A-Z]\w*)+                                   # a class of PHP
      | \$\{?[A-Za-z_]\w*\}?(?:/[\w.@-]+)+ | (?:keybase|npm|jsr|workspace|catalog):\S*
      | (?:~|\.{1,2})?/[\w.-]+(?:/[\w.@-]+)+/? | ~?/(?:[\w.-]+/)*[\w-]+\.[a-z]{2,5} | [A-Za-z]:\\.*
      | [\w./-]+\.(?:pem|key|crt|cer|p12|pfx|jks|json|ya?ml|txt|toml|ini|env|conf|pub|asc|html?
          |js|ts|py)
    """
_VERSION = r"""[\^~<>=vV*\s]*(?:\d+\.){1,3}[\dx*]+(?:[-+.][\w.]+)?|[\^~<>=]+\s*\d[\w.]*
      | \* | latest | self\.version"""
_NAME = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
_OF_A_FORM = re.compile(f"{_TEMPLATE_FORM} | {_VERSION} | {_NAME} | {_ELSEWHERE}", re.VERBOSE)
_DIGIT_INSIDE = re.compile(r"[0-9](?!$)")


def is_template(value: str) -> bool:
    """Whether something else is to be put in the value's place, or was."""
    if is_hidden(value):
        return True
    if len(value) <= _LONGEST and _TEMPLATE.fullmatch(value):
        return True
    return _is_interpolated(value)


def _is_interpolated(value: str) -> bool:
    if "{" not in value and "(" not in value and "<" not in value:
        return False  # no mark is without one of them
    for mark in _INTERPOLATED:  # noqa: SIM110 - a generator costs as much as the search
        if mark in value:
            return True
    return False


def _is_one_letter(value: str) -> bool:
    """`xxxx`, `xxxx-xxxx`, `...`: one letter over and over, if any; a number may be a pin."""
    return not value.isdigit() and len(set(filter(str.isalnum, value))) <= 1


def is_stand_in(value: str, *, is_quoted: bool = True) -> bool:
    """Whether a value names, describes or refers to a secret instead of being one."""
    if len(value) < 3 or (len(set(value)) <= 3 and _is_one_letter(value)):
        return True
    if is_hidden(value) or _is_interpolated(value):
        return True
    if len(value) > _LONGEST:
        return False
    if _OF_A_FORM.fullmatch(value):
        return True
    if _DIGIT_INSIDE.search(value):
        return False  # no word has one
    plain = value.translate(_ONLY_LETTERS) if value.isascii() else _SEPARATORS.sub("", value)
    plain = plain.lower().rstrip(":")
    if plain in _WORDS or (not is_quoted and plain in _BARE_WORDS):
        return True
    return _SPOKEN.fullmatch(plain) is not None
