"""What the doctor can find: one table of kinds, and the record of one finding."""

import os
from collections.abc import Callable
from typing import Literal, NamedTuple

import msgspec

Severity = Literal["error", "warning", "note"]

BACKUP = "Restore it from a backup if you have one."


class Kind(NamedTuple):
    """How bad a kind of finding is, and what to do about it."""

    severity: Severity
    advice: str


KINDS: dict[str, Kind] = {
    # the root and what it lies on
    "root_missing": Kind("error", "Check --root, or make a root with `mnemolog init`."),
    "root_bare": Kind("note", "The first use prepares it; check that --root is what you meant."),
    "settings_unusable": Kind("error", "Correct the settings file; nothing opens before that."),
    "gitignore_missing": Kind("warning", "--repair writes it, so that memory is never committed."),
    "space_low": Kind("warning", "Free some space: on a full disk nothing more is stored."),
    "network_disk": Kind("warning", "Keep the root on a local disk: locks and syncs may lie here."),
    "sync_folder": Kind("warning", "Keep the root elsewhere: a syncing program may replace files."),
    # files and folders
    "mode_loose": Kind("warning", "--repair takes the rights of others away."),
    "link": Kind("error", "mnemolog follows no links; replace it by what it points to."),
    "twin": Kind("error", "Rename one by hand: some disks and archives keep only one of them."),
    "stranger": Kind("note", "mnemolog does not use it; move it elsewhere if it is yours."),
    "temporary": Kind("warning", "A crash left it; --repair removes it."),
    "leftover": Kind("warning", "A crash left it; --repair removes it."),
    "leftover_lines": Kind("warning", "It was never a session; look inside, then remove it."),
    "intent_open": Kind("warning", "--repair finishes it, and so does opening the root."),
    "unreadable": Kind("error", "Check the disk and the rights of the file."),
    # privacy
    "retention_overdue": Kind(
        "warning", "`mnemolog maintain --purge` hides it, and erases it when that cannot be undone."
    ),
    "hidden_overdue": Kind("warning", "`mnemolog maintain --purge` erases it."),
    "redaction_off": Kind(
        "warning", "Turn privacy.redaction on; `mnemolog redact` treats what is stored."
    ),
    "backup_known": Kind("note", "What is erased here still stands there; it is out of reach."),
    "audit_broken": Kind("error", f"Somebody edited audit.jsonl. {BACKUP}"),
    # sessions
    "manifest_missing": Kind("error", "--repair rebuilds it from the segments."),
    "manifest_unreadable": Kind(
        "error", "--repair rebuilds it from the segments and keeps the bad one in quarantine."
    ),
    "manifest_newer": Kind("warning", "Upgrade mnemolog to write here; reading may go on working."),
    "manifest_misplaced": Kind("error", "Give the folder the name of its session again."),
    "settings_refused": Kind(
        "error", "Correct `settings` in the manifest: nothing can be written here before that."
    ),
    "lock_missing": Kind("error", "--repair makes it; without it nothing can be written here."),
    "lock_closed": Kind(
        "error", "Nothing can be written here: see to its rights, or mount the disk writable."
    ),
    "segment_missing": Kind("error", BACKUP),
    "segment_size": Kind("error", f"Somebody else changed it. {BACKUP}"),
    "orphan": Kind("warning", "--repair removes it: the session does not need it."),
    "orphan_lines": Kind("error", "--repair moves it to quarantine; no line of it is lost."),
    "archive_damaged": Kind("error", BACKUP),
    # runs
    "run_open": Kind(
        "note", "It goes on, or a crash left it: then `mnemolog runs end SESSION RUN` ends it."
    ),
    "run_left": Kind(
        "warning",
        "Nobody has used it for a week; `mnemolog runs end SESSION RUN` or `mnemolog maintain` ends"
        " it.",
    ),
    # learning
    "session_parked": Kind("warning", "See why, then `mnemolog worker --retry SESSION`."),
    "log_parked": Kind(
        "warning", "See why, then `mnemolog worker --retry @USER`, or `@` for what is shared."
    ),
    "session_overdue": Kind("note", "No worker was there for a day: run `mnemolog worker`."),
    "plan_left": Kind("warning", "A crash left it; `mnemolog worker --once` finishes it."),
    "prompt_refused": Kind("warning", "Put it right: until then `llm` learns nothing."),
    # the graph
    "node_unreadable": Kind("warning", "Correct its front matter, or save it as UTF-8."),
    "node_long": Kind("warning", "Split it: it is neither read nor searched like this."),
    "node_uncertain": Kind(
        "warning", "It cites an erased entry without saying where: read it, and take the flag out."
    ),
    "node_secret": Kind("warning", "Take them out; writing the node again hides them too."),
    "node_collision": Kind("warning", "Rename one by hand: some disks keep only one of them."),
    "node_left": Kind("warning", "The next write to that node keeps what it holds, or removes it."),
    "move_left": Kind("warning", "The next write to that graph finishes it, or gives it up."),
    "node_circle": Kind("warning", "Take one of its parents out: a node must not be above itself."),
    "node_name": Kind("note", "Rename it if it should be a node."),
    "node_dangling": Kind("note", "Write that node, or correct the link."),
    "node_orphan": Kind("note", "Link it to what it belongs to."),
    "node_similar": Kind("note", "If they are the same, `mnemolog node merge` makes them one."),
    "node_stale": Kind("note", "See whether it is still true."),
    "node_unused": Kind("note", "See whether anybody needs it."),
    # lines
    "line_damaged": Kind(
        "error", f"--repair copies its bytes to quarantine; the log stays. {BACKUP}"
    ),
    "line_kept": Kind("warning", f"Readers skip it; its bytes are kept in quarantine. {BACKUP}"),
    "line_order": Kind("warning", "Somebody else changed the log; entries may appear in disorder."),
    "line_newer": Kind("note", "Upgrade mnemolog to write here; reading goes on as far as it can."),
    "tail_torn": Kind("note", "A write was interrupted or is under way; the next one goes on."),
}


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is not as it should be."""

    severity: Severity
    code: str
    path: str
    what: str
    advice: str
    can_repair: bool
    offset: int | None = None
    length: int | None = None


class Case(NamedTuple):
    """A finding and, where that is safe, the way to mend it; mending says what was done."""

    finding: Finding
    mend: Callable[[], str] | None = None


class Tally:
    """How much was looked at."""

    def __init__(self) -> None:
        self.sessions = 0
        self.logs = 0
        self.lines = 0
        self.size_bytes = 0
        self.nodes = 0


def case(
    code: str,
    path: str,
    what: str,
    mend: Callable[[], str] | None = None,
    *,
    typed: tuple[str, str] | None = None,
    offset: int | None = None,
    length: int | None = None,
) -> Case:
    """Make a case of a kind that the table knows.

    `typed` is a word of its advice, and what to type in its place.
    """
    kind = KINDS[code]
    found = Finding(
        severity=kind.severity,
        code=code,
        path=shown(path) or ".",
        what=what,
        advice=kind.advice if typed is None else kind.advice.replace(*typed),
        can_repair=mend is not None,
        offset=offset,
        length=length,
    )
    return Case(found, mend)


def shown(path: str) -> str:
    """A path as text that any file can hold, whatever bytes its name is made of."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
