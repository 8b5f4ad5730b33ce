"""Exit codes: one table, from the branches of the error tree and a few special ends."""

from typing import NamedTuple

from mnemolog.errors import (
    ConcurrencyError,
    InputError,
    KnowledgeError,
    MnemologError,
    QueryError,
    SessionError,
    StorageError,
)

OK = 0
UNEXPECTED = 1
USAGE = 2
WARNINGS = 10
ERRORS = 11
INTERRUPTED = 130
BROKEN_PIPE = 141

BRANCHES: dict[type[MnemologError], int] = {
    StorageError: 3,
    ConcurrencyError: 4,
    InputError: 5,
    SessionError: 6,
    QueryError: 7,
    KnowledgeError: 8,
}


class Exit(NamedTuple):
    """One row of the table in docs/cli.md."""

    code: int
    meaning: str


def code_of(error: MnemologError) -> int:
    """The exit code of an error: that of its branch."""
    found = (code for branch, code in BRANCHES.items() if isinstance(error, branch))
    return next(found, UNEXPECTED)


def table() -> list[Exit]:
    """Every exit code and what it means."""
    branches = [
        Exit(code, f"{branch.__doc__ or ''} {_codes(branch)}") for branch, code in BRANCHES.items()
    ]
    return [
        Exit(OK, "Done; for `doctor`: healthy, or nothing worse than notes."),
        Exit(UNEXPECTED, "Something that nobody expected, with a traceback: please report it."),
        Exit(USAGE, "The command line was not understood: `E_USAGE`."),
        *branches,
        Exit(WARNINGS, "Done, but there is something to look at: warnings, traces, refusals."),
        Exit(ERRORS, "`doctor` found errors."),
        Exit(INTERRUPTED, "Ctrl-C."),
        Exit(BROKEN_PIPE, "Whoever read the output went away."),
    ]


def _codes(branch: type[MnemologError]) -> str:
    return ", ".join(f"`{each.code}`" for each in branch.__subclasses__())
