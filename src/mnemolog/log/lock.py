"""The lock of a log; it is the door to the disk that has it."""

from mnemolog.fs.lock import Lock as Lock
