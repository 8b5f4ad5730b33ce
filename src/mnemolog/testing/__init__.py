"""What tests of mnemolog, and of back ends by others, are made with.

A disk in memory that loses power on demand (`disk`), a recorder that takes every moment of a
scenario at which it could (`crash`), and a clock that stands still (`clock`).
"""

from mnemolog.testing.clock import FixedClock
from mnemolog.testing.crash import Moment, Recorder, sampled
from mnemolog.testing.disk import SimulatedDisk, SimulatedFile

__all__ = ["FixedClock", "Moment", "Recorder", "SimulatedDisk", "SimulatedFile", "sampled"]
