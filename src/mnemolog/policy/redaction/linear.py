"""Whether a pattern takes a time that grows with the text and no faster.

Python's `re` tries every way to match. The check walks the parsed pattern from its end to its
beginning and adds up, for one place in a text, how many steps all ways together can take. Where
what may follow cannot be confused with what is repeated, there is one way only. A repetition
without an upper limit is let through if it can only start where a run of its characters starts:
then no character is looked at from many starting places.
"""

import re
from importlib import import_module
from typing import Any, NamedTuple

from mnemolog.policy.redaction import charsets
from mnemolog.policy.redaction.charsets import ALL, NEWLINE, WORD, charset, sre

# What `re` itself parses with; it has no public name.
parser: Any = import_module("re._parser")

MOST_STEPS = 2000
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_BOUNDED = "write {1,64} for + and {0,64} for *"


class _NotLinearError(Exception):
    """The pattern cannot be let through; the text says what to change."""


class _Rest(NamedTuple):
    """What follows: its steps, its possible first characters, whether it repeats without limit."""

    steps: int
    first: int
    is_endless: bool


_END = _Rest(1, 0, False)


def why_not_linear(regex: str) -> str | None:
    """What to change about a pattern that could stall, or None; raises re.error as `re` does."""
    parsed = parser.parse(regex)
    try:
        _check_starts(list(parsed), ALL, parsed.state.flags)
        steps = _walk(list(parsed), _END, parsed.state.flags).steps
    except _NotLinearError as error:
        return str(error)
    if steps <= MOST_STEPS:
        return None
    return (
        f"Make it shorter, or its parts more different: it takes {steps:,} steps at each place of"
        f" a text, and {MOST_STEPS:,} are allowed."
    )


def _single(nodes: list[Any], flags: int) -> int | None:
    """The characters of a sequence that is one character long; None for any other."""
    return charset(nodes[0][0], nodes[0][1], flags) if len(nodes) == 1 else None


# --- from the end to the beginning: steps


def _walk(nodes: list[Any], rest: _Rest, flags: int) -> _Rest:
    for op, given in reversed(nodes):
        rest = _node(op, given, rest, flags)
        if rest.steps > MOST_STEPS * 1000:
            break  # hopeless, and numbers need not grow without end
    return rest


def _node(op: Any, given: Any, rest: _Rest, flags: int) -> _Rest:
    single = charset(op, given, flags)
    if single is not None:
        return _Rest(rest.steps + 1, single, rest.is_endless)
    if op in _REPEATS:
        return _repeat(given, rest, flags)
    if op is sre.SUBPATTERN:
        _, added, removed, inner = given
        return _walk(list(inner), rest, (flags | added) & ~removed)
    if op is sre.ATOMIC_GROUP:
        return _walk(list(given), rest, flags)
    if op is sre.BRANCH:
        return _branch([_walk(list(each), rest, flags) for each in given[1]])
    if op is sre.AT:
        return _Rest(rest.steps + 1, ALL, rest.is_endless)
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return _assertion(given[1], rest, flags)
    raise _NotLinearError("Leave out references to groups and conditions.")


def _assertion(inner: Any, rest: _Rest, flags: int) -> _Rest:
    looked = _walk(list(inner), _END, flags)
    if looked.is_endless:
        raise _NotLinearError(f"Give repetitions inside a look-around a limit: {_BOUNDED}.")
    return _Rest(rest.steps + looked.steps, ALL, rest.is_endless)


def _branch(ways: list[_Rest]) -> _Rest:
    first, are_apart = 0, True
    for way in ways:
        are_apart = are_apart and not first & way.first
        first |= way.first
    steps = max(way.steps for way in ways) if are_apart else sum(way.steps for way in ways)
    return _Rest(steps + 1, first, any(way.is_endless for way in ways))


def _repeat(given: Any, rest: _Rest, flags: int) -> _Rest:
    least, most, nodes = given[0], given[1], list(given[2])
    single = _single(nodes, flags)
    if most is sre.MAXREPEAT:
        return _endless(single, least, rest)
    if single is None:
        return _repeated_group(least, most, nodes, rest, flags)
    ways = 1 if not single & rest.first else most - least + 1
    first = single if least else single | rest.first
    return _Rest(most + ways * rest.steps, first, rest.is_endless)


