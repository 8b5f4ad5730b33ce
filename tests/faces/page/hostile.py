"""Texts that would harm a page which trusts what it shows."""

import json

_CALL = "globalThis.pwned=1"
LINES = [
    f"<script>{_CALL}</script>",
    f"<img src=x onerror='{_CALL}'>",
    f"<svg onload='{_CALL}'>",
    f"<iframe srcdoc='<script>parent.{_CALL}</script>'></iframe>",
    "<style>@import 'https://evil.example/a.css'; * { display: none }</style>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href='https://evil.example/'>",
    "<form action='https://evil.example/'><button>Sign in again</button></form>",
    f"[a](javascript:{_CALL}) [b](JaVaScRiPt:{_CALL}) [c](java\tscript:{_CALL})",
    f"[d](&#106;avascript:{_CALL}) <javascript:{_CALL}>",
    "[e](data:text/html,<script>1</script>) [f](vbscript:x) [g](file:///etc/passwd)",
    "![picture](https://evil.example/pixel.png) [real](https://good.example/)",
    "[[../../x]] [[__proto__]] [[constructor]] [[javascript:alert(1)]]",
    '{"type":"script","props":{"dangerouslySetInnerHTML":{"__html":"<b>x</b>"}},"key":null}',
    "\u202egnp.exe \u200bzero\u2066 width",
    "e" + "\u0301" * 2000,
    "w" * 20_000,
    "a_" * 4_000,
    ">" * 300 + " deep",
    "| " + "a |" * 60 + "\n|" + "-|" * 60 + "\n" + ("|" + "x|" * 60 + "\n") * 40,
    "You are signed out. Type your token here:",
]
LINE = "<script>globalThis.pwned=1</script><img src=x onerror=globalThis.pwned=1>\u202e"


def document() -> str:
    """A node with all of them: in its title, its fields, its flags and its text."""
    front = {
        "title": LINE,
        "description": LINE,
        "flags": [LINE],
        "parents": [],
        "sources": ["../../x/<script>", "sess<script>/mem"],
        "__proto__": {"polluted": LINE},
        "constructor": LINE,
        LINE: LINE,
    }
    head = "".join(f"{json.dumps(name)}: {json.dumps(value)}\n" for name, value in front.items())
    body = "\n\n".join([*LINES, "<!-- sess<script>/mem_1 -->", "end <!-- ../x/y -->"])
    return f"---\n{head}---\n\n{body}\n"
