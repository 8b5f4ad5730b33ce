"""Tools for agents: one table, rendered for every framework; see docs/tools.md."""

from mnemolog.policy.compartments import Compartment
from mnemolog.tools.answers import Answer
from mnemolog.tools.bound import BoundTools, bind
from mnemolog.tools.handlers import Desk
from mnemolog.tools.table import TABLE, Tool

__all__ = ["TABLE", "Answer", "BoundTools", "Compartment", "Desk", "Tool", "bind"]
