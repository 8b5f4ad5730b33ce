"""What the system lets one process have."""

import resource


def open_files() -> int:
    """So many files a process may hold open at once."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit
