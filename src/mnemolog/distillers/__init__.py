"""Distillers: what turns a part of a session into edits of nodes."""
