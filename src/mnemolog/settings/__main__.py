"""Prints the page docs/settings.md."""

from mnemolog.settings.page import page

print(page(), end="")
