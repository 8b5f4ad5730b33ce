"""The shape of the source: sizes, import direction, names, docstrings, one door to the disk.

The checks read the syntax tree of every module under src/mnemolog; nothing is imported.
"""

import ast
import graphlib
import math
import re
import statistics
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

SRC = Path(__file__).parent.parent / "src"

MAX_FUNCTION_LINES = 60
P95_FUNCTION_LINES = 40
MEDIAN_FUNCTION_LINES = 15
MAX_MODULE_LINES = 400
MEDIAN_MODULE_LINES = 250
MAX_BROAD_HANDLERS = 5
MAX_METHODS_OF_A_PORT = 8

# Named exceptions, module → reason. One that is no longer needed fails the test too.
LONG_MODULES: dict[str, str] = {}
DISK_MODULES: dict[str, str] = {
    "mnemolog.distillers": "a text that the package itself brings",
    "mnemolog.index.columns": "derived files, mapped into memory and addressed by row",
    "mnemolog.index.database": "SQLite's own files, thrown away when they do not fit",
    "mnemolog.index.gate": "locks that keep whoever throws the index away from its users",
    "mnemolog.index.restarts": "asks the system which start of the machine this is",
}
AVOIDED_NAMES: dict[str, str] = {}

# What each room may import besides itself. Arrows only point down.
ROOMS: dict[str, str] = {
    "errors": "",
    "model": "errors",
    "paths": "model errors",
    "fs": "model errors",
    "settings": "model errors",
    "policy": "settings model errors",
    "layouts": "paths model errors",
    "layouts.folder": "fs paths model errors",
    "ports": "policy settings model errors",
    "log": "ports policy settings fs paths model errors",
    "index": "ports policy settings fs paths model errors",
    "embedders": "ports errors",
    "graph": "ports policy settings fs paths model errors",
    "stores": "log index embedders graph ports policy settings fs paths model errors",
    "memory": "stores layouts ports policy settings model errors",
    "aio": "memory stores layouts ports policy settings model errors",
    "tools": "memory ports policy settings fs paths model errors",
    "distillers": "ports policy settings model errors",
    "worker": "distillers memory ports policy settings fs paths model errors",
    "testing": "tools worker distillers aio memory stores layouts log index embedders graph"
    " ports policy settings fs paths model errors",
    "adapters": "memory aio tools ports settings model errors",
    "adapters.ndjson": "memory aio tools log ports policy settings fs paths model errors",
    "faces": "memory aio tools worker adapters stores layouts settings model errors",
    "faces.mcp": "memory aio tools worker stores policy settings model errors",
    "mnemolog": "memory aio ports settings model errors",  # the public names
    "__main__": "faces",
}

# Late imports keep `import mnemolog` light: here in the module's own __getattr__ only.
LATE_BY_GETATTR = {"mnemolog", "mnemolog.stores"}

# What of `os` is not the disk; everything else of it belongs to `fs`.
OS_ALLOWED = set(
    "PathLike cpu_count environ fsdecode fsencode fspath get_terminal_size getenv getpid getppid"
    " linesep name path register_at_fork sep strerror urandom".split()
)
OS_PATH_ALLOWED = set(
    "abspath basename commonpath dirname expanduser isabs join normcase normpath relpath sep"
    " split splitext".split()
)
DISK_LIBRARIES = set("fcntl fileinput glob mmap msvcrt shutil tempfile".split())
OPENERS = set("bz2 codecs gzip io lzma tarfile zipfile".split())
# Methods that only paths have, and those that count when the receiver is plainly a path.
PATH_METHODS = set(
    "hardlink_to is_dir is_file is_symlink iterdir read_bytes read_text readlink rglob symlink_to"
    " touch write_bytes write_text".split()
)
SHARED_METHODS = set("chmod exists glob mkdir open rename replace rmdir stat unlink".split())

AVOIDED = re.compile(r"(manager|engine|helper|util|data|info|process)(s|es)?")
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    name: str
    is_package: bool
    source: str
    tree: ast.Module

    @property
    def room(self) -> str:
        return room_of(self.name)


class Finding(NamedTuple):
    module: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.what}"


Check = Callable[[Module], Iterator[Finding]]


def module(name: str, source: str, is_package: bool = False) -> Module:
    return Module(name, is_package, source, ast.parse(source))


