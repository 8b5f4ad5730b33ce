"""What a route is asked by: the names of its query as others know them; no others are taken."""

import re
from collections.abc import Iterable
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.params import HeaderParameter, PathParameter, QueryParameter

from mnemolog.errors import did_you_mean
from mnemolog.faces.http.problems import RefusedError

_Kinds = tuple[type[Any], ...]
_ANYWHERE: _Kinds = (QueryParameter, PathParameter, HeaderParameter)
# As the decoder says it of the body itself; of what lies deeper it says where.
_NO_PLACE = re.compile(r"Object contains unknown field `(.+)`", re.DOTALL)


def public_names(handler: BaseRouteHandler, kinds: _Kinds = _ANYWHERE) -> dict[str, str]:
    """What the parameters of a route are called by whoever asks it."""
    parameters = handler.parsed_fn_signature.parameters.values()
    marks: list[tuple[str, Any]] = [(one.name, one.kwarg_definition) for one in parameters]
    return {name: mark.name or name for name, mark in marks if isinstance(mark, kinds)}


def only_known(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Refuse a query that says what the route does not listen to; raises a 400."""
    if not connection.scope["query_string"]:
        return
    known = set(public_names(handler, (QueryParameter,)).values())
    for name in connection.query_params:
        if name not in known:
            raise unknown(name, known, f"This route takes no {name!r:.60}.", name[:100])


def unknown_in_body(handler: BaseRouteHandler, told: str) -> RefusedError | None:
    """The refusal of a field that the body of a route has no place for, if `told` is about one."""
    found, body = _NO_PLACE.fullmatch(told), handler.parsed_data_field
    known = getattr(body.annotation, "__struct_encode_fields__", ()) if body else ()
    if not (found and known):
        return None
    name = found[1]
    return unknown(name, known, f"The body takes no {name!r:.60}.", name[:100])


def unknown(name: str, known: Iterable[str], message: str, field: str) -> RefusedError:
    """The refusal of a name that is not known: with the nearest one, or all that there are."""
    names = sorted(known)
    others = f"Use {', '.join(names)}." if names else "Leave it out."
    advice = did_you_mean(name, names, others)
    return RefusedError(400, "E_SCHEMA_INVALID", message, advice=advice, field=field)
