"""What every verb is asked: on which root, as whom, and in which form to answer."""

import functools
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mnemolog.faces.cli import exits, screen

if TYPE_CHECKING:
    from mnemolog.memory import Memory

ROOT_VARIABLE = "MNEMOLOG_ROOT"

COMMON = [
    click.Option(
        ["--root"],
        metavar="FOLDER",
        help="The memory to use: a folder. Else MNEMOLOG_ROOT, else the nearest .mnemolog upward "
        "from here, else ~/.mnemolog.",
    ),
    click.Option(["--agent"], metavar="ID", help="See and write only what this agent may."),
    click.Option(["--user"], metavar="ID", help="See only this user's sessions."),
    click.Option(
        ["--json", "as_json"], is_flag=True, help="Exact JSON for programs, on single lines."
    ),
]


class Call(NamedTuple):
    """One call of a verb."""

    given_root: str | None
    agent: str | None
    user: str | None
    as_json: bool

    @property
    def root(self) -> str:
        """The root that is meant; nothing is made of it yet."""
        from mnemolog.stores.files import roots

        if self.named_root:
            return self.named_root
        found = roots.nearest(roots.full_path("."))
        return found or os.path.join(os.path.expanduser("~"), roots.NAME)

    @property
    def named_root(self) -> str | None:
        """The root that somebody named: a folder by its full path, or an address as it is."""
        from mnemolog.stores.files import roots

        named = self.given_root or os.environ.get(ROOT_VARIABLE)
        if not named or is_address(named):
            return named
        # A shell has done this for what was typed, but nobody for what stands in a settings file.
        return roots.full_path(os.path.expanduser(named))

    @contextmanager
    def memory(self, *, make: bool = False) -> Iterator["Memory"]:
        """The memory as the caller may see it; a root is made only where the verb writes."""
        from mnemolog.memory import Memory
        from mnemolog.stores.files import roots

        root = self.root
        if not make and not is_address(root):
            self._expect(root)
        is_surprise = make and not self.named_root and not roots.is_root(root)
        with retired_settings_told(self.as_json), Memory.open(root) as memory:
            if is_surprise and not self.as_json:
                screen.say(("Made a memory in ", "good"), root, err=True)
            yield self.view(memory)

    def view(self, memory: "Memory") -> "Memory":
        """The view of the agent and user who were named."""
        if self.agent is not None:
            memory = memory.for_agent(self.agent)
        return memory if self.user is None else memory.for_user(self.user)

    def refuse_views(self, why: str) -> None:
        """Refuse to do for an agent or a user what concerns the whole root."""
        from mnemolog.errors import NotAllowedError

        if self.agent is not None or self.user is not None:
            raise NotAllowedError(why, advice="Leave out --agent and --user.")

    def _expect(self, root: str) -> None:
        from mnemolog.errors import StorageIOError
        from mnemolog.stores.files import roots

        if roots.is_root(root):
            return
        advice = "`mnemolog init` makes one here; --root names another."
        if self.named_root:
            named_by = "--root" if self.given_root else ROOT_VARIABLE
            advice = f"Check {named_by}; `mnemolog init` with the same makes one there."
        is_file = roots.is_taken(root)
        raise StorageIOError(
            f"There is no memory in {root}{': it is a file' if is_file else ''}.",
            advice="Name a folder with --root." if is_file else advice,
            root=root,
        )


def is_address(root: str) -> bool:
    """Whether a root is an address instead of a folder."""
    return "://" in root


def usage_of(command: click.Command) -> str:
    """How a verb is written: `mnemolog show SESSION [ENTRY] [OPTIONS]`."""
    own = [each for each in command.params if each not in COMMON]
    words = [_word(each) for each in own if isinstance(each, click.Argument)]
    options = ["[OPTIONS]"] if any(isinstance(each, click.Option) for each in own) else []
    return " ".join(["mnemolog", str(command.name), *words, *options])


def _word(argument: click.Argument) -> str:
    name = str(argument.name).upper()
    return name if argument.required else f"[{name}]"


@contextmanager
def retired_settings_told(as_json: bool) -> Iterator[None]:
    """Pass on what the settings warn about, in words instead of Python's form."""
    from mnemolog.settings import RetiredSettingWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", RetiredSettingWarning)
        before = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
            if issubclass(category, RetiredSettingWarning):
                screen.warn(str(message), as_json=as_json)
            else:
                before(message, category, *rest, **more)

        warnings.showwarning = show
        yield


def verb(function: Callable[..., int | None]) -> Callable[..., int | None]:
    """Make a function that takes a `Call` first into one that click can call.

    The common options may stand before the verb as well as after it.
    """

    @functools.wraps(function)
    @click.pass_context
    def called(context: click.Context, /, **given: Any) -> int | None:
        before = context.parent.params if context.parent else {}
        root, agent, user, as_json = (
            _first(given.pop(str(option.name)), before.get(str(option.name))) for option in COMMON
        )
        if root == "":
            raise click.UsageError("--root names no folder: what follows it is empty.")
        return _ended(function, Call(root, agent, user, bool(as_json)), given)

    called.__click_params__ = [*getattr(function, "__click_params__", []), *reversed(COMMON)]  # type: ignore[attr-defined]
    return called


def _first(after: Any, before: Any) -> Any:
    """What stands after the verb, else before it; an empty name is a name, and refused as one."""
    return before if after is None or after is False else after


def _ended(function: Callable[..., int | None], call: Call, given: dict[str, Any]) -> int | None:
    """An end that is nobody's fault and needs no words."""
    try:
        return function(call, **given)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
