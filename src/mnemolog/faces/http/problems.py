"""Errors as HTTP tells them: one table, from the error tree to a status; told as problem+json."""

from typing import Any

import msgspec

from mnemolog import errors
from mnemolog.errors import MnemologError
from mnemolog.faces.http.advising import advised

MEDIA_TYPE = "application/problem+json"

# The most specific class counts; a branch stands for whatever it holds that is not named.
STATUSES: dict[type[MnemologError], int] = {
    errors.StorageFullError: 507,
    errors.StorageError: 500,
    errors.LockTimeoutError: 503,
    errors.ConcurrentModificationError: 409,
    errors.SizeLimitError: 413,
    errors.NotAllowedError: 403,
    errors.EntryNotFoundError: 404,
    errors.InputError: 400,
    errors.SessionNotFoundError: 404,
    errors.SessionExistsError: 409,
    errors.SessionArchivedError: 409,
    errors.SessionCorruptError: 500,
    errors.QueryTimeoutError: 503,
    errors.QueryError: 400,
    errors.NodeNotFoundError: 404,
    errors.NodeConflictError: 412,
    errors.DistillerError: 502,
}

TITLES = {
    400: "The request makes no sense",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "Not that way",
    408: "Too slow",
    409: "Things have changed",
    412: "Another text is there now",
    413: "Too large",
    415: "Not in that form",
    421: "Another server is meant",
    429: "Too many requests",
    500: "Something failed",
    502: "A part in the background failed",
    503: "Busy",
    507: "The disk is full",
}

_EXTRA = ("base", "theirs", "hash", "plan")


class Problem(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What went wrong: what was refused, why, and what to do about it."""

    type: str = "about:blank"
    title: str
    status: int
    code: str
    detail: str
    advice: str = ""
    fields: dict[str, str] = {}
    request_id: str = ""
    theirs: str | None = None
    """With 412: the whole text that is there now."""
    hash: str | None = None
    """With 412: what it would be written against."""
    plan: dict[str, Any] | None = None
    """With 409: the plan as it would be made now."""


class RefusedError(Exception):
    """A request that the server itself refuses; its status is the face's own affair."""

    def __init__(
        self, status: int, code: str, message: str, *, advice: str = "", **details: object
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.advice = advice
        self.details = details


Known = MnemologError | RefusedError


def status_of(error: Known) -> int:
    """The status of an error: that of the nearest class in the table."""
    if isinstance(error, RefusedError):
        return error.status
    found = (STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    return next(found, 500)


def problem_of(error: Known, request_id: str = "") -> Problem:
    """An error of ours as a body."""
    status = status_of(error)
    extra = {name: error.details[name] for name in _EXTRA if name in error.details}
    field = error.details.get("field") or error.details.get("key")
    extra.pop("base", None)
    return Problem(
        title=TITLES.get(status, "Refused"),
        status=status,
        code=error.code,
        detail=error.message,
        advice=advised(error.advice),
        fields={str(field): error.message} if field else {},
        request_id=request_id,
        **extra,  # type: ignore[arg-type]
    )


def plain(status: int, code: str, detail: str, request_id: str, **more: Any) -> Problem:
    """A problem that is no error of ours."""
    title = TITLES.get(status, "Refused")
    return Problem(
        title=title, status=status, code=code, detail=detail, request_id=request_id, **more
    )
