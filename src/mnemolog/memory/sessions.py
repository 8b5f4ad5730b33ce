"""Sessions: created, loaded, changed, closed, deleted, listed."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from mnemolog.errors import (
    NotAllowedError,
    SettingsError,
    StorageError,
)
from mnemolog.memory.base import ASK_OWNER, Base
from mnemolog.model import plain, shapes
from mnemolog.model.entry import FORMAT
from mnemolog.model.ids import check_agents, check_name, new_session_id
from mnemolog.model.observing import tell
from mnemolog.model.session import Manifest, Session
from mnemolog.model.times import normalise, to_text
from mnemolog.policy import quota
from mnemolog.ports import Listed, Unread, Wanted
from mnemolog.settings import Settings

STATES = ("active", "idle", "archived", "deleted")
_CLOSED = "closed_seq"


class Sessions(Base):
    """The verbs about sessions."""

    def create_session(
        self,
        user_id: str | None = None,
        *,
        agent_ids: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        preferences: Mapping[str, Any] | None = None,
        settings: Mapping[str, object] | None = None,
        session_id: str | None = None,
        created_at: object = None,
    ) -> Session:
        """Create a session; an agent's view adds the agent itself to `agent_ids`."""
        manifest = self._begun(
            user_id, agent_ids, metadata, preferences, settings, session_id, created_at
        )
        self._store.create(manifest)
        tell("session.created", manifest.session_id)
        return _session(Listed(manifest, 0, None))

    def _begun(
        self,
        user_id: str | None = None,
        agent_ids: Iterable[str] = (),
        metadata: Mapping[str, Any] | None = None,
        preferences: Mapping[str, Any] | None = None,
        settings: Mapping[str, object] | None = None,
        session_id: str | None = None,
        created_at: object = None,
    ) -> Manifest:
        """A session as it would be created, checked; nothing is stored."""
        now = self._clock.now()
        agents = check_agents(agent_ids)
        if self._viewer.agent is not None and self._viewer.agent not in agents:
            agents = (*agents, self._viewer.agent)
        overrides = plain.plain_object(settings, "settings", [])
        in_force = self.settings.with_overrides(overrides)
        self._refuse_secrets(overrides, in_force)
        manifest = Manifest(
            v=FORMAT,
            session_id=check_name(session_id, "session id", is_made=True) or new_session_id(now),
            user_id=self._own_user(check_name(user_id, "user id")),
            agent_ids=agents,
            created_at=to_text(now) if created_at is None else normalise(created_at, "created_at"),
            metadata=self._clean(metadata, "metadata", in_force),
            preferences=self._clean(preferences, "preferences", in_force),
            settings=overrides,
        )
        quota.check_envelope(len(msgspec.json.encode(manifest)))
        return manifest

    def _clean(
        self, given: Mapping[str, Any] | None, what: str, settings: Settings
    ) -> dict[str, Any]:
        """A session's own facts, with secrets hidden as in an entry."""
        facts = plain.plain_object(given, what, [])
        redact = self._redact(settings)
        return dict(redact(facts)[0]) if redact and facts else facts

    def _refuse_secrets(self, overrides: dict[str, Any], in_force: Settings) -> None:
        """Settings are kept word for word, so a pattern must not hold what it is to hide."""
        redact = self._redact(in_force) if overrides else None
        found = redact(overrides)[1] if redact else {}
        if found:
            raise SettingsError(
                f"These settings hold what looks like a secret ({', '.join(sorted(found))}).",
                advice="Nothing was stored. A pattern describes a secret, with classes such as "
                "[0-9]{8}, and never spells one out.",
                kinds=sorted(found),
            )

    def _own_user(self, user_id: str | None) -> str | None:
        if self._viewer.user is not None and user_id not in (None, self._viewer.user):
            raise NotAllowedError(
                f"This view is for the user {self._viewer.user!r:.80} alone.", advice=ASK_OWNER
            )
        return user_id or self._viewer.user

    def load_session(self, session_id: str) -> Session:
        """A session's facts as they are now."""
        self._manifest(session_id)
        return _session(next(self._store.sessions(session_id)))

    def update_session(
        self,
        session_id: str,
        *,
        agent_ids: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        preferences: Mapping[str, Any] | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> Session:
        """Change a session's facts; objects are merged key by key, `agent_ids` are replaced."""
        manifest = self._manifest(session_id)
        if (agent_ids is not None or settings is not None) and self._viewer.agent is not None:
            raise NotAllowedError(
                "An agent's view cannot change a session's agents or settings.", advice=ASK_OWNER
            )
        agents = None if agent_ids is None else check_agents(agent_ids)
        own = plain.plain_object(settings, "settings", [])
        # Facts that come with new settings are written under these, as those of a new session are.
        later = self.settings.with_overrides(self.settings.merged(manifest.settings, own))
        given = {"metadata": metadata, "preferences": preferences}
        checked = {name: self._clean(value, name, later) for name, value in given.items()}
        self._refuse_secrets(own, later)

        def edit(before: Manifest) -> Manifest:
            merged: dict[str, Any] = {
                name: {**getattr(before, name), **more} for name, more in checked.items()
            }
            merged["settings"] = self.settings.merged(before.settings, own)
            self.settings.with_overrides(merged["settings"])
            merged["agent_ids"] = before.agent_ids if agents is None else agents
            after = msgspec.structs.replace(before, **merged)
            _check_growth(before, after)
            return after

        self._store.change(session_id, edit)
        return self.load_session(session_id)

    def close_session(self, session_id: str) -> Session:
        """Say that a session is finished: it is idle until the next entry."""
        last = self._read(session_id, last=0).summary.last_seq
        self._store.change(session_id, lambda before: _closed(before, last))
        tell("session.closed", session_id)
        return self.load_session(session_id)

    def list_sessions(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        state: str | None = None,
        limit: int | None = None,
    ) -> list[Session]:
        """The sessions this handle may see, last changed first."""
        wanted = Wanted(
            check_name(user_id, "user id"),
            check_name(agent_id, "agent id"),
            None if state is None else shapes.one_of(state, STATES, "state"),
            plain.count(limit, "limit"),
        )
        if self._index is not None:
            with suppress(StorageError):  # derived: without it every session is looked at
                return [_session(one) for one in self._index.sessions(wanted, self._viewer)]
        return _chosen([_session(one) for one in self._visible()], wanted)

    def _every(self, left_out: Unread) -> list[Session]:
        """Every session that this handle may see; `left_out` is told of those that cannot be
        read."""
        return [_session(one) for one in self._visible(left_out)]


def _chosen(found: list[Session], wanted: Wanted) -> list[Session]:
    """What a catalogue would give, by looking at every session."""
    chosen = [
        one
        for one in found
        if wanted.user_id in (None, one.user_id)
        and (wanted.agent_id is None or wanted.agent_id in one.agent_ids)
        and wanted.state in (None, one.state)
    ]
    chosen.sort(key=lambda one: (one.updated_at, one.id), reverse=True)
    return chosen[: wanted.limit]


def _session(one: Listed) -> Session:
    manifest = one.manifest
    closed = manifest.markers.get(_CLOSED)
    is_idle = closed is not None and one.last_seq <= closed
    return Session(
        id=manifest.session_id,
        user_id=manifest.user_id,
        agent_ids=manifest.agent_ids,
        metadata=manifest.metadata,
        preferences=manifest.preferences,
        settings=manifest.settings,
        state="archived" if manifest.archived_at else "idle" if is_idle else "active",
        created_at=manifest.created_at,
        updated_at=max(one.last_written or "", manifest.created_at),
    )


def _check_growth(before: Manifest, after: Manifest) -> None:
    """Refuse facts that grow past what a session may be created with; less of them always goes."""
    size = len(msgspec.json.encode(after))
    if size > len(msgspec.json.encode(before)):
        quota.check_envelope(size)


def _closed(before: Manifest, last_seq: int) -> Manifest:
    return msgspec.structs.replace(before, markers={**before.markers, _CLOSED: last_seq})
