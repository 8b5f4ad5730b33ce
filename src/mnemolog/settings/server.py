"""The settings of the server: how much it takes on, and who may stand in front of it."""

from typing import Annotated, Literal

from msgspec import Meta

from mnemolog.settings.sections import Section


class Server(Section, frozen=True, kw_only=True):
    """What `mnemolog serve` allows."""

    behind_tls: Annotated[
        bool,
        Meta(description="A proxy in front speaks TLS, so others than loopback may be bound."),
    ] = False
    allow_hosts: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=255)], ...],
        Meta(
            title="a list of names, as `Host:` says them",
            description="Names that the server answers to beside those of the loopback.",
        ),
    ] = ()
    threads: Annotated[
        int, Meta(ge=2, le=256, description="Requests that wait for the disk at the same time.")
    ] = 24
    requests_per_minute: Annotated[
        int,
        Meta(ge=1, le=10_000_000, description="Most requests of one token; more get a 429."),
    ] = 12_000
    max_body_mb: Annotated[
        float, Meta(gt=0, le=1024, description="Largest body of a request, in MiB.")
    ] = 4.0
    max_import_mb: Annotated[
        float, Meta(gt=0, le=1024, description="Largest body of an import, in MiB.")
    ] = 64.0
    body_seconds: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that a client may take to send a request.")
    ] = 30.0
    page_token_days: Annotated[
        float, Meta(gt=0, le=3650, description="Days for which a browser stays signed in.")
    ] = 30.0
    maintain_minutes: Annotated[
        float,
        Meta(ge=0, le=10_080, description="How often `maintain` runs inside; 0 means never."),
    ] = 60.0
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="From which level on the server logs, as JSON lines."),
    ] = "info"
