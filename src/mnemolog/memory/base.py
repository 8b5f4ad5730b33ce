"""What every part of `Memory` shares: the store, the settings, the clock, and who is asking."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from mnemolog.errors import (
    InvalidQueryError,
    NotAllowedError,
    SessionCorruptError,
    SettingsError,
    no_session,
)
from mnemolog.model import given
from mnemolog.model.ids import check_id
from mnemolog.model.session import Manifest
from mnemolog.policy.access import OWNER, Viewer, may_see_session
from mnemolog.policy.compaction import Weighed
from mnemolog.policy.drafting import Circumstances, Redact
from mnemolog.ports import (
    SHARED,
    Clock,
    Index,
    Listed,
    LogKey,
    Reading,
    Store,
    SystemClock,
    Unread,
)
from mnemolog.ports.keeping import Keeper
from mnemolog.ports.moving import Mover
from mnemolog.ports.shelf import Shelf
from mnemolog.settings import Settings, Storage

ASK_OWNER = "Use the owner's handle: `Memory.open(…)` without `for_agent` or `for_user`."
_MAX_IN_FORCE = 256

# The verbs that change whole sessions, and what they are for whom they are refused.
_FOR_OWNER = {
    "archive_session": "archive sessions",
    "maintain": "maintain a memory",
    "rebuild_index": "rebuild the index",
}
_NOT_FOR_AGENTS = {"compact_session": "compact a session", "delete_session": "delete a session"}


# What a session is written under: how it is stored, what hides secrets, when it is compacted.
_Terms = tuple[Manifest, Storage, Redact | None, int]
_T = TypeVar("_T")


def _remember(known: dict[str, _T], session_id: str, one: _T) -> None:
    if len(known) >= _MAX_IN_FORCE:
        known.clear()
    known[session_id] = one


def around(session_id: str, user_id: str | None) -> list[LogKey]:
    """Where an entry of a session may stand: in its own log, in its user's, in the shared one."""
    users = [] if user_id is None else [LogKey("user", user_id)]
    return [LogKey("session", session_id), *users, SHARED]


