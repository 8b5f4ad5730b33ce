"""The text of a query: any text is legal, and words are found as people write them."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.testing.clock import FixedClock
from tests.index.searching import WORDS_ONLY, ids, lexical, scored, steady
from tests.memory.machine import QUICK

SAID = {
    "auth": "The authentication flow uses tokens",
    "flow": "Overflow in the workflow was analyzed",
    "db": "We decided that PostgreSQL databases are running well",
    "snake": "def get_user_by_id(user_id): return HTTPServer",
    "zh": "我的猫喜欢数据库",
    "ja": "データベースを選びました",
    "ko": "데이터베이스를 선택했다",
    "th": "ฐานข้อมูลของแมว",
    "de": "Straße und Übergröße",
    "wide": "ＦＵＬＬＷＩＤＴＨ　ｌｅｔｔｅｒｓ",
    "quote": 'He said "hello" AND (left) OR NOT near:field^2',
    "emoji": "deploy 🚀 done 👩‍👩‍👧",
    "ru": "Привет, Мир",
    "accent": "cafe\u0301 ole\u0301",
}


@pytest.fixture(scope="module")
def said() -> Iterator[Memory]:
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as root,
        steady(Path(root), FixedClock()) as memory,
    ):
        fill(memory)
        yield memory


@pytest.fixture(scope="module")
def words() -> Iterator[Memory]:
    """The same, but only words count."""
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as root,
        steady(Path(root), FixedClock(), **WORDS_ONLY) as memory,
    ):
        fill(memory)
        yield memory


def fill(memory: Memory) -> None:
    sid = memory.create_session("u1", session_id="talk").id
    memory.add_many(sid, [{"id": name, "content": text} for name, text in SAID.items()])
    # Enough that postings are sealed too, which are looked up in another way than the newest rows.
    memory.add_many(sid, [{"id": f"x{number}", "content": "filler"} for number in range(1100)])


NASTY = st.sampled_from(
    ['"', "'", "*", "**", "?", "%", "_", "(", ")", "AND", "OR", "NOT", "NEAR(", "^", ":", "-", "\\",
     "\0", "\ud800", "\udfff", "\n", "\u2028", "🚀", "数据", "데이터", "ฐาน", "auth*", "*flow",
     "a*z", "[a-z]*", ";", "--", "/*", "{}", "\u202e", "\ufeff", "e\u0301", "ß", "İ", "ﬁ", "½",
     "Ⅷ", "1e9"]
)  # fmt: skip
TEXTS = st.text(max_size=30) | st.lists(NASTY | st.text(max_size=5), max_size=12).map("".join)


@pytest.mark.req("S001-063", "S002-065")
@settings(deadline=None, max_examples=150)
@given(text=TEXTS)
@example(text="\0")
@example(text="\ud83d\ude80")
@example(text='"unbalanced')
@example(text="*")
def test_any_text_is_legal_and_asks_the_same_thing_every_time(said, text):
    hits = said.query("talk", text=text)
    assert all(0 <= hit.relevance <= 1 for hit in hits)
    assert len(set(ids(hits))) == len(hits) <= 20
    assert scored(said.query(None, {"text": text})) == scored(hits)


LONG = {
    "one word": "a" * 100_000,
    "one wildcard": "a" * 100_000 + "*",
    "stars": "*" * 100_000,
    "stars and letters": "a*" * 50_000,
    "many wildcards": "ab* *cd " * 12_000,
    "quotes": '"' * 100_000,
    "NULs": "\0" * 100_000,
    "spaces": " " * 100_000,
    "different words": " ".join(f"w{number}" for number in range(16_000)),
    "short words": " ".join(chr(97 + n % 26) + chr(97 + n // 26 % 26) for n in range(33_000)),
    "Chinese": "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(33_000)),
    "surrogates": "\ud800" * 50_000,
    "emoji": "🚀" * 25_000,
    "combining marks": "e" + "\u0301" * 50_000,
}


@pytest.mark.parametrize("name", LONG)
def test_a_text_of_100_kilobytes_is_a_text(said, name):
    hits = said.query("talk", text=LONG[name], limit=5)
    assert len(hits) <= 5
    assert all(0 <= hit.relevance <= 1 for hit in hits)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"])
def test_a_text_of_nothing_is_no_text(said, text):
    assert scored(said.query("talk", text=text)) == scored(said.query("talk"))


@pytest.mark.req("S002-065")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("AUTHENTICATION", "auth"), ("Tokens", "auth"), ("token", "auth"), ("decide", "db"),
        ("deciding", "db"), ("database", "db"), ("run", "db"), ("postgresql", "db"),
        ("straße", "de"), ("STRASSE", "de"), ("übergröße", "de"), ("U\u0308bergröße", "de"),
        ("fullwidth", "wide"), ("привет", "ru"), ("МИР", "ru"), ("café", "accent"),
        ("hello", "quote"), ('"hello"', "quote"), ("get_user_by_id", "snake"), ("user", "snake"),
        ("httpserver", "snake"),
    ],
)  # fmt: skip
def test_words_are_found_in_every_case_form_and_inflection(words, text, wanted):
    assert list(lexical(words.query("talk", text=text))) == [wanted]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("a naïve façade", "naive"), ("a naive facade", "naïve façades"), ("Cafés", "cafe"),
        ("cafe\u0301", "CAFÉ"), ("crème brûlée", "creme brulee"), ("İstanbul", "istanbul"),
        ("Αθήνα", "ΑΘΗΝΑ"), ("всё", "все"), ("résumé", "resum*"), ("resume", "résu*"),
        ("كِتَابٌ جَدِيدٌ", "كتاب"), ("كتاب", "كِتَاب"), ("كتـــاب", "كتا*"), ("שָׁלוֹם", "שלום"),
    ],
)  # fmt: skip
def test_a_word_is_found_with_its_accents_or_without(memory, said, asked):
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="there", content=said)
    memory.add_memory("talk", id="other", content="etwas und שמש قلم")
    assert list(lexical(memory.query("talk", text=asked))) == ["there"]


@pytest.mark.parametrize(
    ("said", "other", "asked"),
    [
        ("ガラス", "カラス", "ガ"), ("किताब", "कताब", "किताब"), ("한국어", "하늘", "한"),
        ("ที่", "ทา", "ที"), ("ड़", "ड", "ड़"),
    ],
)  # fmt: skip
def test_what_makes_another_letter_is_no_accent(memory, said, other, asked):
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="there", content=said)
    memory.add_memory("talk", id="other", content=other)
    assert next(iter(lexical(memory.query("talk", text=asked)))) == "there"


@pytest.mark.req("S002-066")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("auth*", {"auth"}), ("AUTH*", {"auth"}), ("*flow", {"auth", "flow"}), ("over*", {"flow"}),
        ("a*n", {"auth"}), ("a*d", {"flow"}), ("*", set()), ("zz*", set()), ("work*w", {"flow"}),
        ("post*", {"db"}), ("*gresql", {"db"}), ("auth* over*", {"auth", "flow"}),
        ("strass*", {"de"}), ("прив*", {"ru"}), ("databases*", {"db"}), ("*data*", {"db"}),
    ],
)  # fmt: skip
def test_a_wildcard_matches_parts_of_words_as_they_stood(words, text, wanted):
    assert set(lexical(words.query("talk", text=text))) == wanted


@pytest.mark.req("S002-066")
@pytest.mark.parametrize(
    ("text", "wanted"), [("get_user*", "snake"), ("*by_id", "snake"), ("user_*", "snake")]
)
def test_a_wildcard_may_stand_in_a_name_with_underscores(words, text, wanted):
    assert wanted in lexical(words.query("talk", text=text))


@pytest.mark.req("S002-066")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [("数据*", "zh"), ("*据库", "zh"), ("データ*", "ja"), ("데이터*", "ko"), ("ฐาน*", "th")],
)
def test_a_wildcard_may_stand_in_text_without_spaces(words, text, wanted):
    assert wanted in lexical(words.query("talk", text=text))


@pytest.mark.req("S002-066")
@pytest.mark.parametrize(
    "text", ["auth*的数据", "的数据auth*", "找*flow的数据", "auth*数据*", "数据*auth*"]
)
def test_a_wildcard_is_a_word_of_its_own_beside_text_without_spaces(words, text):
    assert {"auth", "zh"} <= set(lexical(words.query("talk", text=text)))


INDIA = {
    "hi": "किताब मेज़ पर है", "hi2": "काला बादल", "ta": "தமிழ் மொழி", "bn": "বাংলা ভাষা",
    "ar": "قرأتُ كِتَابًا", "tr": "İstanbul'da", "danda": "राम गया।श्याम",
}  # fmt: skip


@pytest.mark.req("S001-063")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("किताब", {"hi"}), ("कि", set()), ("क", set()), ("மொழி", {"ta"}), ("மொ", set()),
        ("ভাষা", {"bn"}), ("ভ", set()), ("كِتَابًا", {"ar"}), ("İSTANBUL", {"tr"}), ("stanbul", set()),
        ("गया", {"danda"}), ("किता*", {"hi"}), ("*दल", {"hi2"}), ("मे*ज़", {"hi"}),
    ],
)  # fmt: skip
def test_a_mark_belongs_to_the_word_that_it_stands_in(memory, sid, text, wanted):
    memory.add_many(sid, [{"id": name, "content": said} for name, said in INDIA.items()])
    assert set(lexical(memory.query(sid, text=text))) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("数据库", "zh"), ("喜欢", "zh"), ("データ", "ja"), ("選びました", "ja"), ("ベース", "ja"),
        ("데이터", "ko"), ("선택", "ko"), ("แมว", "th"), ("ฐานข้อมูล", "th"), ("ﾃﾞｰﾀ", "ja"),
    ],
)  # fmt: skip
def test_text_without_spaces_is_found_by_its_parts(words, text, wanted):
    assert list(lexical(words.query("talk", text=text))) == [wanted]


@pytest.mark.parametrize(("text", "wanted"), [("猫", "zh"), ("库", "zh"), ("選", "ja")])
def test_a_word_of_a_single_character_is_found(words, text, wanted):
    assert list(lexical(words.query("talk", text=text))) == [wanted]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("🎉", {"glued", "alone"}), ("❤", {"heart"}), ("❤️", {"heart"}),
        ("👍🏽", {"thumb"}), ("👍", {"thumb"}), ("👩", {"family"}), ("⏰", {"clock"}),
        ("⭐🎉", {"glued", "alone", "star"}),
        ("→", set()), ("🏽", set()),
    ],
)  # fmt: skip
def test_an_emoji_is_a_word_wherever_it_stands(memory, sid, text, wanted):
    said = {"glued": "shipped🎉", "alone": "🎉", "heart": "we ❤️ it", "thumb": "👍🏿",
            "clock": "at ⏰", "family": "👨‍👩‍👧", "star": "⭐⭐⭐", "arrow": "a → b"}  # fmt: skip
    memory.add_many(sid, [{"id": name, "content": content} for name, content in said.items()])
    assert set(lexical(memory.query(sid, text=text))) == wanted


@pytest.mark.req("S001-071")
def test_a_word_of_every_match_is_a_union_and_more_words_count_more(words):
    found = words.query("talk", text="authentication workflow tokens")
    assert set(lexical(found)) == {"auth", "flow"}
    assert ids(found)[0] == "auth"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("architect", ["who"]), ("billing", ["tag"]), ("tax", ["tag"]), ("urgent", ["category"]),
        ("march 2019", ["date"]), ("7 March 2019", ["date"]), ("deeply nested", ["nested"]),
    ],
)  # fmt: skip
def test_who_tags_category_and_date_are_words_too(memory, sid, text, wanted):
    memory.add_memory(sid, id="who", content="x", agent_id="architect")
    memory.add_memory(sid, id="tag", content="y", tags=["billing.tax"])
    memory.add_memory(sid, id="category", content="z", category="urgent")
    memory.add_memory(sid, id="date", content="w", timestamp="2019-03-07T12:00:00Z")
    memory.add_memory(sid, id="nested", content={"a": [{"b": "deeply"}, {"c": {"d": "nested"}}]})
    assert list(lexical(memory.query(sid, text=text))) == wanted


def test_every_field_of_a_typed_entry_is_searched(memory, sid):
    memory.add_decision(
        sid, id="d", decision="Use PostgreSQL", rationale="transactions", made_by="architect",
        alternatives=[{"option": "MongoDB", "reason": "no joins"}],
    )  # fmt: skip
    memory.add_finding(sid, id="f", description="leak", recommendation="rotate", severity="high")
    memory.update_preference(sid, id="p", key="style", value="concise")
    for text, wanted in (("mongodb", "d"), ("joins", "d"), ("transactions", "d"),
                         ("rotate", "f"), ("concise", "p"), ("style", "p")):  # fmt: skip
        assert list(lexical(memory.query(sid, text=text))) == [wanted]


def test_all_that_match_are_found_however_many_there_are(words):
    assert len(words.query("talk", text="filler", limit=1000)) == 1000


def test_a_filter_is_never_lost_among_better_matches_that_it_excludes(words):
    sid = words.create_session().id
    words.add_many(sid, [{"content": "alpha"} for _ in range(900)])
    words.add_memory(sid, content="nothing of the kind")
    words.add_decision(sid, id="d", decision="alpha, after a long discussion of many other things")
    assert ids(words.query(sid, text="alpha", types=["decision"])) == ["d"]
    words.delete_session(sid)


def test_the_newest_of_many_that_match_alike_come_first_in_time(words):
    sid = words.create_session().id
    batch = [
        {"id": f"m{number}", "content": "alpha", "timestamp": f"2026-01-01T00:{number:02}:00Z"}
        for number in range(60)
    ]
    batch += [
        {"id": f"n{number}", "content": "alpha", "timestamp": f"2025-01-01T0{number % 9}:00:00Z"}
        for number in range(900)
    ]
    words.add_many(sid, batch)
    found = words.query(sid, text="alpha", sort="time_desc", limit=10)
    assert ids(found) == [f"m{number}" for number in range(59, 49, -1)]
    words.delete_session(sid)
