"""Sources: files that are held in memory, and one that counts what is read of another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mnemolog.errors import InvalidFormatError, SizeLimitError
from mnemolog.layouts.contract import FileSource, Line, Refused, Skipped
from mnemolog.layouts.parsing import MAX_DOCUMENT, MAX_LINE

_PARTS_REFUSED = ("", ".", "..")


def is_safe(name: str) -> bool:
    """Whether a relative name stays below the folder that it is relative to, on every system."""
    parts = name.split("/")
    plain = not any(part in _PARTS_REFUSED or part.strip(". ") == "" for part in parts)
    return plain and name.isprintable() and "\\" not in name and ":" not in parts[0]


class HeldSource:
    """Files in memory, from names to bytes."""

    def __init__(self, files: Mapping[Any, object]) -> None:
        for name in files:
            if not isinstance(name, str) or not is_safe(name):
                raise InvalidFormatError(f"{name!r:.80} is no relative name of a file.")
        self._files = {name: _bytes_of(name, content) for name, content in files.items()}
        self.passed_over: Sequence[Refused | Skipped] = ()

    def names(self) -> list[str]:
        return sorted(self._files)

    def size(self, name: str) -> int:
        return len(self._files[name])

    def lines(self, name: str) -> Iterator[Line]:
        return split(iter([self._files[name]]))

    def read(self, name: str) -> bytes:
        check_document(self.size(name))
        return self._files[name]


def _bytes_of(name: str, content: object) -> bytes:
    try:
        found = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError:
        found = None
    if not isinstance(found, bytes):
        raise InvalidFormatError(
            f"What {name!r:.80} holds is neither bytes nor text of UTF-8.",
            advice="For example {'a.json': b'{}'}.",
        )
    return found


def is_too_long(size: int) -> bool:
    """Whether a document has more bytes than are read at once."""
    return size > MAX_DOCUMENT


def check_document(size: int) -> None:
    """Refuse a document that is too long to be held in memory."""
    if is_too_long(size):
        raise SizeLimitError(
            f"The document has {size:,} bytes; at most {MAX_DOCUMENT:,} are read at once.",
            advice="Export it as `jsonl`, or in parts.",
            size_bytes=size,
            limit_bytes=MAX_DOCUMENT,
        )


def split(chunks: Iterator[bytes]) -> Iterator[Line]:
    """Lines of chunks, cut at 0x0A alone; of one that is too long nothing is kept."""
    number, parts, held, is_open = 1, list[bytes](), 0, False
    for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            yield Line(number, _joined(parts, held, piece))
            number, parts, held, is_open = number + 1, [], 0, False
        held += len(rest)
        is_open = is_open or bool(rest)
        if held <= MAX_LINE:
            parts.append(rest)
        else:
            parts.clear()
    if is_open:
        yield Line(number, _joined(parts, held, b""))


def _joined(parts: list[bytes], held: int, last: bytes) -> bytes | None:
    if held + len(last) > MAX_LINE:
        return None
    return b"".join((*parts, last)).removesuffix(b"\r")


class CountedSource:
    """Another source, which tells how many bytes of it were read."""

    def __init__(self, source: FileSource, progress: Callable[[int, int], None]) -> None:
        self._source = source
        self._progress = progress
        self._total = sum(source.size(name) for name in source.names())
        self.begin()

    @property
    def passed_over(self) -> Sequence[Refused | Skipped]:
        return self._source.passed_over

    def names(self) -> list[str]:
        return self._source.names()

    def size(self, name: str) -> int:
        return self._source.size(name)

    def lines(self, name: str) -> Iterator[Line]:
        for line in self._source.lines(name):
            self._count(len(line.content or b"") + 1)
            yield line

    def read(self, name: str) -> bytes:
        content = self._source.read(name)
        self._count(len(content))
        return content

    def begin(self) -> None:
        """Count from nothing; what was read to tell the layout does not count."""
        self._done = 0
        self._told = 0

    def finish(self) -> None:
        """Say that all is done; files that nobody needed to read count as well."""
        self._progress(self._total, self._total)

    def _count(self, size: int) -> None:
        self._done = min(self._done + size, self._total)
        if self._done - self._told >= max(1, self._total // 1000):
            self._told = self._done
            self._progress(self._done, self._total)
