"""Files that somebody made to do harm are refused, one by one, and nothing else happens."""

import json
import os
from contextlib import suppress

import pytest

from mnemolog.errors import InvalidFormatError
from mnemolog.layouts import READABLE, parsing, sources
from mnemolog.layouts.folder import FolderSource
from mnemolog.paths import file_name
from tests.layouts.world import opened

DEEP = b'{"id":"d","role":"user","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
GOOD = b'{"id":"good","role":"user","content":"fine"}\n'
BAD = [
    b"\xff\xfe{}\n",
    b'{"id":"n","role":"user","content":"x","metadata":{"a":NaN}}\n',
    b'{"id":"i","role":"user","content":"x","metadata":{"a":Infinity}}\n',
    b'{"id":"k","id":"k2","role":"user","content":"x"}\n',
    DEEP,
    b'{"id":"d2","role":"user","content":{"b":' + b'{"a":' * 66 + b"1" + b"}" * 67 + b"}\n",
    b'{"id":"big","role":"user","content":"x","metadata":{"a":123456789012345678901234567890}}\n',
    b'{"id":"r","role":["user"],"content":"x"}\n',
    b'{"id":"t","role":"user","content":"x","timestamp":"yesterday"}\n',
    b'{"id":"t2","role":"user","content":"x","timestamp":1e308}\n',
    b'{"id":"m","role":"user","content":"x","metadata":[1]}\n',
    b'{"id":"c","role":"user","content":7}\n',
    b'{"id":"e","role":"user","content":"   "}\n',
    b'{"id":"y","type":"tombstone","role":"user","content":"x"}\n',
    b'{"id":"y2","type":"No Type","role":"user","content":"x"}\n',
    b'{"id":"s","role":"user","content":"x","importance":7}\n',
    b'{"id":"s2","role":"user","content":"x","scope":"run"}\n',
    b'{"id":"' + b"i" * 2000 + b'","role":"user","content":"x"}\n',
    b'{"id":"nul\\u0000","role":"user","content":"x"}\n',
    b'{"id":"long","role":"user","content":"' + b"x" * 1_100_000 + b'"}\n',
    b"[1,2]\n",
    b'"text"\n',
    b"{\n",
]  # fmt: skip


def test_each_bad_line_is_refused_by_itself(memory):
    content = GOOD + b"".join(BAD) + GOOD.replace(b"good", b"last")
    report = memory.import_from({"s/conversation.jsonl": content})
    assert report.stored == {"conversation": 2}
    assert [line for _, line, _, _ in report.refused] == list(range(2, len(BAD) + 2))
    assert report.refused_total == len(BAD) == sum(report.reasons.values())
    assert [entry.id for entry in memory.get_entries("s")] == ["good", "last"]
    assert not any("xxxx" in str(one) for one in report.refused)


