"""The command `mnemolog`."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this program and leave with its exit code."""
    try:
        from mnemolog.faces.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    app.main(prog_name="mnemolog")
    raise AssertionError("unreachable")
