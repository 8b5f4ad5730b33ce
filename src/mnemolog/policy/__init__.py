"""Pure functions: no files, no clock of their own."""
