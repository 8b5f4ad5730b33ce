"""Back ends. `open` picks the one that a root or an address asks for."""

from collections.abc import Mapping, Sequence
from typing import Any

from mnemolog import paths
from mnemolog.errors import InvalidFormatError
from mnemolog.ports.back_end import BackEnd
from mnemolog.ports.embedder import Embedder
from mnemolog.stores.lazy import LazyIndex, lazy_shelf


def __getattr__(name: str) -> Any:
    """Load a back end on first use, and what searching needs on the first search."""
    if name == "open_root":
        from mnemolog.stores.files import open_root

        return open_root
    if name == "FilesKeeper":
        from mnemolog.stores.files.keeper import FilesKeeper

        return FilesKeeper
    if name == "FilesMover":
        from mnemolog.stores.files.moving.mover import FilesMover

        return FilesMover
    if name == "Redactor":
        from mnemolog.policy.redaction import Redactor

        return Redactor
    if name == "Sieve":
        from mnemolog.stores.files.sieve import Sieve

        return Sieve
    if name == "make_shelf":
        from mnemolog.stores.files.shelves import make_shelf

        return make_shelf
    if name == "make_finder":
        from mnemolog.stores.files.finder import make_finder

        return make_finder
    raise AttributeError(name)


def make_redactor(key: bytes, patterns: Sequence[tuple[str, str]], kinds: Sequence[str]) -> Any:
    """What hides secrets; its rules take longer to load than all the rest."""
    return __getattr__("Redactor")(key, patterns=patterns, rules=kinds or None)


def make_sieve(needles: Mapping[str, bytes]) -> Any:
    """What finds very many texts at once; it loads numpy."""
    return __getattr__("Sieve")(needles)


def open(
    root: str,
    environ: Mapping[str, str],
    overrides: Mapping[str, object],
    embedder: Embedder | str | None = None,
) -> BackEnd:
    """Open the back end that `root` names."""
    if "://" in root:
        raise InvalidFormatError(
            f"There is no back end for {root.split('://')[0]!r:.40} addresses yet.",
            advice="Give the path of a folder.",
        )
    disk, store, settings = __getattr__("open_root")(root, environ, overrides)
    index = LazyIndex(
        lambda: __getattr__("make_finder")(disk, settings, embedder),
        lambda: disk.ident(f"{paths.INDEX}/index.db") is not None,
    )
    keeper = __getattr__("FilesKeeper")(disk, store.held, index.purge, make_redactor, make_sieve)
    return BackEnd(
        store,
        index,
        keeper,
        settings,
        lambda: __getattr__("FilesMover")(disk, settings, disk.root),
        lazy_shelf(lambda: __getattr__("make_shelf")(disk, settings)),
    )
