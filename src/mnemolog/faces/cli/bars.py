"""Progress bars: on a terminal only, and beside the output."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mnemolog.faces.cli.screen import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """Tells how far something got; without `shown` there is nobody to see it."""

    def __init__(self, what: str, shown: "Progress | None" = None) -> None:
        self._shown = shown
        self._task = shown.add_task(what, total=None) if shown else None

    def __call__(self, done: int, total: int | None) -> None:
        """Say that `done` of `total` is done."""
        if self._shown is not None and self._task is not None:
            self._shown.update(self._task, completed=done, total=total)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Make room while something else is shown."""
        if self._shown is None:
            yield
            return
        self._shown.stop()
        try:
            yield
        finally:
            self._shown.start()


@contextmanager
def progress(what: str) -> Iterator[Bar]:
    """A bar for a piece of work; it is gone when the work is done."""
    if not is_terminal(err=True):
        yield Bar(what)
        return
    from rich.console import Console
    from rich.progress import Progress

    # Rich would take over the streams, and with them what is meant for a pipe.
    with Progress(
        console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    ) as shown:
        yield Bar(what, shown)