@cache
def modules() -> dict[str, Module]:
    found = {}
    for path in sorted((SRC / "mnemolog").rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found[name] = module(name, path.read_text(encoding="utf-8"), is_package)
    return found


def over_source(check: Check) -> list[Finding]:
    return [finding for each in modules().values() for finding in check(each)]


def report(findings: list[Finding], rule: str) -> None:
    assert not findings, f"{rule}\n" + "\n".join(f"  {finding}" for finding in findings)


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def length(node: Function) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


# --- sizes


def long_functions(each: Module) -> Iterator[Finding]:
    for node in functions(each.tree):
        if length(node) > MAX_FUNCTION_LINES:
            yield Finding(each.name, node.lineno, f"{node.name} has {length(node)} lines")


def test_no_function_is_long():
    report(over_source(long_functions), f"functions over {MAX_FUNCTION_LINES} lines:")


def test_most_functions_are_short(capsys):
    lengths = sorted(length(node) for each in modules().values() for node in functions(each.tree))
    median, p95 = statistics.median(lengths), lengths[math.ceil(0.95 * len(lengths)) - 1]
    with capsys.disabled():
        print(f"\n{len(lengths)} functions: median {median:g}, p95 {p95}, max {lengths[-1]} lines")
    assert p95 <= P95_FUNCTION_LINES
    assert median < MEDIAN_FUNCTION_LINES


def test_modules_are_short():
    lines = {name: len(each.source.splitlines()) for name, each in modules().items()}
    long = {name for name, count in lines.items() if count > MAX_MODULE_LINES}
    assert long == set(LONG_MODULES), f"over {MAX_MODULE_LINES} lines, or no longer: {lines}"
    assert statistics.median(lines.values()) < MEDIAN_MODULE_LINES


# --- imports


def room_of(name: str) -> str:
    """The row of ROOMS that rules a module: the most specific one."""
    below = name.removeprefix("mnemolog").removeprefix(".") or "mnemolog"
    parts = below.split(".")
    specific = ".".join(parts[:2])
    return specific if specific in ROOMS else parts[0]


def origin(each: Module, node: ast.ImportFrom) -> str:
    """The absolute module that a `from ... import` names."""
    if not node.level:
        return node.module or ""
    package = each.name.split(".")
    package = package[: len(package) - node.level + each.is_package]
    return ".".join([*package, *filter(None, [node.module])])


def imports(each: Module) -> Iterator[tuple[str, str, int]]:
    """(module of ours, name taken from it or "", line) for every import, late ones too."""
    for node in ast.walk(each.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, "", node.lineno
        elif isinstance(node, ast.ImportFrom):
            source = origin(each, node)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                is_module = inner in modules() or (source == "mnemolog" and alias.name in ROOMS)
                yield (inner, "", node.lineno) if is_module else (source, alias.name, node.lineno)


def own_imports(each: Module) -> Iterator[tuple[str, str, int]]:
    return (found for found in imports(each) if found[0].split(".")[0] == "mnemolog")


def upward_imports(each: Module) -> Iterator[Finding]:
    allowed = {each.room, each.room.split(".")[0], *ROOMS.get(each.room, "").split()}
    for target, _, line in own_imports(each):
        if not {room_of(target), room_of(target).split(".")[0]} & allowed:
            yield Finding(each.name, line, f"{each.room} may not import {target}")


def back_end_imports(each: Module) -> Iterator[Finding]:
    """What memory and aio take from the back ends besides `stores.open`."""
    if each.room not in {"memory", "aio"}:
        return
    for target, name, line in own_imports(each):
        if target.startswith("mnemolog.stores.") or (
            target == "mnemolog.stores" and name not in {"", "open"}
        ):
            yield Finding(each.name, line, f"{target} {name}".strip())
    for node in ast.walk(each.tree):
        if not isinstance(node, ast.Attribute) or node.attr == "open":
            continue
        if ast.unparse(node.value) == "stores":
            yield Finding(each.name, node.lineno, ast.unparse(node))


def wide_ports(each: Module) -> Iterator[Finding]:
    """Protocols with more methods of their own than somebody can keep in mind."""
    if each.room != "ports":
        return
    for node in ast.walk(each.tree):
        if isinstance(node, ast.ClassDef):
            count = sum(isinstance(one, Function) for one in node.body)
            if count > MAX_METHODS_OF_A_PORT:
                yield Finding(each.name, node.lineno, f"{node.name}: {count} methods")


def is_late_import(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in {
        "import_module",
        "__import__",
    }


def late_imports(each: Module) -> Iterator[Finding]:
    if each.room == "faces":
        return
    top = each.tree.body if each.name in LATE_BY_GETATTR else []
    doors = [node for node in top if isinstance(node, Function) and node.name == "__getattr__"]
    exempt = {inner for node in doors for inner in ast.walk(node)}
    inside = {inner for node in functions(each.tree) for inner in ast.walk(node)}
    for late in filter(is_late_import, inside - exempt):
        yield Finding(each.name, getattr(late, "lineno", 0), ast.unparse(late))


def test_every_room_has_a_row_in_the_table():
    assert {room_of(name) for name in modules()} <= set(ROOMS)
    named = {room for row in ROOMS.values() for room in row.split()}
    assert named <= set(ROOMS)


def test_the_table_of_rooms_points_down():
    rows = {room: row.split() for room, row in ROOMS.items()}
    assert list(graphlib.TopologicalSorter(rows).static_order())


def test_imports_point_down():
    report(over_source(upward_imports), "imports against the direction of the rooms:")


def test_memory_reaches_back_ends_through_stores_open_only():
    report(over_source(back_end_imports), "back ends are opened by stores.open:")


def test_ports_are_narrow():
    report(over_source(wide_ports), f"ports with more than {MAX_METHODS_OF_A_PORT} methods:")


def test_there_are_no_import_cycles():
    graph = {
        name: {target for target, _, _ in own_imports(each)} - {name}
        for name, each in modules().items()
    }
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail("import cycle: " + " → ".join(reversed(error.args[1])))


def test_imports_stand_at_the_top():
    report(over_source(late_imports), "imports inside functions:")


# --- edges


def is_broad(node: ast.AST) -> bool:
    """Whether it catches everything, even if it hands it on: an ExitStack undoes without that."""
    if isinstance(node, ast.ExceptHandler):
        caught = node.type
        if caught is None:
            return True
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
        caught = ast.Tuple(node.args)
    else:
        return False
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(ast.unparse(name) in {"Exception", "BaseException"} for name in names)


def broad_handlers(each: Module) -> Iterator[Finding]:
    for node in ast.walk(each.tree):
        if is_broad(node):
            yield Finding(each.name, getattr(node, "lineno", 0), "catches everything")


def test_few_places_catch_everything():
    found = over_source(broad_handlers)
    if len(found) > MAX_BROAD_HANDLERS:
        report(found, f"{len(found)} broad handlers, at most {MAX_BROAD_HANDLERS}:")


def bound_names(tree: ast.Module) -> set[str]:
    """Names that the module's top level defines or imports."""
    bound = {node.name for node in tree.body if isinstance(node, Function | ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name for alias in node.names}
    return bound


def is_plainly_a_path(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1] in {"Path", "joinpath", "with_name"}
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def touches_disk(node: ast.Attribute) -> bool:
    receiver = ast.unparse(node.value)
    if receiver in {"os", "os.path"}:
        return node.attr not in (OS_ALLOWED if receiver == "os" else OS_PATH_ALLOWED)
    if receiver in OPENERS and node.attr == "open":
        return True
    if node.attr in SHARED_METHODS:
        return is_plainly_a_path(node.value)
    return node.attr in PATH_METHODS


def disk_imports(each: Module) -> Iterator[Finding]:
    forbidden = DISK_LIBRARIES if each.room == "index" else DISK_LIBRARIES | {"sqlite3"}
    for target, name, line in imports(each):
        from_os = target in {"os", "os.path"} and name
        allowed = OS_ALLOWED if target == "os" else OS_PATH_ALLOWED
        if target.split(".")[0] in forbidden or (from_os and name not in allowed):
            yield Finding(each.name, line, f"import of {target} {name}".strip())


def disk_access(each: Module) -> Iterator[Finding]:
    if each.room == "fs":
        return
    yield from disk_imports(each)
    builtin_open = "open" not in bound_names(each.tree)
    for node in ast.walk(each.tree):
        if isinstance(node, ast.Attribute) and touches_disk(node):
            yield Finding(each.name, node.lineno, ast.unparse(node))
        elif isinstance(node, ast.Name) and node.id == "open" and builtin_open:
            yield Finding(each.name, node.lineno, "open")


def test_fs_is_the_only_door_to_the_disk():
    found = over_source(disk_access)
    report([each for each in found if each.module not in DISK_MODULES], "disk access outside fs:")
    assert {each.module for each in found} >= set(DISK_MODULES), "an exception has no use"


# --- names and docstrings


def avoided_names(each: Module) -> Iterator[Finding]:
    named = [(each.name.split(".")[-1], 1)]
    for node in ast.walk(each.tree):
        if isinstance(node, Function | ast.ClassDef):
            named.append((node.name, node.lineno))
    for name, line in named:
        if any(AVOIDED.fullmatch(word.lower()) for word in WORDS.findall(name)):
            yield Finding(each.name, line, name)


def test_names_say_what_a_thing_is():
    found = over_source(avoided_names)
    report([each for each in found if each.what not in AVOIDED_NAMES], "names that say nothing:")
    assert {each.what for each in found} >= set(AVOIDED_NAMES), "an exception has no use"


def base_names(node: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).split("[")[0].split(".")[-1] for base in node.bases}


def public_methods(node: ast.ClassDef, with_properties: bool = True) -> set[str]:
    return {
        each.name
        for each in node.body
        if isinstance(each, Function) and not each.name.startswith("_")
        if with_properties or "property" not in map(ast.unparse, each.decorator_list)
    }


@cache
def classes() -> dict[str, ast.ClassDef]:
    nodes = (node for each in modules().values() for node in ast.walk(each.tree))
    return {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}


def promised(node: ast.ClassDef, known: dict[str, ast.ClassDef]) -> set[str]:
    """Methods whose contract stands elsewhere: in a base, or in a protocol it fulfils."""
    own, names = public_methods(node), set[str]()
    for base in base_names(node) & set(known) - {node.name}:
        names |= public_methods(known[base]) | promised(known[base], known)
    for other in known.values():
        # A plain attribute fulfils a property, so only methods tell.
        methods = public_methods(other, with_properties=False)
        if other is not node and "Protocol" in base_names(other) and methods and methods <= own:
            names |= public_methods(other)
    return names


def needs_docstring(node: ast.stmt, exempt: set[str]) -> bool:
    if not isinstance(node, Function | ast.ClassDef) or node.name.startswith("_"):
        return False
    decorators = {ast.unparse(each).split(".")[-1] for each in node.decorator_list}
    return node.name not in exempt and not decorators & {"overload", "override", "setter"}


def undocumented(body: list[ast.stmt], exempt: set[str]) -> Iterator[tuple[str, int]]:
    for node in body:
        if not needs_docstring(node, exempt):
            continue
        assert isinstance(node, Function | ast.ClassDef)
        docstring = ast.get_docstring(node, clean=False) or ""
        if not docstring.split("\n")[0].strip():
            yield node.name, node.lineno
        if isinstance(node, ast.ClassDef):
            yield from undocumented(node.body, promised(node, classes() | {node.name: node}))


def missing_docstrings(each: Module) -> Iterator[Finding]:
    for name, line in undocumented(each.tree.body, set()):
        yield Finding(each.name, line, name)


def test_public_names_have_a_docstring():
    report(over_source(missing_docstrings), "public names without a docstring:")


# --- the checks themselves: each finds what it forbids, and only that

LONGEST_BODY = "    x = 1\n" * (MAX_FUNCTION_LINES - 1)
CLASS = "class A:\n    'A.'\n"

METHODS = "".join(f"    def m{number}(self): ...\n" for number in range(MAX_METHODS_OF_A_PORT))

REFUSED: list[tuple[Check, str, str]] = [
    (wide_ports, "ports.shelf", f"class A:\n{METHODS}    def more(self): ..."),
    (long_functions, "log.lines", f"def f():\n{LONGEST_BODY}    x = 1"),
    (upward_imports, "model", "from mnemolog.log import lines"),
    (upward_imports, "log.lines", "from mnemolog import index"),
    (upward_imports, "log.lines", "from ..graph import node"),
    (upward_imports, "log.lines", "import mnemolog.index.schema"),
    (upward_imports, "log.lines", "from mnemolog import Memory"),
    (upward_imports, "adapters.langgraph", "from mnemolog.fs import Disk"),
    (upward_imports, "tools.table", "from mnemolog import stores"),
    (back_end_imports, "memory", "from mnemolog.stores.files import FileStore"),
    (back_end_imports, "memory", "from mnemolog import stores\nstores.files.FileStore()"),
    (late_imports, "log.lines", "def f():\n    import json"),
    (late_imports, "log.lines", "def __getattr__(name):\n    import json"),
    (late_imports, "stores", f"{CLASS}    def __getattr__(self, name):\n        import json"),
    (late_imports, "log.lines", "def f():\n    importlib.import_module('json')"),
    (broad_handlers, "log.lines", "try: f()\nexcept Exception: pass"),
    (broad_handlers, "log.lines", "try: f()\nexcept (OSError, BaseException): pass"),
    (broad_handlers, "log.lines", "try: f()\nexcept: pass"),
    (broad_handlers, "log.lines", "try: f()\nexcept Exception as e: raise e"),
    (broad_handlers, "log.lines", "with suppress(Exception): f()"),
    (broad_handlers, "log.lines", "try: f()\nexcept BaseException:\n    g()\n    raise"),
    (disk_access, "log.lines", "open('x')"),
    (disk_access, "log.lines", "import os\nos.open('x', 0)"),
    (disk_access, "log.lines", "from os import replace"),
    (disk_access, "log.lines", "os.path.exists('x')"),
    (disk_access, "log.lines", "path.write_text('x')"),
    (disk_access, "log.lines", "Path('x').open()"),
    (disk_access, "log.lines", "(root / 'x').unlink()"),
    (disk_access, "log.lines", "gzip.open('x')"),
    (disk_access, "log.lines", "import fcntl"),
    (disk_access, "log.lines", "import sqlite3"),
    (avoided_names, "log.lines", "class SessionManager: ..."),
    (avoided_names, "log.lines", "def _load_data(): ..."),
    (avoided_names, "log.utils", ""),
    (missing_docstrings, "log.lines", "def f(): ..."),
    (missing_docstrings, "log.lines", "def f():\n    '\\n Late.'"),
    (missing_docstrings, "log.lines", f"{CLASS}    @property\n    def b(self): ..."),
]
ALLOWED: list[tuple[Check, str, str]] = [
    (long_functions, "log.lines", f"def f():\n{LONGEST_BODY}"),
    (upward_imports, "log.lines", "import os\nfrom mnemolog import errors\nfrom . import tail"),
    (upward_imports, "adapters.ndjson", "from mnemolog.log import lines"),
    (back_end_imports, "memory", "from mnemolog import stores\nstores.open('x')"),
    (late_imports, "stores", "def __getattr__(name):\n    from mnemolog.stores import files"),
    (late_imports, "faces.cli", "def f():\n    import rich"),
    (broad_handlers, "log.lines", "try: f()\nexcept OSError: pass"),
    (disk_access, "fs.real", "import os\nos.open('x', 0)"),
    (disk_access, "index.schema", "import sqlite3"),
    (disk_access, "stores", "def open(root): ...\nopen('x')"),
    (disk_access, "log.lines", "import os\nos.path.join('a', str(os.getpid()))"),
    (disk_access, "log.lines", "self._disk.open('x')\ntext.replace('a', 'b')"),
    (avoided_names, "log.lines", "def processed_metadata(): ..."),
    (missing_docstrings, "log.lines", f"def _f(): ...\n{CLASS}    def __len__(self): ..."),
]


@pytest.mark.parametrize(("check", "name", "source"), REFUSED)
def test_a_check_finds_what_it_forbids(check, name, source):
    assert list(check(module(f"mnemolog.{name}", source, is_package=name == "stores")))


@pytest.mark.parametrize(("check", "name", "source"), ALLOWED)
def test_a_check_leaves_the_rest_alone(check, name, source):
    assert not list(check(module(f"mnemolog.{name}", source, is_package=name == "stores")))


PORT = """
class Clock(Protocol):
    '''Tells the time.'''
    def now(self):
        '''The present.'''
class FixedClock:
    '''Stands still.'''
    def now(self): ...
class SlowClock(FixedClock):
    '''Lags.'''
    def now(self): ...
    def wind(self): ...
"""


def test_what_a_protocol_or_a_base_promises_is_documented_once(monkeypatch):
    ports = module("mnemolog.ports", PORT)
    monkeypatch.setitem(globals(), "modules", lambda: {ports.name: ports})
    monkeypatch.setitem(globals(), "classes", classes.__wrapped__)
    assert [each.what for each in missing_docstrings(ports)] == ["wind"]
