"""Errors that a test has asked for."""

from fnmatch import fnmatchcase
from typing import NoReturn


class Faults:
    """Which operations on which paths are to fail, how often and with what."""

    def __init__(self) -> None:
        self._asked: list[_Fault] = []

    def __bool__(self) -> bool:
        return bool(self._asked)

    def ask(self, operation: str, pattern: str, error: Exception, times: int | None) -> None:
        """Let the next `times` matching operations fail; None means all of them."""
        self._asked.append(_Fault(operation, pattern, error, times))

    def forget(self) -> None:
        """Let everything work again."""
        self._asked.clear()

    def happen(self, operation: str, path: str) -> None:
        """Raise the error for this operation, if one was asked for."""
        for fault in self._asked:
            if fault.matches(operation, path):
                fault.happen()


class _Fault:
    def __init__(self, operation: str, pattern: str, error: Exception, times: int | None) -> None:
        self._operation = operation
        self._pattern = pattern
        self._error = error
        self._left = times

    def matches(self, operation: str, path: str) -> bool:
        return self._left != 0 and operation == self._operation and fnmatchcase(path, self._pattern)

    def happen(self) -> NoReturn:
        if self._left is not None:
            self._left -= 1
        raise self._error
