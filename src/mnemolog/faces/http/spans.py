"""Spans for OpenTelemetry: what the core tells, as `gen_ai.memory.*`; only if somebody asks for it.

An exporter is configured the usual way, by `OTEL_…` variables and `opentelemetry-instrument`;
without them nothing is imported and nothing leaves this machine.
"""

import time
from collections.abc import Mapping
from importlib.util import find_spec

from mnemolog.model.observing import Fact, Observe

NAMES = {
    "write": "gen_ai.memory.write",
    "query": "gen_ai.memory.search",
    "compaction.ended": "gen_ai.memory.compact",
}
_ASKING = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT",
           "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")  # fmt: skip


def observer(environ: Mapping[str, str]) -> Observe | None:
    """What makes spans; None unless an exporter is configured and the library is there."""
    is_asked = any(environ.get(name, "none") not in ("", "none") for name in _ASKING)
    if not is_asked or find_spec("opentelemetry") is None:
        return None
    from opentelemetry import trace

    tracer = trace.get_tracer("mnemolog")

    def note(fact: Fact) -> None:
        name = NAMES.get(fact.name)
        if name is None:
            return
        end = time.time_ns()
        begin = end - int(fact.numbers.get("duration_ms", 0.0) * 1e6)
        numbers = {f"{name}.{key}": value for key, value in fact.numbers.items()}
        span = tracer.start_span(
            name,
            start_time=begin,
            attributes={**numbers, "gen_ai.operation.name": name.rpartition(".")[2]},
        )
        span.end(end)

    return note
