"""`python -m mnemolog` is the command `mnemolog`."""

from mnemolog.faces.cli import main

if __name__ == "__main__":
    main()