def _endless(single: int | None, least: int, rest: _Rest) -> _Rest:
    if single is None:
        raise _NotLinearError(f"Give the repetition of a group a limit: {_BOUNDED}.")
    if single & rest.first and rest.is_endless:
        raise _NotLinearError(f"Two repetitions can share the same text: {_BOUNDED}.")
    return _Rest(rest.steps + 1 + least, single if least else single | rest.first, True)


def _repeated_group(least: int, most: int, nodes: list[Any], rest: _Rest, flags: int) -> _Rest:
    once = _walk(nodes, _END, flags)
    if once.is_endless or (rest.is_endless and most > 1):
        raise _NotLinearError(f"Do not repeat a repetition, or what stands before one: {_BOUNDED}.")
    if most > MOST_STEPS:
        raise _NotLinearError(f"Repeat a group at most {MOST_STEPS:,} times.")
    again = rest
    for done in range(most):
        may_stop = done < most - least
        again = _walk(nodes, again, flags)
        if may_stop:
            again = _branch([again, rest])
        if again.steps > MOST_STEPS:
            break
    return again if most else rest


# --- from the beginning to the end: where a repetition without a limit can start


def _check_starts(nodes: list[Any], before: int, flags: int) -> int:
    """Check every endless repetition; gives the characters that may stand before what follows."""
    for op, given in nodes:
        before = _after(op, given, before, flags)
    return before


def _after(op: Any, given: Any, before: int, flags: int) -> int:
    single = charset(op, given, flags)
    if single is not None:
        return single
    if op in _REPEATS:
        return _after_repeat(given, before, flags)
    if op is sre.SUBPATTERN:
        return _check_starts(list(given[3]), before, (flags | given[1]) & ~given[2])
    if op is sre.ATOMIC_GROUP:
        return _check_starts(list(given), before, flags)
    if op is sre.BRANCH:
        found = 0
        for each in given[1]:
            found |= _check_starts(list(each), before, flags)
        return found
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return _after_assertion(op, given, before, flags)
    return _after_place(given, before, flags) if op is sre.AT else before


def _after_repeat(given: Any, before: int, flags: int) -> int:
    least, most, nodes = given[0], given[1], list(given[2])
    if most is sre.MAXREPEAT:
        single = _single(nodes, flags)
        if single is not None and _may_start_inside(single, before):
            raise _NotLinearError(
                f"A repetition without a limit can start anywhere: {_BOUNDED}, or put before it"
                r" \b or a character that it does not repeat."
            )
    last = _check_starts(nodes, before | (ALL if most != 1 and len(nodes) > 1 else 0), flags)
    return last if least else last | before


# What may stand before a place is a set of characters. Where the place is known to be an edge
# between a word and no word, the set is kept so many bits higher.
_EDGE = 200


def _may_start_inside(single: int, before: int) -> bool:
    """Whether a run of these characters can be entered behind its first one."""
    is_one_sided = not single & ~WORD or not single & WORD
    return bool(single & before) or (not is_one_sided and bool(single & before >> _EDGE))


def _narrowed(before: int, to: int) -> int:
    return before & to | (before >> _EDGE & to) << _EDGE


def _after_place(place: Any, before: int, flags: int) -> int:
    if place is sre.AT_BEGINNING_STRING or (place is sre.AT_BEGINNING and not flags & re.MULTILINE):
        return 0
    if place is sre.AT_BEGINNING:
        return _narrowed(before, NEWLINE)
    is_edge = place is sre.AT_BOUNDARY
    return ((before | before >> _EDGE) & ALL) << _EDGE if is_edge else before


def _after_assertion(op: Any, given: Any, before: int, flags: int) -> int:
    direction, nodes = given[0], list(given[1])
    _check_starts(nodes, ALL, flags)
    single = _single(nodes, flags)
    if direction > 0 or single is None:
        return before
    return _narrowed(before, single if op is sre.ASSERT else ALL & ~(single & ~charsets.BEYOND))
