"""Tools for agents: one table, rendered for every framework; see docs/tools.md."""

from mnemolog.tools.answers import Answer
from mnemolog.tools.bound import BoundTools
from mnemolog.tools.table import TABLE, Tool

__all__ = ["TABLE", "Answer", "BoundTools", "Tool"]
