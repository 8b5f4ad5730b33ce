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
# So many pieces may be with the second one: it goes on with the next while we take an answer.
_AWAY = 2
# What the pipes hold: a piece, where they can be made so large; else they are filled many times.
_ROOM = 1 << 20 if sys.platform == "linux" else 0
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
            command,
            bufsize=_ROOM or -1,
            pipesize=_ROOM or -1,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._running.stdin is not None
        assert self._running.stdout is not None
        self._given, self._taken = self._running.stdin, self._running.stdout

    def is_fit(self) -> bool:
        """Wait until it is ready; whether it works as we do."""
        return self._taken.readline() == self._greeting

    def takes(self, message: bytes) -> bool:
        """Whether it can be given a message while it works on another.

        If that did not fit into the pipe, it would wait for us to take its answer, and we for it.
        """
        return len(message) <= _ROOM

    def give(self, message: bytes) -> None:
        """Give it some texts; raises what a broken pipe raises."""
        self._given.write(message)
        self._given.flush()

    def answer(self) -> Worked:
        """What it made of the first texts that it has not answered yet; raises alike."""
        worked: Worked = pickle.load(self._taken)
        return worked

    def end(self) -> None:
        """Have it gone, whatever it does."""
        self._running.kill()
        self._running.wait()

    def close(self) -> None:
        """Close the pipes; once nobody uses them any more."""
        for pipe in (self._given, self._taken):
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
        self._away: deque[Piece] = deque()
        self._transaction = 0
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
        """Leave what was given and not asked back: another transaction begins."""
        with self._changed:
            self._open.clear()
            self._transaction += 1

    def give(self, texts: Texts) -> Piece:
        """Have some texts worked out, sooner or later."""
        piece = Piece(texts._replace(transaction=self._transaction))
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
                self._work_out(piece)
        for piece in pieces:
            self._await(piece)
            if piece.worked is None:
                self._work_out(piece)
        return [piece.worked for piece in pieces if piece.worked is not None]

    def _work_out(self, piece: Piece) -> None:
        piece.worked = self._worker.work_out(piece.texts)

    def _is_left(self, piece: Piece) -> bool:
        """Whether a piece is still to be begun; then it is ours."""
        with self._changed:
            if piece not in self._open:
                return False
            self._open.remove(piece)
            return True

    def _await(self, piece: Piece) -> None:
        """Until the second one is done with a piece, do others; end it if that takes too long."""
        while (other := self._last_open(piece)) is not None:
            self._work_out(other)
        with self._changed:
            if self._changed.wait_for(lambda: piece not in self._away, _PATIENCE):
                return
            self._away.clear()
        self._dismiss()

    def _last_open(self, awaited: Piece) -> Piece | None:
        """The piece that the second one would come to last, while it has the awaited one."""
        with self._changed:
            return self._open.pop() if self._open and awaited in self._away else None

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
                    self._exchange(second)
        finally:
            with self._changed:
                self._away.clear()
                self._changed.notify_all()
            second.end()
            second.close()

    def _exchange(self, second: Second) -> None:
        """Give pieces and take answers, until all is over."""
        while True:
            piece = self._take_first()
            if piece is not None:
                message = pickle.dumps(tuple(piece.texts), pickle.HIGHEST_PROTOCOL)
                if len(self._away) > 1 and not second.takes(message):
                    self._put_back(second.answer())
                second.give(message)
            elif not self._away:
                return
            if piece is None or len(self._away) == _AWAY:
                self._put_back(second.answer())

    def _put_back(self, worked: Worked) -> None:
        with self._changed:
            self._away.popleft().worked = worked
            self._changed.notify_all()

    def _take_first(self) -> Piece | None:
        """The next piece; if the second one has nothing to do, wait for it until all is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._open or self._away or self._is_over)
            if self._is_over or not self._open:
                return None
            self._away.append(self._open.popleft())
            return self._away[-1]

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
