"""Prompts that a person may pick: what memory is, and what is remembered about a question."""

from collections.abc import Mapping

from mcp_types import GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent

from mnemolog.errors import InvalidFormatError, SchemaInvalidError, shown
from mnemolog.memory.running import Run
from mnemolog.tools import prompts

_NOT_BY_ITSELF = (
    "Over this connection nothing is put into your prompt by itself: begin with recall_context, and"
    " read the notes of this run with get_memory."
)

SYSTEM = Prompt(
    name="system", title="What memory is", description="Explains the compartments and the tools."
)
RECALL = Prompt(
    name="recall",
    title="Recall",
    description="What is remembered about a question, as one bounded block.",
    arguments=[
        PromptArgument(name="query", description="What you want to know.", required=True),
    ],
)
PROMPTS = {prompt.name: prompt for prompt in (SYSTEM, RECALL)}


def instructions(run: Run) -> str:
    """What a client tells its model about this server."""
    return f"{prompts.system(run, is_injected=False)}\n{_NOT_BY_ITSELF}"


def check(name: str, arguments: Mapping[str, str]) -> None:
    """Refuse a prompt that does not exist, and arguments that it does not take."""
    if name not in PROMPTS:
        raise InvalidFormatError(
            f"There is no prompt {shown(name)}.", advice=f"Use {' or '.join(PROMPTS)}."
        )
    known = [argument.name for argument in PROMPTS[name].arguments or ()]
    for given in arguments:
        if given not in known:
            raise SchemaInvalidError(f"The prompt {name} has no argument {shown(given)}.")
    for wanted in known:
        if not arguments.get(wanted, "").strip():
            raise SchemaInvalidError(f"The prompt {name} needs `{wanted}`.", field=wanted)


def filled(name: str, text: str) -> GetPromptResult:
    """A prompt with what it says."""
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=PROMPTS[name].description, messages=[message])
