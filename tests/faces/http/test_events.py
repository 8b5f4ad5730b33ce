"""Live events: what is written anywhere comes to whoever may see it, and nothing else does."""

import threading
from datetime import UTC, datetime

import pytest

from mnemolog import Memory
from mnemolog.faces.http import feeds
from mnemolog.faces.http.passes import Scope
from mnemolog.stores.files.serving.token_file import TokenFile
from tests.faces.http.servers import stream, wait_until


def listening(client, wanted, **more):
    """Begin to listen; the answer waits for so many events."""
    found: list[dict] = []
    thread = threading.Thread(target=lambda: found.extend(stream(client, wanted, **more)))
    thread.start()

    def result():
        thread.join(30)
        assert not thread.is_alive()
        return found

    return result


OWNER = Scope()


def readers(server, scope=OWNER):
    return len(server.built.house.feeds.of(scope)._readers)


@pytest.fixture
def followed(server):
    """The owner's feed, which follows what is written from now on."""
    feed = server.built.house.feeds.of(OWNER)
    feed.wait(30)
    return feed


@pytest.fixture
def session(server, followed, session):
    """The same session, once what was written to it has been told."""
    last = server.memory.get_entries(session)[-1].id
    feed = server.built.house.feeds.of(OWNER)
    wait_until(lambda: any(event.body.get("id") == last for event in list(feed._kept)))
    return session


def test_what_another_process_writes_comes_live_without_its_content(server, session):
    with server.client() as client:
        told = listening(client, 1, params={"topics": "entry"})
        wait_until(lambda: readers(server) == 1)
        with Memory.open(server.root) as other:  # a handle of its own, as another program has
            done = other.add_memory(session, type="note", content="hidden words")
        [event] = told()
    assert event["event"] == "entry"
    assert event["data"]["id"] == done.id
    assert event["data"]["session_id"] == session
    assert "hidden words" not in str(event)
    wait_until(lambda: readers(server) == 0)


def test_a_stream_goes_on_where_it_broke_off(server, owner, session):
    with server.client() as client:
        told = listening(client, 1, params={"topics": "entry"})
        wait_until(lambda: readers(server) == 1)
        path = f"/sessions/{session}/entries"
        first = owner.post(path, json={"type": "note", "content": "1"}).json()["id"]
        [seen] = told()
        assert seen["data"]["id"] == first
        missed = [
            owner.post(path, json={"type": "note", "content": f"{n}"}).json()["id"] for n in (2, 3)
        ]
        again = stream(client, 2, params={"topics": "entry"}, headers={"Last-Event-ID": seen["id"]})
    assert [event["data"]["id"] for event in again] == missed


@pytest.mark.parametrize("last", ["0badf00d-7", "nonsense", "-"])
def test_who_missed_too_much_is_told_to_look_again(server, last):
    with server.client() as client:
        [event] = stream(client, 1, headers={"Last-Event-ID": last})
    assert event["event"] == "resync"


def test_a_slow_reader_gets_one_resync_instead_of_a_growing_queue(server):
    import asyncio

    async def slow():
        feed = server.built.house.feeds.of(Scope())
        reader = feed.join(frozenset({"health"}), None)
        for _ in range(feeds._WAITING + 50):
            feed.publish("health", n=1)
        await asyncio.sleep(0)
        first = await reader.next(5)
        feed.leave(reader)
        return first, reader._queue.qsize()

    first, left = asyncio.run(slow())
    assert first.topic == "resync"
    assert left <= feeds._WAITING


def test_a_scoped_stream_hears_only_of_its_own(server, owner, session):
    token, _ = TokenFile(str(server.root)).issue(
        "scoped", datetime.now(UTC), None, agents=("architect",)
    )
    other = owner.post("/sessions", json={"agent_ids": ["analyst"]}).json()["id"]
    with server.client(token) as client:
        told = listening(client, 1, params={"topics": "entry"})
        wait_until(lambda: readers(server, Scope(agent="architect")) == 1)
        owner.post(f"/sessions/{other}/entries", json={"type": "note", "content": "theirs"})
        mine = owner.post(
            f"/sessions/{session}/entries", json={"type": "note", "content": "mine"}
        ).json()["id"]
        [event] = told()
    assert event["data"]["id"] == mine


@pytest.mark.parametrize("how", ["revoked", "narrowed"])
def test_an_open_stream_ends_with_its_token(server, owner, session, how):
    file = TokenFile(str(server.root))
    # A scope that nobody followed yet: its feed begins now, and tells nothing of the fixture's.
    token, made = file.issue("scoped", datetime.now(UTC), None, agents=("architect", how))
    with server.client(token) as client:
        told = listening(client, 1)
        wait_until(lambda: readers(server, Scope("architect", None, (how,))) == 1)
        if how == "revoked":
            file.revoke(made.id)
        else:
            tokens = server.root / "tokens.toml"
            tokens.write_text(tokens.read_text().replace('"architect", ', ""))
        owner.post(f"/sessions/{session}/entries", json={"type": "note", "content": "later"})
        assert told() == []


def test_a_last_event_that_never_was_is_no_failure(server):
    with server.client() as client:
        last = f"{server.built.house.feeds.of(OWNER)._boot}-²".encode("latin-1")
        assert stream(client, 1, headers={"Last-Event-ID": last})[0]["event"] == "resync"


def test_hiding_and_jobs_are_told_too(server, owner, session):
    with server.client() as client:
        told = listening(client, 2, params={"topics": "hidden,job"})
        wait_until(lambda: readers(server) == 1)
        entry = owner.get(f"/sessions/{session}/entries").json()["items"][0]["entry"]["id"]
        selector = {"session_id": session, "ids": [entry]}
        owner.post("/plans", json={"action": "delete", "selector": selector, "run": True})
        owner.post("/verify", json={"ids": [entry]})
        found = told()
    assert {event["event"] for event in found} == {"hidden", "job"}


def test_an_unknown_topic_is_refused(owner):
    assert owner.get("/events", params={"topics": "weather"}).json()["code"] == "E_TOPIC"
