"""The settings of knowledge: when a session is due, and who learns from it."""

from typing import Annotated

from msgspec import Meta

from mnemolog.settings.sections import Section


class Knowledge(Section, frozen=True, kw_only=True):
    """How finished sessions become nodes."""

    distiller: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=100,
            title="rules, llm, none, or the name of an installed one",
            description="What makes nodes of sessions.",
        ),
    ] = "rules"
    default_user: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=128,
            pattern=r"^[A-Za-z0-9_-]+$",
            title="letters, digits, _ and -",
            description="Whose graph a session without a user adds to.",
        ),
    ] = "default"
    turn_threshold: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Completed turns after which a session is due.")
    ] = 5
    idle_minutes: Annotated[
        float,
        Meta(ge=0, le=525_600, description="Minutes without an entry after which it is due too."),
    ] = 30.0
    tick_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="How often the worker looks for due sessions.")
    ] = 30.0
    sessions_per_tick: Annotated[
        int, Meta(ge=1, le=10_000, description="Most sessions that one tick takes, oldest first.")
    ] = 10
    max_attempts: Annotated[
        int, Meta(ge=1, le=1_000, description="Failures after which a session is parked.")
    ] = 5
    retry_minutes: Annotated[
        float,
        Meta(ge=0, le=525_600, description="Wait after the first failure; four times that next."),
    ] = 1.0
    time_budget_seconds: Annotated[
        float, Meta(gt=0, le=86_400, description="Longest that a model may work on one session.")
    ] = 300.0
    token_budget: Annotated[
        int, Meta(ge=100, le=100_000_000, description="Most tokens a model may use for one.")
    ] = 100_000
    model: Annotated[
        str,
        Meta(
            max_length=200,
            title="the name of a model",
            description="What the `llm` distiller asks for.",
        ),
    ] = ""
    endpoint: Annotated[
        str,
        Meta(
            max_length=500,
            title="an address such as http://127.0.0.1:11434/v1",
            description="Where that model answers by OpenAI's protocol.",
        ),
    ] = ""
