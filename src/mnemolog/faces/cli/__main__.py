"""`python -m mnemolog.faces.cli` is the command `mnemolog`."""

from mnemolog.faces.cli import main

main()
