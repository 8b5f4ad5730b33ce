"""Glue to agent frameworks: adapters translate and decide nothing."""
