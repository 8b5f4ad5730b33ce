"""How the command line is run in these tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mnemolog.faces.cli.app import app

Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a working folder that belong to this test alone."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("MNEMOLOG_ROOT", raising=False)
    monkeypatch.chdir(work)
    return home


@pytest.fixture
def anywhere(home: Path) -> Run:
    """Run `mnemolog` with these words; the exit code must be `code`, unless that is None."""

    def run(*words: str, code: int | None = 0, text: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(app, list(words), input=text)
        unexpected = result.exception
        if unexpected is not None and not isinstance(unexpected, SystemExit):
            raise unexpected
        assert code in (None, result.exit_code), f"{result.stdout}\n{result.stderr}"
        return result

    return run


@pytest.fixture
def run(anywhere: Run, root: Path) -> Run:
    """Run `mnemolog` on the test's own root."""

    def on_root(*words: str, **more: Any) -> Result:
        return anywhere("--root", str(root), *words, **more)

    return on_root


@pytest.fixture
def ask(run: Run) -> Callable[..., list[Any]]:
    """Run `mnemolog --json` on the test's own root; the lines of its answer, decoded."""

    def answers(*words: str, **more: Any) -> list[Any]:
        told = run("--json", *words, **more).stdout
        return [json.loads(line) for line in told.split("\n") if line]

    return answers
