"""Every requirement of a finished owner is named by a test or by a decision record.

Test files are read, not run: `@pytest.mark.req("S001-053")` counts wherever pytest would
see it. A decision record names the rows that it settles on a line of its own:
`Requirements: S001-053, S001-054`.
"""

import ast
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent
ROOT = TESTS.parent
DECISIONS = ROOT / "docs" / "decisions"
RECORD_PREFIX = "Requirements:"
NEVER_RUN = {"skip", "xfail"}


class Row(NamedTuple):
    id: str
    owner: str
    kind: str
    text: str


class Naming(NamedTuple):
    id: str
    where: str


def rows() -> list[Row]:
    with (TESTS / "requirements.csv").open(encoding="utf-8", newline="") as file:
        return [Row(**line) for line in csv.DictReader(file)]


def finished_owners() -> set[str]:
    return set((TESTS / "finished_owners.txt").read_text(encoding="utf-8").split())


def mark_name(node: ast.AST) -> str | None:
    """`skip` for `pytest.mark.skip`, called or not; None for anything else."""
    target = node.func if isinstance(node, ast.Call) else node
    if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "pytest.mark":
        return target.attr
    return None


def counts(node: ast.AST) -> bool:
    """Whether marks on this definition can show anything: it is a test, and it runs."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return True
    if any(mark_name(decorator) in NEVER_RUN for decorator in node.decorator_list):
        return False
    return isinstance(node, ast.ClassDef) or node.name.startswith("test")


def marks(node: ast.AST) -> Iterator[ast.Call]:
    """The `pytest.mark.req(...)` calls in a file, without those that show nothing."""
    if isinstance(node, ast.Call) and mark_name(node) == "req":
        yield node
    elif counts(node):
        for child in ast.iter_child_nodes(node):
            yield from marks(child)


def named_by_source(source: str, file: str) -> Iterator[Naming]:
    for call in marks(ast.parse(source)):
        for arg in call.args:
            literal = arg.value if isinstance(arg, ast.Constant) else ast.unparse(arg)
            yield Naming(str(literal), f"{file}:{arg.lineno}")


def named_by_record(text: str, file: str) -> Iterator[Naming]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(RECORD_PREFIX):
            for word in line.removeprefix(RECORD_PREFIX).split(","):
                yield Naming(word.strip(" .`"), f"{file}:{number}")


def all_named() -> list[Naming]:
    named: list[Naming] = []
    for path in [*TESTS.rglob("*.py"), *(ROOT / "soak").rglob("*.py")]:
        source = path.read_text(encoding="utf-8")
        named += named_by_source(source, str(path.relative_to(ROOT)))
    for path in DECISIONS.glob("*.md"):
        named += named_by_record(path.read_text(encoding="utf-8"), str(path.relative_to(ROOT)))
    return named


def unnamed(table: Iterable[Row], owners: set[str], named: Iterable[Naming]) -> list[Row]:
    ids = {naming.id for naming in named}
    return [row for row in table if row.owner in owners and row.id not in ids]


def unknown(table: Iterable[Row], named: Iterable[Naming]) -> list[Naming]:
    ids = {row.id for row in table}
    return [naming for naming in named if naming.id not in ids]


def test_the_table_is_complete_and_its_ids_are_unique():
    table = rows()
    assert len(table) == len({row.id for row in table}) == 589
    assert all(all(row) for row in table), "a row has an empty cell"


def test_finished_owners_own_rows():
    assert finished_owners() <= {row.owner for row in rows()}


def test_every_row_of_a_finished_owner_is_named():
    missing = unnamed(rows(), finished_owners(), all_named())
    listing = "\n".join(f"  {row.id} {row.owner} {row.kind}: {row.text}" for row in missing)
    assert not missing, f"{len(missing)} rows that no test and no decision names:\n{listing}"


def test_every_named_id_exists():
    strangers = unknown(rows(), all_named())
    listing = "\n".join(f"  {naming.where}: {naming.id}" for naming in strangers)
    assert not strangers, f"ids that tests/requirements.csv does not hold:\n{listing}"


SAMPLE = """
import pytest
pytestmark = pytest.mark.req("on-module")
CASES = [pytest.param(1, marks=pytest.mark.req("on-case"))]
@pytest.mark.req("on-class")
class TestLog:
    @pytest.mark.req("on-method", "second")
    async def test_it(self): ...
@pytest.mark.req("on-fixture")
def store(): ...
@pytest.mark.skip(reason="later")
@pytest.mark.req("on-skipped")
def test_later(): ...
@pytest.mark.req(COMPUTED)
def test_computed(): ...
"""


def test_only_marks_on_tests_that_run_count():
    found = [naming.id for naming in named_by_source(SAMPLE, "sample.py")]
    assert sorted(found) == [
        "COMPUTED", "on-case", "on-class", "on-method", "on-module", "second",
    ]  # fmt: skip


def test_a_computed_id_is_reported_as_unknown_with_its_place():
    strangers = unknown([Row("on-module", "o", "k", "t")], named_by_source(SAMPLE, "sample.py"))
    assert Naming("COMPUTED", "sample.py:14") in strangers


def test_a_decision_record_names_the_rows_on_its_requirements_line():
    text = "# 7. Title\n\nRequirements: A-1, `A-2`.\n\nSee also requirements: A-3\n"
    assert list(named_by_record(text, "7.md")) == [Naming("A-1", "7.md:3"), Naming("A-2", "7.md:3")]


def test_only_rows_of_finished_owners_are_missed():
    table = [Row("A-1", "done", "k", "t"), Row("A-2", "done", "k", "t"), Row("B-1", "no", "k", "t")]
    assert unnamed(table, {"done"}, [Naming("A-1", "x:1")]) == [table[1]]
