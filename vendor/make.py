"""Bundle the foreign code of the page from its pinned versions: `make vendor`.

Each file here becomes one file of the page; VENDOR.json names what is in it, under which licence,
and its sum, which a test compares with the file. The texts of the licences go to LICENSES; what
NOTICE says of the packages is written by hand, and a test compares it with both.
"""

import json
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "mnemolog" / "faces" / "page" / "static" / "vendor"
LICENCES = HERE.parent / "LICENSES"
PARTS = {
    "preact.js": ("preact", "@preact/signals", "@preact/signals-core", "htm"),
    "marked.js": ("marked",),
    "d3-force.js": ("d3-force", "d3-dispatch", "d3-quadtree", "d3-timer"),
    "uplot.js": ("uplot",),
}


def main() -> None:
    """Install, bundle, and write down what was bundled."""
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        for name in ("package.json", *PARTS):
            (work / name).write_bytes((HERE / name).read_bytes())
        _run(work, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error")
        told = {name: _bundle(work, name, packages) for name, packages in PARTS.items()}
    (TARGET / "VENDOR.json").write_text(json.dumps(told, indent=2) + "\n")


def _bundle(work: Path, name: str, packages: tuple[str, ...]) -> dict[str, object]:
    options = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=none")
    _run(work, "npx", "esbuild", name, *options, f"--outfile={TARGET / name}")
    known = {one: _package(work, one) for one in packages}
    return {"sha256": sha256((TARGET / name).read_bytes()).hexdigest(), "packages": known}


def _package(work: Path, name: str) -> dict[str, str]:
    folder = work / "node_modules" / name
    told = json.loads((folder / "package.json").read_text())
    text = next(folder.glob("LICEN[SC]E*")).read_text()
    kept = LICENCES / (name.removeprefix("@").replace("/", "-") + ".txt")
    kept.write_text(text.rstrip("\n") + "\n")
    return {"version": told["version"], "licence": told["license"]}


def _run(work: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=work, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed")


if __name__ == "__main__":
    main()