class Base:
    """The ground under the verbs; every access to a session passes `_manifest`."""

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        clock: Clock | None = None,
        viewer: Viewer = OWNER,
        index: Index | None = None,
        keeper: Keeper | None = None,
        mover: Callable[[], Mover] | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self._store = store
        self._index = index
        self._kept_by = keeper
        self._moved_by = mover
        self._shelved_by = shelf
        self._clock = clock or SystemClock()
        self._viewer = viewer
        self.settings = settings or Settings()
        self._in_force: dict[str, tuple[Manifest, Settings]] = {}
        self._terms: dict[str, _Terms] = {}

    def use_settings(self, settings: Settings) -> None:
        """Go by other settings from now on; views that were made before keep theirs."""
        self.settings = settings
        self._in_force.clear()
        self._terms.clear()

    def _manifest(self, session_id: str) -> Manifest:
        """A session's facts, if it exists for this viewer."""
        manifest = self._store.load(check_id(session_id, "session id"))
        if not may_see_session(self._viewer, manifest.agent_ids, manifest.user_id):
            raise no_session(session_id)
        return manifest

    def check_allowed(self, verb: str) -> None:
        """Refuse a verb as it would itself, where it is not for this view; nothing is done."""
        given.text(verb, "verb")
        if verb in _FOR_OWNER:
            self._for_owner(_FOR_OWNER[verb])
        if verb in _NOT_FOR_AGENTS:
            self._not_for_agents(_NOT_FOR_AGENTS[verb])

    def _for_owner(self, action: str) -> None:
        if self._viewer != OWNER:
            raise NotAllowedError(f"Only the owner may {action}.", advice=ASK_OWNER)

    def _not_for_agents(self, action: str) -> None:
        if self._viewer.agent is not None:
            raise NotAllowedError(f"An agent's view cannot {action}.", advice=ASK_OWNER)

    def _own_logs(self, session_id: str) -> list[LogKey]:
        return around(session_id, self._manifest(session_id).user_id)

    def _visible(self, left_out: Unread | None = None) -> Iterator[Listed]:
        for one in self._store.sessions(left_out=left_out):
            if may_see_session(self._viewer, one.manifest.agent_ids, one.manifest.user_id):
                yield one

    def _names(self) -> list[str]:
        """The sessions that this viewer may see."""
        return [one.manifest.session_id for one in self._visible()]

    def _read(self, session_id: str, **wanted: Any) -> Reading:
        self._manifest(session_id)
        return self._store.read(LogKey("session", session_id), self._viewer, **wanted)

    @property
    def _keeper(self) -> Keeper:
        if self._kept_by is None:
            raise NotAllowedError("This handle was made without a keeper.")
        return self._kept_by

    @property
    def _shelf(self) -> Shelf:
        if self._shelved_by is None:
            raise NotAllowedError("This handle was made without a graph.")
        return self._shelved_by

    def _moved_out(
        self,
        session_id: str,
        is_meant: Callable[[Weighed], bool] = lambda _: True,
        *,
        is_salvage: bool = False,
    ) -> list[Weighed]:
        """What compactions moved out of a session. A crash may leave what came back there too: what
        has a newer life in the log, or was deleted there, is none of it."""
        keeper, log = self._keeper, LogKey("session", session_id)
        found = keeper.moved(session_id, is_salvage=is_salvage)
        moved = (one for one in found.values() if is_meant(one))
        return [one for one in moved if not keeper.knows(log, one.entry.id)]

    def _search_index(self) -> Index:
        if self._index is None:
            raise InvalidQueryError("This handle was made without an index.")
        return self._index

    def _settings(self, manifest: Manifest) -> Settings:
        """What is in force for a session; worked out once for as long as its manifest stays."""
        if not manifest.settings:
            return self.settings
        known = self._in_force.get(manifest.session_id)
        if known is None or known[0] is not manifest:
            known = (manifest, self._overridden(manifest))
            _remember(self._in_force, manifest.session_id, known)
        return known[1]

    def _overridden(self, manifest: Manifest) -> Settings:
        try:
            return self.settings.with_overrides(manifest.settings)
        except SettingsError as error:  # edited by hand, or by a mnemolog with other settings
            raise SessionCorruptError(
                f"The session {manifest.session_id!r:.200} has settings of its own that cannot be"
                f" used: {error.message}",
                advice=f"{error.advice} They stand in its manifest.json.".strip(),
                session_id=manifest.session_id,
            ) from error

    def _where(self, session_id: str | None) -> Circumstances:
        """Where, for whom and when something is written."""
        now = self._clock.now()
        if session_id is None:
            storage, redact = self.settings.storage, self._redact(self.settings)
            return Circumstances(None, None, self._viewer, now, storage, redact)
        manifest = self._manifest(session_id)
        terms = self._terms.get(session_id)
        if terms is None or terms[0] is not manifest:
            terms = self._work_out(manifest)
        _, storage, redact, trigger = terms
        user = manifest.user_id
        return Circumstances(session_id, user, self._viewer, now, storage, redact, trigger)

    def _work_out(self, manifest: Manifest) -> _Terms:
        """What a session is written under, for as long as its manifest stays."""
        settings = self._settings(manifest)
        trigger = settings.compaction.trigger(settings.storage.max_session_bytes)
        terms = (manifest, settings.storage, self._redact(settings), trigger)
        _remember(self._terms, manifest.session_id, terms)
        return terms

    def _redact(self, settings: Settings) -> Redact | None:
        """What hides secrets under these settings; nothing where that is switched off."""
        if not settings.privacy.redaction or self._kept_by is None:
            return None
        privacy = settings.privacy
        return self._kept_by.redaction(privacy.redaction_patterns, privacy.redaction_kinds)

    def _may_reach_user(self, user_id: str, session_user: str | None) -> str:
        """A user's own log is for the owner, for that user's view, and through their sessions."""
        if self._viewer != OWNER and user_id not in (self._viewer.user, session_user):
            raise NotAllowedError(
                f"This view does not include the user {user_id!r:.80}.",
                advice="Go through one of the user's sessions, or use the owner's handle.",
            )
        return user_id
