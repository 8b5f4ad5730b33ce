"""The page docs/python.md, made from the verbs themselves so that it cannot drift.

`python -m mnemolog.memory.page` prints it.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import GenericAlias
from typing import Any, get_args

from mnemolog.memory import Memory

INTRODUCTION = """\
# Python

```python
from mnemolog import Memory

memory = Memory.open(".mnemolog", settings={"storage.durability": "batch"})
session = memory.create_session(user_id="ann", agent_ids=["architect"])
receipt = memory.add_decision(session.id, made_by="architect", decision="Use PostgreSQL")
print(receipt.id, receipt.status, receipt.durable, receipt.warnings)
```

One `Memory` is enough for a process, and any number of threads may use it; so may any number of
processes use a root. It is a context manager; `close()` syncs and lets go of the files, and the
next call opens them again. What comes back is not changed by what happens later.

**Views.** `memory.for_agent("architect")` and `memory.for_user("ann")` have the same verbs and see
what that agent or user may ([tools.md](tools.md), [mcp.md](mcp.md)); `memory` itself is the owner's
handle and sees everything. A session that a view may not see does not exist for it.

**Errors** are one tree, in `mnemolog.errors`; each says what was refused and what to do.

```python
from mnemolog.errors import MnemologError, SessionNotFoundError

try:
    memory.load_session("nowhere")
except SessionNotFoundError as error:  # or MnemologError, for all of them
    print(error.code, error.message, error.advice, error.details)
```

**Long work** takes `progress`, which is called with what is done and how much there is:
`memory.rebuild_index(progress=lambda done, total: print(done, "of", total))`.

**Types.** The package is typed. What verbs give is in `mnemolog.model`: `entry` (`Entry`,
`Receipt`; `Warned` is a list of entries that has `warnings`), `session` (`Session`, `Statistics`),
`query` (`Query`, `Hit`, `Hits`), `context` (`Context`), `forgetting` (`Deletion`, `Erasure`, …),
`node` (`Node`, `NodeHit`, …).

## Asyncio

`AsyncMemory` has the same verbs, awaited; each runs in a thread. `for_agent`, `for_agents`,
`for_user` and `settings` need no await, `run` is an `async with`, `watch` an `async for`, and
`sync` is the `Memory` itself. Whoever is cancelled waits no longer; a write that has begun is done
all the same. A type checker knows the awaited verbs too, with what they take and give.

```python
import asyncio
from mnemolog import AsyncMemory

async def main() -> None:
    async with await AsyncMemory.open(".mnemolog") as memory:
        session = await memory.create_session("ann")
        words = [{"role": "user", "content": f"Point {n}."} for n in range(9)]
        await asyncio.gather(*(memory.add_conversation(session.id, one) for one in words))
        async with memory.run(session.id) as run:
            await run.save("run", "step 1 of 3 done")
        for hit in await memory.query(session.id, text="point"):
            print(hit.entry.content)

asyncio.run(main())
```

## A distiller of your own

