"""A searching process: each line that comes in is a search, each line that goes out its hits.

    python searchers.py ROOT

A line is a JSON list of a session (or null) and the fields of a query; the answer is the list of
the ids that were found, in their order.
"""

import json
import sys

from mnemolog import Memory


def main(root: str) -> None:
    """Search until there is nothing left to search for."""
    with Memory.open(root, environ={}) as memory:
        for line in sys.stdin:
            session, query = json.loads(line)
            found = [hit.entry.id for hit in memory.query(session, query)]
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
