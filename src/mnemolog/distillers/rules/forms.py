"""The explicit forms of words that are believed in free text; docs/knowledge.md lists them.

Each is one sentence that says one thing outright. Whatever is said in another way is not learned:
a wrong note is worse than none. In a form, `a` is what is said, `b` and `d` what it is said of; a
gate (`fits`) looks whether that is the sort of thing that the form is about.
"""

import re

from mnemolog.distillers.rules import choices, lexicon, matters, people, profile, shapes, wishes
from mnemolog.distillers.rules.form import Form, decided, person, user, words
from mnemolog.distillers.rules.shapes import tail

_DIETS = "vegetarian|vegan|pescatarian|pescetarian|flexitarian|omnivore"
_INTOLERANT = "lactose[- ]intolerant|gluten[- ]intolerant|gluten[- ]free|co?eliac"
_RELATION = rf"(?P<b>(?:(?:{lexicon.MANNERS}) )?(?:(?:{lexicon.FIELDS}) )?(?:{lexicon.RELATIONS}))"
_WHEN = (
    rf"(?:(?:yesterday|today|this (?:morning|week)|last (?:week|month|night)|on (?:{lexicon.DAYS})"
    r"|(?:in|at) (?:the|our|today's|yesterday's) (?:meeting|call|retro|stand-?up|review|planning"
    r"|sync|session)),? )?"
)
_WE = (
    rf"{_WHEN}(?:we(?: have| all| both)?|the team(?: has)?)(?: just| finally| now| also| recently)?"
)
_ADVERB = "(?: now| currently| actually| still| also)?"
_ANY_MORE = "(?: any ?more| any longer)"
_REST = r"(?P<tail>,.*)?[ .!]*"

A_NAME, A_OPEN = f"(?P<a>{shapes.NAME})", f"(?P<a>{shapes.OPEN})"
A_DIET = f"(?P<a>{_DIETS})"
A_LIST = f"(?P<a>{lexicon.ALLERGY}(?:, {lexicon.ALLERGY})*(?:,? (?:and|or) {lexicon.ALLERGY})?)"
# What is remembered is a sentence: it begins with its subject.
A_CLAUSE = (
    "(?P<a>(?:(?:the|my|our|your|his|her|their|we|i|you|he|she|they|it|there|all|every|no)\\b"
    f"|{shapes.CAPITAL}){shapes.OPEN})"
)
D_WORDS = f"(?P<d>{shapes.WORDS})"
_FOR_YEARS = r"for (?:years|ages|\w+ years)"
_OF_HOME = (
    rf"with|from|near|for|after|(?:in|on) (?:the )?(?:{lexicon.MONTHS}|{lexicon.DAYS}|\d+\w*)"
    r"|(?:an?|two|three|four|five|six|some|\d+) \w+ ago"
)
_OF_A_JOB = rf"(?:at|for|in|on|with) (?:an?|the|our|{shapes.CAPITAL}\w*)"
_OF_WORK = "as|in|on|from|with|near|for|at|part-time|full-time|remotely"

