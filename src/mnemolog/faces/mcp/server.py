"""The server: what it offers, and who answers each request."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    Tool,
)

from mnemolog.errors import MnemologError
from mnemolog.faces.mcp import failures, prompts, resources
from mnemolog.faces.mcp.runs import Context, Runs, outline
from mnemolog.tools import Answer, BoundTools
from mnemolog.tools.answers import refused

NAME = "mnemolog"
_BEAT_SECONDS = 1.0


class Answering:
    """Answers requests; each in a thread, so that one client never waits for another's disk."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        run = outline(runs.memory)
        self.instructions = prompts.instructions(run)
        self._tools = [Tool.model_validate(one) for one in BoundTools(runs.memory, run).mcp()]

    async def list_tools(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """The tools of the table."""
        return ListToolsResult(tools=self._tools)

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Call a tool; what it refuses is a result too, and so is a session that cannot be used."""
        async with anyio.create_task_group() as beside:
            beside.start_soon(_beat, context, params.name)
            answer = await self._answered(context, params.name, params.arguments)
            beside.cancel_scope.cancel()
        return CallToolResult(content=[TextContent(text=answer.text)], is_error=answer.is_error)

    async def _answered(
        self, context: Context, tool: str, arguments: Mapping[str, Any] | None
    ) -> Answer:
        """Call a tool; once more if it failed because the client's run was ended elsewhere."""
        try:
            seat = await self._runs.seat(context)
            answer = await self._runs.in_thread(seat.tools.call, tool, arguments)
            if answer.is_error and await self._runs.has_gone(seat):
                seat = await self._runs.seat(context)
                answer = await self._runs.in_thread(seat.tools.call, tool, arguments)
        except MnemologError as error:
            return refused(error)
        return answer

    async def list_resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """The sessions, page by page."""
        cursor = None if params is None else params.cursor
        page = await self._runs.in_thread(resources.listed, self._runs.memory, cursor)
        return ListResourcesResult(resources=page.resources, next_cursor=page.cursor)

    async def list_templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """The forms that addresses have."""
        return ListResourceTemplatesResult(resource_templates=resources.templates())

    async def read_resource(
        self, context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """What stands at an address."""
        found = await self._runs.in_thread(resources.read, self._runs.memory, params.uri)
        return ReadResourceResult(contents=[found])

    async def list_prompts(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """The prompts."""
        return ListPromptsResult(prompts=list(prompts.PROMPTS.values()))

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """One prompt, filled in."""
        arguments = params.arguments or {}
        prompts.check(params.name, arguments)
        if params.name == prompts.SYSTEM.name:
            return prompts.filled(params.name, self.instructions)
        answer = await self._answered(context, "recall_context", arguments)
        if answer.is_error:
            raise MCPError(INVALID_PARAMS, answer.text)
        return prompts.filled(params.name, answer.text)


async def _beat(context: Context, what: str) -> None:
    """Tell a client that asked for progress how many seconds the work has taken."""
    beats = 0
    while True:
        await context.session.report_progress(beats * _BEAT_SECONDS, message=what[:80])
        await anyio.sleep(_BEAT_SECONDS)
        beats += 1


def make_server(runs: Runs) -> Server[Any]:
    """A server for any transport, whose runs end with it."""

    @asynccontextmanager
    async def lifespan(server: Server[Any]) -> AsyncIterator[Runs]:
        try:
            yield runs
        finally:
            with anyio.CancelScope(shield=True):
                await runs.end_all()

    answering = Answering(runs)
    server: Server[Any] = Server(
        NAME,
        version=version(NAME),
        instructions=answering.instructions,
        lifespan=lifespan,
        on_list_tools=answering.list_tools,
        on_call_tool=answering.call_tool,
        on_list_resources=answering.list_resources,
        on_list_resource_templates=answering.list_templates,
        on_read_resource=answering.read_resource,
        on_list_prompts=answering.list_prompts,
        on_get_prompt=answering.get_prompt,
    )
    # In place of the library's own, which traces every request: nothing leaves this machine.
    server.middleware[:] = [failures.told]
    return server
