"""The page docs/http.md, made from the OpenAPI document so that it cannot drift."""

import sys
from collections.abc import Iterator
from typing import Any

from mnemolog.faces.http.app import described, make_app
from mnemolog.faces.http.problems import STATUSES

INTRODUCTION = """\
# The HTTP API

`mnemolog serve` offers this below `http://127.0.0.1:7077/api/v1`; docs/server.md says how it is
started and who may come in. The same as an OpenAPI document: `GET /api/v1/openapi.json`.

```
$ api=http://127.0.0.1:7077/api/v1
$ token="Authorization: Bearer $(cat ~/pay/.mnemolog/token)"
$ curl -H "$token" $api/sessions --json '{"session_id": "pay", "user_id": "ann"}'
$ curl -H "$token" $api/sessions/pay/entries --json '{"id": "db", "type": "decision",
    "content": {"decision": "Use PostgreSQL", "rationale": "We need ACID"}, "tags": ["database"]}'
$ curl -H "$token" $api/search --json '{"text": "which database"}'
$ curl -H "$token" $api/plans --json '{"action": "delete", "run": true,
    "selector": {"session_id": "pay", "ids": ["db"]}}'
$ curl -H "$token" $api/hidden
```

- Every request brings a token: `Authorization: Bearer …`. Only `POST /login` and
  `GET /downloads/…` do without.
- `Mnemolog-Agent` and `Mnemolog-User` narrow a request to what one agent or user may see. A token
  that reaches several agents sees what any of them sees, and names one of them to write; one that
  reaches several users always says which one is meant.
- Ids in paths are percent-encoded, a slash in them too: `/nodes/ann/projects%2Fpayments`. Most
  clients cannot send an id that is only dots.
- Lists take `limit` (at most 200) and `cursor`, and answer `items`, `next_cursor`, `total` and
  `total_exact`. Lists of names in a query are written with commas or repeated.
- Entries have a place in their session that never changes; `after_seq`, `before_seq` and `around`
  mean that place, and so do the cursors of entries.
- A field in a body that is not listed here is refused.

This page is printed by `python -m mnemolog.faces.http.page`.
"""

ERRORS = """\
## Errors

Every error is `application/problem+json`: `status`, `title`, `code`, `detail` (what was refused),
`advice` (what to do), `fields` (what is wrong with which field) and `request_id`, which stands in
the server's log too. A 409 for a plan carries the new `plan`; a 412 for a node carries `theirs`,
the text that is there, and its `hash`. A 429 says in `Retry-After` how many seconds to wait.

| status | when |
| --- | --- |
"""

_OWN = {
    401: "no token, or one that is unknown, expired or revoked: `E_TOKEN`; an old code: `E_CODE`",
    403: "a foreign Origin: `E_ORIGIN`; out of a token's scope: `E_SCOPE`; writing with a token "
    "that only reads: `E_READ_ONLY`",
    404: "no such path, plan, job, undo or ticket; a part is not there: `E_NOT_INSTALLED`, "
    "`E_NOT_SERVED`",
    405: "another method is meant",
    408: "the body came too slowly: `E_SLOW`",
    409: "a plan no longer holds: `E_PLAN_CHANGED`",
    421: "another Host is meant: `E_HOST`",
    429: "too many requests: `E_RATE`",
}


def page() -> str:
    """The whole page."""
    found = described(make_app(None))
    parts = [INTRODUCTION, "## Routes\n", "".join(_routes(found)), ERRORS.rstrip() + "\n"]
    return "\n".join(parts) + "".join(_errors()) + "\n## Bodies\n\n" + "".join(_schemas(found))


def _routes(found: dict[str, Any]) -> Iterator[str]:
    yield "| route | what it does | query | body | answer |\n| --- | --- | --- | --- | --- |\n"
    for path, operations in sorted(found["paths"].items()):
        for method, one in operations.items():
            if not isinstance(one, dict) or "responses" not in one:
                continue
            told = _cell(one.get("description") or one.get("summary") or "")
            yield (
                f"| `{method.upper()} {path.removeprefix('/api/v1')}` | {told} | {_query(one)} |"
                f" {_body(one.get('requestBody'))} | {_answer(one)} |\n"
            )


def _query(one: dict[str, Any]) -> str:
    names = [p["name"] for p in one.get("parameters", ()) if p["in"] in ("query", "header")]
    return ", ".join(f"`{name}`" for name in names)


def _body(given: dict[str, Any] | None) -> str:
    if not given:
        return ""
    return ", ".join(_kind(one.get("schema", {})) for one in given["content"].values())


def _answer(one: dict[str, Any]) -> str:
    for status, told in sorted(one["responses"].items()):
        if status.startswith("2"):
            kinds = [_kind(each.get("schema", {})) for each in told.get("content", {}).values()]
            return f"{status} {', '.join(dict.fromkeys(kinds))}".strip()
    return ""


def _kind(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return f"`{_name(schema)}`"
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(_kind(one) for one in schema[several]))
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if isinstance(kind, list):
        return " or ".join(kind)
    return str(kind)


def _name(schema: dict[str, Any]) -> str:
    last: str = schema["$ref"].rpartition("/")[2]
    return last.rpartition("_")[2] if last.startswith("mnemolog") else last


def _schemas(found: dict[str, Any]) -> Iterator[str]:
    for name, schema in sorted(found["components"]["schemas"].items()):
        if "properties" not in schema:
            continue
        needed = set(schema.get("required", ()))
        yield f"### {_name({'$ref': f'/{name}'})}\n\n{schema.get('description', '').strip()}\n\n"
        yield "| field | kind | |\n| --- | --- | --- |\n"
        for field, own in schema["properties"].items():
            optional = "" if field in needed else "optional"
            yield f"| `{field}` | {_kind(own)} | {optional} |\n"
        yield "\n"


def _errors() -> Iterator[str]:
    codes: dict[int, list[str]] = {}
    for kind, status in STATUSES.items():
        own = kind.__dict__.get("code")
        codes.setdefault(status, []).append(f"`{own}`" if own else f"other {kind.__name__}")
    for status in sorted({*codes, *_OWN}):
        words = [*codes.get(status, ()), *([_OWN[status]] if status in _OWN else ())]
        yield f"| {status} | {'; '.join(words)} |\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page().rstrip() + "\n")
