"""From a settings file, the environment or a session's overrides to values by dotted key."""

import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from mnemolog.errors import SettingsError, nearest, shown
from mnemolog.settings.keys import Key
from mnemolog.settings.spellings import (
    RENAMED,
    RETIRED,
    WRAPPERS,
    RetiredSettingWarning,
    Values,
    plain,
)

PREFIX = "MNEMOLOG_"

# Variables with our prefix that say where and who, not how.
NOT_SETTINGS = frozenset({"MNEMOLOG_ROOT", "MNEMOLOG_TOKEN", "MNEMOLOG_SOAK"})

LIST_ADVICE = "`python -m mnemolog.settings` lists them all."

# No setting, of today's or of another time, lies deeper than half of this; none has a longer name.
_DEEPEST = 10
_LONGEST = 100

Known = Mapping[str, Key]


class Given(NamedTuple):
    """One value that somebody wrote: its plain path, the name they used, the value."""

    path: str
    name: str
    value: object


def parse(text: str) -> Mapping[str, object]:
    """The content of a settings file, in TOML or (beginning with a brace) in JSON."""
    text = text.removeprefix("\ufeff")
    language = "JSON" if text.lstrip().startswith("{") else "TOML"
    try:
        if language == "JSON":
            return msgspec.json.decode(text, type=dict[str, object])
        return tomllib.loads(text)
    except (ValueError, RecursionError, msgspec.DecodeError) as error:
        raise SettingsError(
            f"The settings file is not valid {language}: {error}.",
            advice="Correct the file, or remove it to run with the defaults.",
        ) from error


def from_mapping(tree: Mapping[str, object], prefix: str = "") -> Iterator[Given]:
    """What a file or a mapping gives; nested tables and dotted names mean the same.

    Only an empty table is a value: it says nothing, but its name may be wrong.
    """
    if not isinstance(tree, Mapping):
        raise SettingsError(
            f"Settings must be a table of names and values, not {shown(tree)}.", advice=LIST_ADVICE
        )
    for name, value in tree.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping) and value and prefix.count(".") < _DEEPEST:
            yield from from_mapping(value, f"{path}.")
        else:
            yield Given(plain(path), path, value)


def from_environ(environ: Mapping[str, str], known: Known) -> Iterator[Given]:
    """What the MNEMOLOG_ variables give; one that is no setting is refused."""
    names = sorted(name for name in environ if name.startswith(PREFIX) and name not in NOT_SETTINGS)
    if not names:
        return
    # Today's keys come last, so that no other spelling can take a variable from them.
    paths = {variable(path): path for path in (*RETIRED, *RENAMED, *known)}
    for name in names:
        if name not in paths:
            raise _unknown(name, nearest(name, map(variable, known)))
        yield Given(paths[name], name, _value(environ[name]))


def variable(path: str) -> str:
    """The environment variable of a dotted key."""
    return PREFIX + path.upper().replace(".", "_")


def settle(
    given: Iterable[Given], current: Values, known: Known, *, strict: bool = True
) -> dict[str, tuple[object, str]]:
    """Checked values by today's keys, each with the name under which it was given."""
    layer = list(given)
    around = {**current, **{item.path: item.value for item in layer}}
    settled: dict[str, tuple[object, str]] = {}
    for item in layer:
        for path, raw in _routed(item, around, known).items():
            value = _checked(known[path], raw, item, strict)
            if path in settled and settled[path][0] != value:
                raise SettingsError(
                    f"{settled[path][1]} and {item.name} both set {path}, to different values.",
                    advice="Keep one of them.",
                    key=path,
                )
            settled[path] = (value, item.name)
    return settled


def _value(text: str) -> object:
    """Numbers, true, false and lists as JSON writes them; everything else is a word."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return text


def _routed(item: Given, around: Values, known: Known) -> Values:
    if item.value == {} and _is_section(item.path, known):
        return {}
    if item.path in RENAMED:
        try:
            return RENAMED[item.path].values(item.value, around)
        except ValueError as error:
            raise _refused(item, str(error)) from error
    if item.path in known:
        return {item.path: item.value}
    if item.path in RETIRED:
        text = f"{item.name} is retired and does nothing. {RETIRED[item.path]}"
        warnings.warn(text, RetiredSettingWarning, stacklevel=2)
        return {}
    if _is_section(item.path, known):
        raise _refused(item, f"a table, for {item.path} is a section")
    raise _unknown(item.name, _nearest(item.path, known), key=item.path)


def _is_section(name: str, known: Known) -> bool:
    """Whether settings lie below this name, today's or earlier ones."""
    return name in WRAPPERS or any(
        path.startswith(f"{name}.") for path in (*known, *RENAMED, *RETIRED)
    )


def _checked(key: Key, raw: object, item: Given, strict: bool) -> object:
    try:
        return key.read(raw, strict)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        # Only a value with an inside can be wrong in more ways than its type and range.
        inside = f" ({error})" if isinstance(raw, list) else ""
        raise _refused(item, key.permitted + inside, key=key.name) from error


def _refused(item: Given, permitted: str, key: str | None = None) -> SettingsError:
    return SettingsError(
        f"{item.name} = {shown(item.value, 80)} cannot be used.",
        advice=f"Permitted: {permitted}.",
        key=key or item.path,
        value=item.value,
        permitted=permitted,
    )


def _unknown(name: str, suggestion: str | None, key: str | None = None) -> SettingsError:
    return SettingsError(
        f"There is no setting {name if len(name) <= _LONGEST else name[: _LONGEST - 1] + '…'}.",
        advice=f"Did you mean {suggestion}?" if suggestion else LIST_ADVICE,
        key=key or name,
        suggestion=suggestion,
    )


def _nearest(path: str, known: Known) -> str | None:
    """The key most likely meant: right name in a wrong place, a slip of the pen, a new type."""
    parent, _, last = path.rpartition(".")
    elsewhere = [name for name in known if name.split(".")[-1] == last]
    if len(elsewhere) == 1:
        return elsewhere[0]
    siblings = {name.split(".")[-1]: name for name in known if name.rpartition(".")[0] == parent}
    if near := nearest(last, siblings):
        return siblings[near]
    if "default" in siblings:
        return siblings["default"]
    return nearest(path, known)
