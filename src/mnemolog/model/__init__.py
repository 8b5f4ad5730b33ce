"""Frozen records and the rules for their fields; imports nothing of ours but `errors`."""
