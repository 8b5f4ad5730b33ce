"""The server's log: JSON lines of timestamp, level, component, session_id, message, metadata.

What the core tells has names and numbers only; a request is told by its route's template. Nothing
that anybody said is ever in it.
"""

import json
import logging
import sys
import threading
import time
import traceback
from datetime import UTC, datetime
from typing import Any

from mnemolog.faces.http.door import Seen
from mnemolog.faces.http.problems import Known
from mnemolog.model.observing import Fact
from mnemolog.model.times import to_text

_LOG = logging.getLogger("mnemolog.server")
_BUSY = 503
_PAUSE = 1.0

# What the core tells, and how loudly it is passed on; what is not here is only counted.
LEVELS: dict[str, tuple[int, str]] = {
    "lock.acquired": (logging.DEBUG, "lock"),
    "lock.released": (logging.DEBUG, "lock"),
    "lock.contended": (logging.DEBUG, "lock"),
    "cache.hit": (logging.DEBUG, "cache"),
    "cache.miss": (logging.DEBUG, "cache"),
    "write": (logging.DEBUG, "memory"),
    "query": (logging.DEBUG, "memory"),
    "session.created": (logging.INFO, "session"),
    "session.closed": (logging.INFO, "session"),
    "session.archived": (logging.INFO, "session"),
    "session.restored": (logging.INFO, "session"),
    "session.deleted": (logging.INFO, "session"),
    "compaction.started": (logging.INFO, "compaction"),
    "compaction.ended": (logging.INFO, "compaction"),
    "lock.timeout": (logging.WARNING, "lock"),
    "size.near_limit": (logging.WARNING, "storage"),
    "damage": (logging.ERROR, "storage"),
}


class JsonLines(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """A record as it is written."""
        level = "WARN" if record.levelname == "WARNING" else record.levelname
        fields = {
            "timestamp": to_text(datetime.fromtimestamp(record.created, UTC)),
            "level": level,
            "component": getattr(record, "component", record.name),
            "session_id": getattr(record, "session_id", None),
            "message": _message(record).partition("\n")[0],
            "metadata": getattr(record, "facts", _trace(record)),
        }
        return json.dumps(fields, ensure_ascii=True)


def _message(record: logging.LogRecord) -> str:
    """What was told; of what libraries tell only the fixed words: the rest may hold content, as
    may the reprs and traces on further lines."""
    is_ours = record.name.partition(".")[0] == "mnemolog"
    return record.getMessage() if is_ours else str(record.msg)


def begin(level: str) -> logging.Handler:
    """Write the log to standard error from now on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("mnemolog", "uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
    logging.getLogger().handlers = [handler]  # whatever else a library tells
    logging.getLogger("mnemolog").setLevel(level.upper())
    # What strangers send it tells as a warning, each time, and says nothing of it.
    logging.getLogger("uvicorn").setLevel("ERROR")
    threading.excepthook = _ended
    return handler


def _ended(thread: threading.ExceptHookArgs) -> None:
    if thread.exc_value is not None:
        unexpected(thread.exc_value)


def _say(level: int, component: str, session_id: str | None, message: str, **facts: Any) -> None:
    extra = {"component": component, "session_id": session_id, "facts": facts}
    _LOG.log(level, message, extra=extra)


def note(fact: Fact) -> None:
    """Pass on what the core tells."""
    level, component = LEVELS.get(fact.name, (logging.DEBUG, "memory"))
    if _LOG.isEnabledFor(level):
        numbers = {name: round(value, 3) for name, value in fact.numbers.items()}
        _say(level, component, fact.session_id, fact.name, **numbers)


class _Refusals:
    """Requests that the server was too busy for: a flood of them is one line a second."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._untold = 0
        self._told = -_PAUSE

    def tell(self, is_one: bool) -> None:
        """Count a request; say how many were refused, if nothing was said for a while."""
        if not (is_one or self._untold):
            return
        now = time.monotonic()
        with self._mutex:
            self._untold += is_one
            count = self._untold if now >= self._told + _PAUSE else 0
            if count:
                self._untold, self._told = 0, now
        if count:
            _say(logging.WARNING, "http", None, "busy", refused=count)


_REFUSALS = _Refusals()


def seen(request: Seen) -> None:
    """A request that is over; one that was refused for load is counted among its like."""
    is_refused = request.status == _BUSY
    _REFUSALS.tell(is_refused)
    level = logging.ERROR if request.status >= 500 and not is_refused else logging.DEBUG
    _say(
        level,
        "http",
        None,
        "request",
        method=request.method,
        route=request.route,
        status=request.status,
        duration_ms=round(request.seconds * 1000, 3),
        request_id=request.request_id,
    )


def told(component: str, message: str, session_id: str | None = None, **facts: Any) -> None:
    """Something that an operator may want to know."""
    _say(logging.INFO, component, session_id, message, **facts)


def failed(error: Known, request_id: str) -> None:
    """The disk did not do what was asked of it."""
    _say(logging.ERROR, "storage", None, "failed", code=error.code, request_id=request_id)


def unexpected(error: BaseException, request_id: str = "") -> None:
    """Something went wrong that nobody expected."""
    _say(logging.ERROR, "http", None, "unexpected", **_where(error), request_id=request_id)


def _trace(record: logging.LogRecord) -> dict[str, Any]:
    error = record.exc_info[1] if record.exc_info else None
    return {} if error is None else _where(error)


def _where(error: BaseException) -> dict[str, Any]:
    """The kind of an error and where it came from; its text may be content, so it stays out."""
    steps = traceback.extract_tb(error.__traceback__)
    where = [f"{step.filename.rpartition('/')[2]}:{step.lineno} {step.name}" for step in steps]
    return {"kind": type(error).__name__, "at": where}
