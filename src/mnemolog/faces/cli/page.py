"""The page docs/cli.md, made from the commands themselves so that it cannot drift.

`python -m mnemolog.faces.cli.page` prints it.
"""

import inspect
from collections.abc import Iterable, Iterator

import click

from mnemolog.faces.cli import exits
from mnemolog.faces.cli.app import app
from mnemolog.faces.cli.call import COMMON, usage_of
from mnemolog.stores.files.doctor.findings import KINDS

INTRODUCTION = """\
# The command line

`mnemolog VERB …` works on one root, a folder of plain files. Which one:

1. `--root FOLDER`, before or after the verb;
2. else the environment variable `MNEMOLOG_ROOT`;
3. else the nearest folder `.mnemolog` from here upward;
4. else `~/.mnemolog`. (`init` makes `./.mnemolog` instead of 3 and 4.)

In 1 and 2, `~/` is the home folder. Verbs that only read refuse a folder that is no root; others,
such as `init` and `add`, make one, and say where if nobody had named it.

**For people** there are tables and colours on a terminal, and plain text without colours in a pipe
or with `NO_COLOR`. Whatever an entry holds, no escape sequence, control character or character that
changes the direction of text reaches the terminal. **For programs** there is `--json`: exact
values, one object on one line, or one line for each entry, hit, session, receipt or finding.
`show --raw` gives the bytes of the log; only a terminal gets control characters as JSON escapes.
Times are shown in UTC, and read so unless they say another zone.

What is remembered is read, corrected, taken along and forgotten like this:

```
mnemolog search "which database"                       # shows entries with their ids and sessions
mnemolog show SESSION ENTRY                            # one of them, with all its fields
mnemolog edit SESSION ENTRY "Use PostgreSQL"           # correct it
mnemolog export --of ann --layout markdown --out ann.md   # all there is about a user
mnemolog delete SESSION --id ENTRY                     # hide it; `undelete` brings it back
mnemolog erase SESSION --id ENTRY                      # remove it from every file, and prove it
```

What was learned from sessions is corrected as a [node](knowledge.md): `mnemolog node`.

The tab key completes verbs and options after `eval "$(_MNEMOLOG_COMPLETE=bash_source mnemolog)"`,
with `zsh_source` in zsh; in fish it is `_MNEMOLOG_COMPLETE=fish_source mnemolog | source`.

Errors go to the error channel as `CODE: message advice`, with `--json` as one object with `code`,
`message`, `advice` and `details`.

This page is printed by `python -m mnemolog.faces.cli.page`.
"""


def page() -> str:
    """The whole page."""
    verbs = [_verb(name, command) for name, command in app.commands.items()]
    common = f"## Every verb takes\n\n{_table(('option', ''), map(_option, COMMON))}"
    codes = _table(("code", "meaning"), ((f"{each.code}", each.meaning) for each in exits.table()))
    return "\n".join([INTRODUCTION, f"## Exit codes\n\n{codes}", common, *verbs, _findings()])


def _verb(name: str, command: click.Command) -> str:
    own = [each for each in command.params if each not in COMMON]
    options = [each for each in own if isinstance(each, click.Option)]
    usage = f"```\n{usage_of(command)}\n```\n"
    parts = [f"## {name}\n", usage, *_paragraphs(command.help or "")]
    if options:
        parts.append(_table(("option", ""), map(_option, options)))
    return "\n".join(parts)


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        yield f"{' '.join(paragraph.split())}\n"


def _option(option: click.Option) -> tuple[str, str]:
    value = f" {option.metavar}" if option.metavar else ""
    return f"`{', '.join(option.opts)}{value}`", option.help or ""


def _findings() -> str:
    rows = ((f"`{code}`", kind.severity, kind.advice) for code, kind in KINDS.items())
    table = _table(("code", "severity", "what to do"), rows)
    return f"## What `doctor` can find\n\n{table}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    print(page(), end="")
