"""The measurements: `python -m bench`, or `make bench`.

Every module but the shared ones (`figures`, `rounds`, `stores`) is one benchmark: a function
`measure(folder)` that gives figures. Rivals take turns in rounds, because machines are noisy and
only a ratio within one run means something.
"""
