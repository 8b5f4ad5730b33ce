"""For those who watch the server: whether it lives, and figures."""

from litestar import HttpMethod, MediaType, Response, get, route

from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.metrics import TYPE


@route(
    "/healthz",
    http_method=[HttpMethod.GET, HttpMethod.HEAD],
    sync_to_thread=False,
    media_type=MediaType.JSON,
    include_in_schema=False,
)
def healthz() -> dict[str, str]:
    """That the server answers; it says nothing else."""
    return {"status": "ok"}


@get("/metrics", sync_to_thread=True, include_in_schema=False)
def metrics(caller: Asking) -> Response[str]:
    """Figures in Prometheus' form; for the owner."""
    memory = caller.owner("see figures of everything")
    return Response(caller.house.figures.text(memory), media_type=TYPE)


ROUTES = [healthz, metrics]