An [embedder](embedders.md#your-own) is handed to `Memory.open`. A distiller turns a part of a
session into edits of nodes ([knowledge.md](knowledge.md)); an installed one is chosen by its name,
and in a program a worker takes any. `Worker(…).run()` ticks until `stop()`.

```python
from mnemolog.model.lesson import Edit, Lesson, Proposal
from mnemolog.ports.distiller import NodeReader
from mnemolog.worker import Distillers, Worker

class Decisions:
    name = "decisions"

    def distil(self, lesson: Lesson, nodes: NodeReader) -> Proposal:
        found = nodes.read("decisions/all")
        made = {lesson.source(one): one for one in lesson.entries if one.type == "decision"}
        if not made:
            return Proposal(remarks=("nothing was decided",))
        lines = [f"- {one.text} <!-- {source.name} -->" for source, one in made.items()]
        edit = Edit(
            address="decisions/all",
            title="All decisions",
            body="\\n".join([found.body.rstrip(), *lines] if found else lines) + "\\n",
            expected=found.hash if found else "",
            sources=tuple(made),
        )
        return Proposal(edits=(edit,))

memory.sleep_session(session.id)
own = Distillers(memory.settings.knowledge, lambda agent_id, settings: Decisions())
for outcome in Worker(memory, own).tick():
    print(outcome)
print(memory.read_node("decisions/all", user_id="ann").body)
```

## Verbs

A `session_id` is the `id` of a session, not the session. `…` stands for a default that is a
function. `help(Memory.query)` says more of each.

This page is printed by `python -m mnemolog.memory.page`.
"""

GROUPS: dict[str, str] = {
    "Handles": "open close for_agent for_agents for_user use_settings check_allowed",
    "Sessions": "create_session load_session update_session close_session list_sessions"
    " archive_session archive_idle restore_session delete_session",
    "Writing": "add_conversation add_decision add_finding update_preference add_memory add_many"
    " update_memory",
    "Reading": "get_memory get_entries get_decisions get_findings get_preferences timeline told"
    " revisions raw_line hidden_entries",
    "Searching": "query query_memories search_by_topic search_by_type search_by_time_range watch"
    " context export_index rebuild_index update_decay_factors",
    "Runs and turns": "run left_runs end_run end_turn reset_session context_compacted"
    " sleep_session",
    "Forgetting": "delete delete_memory delete_memories_by_topic delete_memories_by_time_range"
    " clear_session undelete would_forget erase verify_erasure redact compact_session maintain"
    " purge purge_runs audit readable_audit known_backups",
    "Nodes": "read_node write_node append_node patch_node move_node delete_node merge_nodes"
    " similar_nodes search_nodes tree folder graph node_links node_users node_versions node_diff"
    " revert_node nodes_citing citing",
    "Review": "proposals proposal_diff accept_proposal reject_proposal",
    "In and out": "export_session export_subject export_to export_files import_from export_native"
    " import_native backup migrate",
    "Figures": "get_statistics get_session_stats get_global_statistics numbers growth decay_curves"
    " minimap session_files session_markers quarantined",
    "For a worker": "due_sessions due_session lesson_of keep_plan kept_plans apply_plan strike_plan"
    " due_again mark_processed note_failure parked_sessions retry_session lease_session lease_user"
    " brought_back node_reader memory_prompt begin_memory_prompt",
}

_MODULES = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Za-z])")


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *map("\n".join, map(_group, GROUPS))])


def _group(title: str) -> Iterator[str]:
    yield f"### {title}\n"
    for name in GROUPS[title].split():
        verb = getattr(Memory, name)
        says = " ".join((inspect.getdoc(verb) or "").partition("\n\n")[0].split())
        if name != verb.__name__:
            says = f"Another name of `{verb.__name__}`."
        yield f"- `{name}{signature(verb)}`: {says}"
    yield ""


def signature(verb: Callable[..., Any]) -> str:
    """The arguments of a verb and their defaults, and what it gives."""
    found = inspect.signature(verb)
    own = [one.replace(annotation=one.empty) for one in found.parameters.values()]
    shown = [
        one.replace(default=_Told("…")) if callable(one.default) and one.default is not one.empty
        else one
        for one in own if one.name != "self"
    ]  # fmt: skip
    given = _MODULES.sub("", inspect.formatannotation(gives(verb))).replace("'", "")
    return f"{inspect.Signature(shown)} → {given}"


def gives(verb: Callable[..., Any]) -> Any:
    """What a verb gives, to whoever calls it: a generator may stand for a context manager."""
    said = inspect.signature(verb).return_annotation
    if inspect.isgeneratorfunction(inspect.unwrap(verb)) and not inspect.isgeneratorfunction(verb):
        return GenericAlias(AbstractContextManager, get_args(said)[:1])
    return said


class _Told(str):
    """A default that is shown as it stands."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


if __name__ == "__main__":
    print(page(), end="")
