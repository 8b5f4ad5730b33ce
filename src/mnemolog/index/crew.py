"""The crew: who works texts out. This one alone, or, once there is much to do, a second beside it.

The second is a program of our own at the other end of two pipes. It is handed texts and gives back
what became of them; it opens no file of the index. It is never waited for before it has said that
it is ready and works the same way, and whatever it fails to do is done here: that it cannot be
started, dies or hangs costs time and nothing else.
"""

import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from threading import Condition, Thread
from types import TracebackType
from typing import BinaryIO, Self

from mnemolog.index.working import Texts, Worked, Worker
from mnemolog.ports.embedder import Embedder

# Rows at a time: enough for numpy, and so few that nobody waits long for the last ones.
PIECE = 1024
# From so many rows on a second one is worth its start.
ENOUGH = 3 * PIECE
# How long one piece may take the second one, which needs a tenth of a second, before it is ended.
_PATIENCE = 30.0

# What reading from, or writing to, a program that died or is another one may bring.
_BROKEN = (OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, ImportError,
           pickle.PickleError)  # fmt: skip


class Second:
    """A second program that works texts out, one piece after the other."""

    def __init__(self, command: Sequence[str], greeting: str) -> None:
        self._greeting = greeting.encode() + b"\n"
        self._running = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def is_fit(self) -> bool:
        """Wait until it is ready; whether it works as we do."""
        assert self._running.stdout is not None
        return self._running.stdout.readline() == self._greeting

    def ask(self, texts: Texts) -> Worked:
        """What it makes of some texts; raises what a broken pipe raises."""
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        pickle.dump(tuple(texts), self._running.stdin, pickle.HIGHEST_PROTOCOL)
        self._running.stdin.flush()
        worked: Worked = pickle.load(self._running.stdout)
        return worked

    def end(self) -> None:
        """Have it gone, whatever it does."""
        self._running.kill()
        self._running.wait()

    def close(self) -> None:
        """Close the pipes; once nobody uses them any more."""
        for pipe in (self._running.stdin, self._running.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not sent yet has nobody to go to
                    pipe.close()


def serve(taken: BinaryIO, given: BinaryIO, embedder: Embedder | None, greeting: str) -> None:
    """What the second one does until nobody asks any more."""
    given.write(greeting.encode() + b"\n")
    given.flush()
    worker = Worker(embedder)
    while True:
        try:
            texts = Texts(*pickle.load(taken))
        except EOFError:
            return
        pickle.dump(worker.work_out(texts), given, pickle.HIGHEST_PROTOCOL)
        given.flush()


class Piece:
    """Some texts on their way to being worked out."""

    __slots__ = ("texts", "worked")

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self.worked: Worked | None = None


class Crew:
    """Works texts out, in pieces; ends whom it started when it is left."""

    def __init__(
        self, embedder: Embedder | None, command: Sequence[str] = (), greeting: str = ""
    ) -> None:
        self._worker = Worker(embedder)
        self._command = command if (os.cpu_count() or 1) > 1 else ()
        self._greeting = greeting
        self._given = 0
        self._open: deque[Piece] = deque()
        self._changed = Condition()
        self._away: Piece | None = None
        self._second: Second | None = None
        self._thread: Thread | None = None
        self._is_over = False

    @property
    def embeds(self) -> bool:
        """Whether texts become vectors here."""
        return self._worker.embeds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._dismiss()

    def drop(self) -> None:
        """Leave what was given and not asked back."""
        with self._changed:
            self._open.clear()

    def give(self, texts: Texts) -> Piece:
        """Have some texts worked out, sooner or later."""
        piece = Piece(texts)
        self._given += len(texts.said)
        with self._changed:
            self._open.append(piece)
            self._changed.notify_all()
        if self._command and self._given >= ENOUGH:
            self._begin(self._command)
            self._command = ()  # once is enough, also if it fails
        return piece

    def done(self, pieces: Sequence[Piece]) -> list[Worked]:
        """What became of some pieces; those that nobody has begun are worked out here."""
        for piece in reversed(pieces):  # the second one begins with the first
            if self._is_left(piece):
                piece.worked = self._worker.work_out(piece.texts)
        for piece in pieces:
            self._await(piece)
        return [piece.worked or self._worker.work_out(piece.texts) for piece in pieces]

    def _is_left(self, piece: Piece) -> bool:
        """Whether a piece is still to be begun; then it is ours."""
        with self._changed:
            if piece not in self._open:
                return False
            self._open.remove(piece)
            return True

    def _await(self, piece: Piece) -> None:
        """Wait until the second one is done with a piece, and end it if that takes too long."""
        with self._changed:
            if self._changed.wait_for(lambda: self._away is not piece, _PATIENCE):
                return
            self._away = None
        self._dismiss()

    def _begin(self, command: Sequence[str]) -> None:
        try:
            self._second = Second(command, self._greeting)
        except (OSError, ValueError):
            return  # the system does not let us, so we work alone
        self._thread = Thread(target=self._hand_over, args=(self._second,), daemon=True)
        self._thread.start()

    def _hand_over(self, second: Second) -> None:
        """In a thread of its own: give the second one piece after piece."""
        try:
            with suppress(*_BROKEN):
                if second.is_fit():
                    while (piece := self._take_first()) is not None:
                        self._put_back(piece, second.ask(piece.texts))
        finally:
            self._put_back(None, None)
            second.end()
            second.close()

    def _put_back(self, piece: Piece | None, worked: Worked | None) -> None:
        with self._changed:
            self._away = None
            if piece is not None:
                piece.worked = worked
            self._changed.notify_all()

    def _take_first(self) -> Piece | None:
        """Wait for a piece; None once all is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._open or self._is_over)
            self._away = None if self._is_over else self._open.popleft()
            return self._away

    def _dismiss(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        if self._second is not None:
            self._second.end()
            self._second = None
        if self._thread is not None:
            self._thread.join()
            self._thread = None


def program(source: str, *arguments: str) -> list[str]:
    """The command line of a Python like this one that finds the same modules.

    Empty where there is none, as in a program that was frozen into one file, or in a server that
    holds Python inside and goes by its own name.
    """
    name = os.path.basename(sys.executable or "").lower()
    if not name.startswith(("python", "pypy")) or getattr(sys, "frozen", False):
        return []
    code = f"import sys; sys.path[:] = sys.argv[{len(arguments) + 1}:]; {source}"
    return [sys.executable, "-I", "-c", code, *arguments, *sys.path]