ABOUT_THE_USER: tuple[Form, ...] = (
    user(
        "name", "my(?: full)? name is|i am called", f"{A_NAME}{tail()}", "**Name**: {a}",
        key="name", fits=lambda said: profile.is_own_name(said["a"]),
    ),
    user(
        "name", "(?:please )?(?:just )?call me", f"{A_NAME}{tail()}", "**Name**: {a}", key="name",
        fits=lambda said: people.is_person(said["a"]) and profile.is_own_name(said["a"]),
    ),
    user(
        "home",
        rf"i{_ADVERB} live in|i am{_ADVERB} living in|i am{_ADVERB} based in",
        f"(?P<a>{shapes.PLACE}){tail(_OF_HOME)}", "**Home**: {a}", key="home",
        fits=lambda said: profile.is_place(said["a"]),
    ),
    user(
        "home", rf"{_WHEN}i(?: have)?(?: just| finally| recently)? moved to",
        f"(?P<a>{shapes.PLACE}){tail(_OF_HOME)}", "**Home**: {a}", key="home",
        fits=lambda said: profile.is_town(said["a"], said["talk"]),
    ),
    user(
        "time zone", "my time ?zone is(?: now)?", f"(?P<a>{shapes.ZONE}){tail()}",
        "**Time zone**: {a}", key="time-zone",
    ),
    user(
        "employer",
        rf"i{_ADVERB} work (?:at|for)|{_WHEN}i(?: have)?(?: just"
        rf"| recently)? started(?: working)? at"
        r"|i(?: have)?(?: just| recently)? joined(?=.* as an? )",
        f"(?P<a>{shapes.FIRM}){tail(_OF_WORK)}", "**Employer**: {a}", key="employer",
        fits=lambda said: profile.is_employer(said["a"]),
    ),
    user(
        "job", rf"i{_ADVERB} work as(?: an?)?|my job is(?: an?)?",
        rf"(?P<a>{shapes.WORDS}){tail(_OF_A_JOB)}",
        "**Job**: {a}", key="job", fits=lambda said: profile.is_job(said["a"]),
    ),
    user(
        "birthday", "my birthday is(?: on)?", f"(?P<a>{shapes.DATE}){tail()}",
        "**Birthday**: {a}", key="birthday", fits=lambda said: profile.is_date(said["a"]),
    ),
    user(
        "favourite",
        r"my(?: all-time)? favou?rite (?P<b>[\w'-]+(?: [\w'-]+){0,2}?) (?:is|are)(?: now)?",
        f"(?P<a>{shapes.ITEMS}){tail()}", "**Favourite {b}**: {a}", kind="preference",
        key="favourite.{b}", fits=lambda said: profile.is_favourite(said["b"], said["a"]),
    ),
    user(
        "diet", rf"i am{_ADVERB}(?: an?)?(?: strict)?", f"{A_DIET}{tail(_FOR_YEARS)}",
        "**Diet**: {a}", key="diet",
    ),
    user(
        "intolerance", rf"i am{_ADVERB}(?: an?)?", f"(?P<a>{_INTOLERANT}){tail(_FOR_YEARS)}",
        "**Diet**: {a}", key="diet.{a}",
    ),
    user(
        "allergy", "i am(?: also| really| very| badly| severely| highly| slightly)? allergic to",
        f"{A_LIST}{tail()}", "**Allergic to**: {a}",
    ),
    user(
        "preference", "i(?: really| much| strongly| generally| usually| still| now)? prefer",
        f"{A_OPEN}{shapes.OPEN_TAIL}", "Prefers {a}", kind="preference",
        key=lambda said: matters.preferred(said["a"]),
        fits=lambda said: wishes.is_general(said["a"], said["asked"]),
    ),
    user(
        "standing wish", "(?:please )?(?P<b>always|never)(?: ever|,? always|,? never)?(?: please)?",
        f"{A_OPEN}{shapes.OPEN_TAIL}", "{b} {a}", kind="preference", is_bidding=True,
        key=lambda said: matters.wished(said["a"]), fits=lambda said: wishes.is_bidding(said["a"]),
    ),
    user(
        "from now on", "from now on,?", f"{A_OPEN}{shapes.OPEN_TAIL}", "From now on {a}",
        kind="preference", is_bidding=True, fits=lambda said: wishes.is_new_rule(said["a"]),
    ),
    Form(
        "from now on", words(rf"{A_OPEN},? from now on{shapes.OPEN_TAIL}"), "user",
        "From now on {a}", "preference", is_bidding=True,
        fits=lambda said: wishes.is_new_rule(said["a"]),
    ),
    user(
        "remember", "(?:please )?(?:remember|keep in mind|do not forget)(?: that|:)",
        f"{A_CLAUSE}{shapes.OPEN_TAIL}", "{a}", key=lambda said: matters.reminded(said["a"]),
        fits=lambda said: wishes.is_worth_remembering(said["a"]),
    ),
    user(
        "no more", "i am no longer(?: an?)?|i am not(?: an?)?(?=.*any)",
        f"{A_DIET}{_ANY_MORE}?{_REST}", "**Diet**: not {a} any more", ends="diet {a}", is_end=True,
    ),
    user(
        "no more", "i no longer live in|i do not live in(?=.*any)",
        f"(?P<a>{shapes.PLACE}){_ANY_MORE}?{_REST}", "**Home**: no longer {a}", ends="home {a}",
        is_end=True,
    ),
    user(
        "no more", "i no longer work (?:at|for)|i do not work (?:at|for)(?=.*any)",
        f"(?P<a>{shapes.FIRM}){_ANY_MORE}?{_REST}", "**Employer**: no longer {a}",
        ends="employer {a}", is_end=True,
    ),
    user(
        "no more", "i no longer prefer|i do not prefer(?=.*any)", f"{A_OPEN}{_ANY_MORE}?{_REST}",
        "No longer prefers {a}", kind="preference", ends="prefers {a}", is_end=True,
    ),
)  # fmt: skip

