"""The stub awaited.pyi, made from the verbs' own sources so that it cannot drift.

It tells type checkers and editors what `AsyncMemory` and `AsyncRun` await.
`python -m mnemolog.memory.stub` prints it.
"""

import ast
import builtins
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from mnemolog.memory import Memory
from mnemolog.memory.run import Run

# What `AsyncMemory` does in its own way.
OWN = frozenset("open for_agent for_agents for_user run watch".split())

_HEAD = '''\
"""What `AsyncMemory` and `AsyncRun` await, for type checkers and editors; there is no such module.

Printed by `python -m mnemolog.memory.stub`.
"""
'''
_WIDTH = 100

Names = set[tuple[str, str]]
"""Names that are imported, each with its module; that of a module itself is empty."""


class _Source(NamedTuple):
    """A module as it was written."""

    text: str
    tree: ast.Module
    imported: dict[str, tuple[str, str]]
    """Each name that it imports: from which module, and which name there."""

    def words(self, node: ast.expr) -> str:
        """An expression as it was written; what stands in quotes without them."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return ast.get_source_segment(self.text, node) or ""


def stub() -> str:
    """The whole file."""
    names: Names = set()
    memory = [*_verbs(Memory, names, OWN)]
    run = [*_verbs(Run, names), *_facts(Run, names)]
    classes = [
        'class MemoryVerbs:\n    """The verbs of `Memory`, awaited."""\n',
        *memory,
        'class RunVerbs:\n    """The verbs of a run, awaited, and what it is."""\n',
        *run,
    ]
    return "\n".join([_HEAD, *_imports(names), "", *classes])


def _verbs(kind: type, names: Names, without: frozenset[str] = frozenset()) -> Iterator[str]:
    found = [name for name in dir(kind) if name[0] != "_" and callable(getattr(kind, name))]
    verbs = [(getattr(kind, name).__name__, name) for name in found if name not in without]
    for own, name in sorted(verbs, key=lambda pair: (pair[0], pair[0] != pair[1])):
        yield f"    {name} = {own}\n" if own != name else _verb(getattr(kind, name), names)


def _verb(verb: Callable[..., Any], names: Names) -> str:
    source = _source(sys.modules[verb.__module__])
    node = _definition(source, verb.__qualname__)
    returned, pattern = node.returns, "{}"
    if any(ast.unparse(one) == "contextmanager" for one in node.decorator_list):
        assert isinstance(node.returns, ast.Subscript)
        returned, pattern = node.returns.slice, "AbstractContextManager[{}]"
        names.add(("contextlib", "AbstractContextManager"))
    assert returned is not None
    for annotation in [*_annotations(node.args), returned]:
        names |= _names(source, verb.__module__, annotation)
    gives = pattern.format(source.words(returned))
    told = ast.get_source_segment(source.text, node.body[0])
    return f"{_head(node.name, [*_parameters(source, node.args)], gives)}\n        {told}\n"


def _head(name: str, parameters: list[str], gives: str) -> str:
    """The line of a definition, or as many lines as it takes."""
    line = f"    async def {name}({', '.join(parameters)}) -> {gives}:"
    if len(line) <= _WIDTH:
        return line
    inner = f"        {', '.join(parameters)}"
    if len(inner) > _WIDTH:
        inner = "\n".join(f"        {one}," for one in parameters)
    return f"    async def {name}(\n{inner}\n    ) -> {gives}:"


def _parameters(source: _Source, given: ast.arguments) -> Iterator[str]:
    placed = [*given.posonlyargs, *given.args]
    missing: list[ast.expr | None] = [None] * (len(placed) - len(given.defaults))
    for place, (one, usual) in enumerate(zip(placed, [*missing, *given.defaults], strict=True), 1):
        yield _parameter(source, one, usual)
        if place == len(given.posonlyargs):
            yield "/"
    if given.vararg or given.kwonlyargs:
        yield f"*{_parameter(source, given.vararg) if given.vararg else ''}"
    for one, usual in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(source, one, usual)
    if given.kwarg:
        yield f"**{_parameter(source, given.kwarg)}"


def _parameter(source: _Source, one: ast.arg, usual: ast.expr | None = None) -> str:
    if one.annotation is None:
        return one.arg
    is_plain = isinstance(usual, ast.Constant | ast.Tuple)
    default = ast.get_source_segment(source.text, usual) if usual and is_plain else "..."
    told = f"{one.arg}: {source.words(one.annotation)}"
    return f"{told} = {default}" if usual else told


def _facts(kind: type, names: Names) -> Iterator[str]:
    """What is no verb, and so not awaited: what a class says that its objects have."""
    source = _source(sys.modules[kind.__module__])
    for node in _within(source.tree.body, kind.__name__).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names |= _names(source, kind.__module__, node.annotation)
            gives = source.words(node.annotation)
            yield f"    @property\n    def {node.target.id}(self) -> {gives}: ..."
    yield ""


# --- names and where they come from


@cache
def _source(module: ModuleType) -> _Source:
    text = inspect.getsource(module)
    tree = ast.parse(text)
    imported: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {one.asname or one.name: ("", one.name) for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            where = node.module or ""
            imported |= {one.asname or one.name: (where, one.name) for one in node.names}
    return _Source(text, tree, imported)


def _definition(source: _Source, qualified: str) -> ast.FunctionDef:
    owner, _, name = qualified.partition(".")
    body = _within(source.tree.body, owner).body
    return next(one for one in body if isinstance(one, ast.FunctionDef) and one.name == name)


def _within(body: list[ast.stmt], name: str) -> ast.ClassDef:
    return next(one for one in body if isinstance(one, ast.ClassDef) and one.name == name)


def _annotations(given: ast.arguments) -> Iterator[ast.expr]:
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    yield from (one.annotation for one in every if one and one.annotation)


def _names(source: _Source, module: str, annotation: ast.expr) -> Names:
    """What has to be imported for an annotation."""
    tree = ast.parse(source.words(annotation))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return {source.imported.get(one, (module, one)) for one in used if not hasattr(builtins, one)}


def _imports(names: Names) -> Iterator[str]:
    """The imports, in the order that the formatter gives them."""
    by_module: defaultdict[str, list[str]] = defaultdict(list)
    for module, name in sorted(names, key=lambda pair: (not pair[1].isupper(), pair[1])):
        by_module[module].append(name)
    yield from (f"import {name}" for name in by_module.pop("", []))
    ours = sorted(module for module in by_module if module.startswith("mnemolog."))
    yield from (_import(module, by_module[module]) for module in sorted({*by_module} - {*ours}))
    yield ""
    yield from (_import(module, by_module[module]) for module in ours)


def _import(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= _WIDTH:
        return line
    return "\n".join([f"from {module} import (", *(f"    {one}," for one in names), ")"])


if __name__ == "__main__":
    print(stub(), end="")
