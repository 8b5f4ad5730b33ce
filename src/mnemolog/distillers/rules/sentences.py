"""The plain statements of a text: no code, no quotations, no drafts, nothing taken back."""

import re
from collections.abc import Iterator

from mnemolog.distillers.rules.openings import is_announcement

_FENCE = re.compile(r"^\s*(```|~~~)")
_INDENTED = re.compile(r"(?: {4}|\t)(?!\s*(?:[-*+•]|\d{1,3}[.)])\s)")
_SHEET = re.compile(r"\s{0,3}(?:#{1,6} |\||>|-- ?$|={3,}|-{3,})")
_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?=\S)|\n+")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\] )?")
# A short word with a dot does not end a sentence.
_SHORT = re.compile(r"\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|inc|ltd)\.$", re.IGNORECASE)
_NUMBER = re.compile(r"\b(no)\. (?=\d)", re.IGNORECASE)
# From here on a mail or a chat is pasted.
_PASTED = re.compile(
    r"(?:from|to|subject|sent|cc|betreff|von): \S|on .{5,80} wrote:$|-+ ?(?:forwarded|original)"
    r"|\W*[\w .'-]{2,30} ?[\[(]\d{1,2}:\d\d",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"]{0,2000}\"|“[^”]{0,2000}”|„[^“”]{0,2000}[“”]|«[^»]{0,2000}»|\u2018[^\u2019\n]{0,500}\u2019(?!\w)"
    r"|(?<!\w)'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){1,500}'(?!\w)|`[^`\n]{0,500}`"
)
_QUOTATION = "\ufffc"
_MOST_WORDS_OF_A_NAME = 3
_SPEAKS = re.compile(r"(?:i|i'm|i've|my|we|we've)\b", re.IGNORECASE)
# Somebody else's words, or words to be worked on, follow.
_FOREIGN = re.compile(
    r"\b(?:dear|regards|sincerely|yours (?:truly|faithfully)|translate (?:this|it|the following"
    r"|please)|translation of|how do (?:you|i) say|ocr|transcribe|transcript|proof-?read|rephrase"
    r"|reword|grammar|dictat\w+|role-?play|lyrics|screenplay|fairy tale|pretend(?:ing)?|imagine"
    r"|(?<!i )suppose|hypothetically|let's say|what if|make-believe|lorem|placeholder|let's play"
    r"|in character|this is a test|testing)\b|\b(?:correct|check|fix|shorten|polish|edit|rewrite"
    r"|improve) (?:this|the|my|these)\b[^.]*\b(?:text|sentences?|english|mail|email|letter|draft"
    r"|paragraph|post|wording)\b|^(?:please |can you |could you )*translate\b|\b(?:this"
    r"|the following)(?: aloud| out)?[.:?! ]*$|\b(?:how|what) (?:does|do|would|about) (?:this|these"
    r"|that) (?:sound|read|look)\b",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"\b(?:examples?|e\.g|for instance|template|draft|sample|quote[sd]?|quotation|letter|e?-?mail"
    r"|text|page|paper|poem|song|story|novel|chapter|beginning|opening|dialogue|script|character"
    r"|readme|post|tweet|ticket|message|snippet|log|output|changelog|release notes|article|headline"
    r"|slogan|motto|mantra|caption|subtitle|sign|note from|says?|said|wrote|writes|reads?|goes"
    r"|sings?|answer(?:s|ed)|repl(?:y|ies|ied)|sounds? like|joke|one-liner|sentence|phrase"
    r"|version of|copy|following|listen|him|her|them|film|movie)\b[^:]*:$",
    re.IGNORECASE,
)
# `Customer writes: I live in Truro.`
_REPORTED = re.compile(
    r"[^:]{0,80}\b(?:says?|said|saying|told|tells?|wrote|writes?|reads?|sings?|goes|claims?|jokes?"
    r"|joked|asks?|asked|shouts?|answers?|answered|texts?|texted|quotes?)\b[^:]{0,20}: \S",
    re.IGNORECASE,
)
# `Chapter one.` or `Vocabulary:` stands above somebody else's words.
_CAPTION = re.compile(
    r"(?!.*\b(?:is|are|was|am|my|i|we|our|have|has|to)\b)(?:[\w']+[ -]){0,3}(?:chapter|dialogue"
    r"|scene|verse|act|quest|npc|subtitles?|vocabulary|exam|exercise|script|stanza|refrain|chorus"
    r"|sample|sentence|tape|recording|poem|quiz|riddle|prologue|epilogue|line|draft|lyrics|title"
    r"|test)\b(?: [\w']+){0,2}[ .:–-]*",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"(?=.*\b(?:essay|script|diary|interview|speech|story|poem|test data|voicemail|homework"
    r"|recording|transcript|tape)\b)(?!.*\b(?:is|are|was|were|am|be|do|does|did|has|have|had|can"
    r"|will|need|want|please|my|our|we|i|always|never|from now|remember|decision"
    r"|learned)\b)(?:[\w',-]+[ .:]*){1,8}",
    re.IGNORECASE,
)
_OFF_THE_RECORD = re.compile(
    r"\boff the record\b|\b(?:do not|don['’]t|no need to|needn['’]t|before you|never|not to"
    r"|nothing to) (?:you )?(?:ever )?(?:write|note|save|store|record|keep|learn"
    r"|remember) (?:(?:this|that|it|any of (?:this|that|it))\b|down\b)",
    re.IGNORECASE,
)
TAKEN_BACK = re.compile(
    r"(?:oh|ah|hm+|no|well|ok|okay|sorry|or|and)?[,.!]? ?(?:wait\b(?! for| until| a| to)"
    r"|scratch that|correction\b|i mean\b|i meant\b|strike that|(?:just |only |i(?:'m| am"
    r"| was) (?:just |only )?)?(?:kidding|joking)\b|jk\b|not really|not!|no, that|actually,? no"
    r"|never ?mind|sarcasm|irony|as if\b|i wish\b|if only|in my dreams|dream on|or so (?:i|they|he"
    r"|she|the)|so (?:they|he|she|the \w+|it) says?\b|at least\b|that(?:'s| is| was) (?:a |an |the "
    r"|just |only |my )*(?:joke|quote|line|title|lyrics?|example|test|what (?:they|he|she|the)"
    r"|how (?:the|it)|(?:her|his|their)\b|from\b)|said (?:the|my|no)|says (?:the|my|who)|quote\b"
    r"|unquote|(?:it )?was a joke|ha(?:ha)*\b[.!]?$|lol\b|well, i did|well, almost|(?:mostly|almost"
    r"|sort of|kind of|sometimes|on paper|in theory|for now|for today|this week|until\b[^.]*"
    r"|allegedly|apparently|supposedly|not any ?more)[.! ]*$|(?:but |and )?(?:then"
    r"|later) we changed|(?:but )?that was before|\w+ed, (?:i mean|rather|sorry))",
    re.IGNORECASE,
)  # fmt: skip
_CONTRACTIONS = (
    (re.compile(r"\bI'm\b|^im\b", re.IGNORECASE), "I am"),
    (re.compile(r"\b(I|we|they)'ve\b", re.IGNORECASE), r"\1 have"),
    (re.compile(r"\b(he|she|it|that)'s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"\bdon'?t\b", re.IGNORECASE), "do not"),
    (re.compile(r"\bdoesn'?t\b", re.IGNORECASE), "does not"),
    (re.compile(r"\b(name|birthday|time ?zone)'s\b", re.IGNORECASE), r"\1 is"),
)
_LONGEST = 400
_MOST = 2000


def statements(text: str, *, is_users: bool = True) -> Iterator[str]:
    """Each sentence that its speaker states, with contractions spelled out.

    A page that an agent lays out, with headings, tables or code, is a draft and no statement.
    """
    if _OFF_THE_RECORD.search(text) or not (is_users or _is_talk(text)):
        return
    all_of_them = [one.strip().strip("*_ ") for one in _sentences(_own_words(text))]
    for plain, following in zip(all_of_them, [*all_of_them[1:], ""], strict=True):
        if _is_foreign(plain[:_LONGEST]):
            return
        is_whole = len(plain) <= _LONGEST and _QUOTATION not in plain
        if plain and is_whole and not TAKEN_BACK.match(following):
            yield _spelled_out(plain)


def _is_foreign(sentence: str) -> bool:
    """Whether a sentence begins, or announces, what somebody else says."""
    if _FOREIGN.search(sentence) or _SHOWN.search(sentence) or _REPORTED.match(sentence):
        return True
    lead, colon, rest = sentence.partition(": ")
    is_own = not colon or not _SPEAKS.match(rest) or is_announcement(lead)
    return not is_own or bool(_CAPTION.fullmatch(sentence) or _HEADING.fullmatch(sentence))


def _is_talk(text: str) -> bool:
    lines = text.splitlines()
    return not any(_FENCE.match(one) or _SHEET.match(one) or _INDENTED.match(one) for one in lines)


def _spelled_out(sentence: str) -> str:
    """Without the contractions that would double every form."""
    sentence = sentence.replace("’", "'")
    for contraction, words in _CONTRACTIONS:
        sentence = contraction.sub(words, sentence)
    return sentence


def _own_words(text: str) -> str:
    kept, is_code = [], False
    for line in text.splitlines():
        if _PASTED.match(line):
            break
        if _FENCE.match(line):
            is_code = not is_code
        elif not (is_code or _SHEET.match(line) or _INDENTED.match(line)):
            kept.append(_ITEM.sub("", line))
    joined = _NUMBER.sub(r"\1 ", "\n".join(kept).replace("**", "").replace("__", ""))
    return _QUOTED.sub(_unquoted, joined)


def _unquoted(match: re.Match[str]) -> str:
    """What is quoted is a name if it is short, and stands within a sentence."""
    inner = match[0][1:-1].strip()
    is_name = 0 < len(inner.split()) <= _MOST_WORDS_OF_A_NAME and not inner.endswith(tuple(".!?"))
    before = match.string[: match.start()].rstrip(" ")
    is_within = bool(before) and before[-1] not in ".!?:\n"
    return inner if is_name and is_within else _QUOTATION


def _sentences(text: str) -> Iterator[str]:
    held = ""
    for number, part in enumerate(_END.split(text)):
        if number >= _MOST:
            return
        held = f"{held} {part}" if held else part
        if not _SHORT.search(held):
            yield held
            held = ""
    if held:
        yield held