ABOUT_PEOPLE: tuple[Form, ...] = (
    person(
        "relative",
        rf"(?:my|our) {_RELATION}(?: is (?:called|named)|'s name is|'s called) {A_NAME}{tail()}",
        "{a} is the user's {b}", key=lambda said: only_one(said["b"]),
        is_one_persons=True,
    ),
    person(
        "relative", rf"(?:my|our) {_RELATION} is {A_NAME}{tail()}", "{a} is the user's {b}",
        key=lambda said: only_one(said["b"]),
        is_one_persons=True, fits=lambda said: people.is_titled(said["a"]),
    ),
    person(
        "is my", rf"{A_NAME} is(?: now| also)? my {_RELATION}{tail('from|at|on')}",
        "{a} is the user's {b}", key=lambda said: only_one(said["b"]),
        is_one_persons=True,
        fits=lambda said: people.is_person(said["a"]),
    ),
    person(
        "role",
        f"{A_NAME}(?: now| also| still)? (?P<b>leads|owns|manages|maintains|runs|is responsible for"
        f"|is in charge of) {D_WORDS}{tail('at|in|for|from|with')}",
        "{b} {d}", is_users=False, key="role.{b}.{d}", is_one_persons=True,
        fits=lambda said: people.is_person(said["a"]) and people.is_charge(said["b"], said["d"]),
    ),
    *(
        person(
            "workplace",
            f"{A_NAME}(?: now| also| still)? (?P<b>works {how}) {D_WORDS}"
            f"{tail('as|in|from|with|for')}",
            "{b} {d}", is_users=False, key=key,
            fits=lambda said: people.is_person(said["a"])
            and people.is_workplace(said["b"], said["d"]),
        )
        for how, key in (("(?:at|for)", "workplace"), ("as", "job"), ("on", ""))
    ),
    person(
        "no more",
        rf"{A_NAME} no longer (?P<b>leads|owns|manages|maintains|runs) {D_WORDS}{_REST}",
        "no longer {b} {d}", is_users=False, ends="{b} {d}", is_end=True,
        fits=lambda said: people.is_person(said["a"]) and people.is_charge(said["b"], said["d"]),
    ),
    person(
        "no more",
        rf"{A_NAME} (?:no longer works|does not work(?=.*any)) (?:at"
        rf"|for) {D_WORDS}{_ANY_MORE}?{_REST}",
        "no longer works at {d}", is_users=False, ends="works {d}", is_end=True,
        fits=lambda said: people.is_person(said["a"])
        and people.is_workplace("works at", said["d"]),
    ),
)  # fmt: skip

ABOUT_THE_WORK: tuple[Form, ...] = (
    decided(
        "decided",
        rf"{_WE} (?:decided|agreed)(?: yesterday| today| together)?"
        rf"(?P<b> to| on| that|(?= not to| against)) {A_OPEN}{shapes.OPEN_TAIL}", "{a}",
        key=lambda said: matters.decided(said["a"]),
        fits=lambda said: choices.is_resolved(said["a"], said["b"].strip()),
    ),
    decided(
        "decision", rf"decision: {A_OPEN}{shapes.OPEN_TAIL}", "{a}",
        key=lambda said: matters.decided(said["a"]),
        fits=lambda said: choices.is_resolved(said["a"]),
    ),
    decided(
        "switched",
        rf"{_WE} (?:switched|migrated|changed)(?: over)? from (?P<b>{shapes.WORDS})"
        rf" to (?P<a>{shapes.WORDS}){tail('for|in|on|after|two|three|a')}",
        "{a} instead of {b}", ends="{b}", fits=lambda said: choices.is_change(said["b"], said["a"]),
    ),
    decided(
        "switched",
        rf"{_WE} moved from (?P<b>{shapes.WORDS}) to (?P<a>{shapes.WORDS})"
        rf"{tail('for|in|on|after')}",
        "{a} instead of {b}", ends="{b}",
        fits=lambda said: choices.is_change(said["b"], said["a"])
        and not (choices.is_name(said["a"]) and choices.is_name(said["b"])),
    ),
    decided(
        "replaced",
        rf"{_WE} replaced (?P<b>{shapes.WORDS}) (?:with|by) (?P<a>{shapes.WORDS})"
        rf"{tail('for|in|on|after')}",
        "{a} instead of {b}", ends="{b}", fits=lambda said: choices.is_change(said["b"], said["a"]),
    ),
    decided(
        "no longer",
        rf"{_WE} (?:no longer uses?|stopped using|(?:do|does) not use(?=.*{_ANY_MORE}))"
        rf" (?P<b>{shapes.WORDS}){_ANY_MORE}?{tail('for|in|on')}",
        "no longer {b}", ends="{b}", fits=lambda said: choices.is_dropped(said["b"]),
    ),
    Form(
        "lesson", words(rf"lessons? learn(?:ed|t): {A_OPEN}{shapes.OPEN_TAIL}"), "tools", "{a}",
        "lesson", is_users=False, is_bidding=True, fits=lambda said: wishes.is_lesson(said["a"]),
    ),
)  # fmt: skip


def only_one(relation: str) -> str:
    """The key of a relation of which a person has one: a new boss takes the old one's place."""
    plain = re.sub(rf"^(?:{lexicon.MANNERS}) ", "", relation.lower())
    is_past = relation.lower().startswith(("old ", "former "))
    return f"only.{plain}" if plain in lexicon.ONLY_ONE and not is_past else ""


FORMS: tuple[Form, ...] = (*ABOUT_THE_USER, *ABOUT_PEOPLE, *ABOUT_THE_WORK)
