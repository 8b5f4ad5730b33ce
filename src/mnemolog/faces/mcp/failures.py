"""Errors as the protocol tells them: one table, from the branches of the error tree."""

import logging

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS
from pydantic import ValidationError

from mnemolog.errors import (
    InputError,
    MnemologError,
    NodeNotFoundError,
    QueryError,
    SessionError,
)
from mnemolog.faces.mcp.runs import Context
from mnemolog.tools.answers import for_model

_CODES: dict[type[MnemologError], int] = {
    InputError: INVALID_PARAMS,
    SessionError: INVALID_PARAMS,
    QueryError: INVALID_PARAMS,
    NodeNotFoundError: INVALID_PARAMS,
}

logger = logging.getLogger("mnemolog.mcp")


def failure(error: MnemologError) -> MCPError:
    """An error of ours as one of the protocol; it says the same, and what to do."""
    found = (code for branch, code in _CODES.items() if isinstance(error, branch))
    return MCPError(next(found, INTERNAL_ERROR), for_model(error), {"code": error.code})


async def told(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Answer a request; whatever goes wrong, no more than one sentence leaves the server."""
    try:
        return await call_next(ctx)
    except MnemologError as error:
        raise failure(error) from error
    except (MCPError, ValidationError):
        raise  # the library has words for these
    except Exception as error:
        logger.exception("%s failed", ctx.method)
        raise MCPError(
            INTERNAL_ERROR, "Something that nobody expected; the server's log has more."
        ) from error
