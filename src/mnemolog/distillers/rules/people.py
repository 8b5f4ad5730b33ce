"""Whether a name is a person's, and what it says of them is what people are or do."""

import re

from mnemolog.distillers.rules import lexicon
from mnemolog.distillers.rules.doubts import is_lasting
from mnemolog.distillers.rules.lexicon import words_in
from mnemolog.distillers.rules.profile import is_employer, is_job
from mnemolog.distillers.rules.vocabulary import is_abstract, is_ordinary

_RANK = re.compile(
    r"(?:team|supreme|chief|general|captain|king|queen|super|mission|head|senior|junior|vice|master"
    r"|uncle|aunt|public|living|big|little|public|year|god|pure|half|very)\b",
    re.IGNORECASE,
)


def is_person(name: str) -> bool:
    """Whether a capital letter begins a person's name here, and not only a sentence."""
    words = re.sub(r"^(?:dr|prof|mr|mrs|ms)\.? ", "", name.lower()).split()
    if words[0] in lexicon.FICTION:
        return False
    is_thing = words[0] in lexicon.NO_PEOPLE or words[0] in lexicon.COUNTRIES
    is_noun = is_ordinary(words[0]) or is_abstract(words[0])
    return not is_thing and not (len(words) == 1 and is_noun)


def is_titled(name: str) -> bool:
    """Whether `my boss is …` names somebody: `my boss is Portuguese` and `… King` do not."""
    is_full = " " in name and not _RANK.match(name) and not lexicon.ORIGINS.match(name)
    return is_person(name) and is_full


def is_charge(verb: str, charge: str) -> bool:
    """Whether it is something that people are in charge of."""
    if lexicon.NO_CHARGES.search(charge) or not is_lasting(charge):
        return False
    known = lexicon.CHARGES | lexicon.WORKPLACES
    if verb.lower().startswith("is "):
        known |= lexicon.DUTIES
    is_ahead = verb.lower() == "leads" and charge.lower().endswith("market")
    return not is_ahead and bool(set(words_in(charge)) & known)


def is_workplace(verb: str, place: str) -> bool:
    """Whether people work there, as that, or on that."""
    kind, given = verb.lower().split()[-1], re.sub(r"^(?:an?|the|our) ", "", place, flags=re.I)
    if not is_lasting(place) or not given:
        return False
    if kind == "as":
        return given != place and is_job(given)
    if kind == "on":
        is_day = re.match(lexicon.DAYS, given, re.IGNORECASE)
        is_named = given[0].isupper() and is_person(given) and not is_day
        return is_named or bool(set(words_in(given)) & lexicon.CHARGES)
    has_name = any(one[0].isupper() for one in given.split()) and is_employer(place)
    return has_name or bool(set(words_in(given)) & lexicon.WORKPLACES)
