"""Where a fact belongs: which node its entry's tags, project, person or tool point to."""

from typing import NamedTuple

from mnemolog.distillers.rules.facts import TOOLS, USER, inline, slug
from mnemolog.model.entry import Entry

# The first part of a tag, or a field of context and metadata → the folder.
_FOLDERS = {
    "project": "projects", "projects": "projects", "project_name": "projects",
    "person": "people", "people": "people",
    "topic": "topics", "topics": "topics",
}  # fmt: skip
_FIELDS = ("project", "project_name", "person", "topic")
_ABOUT = {
    "projects": "What is known about the project {}",
    "people": "What is known about {}",
    "topics": "What is known about {}",
    "decisions": "What was decided about {}",
    "findings": "What was found about {}",
}


class Home(NamedTuple):
    """A node, and how it is called should it be new."""

    address: str
    title: str
    description: str


ABOUT_USER = Home(USER, "User", "Who the user is and what they prefer")
ABOUT_TOOLS = Home(TOOLS, "Tools", "What was learned about tools")


def home(folder: str, name: str) -> Home:
    """The node of a thing in a folder."""
    title = inline(name, 80)
    return Home(f"{folder}/{slug(name)}", title, _ABOUT[folder].format(title))


def home_of(entry: Entry, otherwise: str) -> Home:
    """The node that an entry names: by a tag such as `projects.pay`, by a field such as
    `project` of its context or metadata; else by its first tag or category, in `otherwise`."""
    for tag in entry.tags:
        first, _, rest = tag.partition(".")
        if rest and first in _FOLDERS:
            return home(_FOLDERS[first], rest.replace(".", " ").replace("-", " "))
    for where in (entry.context, entry.metadata):
        for name in _FIELDS:
            value = where.get(name)
            if isinstance(value, str) and value.strip():
                return home(_FOLDERS[name], value)
    if not otherwise:
        return Home("", "", "")
    return home(otherwise, _plain_name(entry))


def tool_of(entry: Entry) -> str:
    """The tool that an entry is about: `tools.<name>` among its tags, or `tool` in its metadata."""
    for tag in entry.tags:
        first, _, rest = tag.partition(".")
        if rest and first in ("tool", "tools"):
            return inline(rest, 80)
    for where in (entry.context, entry.metadata):
        name = where.get("tool")
        if isinstance(name, str) and name.strip():
            return inline(name, 80)
    return ""


def _plain_name(entry: Entry) -> str:
    tag = next(iter(entry.tags), "")
    return tag.partition(".")[0] or entry.category or "general"
