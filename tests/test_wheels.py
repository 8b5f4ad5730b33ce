"""What others install: the three wheels hold all they need, nothing else, and work without a net.

They are built here as an installer builds them, the core from its source distribution.
"""

import os
import re
import subprocess
import sys
import tarfile
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
MODELS = {size: ROOT / "wheels" / f"mnemolog-{size}" for size in ("small", "full")}
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
ALONE = ["--no-deps", "--no-index"]
CACHES = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
# What the core is made of: code, the page, the table of the default embedder, a prompt.
ENDINGS = set(".py .pyi .typed .js .css .html .svg .json .npy .txt .md".split())

EMBEDS = """
import sys

def refuse(event, args):
    if event.startswith("socket."):
        raise RuntimeError(event)

sys.addaudithook(refuse)
import mnemolog
from mnemolog.embedders import open_embedder
from mnemolog.settings import Settings

assert mnemolog.__file__.startswith(sys.argv[1]), mnemolog.__file__
for name in (Settings().search.embedder, "small", "full-numpy"):
    embedder = open_embedder(name)
    asked, close, distant = embedder.embed(
        ["Which database did we choose?", "We decided to use PostgreSQL.", "The cat is asleep."]
    )
    print(embedder.name.partition("-")[0], len(asked), asked @ close > asked @ distant)
"""


def done(*words: str | Path, **others) -> str:
    finished = subprocess.run(words, capture_output=True, text=True, check=False, **others)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    done(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheels(source, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("wheels")
    options = [*ALONE, "--no-build-isolation", "--wheel-dir", folder]
    done(*PIP, "wheel", *options, source, *MODELS.values())
    return {path.name.partition("-")[0]: path for path in folder.iterdir()}


def sizes(wheel: Path) -> dict[str, int]:
    with ZipFile(wheel) as file:
        return {one.filename: one.file_size for one in file.infolist()}


def sizes_of_package(folder: Path) -> dict[str, int]:
    """The files that make a package, by the names that they have in its wheel."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder.parent).as_posix(): path.stat().st_size
        for path in files
        if not CACHES & set(path.parts)
    }


def beside(wheel: Path) -> set[str]:
    """What a wheel holds beside its package, without the folder that names the version."""
    return {name.partition(".dist-info/")[2] for name in sizes(wheel) if ".dist-info/" in name}


def in_package(wheel: Path) -> dict[str, int]:
    return {name: size for name, size in sizes(wheel).items() if ".dist-info/" not in name}


def expression(wheel: Path) -> str:
    with ZipFile(wheel) as file:
        (name,) = (one for one in file.namelist() if one.endswith(".dist-info/METADATA"))
        return message_from_bytes(file.read(name))["License-Expression"]


def test_a_wheel_holds_its_package_whole_and_nothing_else(wheels):
    assert set(wheels) == {"mnemolog", "mnemolog_small", "mnemolog_full"}
    assert in_package(wheels["mnemolog"]) == sizes_of_package(ROOT / "src" / "mnemolog")
    assert {Path(name).suffix for name in in_package(wheels["mnemolog"])} == ENDINGS
    for size, folder in MODELS.items():
        package = sizes_of_package(folder / "src" / f"mnemolog_{size}")
        assert in_package(wheels[f"mnemolog_{size}"]) == package


def test_the_models_are_as_large_as_they_have_to_be(wheels):
    core, small, full = (in_package(wheels[f"mnemolog{end}"]) for end in ("", "_small", "_full"))
    assert core["mnemolog/embedders/table/rows.npy"] == 7_558_272
    assert core["mnemolog/embedders/table/scales.npy"] == 118_224
    assert small["mnemolog_small/model.safetensors"] == 15_597_584
    assert full["mnemolog_full/model.safetensors"] == 22_876_264


def test_a_wheel_carries_its_licences_and_says_which(wheels):
    made = {"METADATA", "RECORD", "WHEEL"}
    texts = {f"licenses/LICENSES/{path.name}" for path in (ROOT / "LICENSES").iterdir()}
    own = {"licenses/LICENSE", "licenses/NOTICE"}
    assert beside(wheels["mnemolog"]) == made | own | texts | {"entry_points.txt"}
    assert "MIT AND Apache-2.0" in expression(wheels["mnemolog"])
    for size in MODELS:
        assert beside(wheels[f"mnemolog_{size}"]) == made | own
        assert expression(wheels[f"mnemolog_{size}"]) == "Apache-2.0"


def test_the_source_distribution_holds_what_it_builds_and_what_its_pages_lead_to(source, tmp_path):
    with tarfile.open(source) as file:
        file.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert {path.name for path in unpacked.iterdir()} == set(
        "CHANGELOG.md LICENSE LICENSES NOTICE PKG-INFO README.md docs pyproject.toml retriever src"
        " .gitignore".split()
    )
    assert sizes_of_package(unpacked / "docs") == sizes_of_package(ROOT / "docs")
    for page in (unpacked / "docs").rglob("*.md"):
        for link in re.findall(r"\]\(([^:)#]+)[^:)]*\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} leads to {link}"


def test_what_is_installed_embeds_without_a_net(wheels, tmp_path):
    done(*PIP, "install", *ALONE, "--no-compile", "--target", tmp_path, *wheels.values())
    said = done(
        *(sys.executable, "-P", "-W", "error", "-c", EMBEDS, tmp_path),
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert said.splitlines() == ["static 256 True", "small 384 True", "full 384 True"]
