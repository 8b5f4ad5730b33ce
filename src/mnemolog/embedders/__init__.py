"""Embedders: texts to vectors that lie close together when the texts are about the same.

`open_embedder` opens one by its name. The module behind a name is loaded only then, and its model
only when the first text comes.
"""

from collections.abc import Mapping
from pkgutil import resolve_name

from mnemolog.errors import SettingsError, did_you_mean
from mnemolog.ports.embedder import Embedder

__all__ = ["GROUP", "Embedder", "open_embedder"]

GROUP = "mnemolog.embedders"
"""The entry points under which other packages offer embedders."""

_OWN = {
    "static": "mnemolog.embedders.static:StaticEmbedder",
    "small": "mnemolog.embedders.tuned:SmallEmbedder",
    "full": "mnemolog.embedders.tuned:FullEmbedder",
    "full-numpy": "mnemolog.embedders.tuned:FullOnNumpyEmbedder",
    "minilm": "mnemolog.embedders.minilm:MiniLmEmbedder",
    "none": "mnemolog.embedders.none:NoEmbedder",
}


def open_embedder(chosen: str | Embedder) -> Embedder:
    """The embedder of this name, own or of an entry point; an object that is one comes back as is.

    Own names cannot be taken over by an entry point.
    """
    if not isinstance(chosen, str):
        return _checked(chosen)
    # Looking through everything that is installed takes longer than the first search itself.
    known = _OWN if chosen in _OWN else {**_offered(), **_OWN}
    if chosen not in known:
        raise _unknown(chosen, known)
    try:
        maker = resolve_name(known[chosen])
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(
            f"The embedder {chosen!r} cannot be loaded from {known[chosen]!r}: {error}.",
            advice="Install or mend the package that offers it.",
        ) from error
    return _checked(maker())


def _offered() -> Mapping[str, str]:
    found: Mapping[str, str] = resolve_name("mnemolog.embedders.offered:offered")(GROUP)
    return found


def _checked(candidate: Embedder) -> Embedder:
    # Only this attribute: asking for `name` or `size` may load a model.
    if not callable(getattr(candidate, "embed", None)):
        raise SettingsError(
            f"A {type(candidate).__name__} is not an embedder: it has no method embed.",
            advice=f"Give an object with name, size and embed, or one of: {', '.join(_OWN)}.",
        )
    return candidate


def _unknown(chosen: str, known: Mapping[str, str]) -> SettingsError:
    return SettingsError(
        f"There is no embedder {chosen[:40]!r}.",
        advice=did_you_mean(chosen, known, f"Known are: {', '.join(sorted(known))}."),
        known=sorted(known),
    )
