"""Distillers: what turns a part of a session into edits of nodes."""

from importlib.resources import files

DEFAULT_PROMPT = "llm/prompts/memory/MEMORY_AGENT.md"
"""Where the package has what a memory-agent is told; the root may have its own."""


def default_prompt() -> str:
    """What a memory-agent is told where the root says nothing else."""
    return (files(__name__) / DEFAULT_PROMPT).read_text("utf-8")
