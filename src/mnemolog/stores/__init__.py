"""Back ends. `open` picks the one that a root or an address asks for."""

from collections.abc import Mapping
from typing import Any

from mnemolog.errors import InvalidFormatError
from mnemolog.ports import BackEnd


def __getattr__(name: str) -> Any:
    if name == "open_root":
        from mnemolog.stores.files import open_root

        return open_root
    raise AttributeError(name)


def open(root: str, environ: Mapping[str, str], overrides: Mapping[str, object]) -> BackEnd:
    """Open the back end that `root` names."""
    if "://" in root:
        raise InvalidFormatError(
            f"There is no back end for {root.split('://')[0]!r:.40} addresses yet.",
            advice="Give the path of a folder.",
        )
    opened: BackEnd = __getattr__("open_root")(root, environ, overrides)
    return opened
