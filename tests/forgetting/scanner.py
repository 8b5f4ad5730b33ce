"""A byte scan of a root, from its description alone: nothing of mnemolog is used here.

Every file is read as it lies. What begins like gzip is unpacked, member by member and as far as it
goes, whatever its name; what is a tar inside is opened too. Needles are looked for in every form
that a text can take on its way to a file.
"""

import io
import json
import os
import random
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, quote_plus

GZIP = b"\x1f\x8b"
EMPTY = re.compile(rb"\0{64,}")
CONSONANTS = "bcdfghjklmnpqrtvwxz"


def word(length: int = 14) -> str:
    """A random word that no text holds and no stemmer shortens."""
    return "".join(random.SystemRandom().choices(CONSONANTS, k=length))


def forms(text: str) -> set[bytes]:
    """The bytes that a text can have in a file."""
    found: set[bytes] = set()
    for one in (text, text.lower(), text.upper()):
        escaped = json.dumps(one)[1:-1]
        upper = "".join(f"\\u{ord(c):04X}" if ord(c) > 126 else c for c in one)
        texts: tuple[str, ...] = (
            one,
            escaped,
            json.dumps(one, ensure_ascii=False)[1:-1],
            upper,
            repr(one)[1:-1],
        )
        texts += (quote(one, safe=""), quote(one, safe="").lower(), quote_plus(one))
        found |= {each.encode("utf-8", "replace") for each in texts}
        found |= {one.encode("utf-16-le"), one.encode("utf-16-be")}
    return found


def tree_of(root: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too, with its bytes."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder) / name
            if not path.is_symlink():
                found[str(path.relative_to(root))] = path.read_bytes()
    return found


def layers(content: bytes) -> Iterator[bytes]:
    """The bytes of a file, without its empty pages, and those of whatever is packed inside."""
    yield EMPTY.sub(bytes(64), content)
    if content.startswith(GZIP):
        inner = gunzipped(content)
        yield from layers(inner)
        with suppress(tarfile.TarError), tarfile.open(fileobj=io.BytesIO(inner)) as tar:
            for member in tar:
                file = tar.extractfile(member)
                yield from layers(file.read()) if file else ()


def gunzipped(content: bytes) -> bytes:
    """All gzip members of a file, as far as they can be unpacked."""
    found = b""
    while content.startswith(GZIP):
        unpacking = zlib.decompressobj(wbits=31)
        try:
            found += unpacking.decompress(content)
        except zlib.error:
            return found
        content = unpacking.unused_data
    return found


def found_in(tree: Mapping[str, bytes | None], texts: Iterable[str]) -> dict[str, list[str]]:
    """Which of the texts stand in which files; also in the names of the files."""
    wanted = {text: forms(text) for text in texts}
    hits: dict[str, set[str]] = {}
    for path, content in tree.items():
        for layer in (path.encode(), *layers(content or b"")):
            for text, each in wanted.items():
                if any(form in layer for form in each):
                    hits.setdefault(text, set()).add(path)
    return {text: sorted(paths) for text, paths in hits.items()}


def traces(root: Path, texts: Iterable[str]) -> dict[str, list[str]]:
    """The same for a folder on the real disk."""
    return found_in(tree_of(root), texts)
