"""What other packages offer as embedders; looked for only when a name is not one of our own."""

from importlib.metadata import entry_points


def offered(group: str) -> dict[str, str]:
    """Each name that is offered, and where the class behind it lies."""
    return {each.name: each.value.partition("[")[0].strip() for each in entry_points(group=group)}
