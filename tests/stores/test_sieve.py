"""The sieve finds what looking for each text by itself finds, wherever the bytes are cut."""

from hypothesis import given
from hypothesis import strategies as st

from mnemolog.stores import make_sieve
from mnemolog.stores.files.scanning import scan
from mnemolog.testing import SimulatedDisk

FEW_LETTERS = st.lists(st.sampled_from([b"a", b"b", b"\0"]), max_size=30).map(b"".join)
NEEDLES = st.lists(
    st.lists(st.sampled_from([b"a", b"b", b"\0"]), min_size=8, max_size=12).map(b"".join),
    min_size=1,
    max_size=40,
)


def one_by_one(window: bytes, needles: dict[str, bytes], known: int) -> set[tuple[int, str]]:
    return {
        (at, form)
        for form, needle in needles.items()
        for at in range(len(window) - len(needle) + 1)
        if window.startswith(needle, at) and at + len(needle) > known
    }


@given(st.lists(FEW_LETTERS, max_size=20).map(b"".join), NEEDLES, st.integers(0, 40))
def test_it_finds_what_looking_for_each_finds_and_each_once(window, needles, known):
    named = {f"form {number}": needle for number, needle in enumerate(needles)}
    known = min(known, len(window))
    found = list(make_sieve(named).find(window, known))
    assert len(found) == len(set(found))
    assert set(found) == one_by_one(window, named, known)


def test_a_scan_finds_the_same_with_and_without_it():
    disk = SimulatedDisk()
    piece = 1 << 20
    wanted = {f"text {number}": b"a needle with the number %04d" % number for number in range(50)}
    content = bytearray(b"\n" * (3 * piece))
    places = {form: piece * 2 - 990 + 40 * number for number, form in enumerate(wanted)}
    for form, at in places.items():
        content[at : at + 29] = wanted[form]
    file = disk.open("large.txt", "create")
    file.append(bytes(content))
    plain, sieved = (
        {(one.form, one.offset) for one in scan(disk, wanted, make_sieve=make)}
        for make in (None, make_sieve)
    )
    assert sieved == plain
    assert sieved == set(places.items())
