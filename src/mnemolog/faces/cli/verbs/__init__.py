"""The verbs of the command line, one to a module."""
