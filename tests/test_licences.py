"""NOTICE names every foreign work that is shipped, and the package's expression every licence."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LICENCES = ROOT / "LICENSES"
VENDOR = ROOT / "src" / "mnemolog" / "faces" / "page" / "static" / "vendor"
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")

# What a text says, by which its licence is known.
SAYINGS = {
    "Permission is hereby granted, free of charge, to any person": "MIT",
    "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION": "Apache-2.0",
    "Permission to use, copy, modify, and/or distribute this software": "ISC",
    "Redistribution and use in source and binary forms": "BSD-3-Clause",
}


def licences_in(text: str) -> set[str]:
    return {name for saying, name in SAYINGS.items() if saying in text}


def owners_in(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if re.match(r"\s*Copyright .*\d{4}", line)]


def shipped() -> Iterator[tuple[str, str, str]]:
    """Each package of each vendored file: the file, the package with its version, its licence."""
    for file, told in json.loads((VENDOR / "VENDOR.json").read_text()).items():
        for name, package in told["packages"].items():
            yield file, f"{name} {package['version']}", package["licence"]


def entry(file: str, package: str) -> str:
    """What NOTICE says of a package, below the file that it is in."""
    below = re.split(r"^    (?=\S+\.js$)|^(?=\S)", NOTICE, flags=re.M)
    (of_file,) = (part for part in below if part.startswith(f"{file}\n"))
    packages = re.split(r"\n {8}(?=\S)", of_file)
    (found,) = (part for part in packages if part.startswith(f"{package}\n"))
    return found


def text_of(said: str) -> str:
    (name,) = re.findall(r"; text: LICENSES/(\S+)$", said, re.M)
    return (LICENCES / name).read_text(encoding="utf-8")


def named_licences(said: str) -> set[str]:
    lines = re.findall(r"^ +licence: ([^;(]+)", said, re.M)
    return {name.strip() for line in lines for name in line.split(" AND ")}


def test_every_vendored_file_and_package_is_named_with_its_owner_and_licence():
    vendored = list(shipped())
    assert {file for file, _, _ in vendored} == {path.name for path in VENDOR.glob("*.js")}
    for file, package, licence in vendored:
        said = entry(file, package)
        text = text_of(said)
        assert owners_in(text) != []
        assert owners_in(said) == owners_in(text)
        assert licence in named_licences(said)
        assert named_licences(said) == licences_in(text)


def test_no_text_is_carried_that_nothing_needs():
    there = {f"LICENSES/{path.name}" for path in LICENCES.iterdir()}
    assert set(re.findall(r"LICENSES/\S+", NOTICE)) == there


def test_the_expression_of_the_package_names_every_licence_that_occurs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [ROOT / "LICENSE", *LICENCES.iterdir()]
    occurring = {name for path in texts for name in licences_in(path.read_text(encoding="utf-8"))}
    assert set(project["license"].split(" AND ")) == occurring
    assert named_licences(NOTICE) <= occurring


def test_what_was_not_written_here_has_an_entry():
    for folder in ("src/mnemolog/embedders/table", "src/mnemolog/faces/page/static/vendor"):
        assert (ROOT / folder).is_dir()
        assert re.search(rf"^{folder} \(in the wheel: ", NOTICE, re.M)
