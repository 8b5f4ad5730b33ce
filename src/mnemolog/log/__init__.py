"""Append-only logs: lines, segments, the lock, the fold of revisions into entries."""
