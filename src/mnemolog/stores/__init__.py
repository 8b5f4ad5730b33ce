"""Back ends. `open` picks the one that a root or an address asks for."""

from collections.abc import Mapping
from typing import Any

from mnemolog.errors import InvalidFormatError
from mnemolog.ports import BackEnd
from mnemolog.stores.lazy import LazyIndex


def __getattr__(name: str) -> Any:
    """Load a back end on first use, and what searching needs on the first search."""
    if name == "open_root":
        from mnemolog.stores.files import open_root

        return open_root
    if name == "make_finder":
        from mnemolog.stores.files.finder import make_finder

        return make_finder
    raise AttributeError(name)


def open(root: str, environ: Mapping[str, str], overrides: Mapping[str, object]) -> BackEnd:
    """Open the back end that `root` names."""
    if "://" in root:
        raise InvalidFormatError(
            f"There is no back end for {root.split('://')[0]!r:.40} addresses yet.",
            advice="Give the path of a folder.",
        )
    disk, store, settings = __getattr__("open_root")(root, environ, overrides)
    index = LazyIndex(lambda: __getattr__("make_finder")(disk, settings))
    return BackEnd(store, index, settings)