def test_a_huge_line_is_passed_over_without_being_kept(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_LINE", 1000)
    huge = b'{"id":"h","role":"user","content":"' + b"x" * 3_000_000 + b'"}\n'
    (tmp_path / "s.ndjson").write_bytes(GOOD + huge + GOOD.replace(b"good", b"last"))
    report = memory.import_from(tmp_path / "s.ndjson")
    assert report.stored == {"conversation": 2}
    assert report.refused == [("s.ndjson", 2, "the line is too long", "E_SIZE_LIMIT")]


def test_a_huge_document_is_not_read(memory, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_DOCUMENT", 100)
    (tmp_path / "chat.json").write_text(json.dumps([{"role": "user", "content": "x" * 200}]))
    report = memory.import_from(tmp_path / "chat.json", "openai")
    assert report.reasons == {"the document is too long": 1}


def test_links_pipes_and_odd_names_are_named_and_never_opened(memory, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.ndjson").write_bytes(GOOD)
    source = tmp_path / "source"
    (source / "folder").mkdir(parents=True)
    (source / "s.ndjson").write_bytes(GOOD)
    (source / "link.ndjson").symlink_to(outside / "secret.ndjson")
    (source / "away").symlink_to(outside)
    (source / "loop").symlink_to(source)
    os.mkfifo(source / "pipe.ndjson")
    (source / "line\nbreak.ndjson").write_bytes(GOOD)
    (source / "C: a\\b.ndjson").write_bytes(GOOD)
    with open(os.fsencode(source) + b"/\xff.ndjson", "wb") as file:
        file.write(GOOD)
    report = memory.import_from(source)
    assert report.sessions == {"created": 2}
    assert report.reasons == {
        "a link, which is not followed": 3, "no regular file": 1, "its name is not plain text": 2,
    }  # fmt: skip
    assert {one.id for one in memory.list_sessions()} == {"s", "C: a\\b"}
    json.dumps([one.file for one in report.refused]).encode()


def test_a_link_or_a_pipe_that_is_named_itself_is_refused(memory, tmp_path):
    (tmp_path / "real.ndjson").write_bytes(GOOD)
    (tmp_path / "link").symlink_to(tmp_path / "real.ndjson")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises((OSError, ValueError), match=r"is a link|no regular file"):
            memory.import_from(tmp_path / name)


def test_an_empty_path_is_not_the_folder_where_one_stands(memory, tmp_path, monkeypatch):
    (tmp_path / "talk.json").write_text('{"messages": [{"role": "user", "content": "hi"}]}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidFormatError, match="empty"):
        memory.import_from("")


def test_a_file_that_goes_away_is_refused(memory, tmp_path):
    for name in ("a.ndjson", "b.ndjson"):
        (tmp_path / name).write_bytes(GOOD)
    source = FolderSource(str(tmp_path))
    (tmp_path / "a.ndjson").unlink()
    report = memory.import_from(source)
    assert report.refused == [("a.ndjson", None, "the file could not be read", "E_STORAGE_IO")]
    assert report.stored == {"conversation": 1}


NAMES = ["../../../etc/cron.d/x", "/etc/passwd", "..", ".", "a/b", "con", "x" * 1000, "C:\\x",
         "%2e%2e%2f", "\u202ename", "NAME", "name"]  # fmt: skip


@pytest.mark.req("S002-186", "S002-187", "S002-180")
def test_ids_that_look_like_paths_stay_ids(memory, root, tmp_path):
    for name in NAMES:
        facts = {"session_id": name, "agent_ids": [name], "user_id": name}
        files = {"s/manifest.json": json.dumps(facts), "s/conversation.jsonl": GOOD}
        assert memory.import_from(files).stored == {"conversation": 1}, name
    assert sorted(one.id for one in memory.list_sessions()) == sorted(NAMES)
    assert len(list((root / "sessions").iterdir())) == len(NAMES)
    assert {path.name for path in tmp_path.iterdir()} == {"store"}
    there = {"store"}
    for layout in ("four-files", "one-log", "work-agent", "memory-json"):
        there |= {layout, f"{layout}-in"}
        memory.export_to(tmp_path / layout, layout)
        with opened(tmp_path / f"{layout}-in") as other:
            other.import_from(tmp_path / layout)
            found = {one.id for one in other.list_sessions()}
        # memory.json has no place for an id that is too long for the name of its folder.
        lost = {"x" * 1000} if layout == "memory-json" else set()
        assert found == set(NAMES) - lost | {file_name(name) for name in lost}
    assert {path.name for path in tmp_path.iterdir()} == there


SHAPES = [
    b"null", b"7", b'"x"', b"[]", b"{}", b"[[]]", b"[null]", b'{"messages":7}',
    b'{"messages":[7,null,{"role":7}]}', b'{"run":7,"session":{"a":7},"plan":[7]}',
    b'{"session":null}', b'{"mnemolog_export":1,"sessions":[7,{"session":7},{"session":{}}]}',
    b'{"mnemolog_export":1,"sessions":7,"users":[7],"shared":{"a":1}}',
    b'{"mnemolog_export":1,"users":{"":[{"id":"x","content":"y"}],"u":7,"v":[7]}}',
    b'{"mnemolog_export":1,"sessions":[{"session":{"id":"s","agent_ids":[7],"metadata":7}}]}',
    b'{"type":"entity"}', b'{"type":"entity","name":"n","entityType":"t","observations":7}',
    b'{"type":"relation","relationType":{}}', b'{"type":"user","sessionId":"s","message":{}}',
    b'{"type":"user","sessionId":"s","message":{"content":[7,{"type":[]},{"type":"text"}]}}',
    b'{"v":1,"id":7,"type":"session"}', b'{"v":1,"id":"x","type":"note","content":"y"}',
    b'{"v":1,"id":["x"],"type":"tombstone","target":{}}', b'{"users":[7]}', b'{"entries":[7]}',
    b'{"id":{},"role":{},"parts":{},"content":{},"metadata":7,"timestamp":[]}',
    b"---\na: &x\n---\n", b"---\n", b"\xff\xff",
]  # fmt: skip
PLACES = ["x.json", "x.jsonl", "x.ndjson", "s/conversation.jsonl", "s/manifest.json",
          "s/memory.jsonl", "s/metadata.json", "s/tombstones.jsonl", "memory.json", "u/x.md",
          "agents/a/memory/sessions/s.ndjson", "agents/a/memory/conversations/s.json",
          "shared/user-preferences.json", "shared/agent-knowledge.json"]  # fmt: skip


@pytest.mark.parametrize("layout", READABLE)
def test_no_shape_in_no_place_breaks_a_reader(memory, layout):
    for shape in SHAPES:
        with suppress(InvalidFormatError):
            report = memory.import_from(dict.fromkeys(PLACES, shape), layout, dry_run=True)
            assert report.layout == layout
    lines = dict.fromkeys(PLACES, b"\n".join(SHAPES))
    with suppress(InvalidFormatError):
        assert memory.import_from(lines, layout).layout == layout


def test_ten_thousand_sessions_are_looked_through(memory):
    files = {f"agents/bot/memory/sessions/s{number}.ndjson": GOOD for number in range(10_000)}
    report = memory.import_from(files, dry_run=True)
    assert report.sessions == {"created": 10_000}
    assert report.stored == {"conversation": 10_000}


def test_ten_thousand_refusals_are_counted_and_the_first_thousand_named(memory):
    content = b"".join(b'{"id":"x%d","role":"user","content":%d}\n' % (n, n) for n in range(10_000))
    report = memory.import_from({"s/conversation.jsonl": content})
    assert report.refused_total == sum(report.reasons.values()) == 10_000
    assert len(report.refused) == 1000


def test_kinds_of_what_is_skipped_cannot_grow_without_end(memory):
    parts = [{"type": f"kind{number}"} for number in range(1000)]
    report = memory.import_from({"c.json": json.dumps([{"role": "user", "content": parts}])})
    assert len(report.skipped) <= 101
    assert sum(report.skipped.values()) == 1001


def test_the_limits_are_those_of_the_page():
    assert parsing.MAX_LINE == 8 * 1024 * 1024
    assert parsing.MAX_DOCUMENT == 64 * 1024 * 1024


SURROGATE = "\ud800"


@pytest.mark.parametrize("files", [
    {"agents/a/memory/sessions/s.ndjson": {"content": "x"},
     "agents/a/memory/conversations/s.json": {"id": SURROGATE}},
    {"s/memory.jsonl": {"id": "e", "type": "note", "content": "x"},
     "s/tombstones.jsonl": {"id": "e", "timestamp": SURROGATE, "reason": SURROGATE}},
], ids=["work-agent", "one-log"])  # fmt: skip
def test_half_a_character_stops_no_import(memory, files):
    report = memory.import_from({name: json.dumps(told) for name, told in files.items()})
    assert (report.stored + report.deleted).total() == 1


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_checksum_over_a_number_without_end_is_wrong(memory, number):
    line = f'{{"id":"e","type":"note","content":"x","n":{number},"checksum":"sha256:00"}}'
    report = memory.import_from({"s/memory.jsonl": line}, "one-log")
    assert report.refused_total == 1


def test_files_that_no_disk_could_hold_are_refused_in_words(memory):
    for files in ({"a.json": SURROGATE}, {"a.json": 5}, {5: b""}):
        with pytest.raises(InvalidFormatError):
            memory.import_from(files)
