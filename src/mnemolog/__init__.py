"""Memory for LLM agents that you can read with `cat`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemolog.aio import AsyncMemory
    from mnemolog.memory import Memory

__all__ = ["AsyncMemory", "Memory", "__version__"]


def __getattr__(name: str) -> Any:
    """Load on first use, so that `import mnemolog` stays light."""
    if name == "Memory":
        from mnemolog.memory import Memory

        return Memory
    if name == "AsyncMemory":
        from mnemolog.aio import AsyncMemory

        return AsyncMemory
    if name == "__version__":
        from importlib.metadata import version

        return version("mnemolog")
    raise AttributeError(f"module 'mnemolog' has no attribute {name!r}")
