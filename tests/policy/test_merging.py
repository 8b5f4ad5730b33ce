"""One body made of two."""

import pytest

from mnemolog.policy.merging import merged_body

ANN = """# Ann Smith

## Profile
- **Role**: lead (since 2026-01-02) <!-- s/1 #role -->
- Likes tea. <!-- s/2 -->

## Before
- ~~Lives in Rome.~~ (2020-01-01 – 2021-01-01) <!-- s/3 -->
"""
OTHER = """# Ann

By hand.

## profile
- Likes tea. <!-- s/9 -->
- Lives in Rome. (since 2020-01-01) <!-- s/8 -->
- Has a cat.
  A black one.

## Table
| a | b |
| - | - |
| 1 | 2 |

## Notes
```
code

# no heading
```
"""


def test_lines_go_under_their_heading_and_each_stands_once():
    assert (
        merged_body(ANN, OTHER)
        == """# Ann Smith

By hand.

## Profile
- **Role**: lead (since 2026-01-02) <!-- s/1 #role -->
- Likes tea. <!-- s/2 s/9 -->
- Has a cat.
  A black one.

## Before
- ~~Lives in Rome.~~ (2020-01-01 – 2021-01-01) <!-- s/3 s/8 -->

## Table
| a | b |
| - | - |
| 1 | 2 |

## Notes
```
code

# no heading
```
"""
    )


def test_what_is_struck_through_in_either_is_over():
    assert merged_body(
        "- Lives in Rome. <!-- s/8 -->\n", "- ~~Lives in Rome.~~ (until 2021-01-01)\n"
    ) == ("- ~~Lives in Rome.~~ (until 2021-01-01) <!-- s/8 -->\n")


@pytest.mark.parametrize(("into", "other"), [(ANN, OTHER), (OTHER, ANN), ("", "x"), ("x\n", "x")])
def test_merging_again_changes_nothing(into, other):
    once = merged_body(into, other)
    assert merged_body(once, other) == once
