"""The distiller that asks a model: one memory-agent for each source agent."""

import asyncio
import os
from collections.abc import Callable, Mapping

import msgspec
from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

from mnemolog.distillers import default_prompt
from mnemolog.distillers.llm.desk import Desk
from mnemolog.distillers.llm.prompt import message
from mnemolog.errors import DistillerError, SettingsError
from mnemolog.model.lesson import Lesson, Prompt, Proposal
from mnemolog.policy.learning import MEMORY_AGENT, cache_key
from mnemolog.ports.distiller import NodeReader
from mnemolog.settings import Knowledge

_REQUESTS = 30
# A token has about four characters, and all is told again with each of some eight requests.
_CHARACTERS, _TOLD = 4, 8


class MemoryAgent:
    """Reads transcripts of one source agent and keeps the nodes of its user in order."""

    name = "llm"

    def __init__(
        self,
        agent_id: str,
        model: Callable[[], Model],
        settings: Knowledge,
        prompt: Prompt | None = None,
    ) -> None:
        self.descriptor = {"type": MEMORY_AGENT, "id": agent_id}
        self.cache_key = cache_key(agent_id)
        self._model = model
        self._settings = settings
        self._prompt = prompt.text if prompt else default_prompt()
        self._remarks = (f"told by {prompt.path}, sha256 {prompt.hash}",) if prompt else ()

    @property
    def most_characters(self) -> int:
        """How long a transcript may be for the budget of tokens to be enough."""
        return max(1, self._settings.token_budget * _CHARACTERS // _TOLD)

    def distil(self, lesson: Lesson, nodes: NodeReader) -> Proposal:
        """Let the model read the transcript, look at nodes, and write what should be there."""
        desk = Desk(lesson, nodes)
        try:
            asyncio.run(self._work(lesson, desk))
        except (AgentRunError, UserError, TimeoutError, OSError) as error:
            raise DistillerError(
                f"The model could not finish: {type(error).__name__}.",
                advice="Its session stays due and is tried again; `mnemolog worker --status` shows"
                " it. Check that the endpoint answers, or raise the budgets under [knowledge].",
            ) from error
        made = desk.proposal()
        return msgspec.structs.replace(made, remarks=(*made.remarks, *self._remarks))

    async def _work(self, lesson: Lesson, desk: Desk) -> None:
        """Each lesson has connections of its own: they belong to the loop that made them."""
        limits = UsageLimits(
            request_limit=_REQUESTS, total_tokens_limit=self._settings.token_budget
        )
        async with self._model() as model:
            agent: Agent[object, str] = Agent(
                model, system_prompt=self._prompt, tools=desk.tools, retries=3
            )
            seconds = self._settings.time_budget_seconds
            await agent.run(message(lesson), usage_limits=limits, timeout=seconds)


def open_model(settings: Knowledge, environ: Mapping[str, str] | None = None) -> Model:
    """The model that the settings name, behind any endpoint that speaks OpenAI's protocol."""
    if not settings.endpoint or not settings.model:
        raise SettingsError(
            "The distiller `llm` needs a model and an endpoint.",
            advice="Set knowledge.model and knowledge.endpoint, such as"
            " http://127.0.0.1:11434/v1, or knowledge.distiller = 'rules'.",
            key="knowledge.endpoint",
        )
    key = (os.environ if environ is None else environ).get("OPENAI_API_KEY") or "none"
    provider = OpenAIProvider(base_url=settings.endpoint, api_key=key)
    return OpenAIChatModel(settings.model, provider=provider)
