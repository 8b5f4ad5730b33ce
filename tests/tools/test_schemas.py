"""The table in every form: OpenAI, Anthropic, MCP, plain functions; one name, schema and answer."""

import inspect
import json
import subprocess
import sys
from typing import Any, Literal, get_type_hints

import jsonschema  # type: ignore[import-untyped]
import pytest

from mnemolog.errors import InvalidFormatError
from mnemolog.tools import TABLE, Answer, Tool, bind

MOST_BYTES = 8 * 1024
FORMS = {"openai": "parameters", "anthropic": "input_schema", "mcp": "inputSchema"}


def schemas(tools: Any, form: str) -> dict[str, dict[str, Any]]:
    """Name → schema of a rendering."""
    rows = getattr(tools, form)()
    plain = [row["function"] for row in rows] if form == "openai" else rows
    return {row["name"]: row[FORMS[form]] for row in plain}


@pytest.mark.parametrize("form", FORMS)
def test_every_rendering_is_small_plain_json_and_valid_json_schema(tools, form):
    rendered = json.dumps(getattr(tools, form)(), allow_nan=False)
    assert len(rendered.encode()) < MOST_BYTES
    assert len(json.loads(rendered)) <= 8
    for schema in schemas(tools, form).values():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
        assert set(schema["required"]) <= set(schema["properties"])


@pytest.mark.req("S004-105")
def test_all_renderings_have_the_same_names_and_schemas(tools):
    openai, anthropic, mcp = (schemas(tools, form) for form in FORMS)
    assert openai == anthropic == mcp
    assert list(openai) == [tool.name for tool in TABLE]
    assert [row["type"] for row in tools.openai()] == ["function"] * len(TABLE)
    reading = {row["name"] for row in tools.mcp() if row["annotations"]["readOnlyHint"]}
    assert reading == {"get_memory", "search_memory", "recall_context", "read_knowledge"}


@pytest.mark.req("S004-033", "S004-036", "S004-037", "S004-038", "S004-042", "S004-048")
def test_the_schemas_say_what_the_seed_says(tools):
    saving = schemas(tools, "mcp")["save_memory"]
    properties = saving["properties"]
    assert saving["required"] == ["compartment", "content"]
    assert properties["compartment"]["enum"] == ["run", "session", "plan"]
    assert (properties["priority"]["minimum"], properties["priority"]["maximum"]) == (1, 10)
    assert properties["priority"]["type"] == "integer"
    assert properties["metadata"]["additionalProperties"] == {"type": "string"}
    assert properties["tags"]["items"] == {"type": "string"}
    for name in ("get_memory", "clear_memory"):
        assert schemas(tools, "mcp")[name]["required"] == ["compartment"]
        assert {"id", "category", "tags"} <= set(schemas(tools, "mcp")[name]["properties"])


@pytest.mark.parametrize(
    ("given", "is_right"),
    [
        ({"compartment": "run", "content": "x"}, True),
        ({"compartment": "run", "content": "x", "priority": 10, "metadata": {"a": "b"}}, True),
        ({"compartment": "run", "content": "x", "priority": 7.0}, True),
        ({"compartment": "run", "content": "x", "priority": 11}, False),
        ({"compartment": "none", "content": "x"}, False),
        ({"compartment": "run", "content": 7}, False),
        ({"compartment": "run"}, False),
        ({"compartment": "run", "content": "x", "metadata": {"a": 1}}, False),
        ({"compartment": "run", "content": "x", "tags": "a"}, False),
        ({"compartment": "run", "content": "x", "colour": "red"}, False),
    ],
)
def test_what_the_schema_accepts_and_refuses_the_tool_does_too(tools, given, is_right):
    schema = schemas(tools, "openai")["save_memory"]
    assert jsonschema.Draft202012Validator(schema).is_valid(given) == is_right
    assert tools.call("save_memory", given).is_error != is_right


# --- plain functions


@pytest.mark.req("S004-105", "S004-106")
def test_functions_have_names_docstrings_and_signatures_that_a_framework_can_read(tools):
    functions = tools.functions()
    assert list(functions) == [tool.name for tool in TABLE]
    save = functions["save_memory"]
    assert save.__name__ == "save_memory"
    assert save.__doc__.startswith(TABLE[0].description)
    assert "content: What to remember." in save.__doc__
    parameters = inspect.signature(save).parameters
    assert list(parameters)[:2] == ["compartment", "content"]
    assert [name for name, one in parameters.items() if one.default is inspect.Parameter.empty] == [
        "compartment", "content",
    ]  # fmt: skip
    hints = get_type_hints(save)
    assert hints["compartment"] == Literal["run", "session", "plan"]
    assert hints["tags"] == list[str] | None
    assert hints["metadata"] == dict[str, str] | None
    assert (hints["priority"], hints["return"]) == (int | None, str)
    for name, function in functions.items():
        assert set(inspect.signature(function).parameters) == set(
            schemas(tools, "mcp")[name]["properties"]
        )


def test_functions_answer_with_the_same_text_by_keyword_by_place_and_with_wrong_arguments(tools):
    functions = tools.functions()
    assert functions["save_memory"]("run", "by place", id="a").startswith("Saved in run as a;")
    assert functions["save_memory"](compartment="run", content="by name", id="a").startswith(
        "Replaced in run as a;"
    )
    assert "  | by name" in functions["get_memory"]("run")
    assert functions["get_memory"](compartment="run", tags=None).count("ID: a") == 1
    assert functions["save_memory"]("run") == (
        "Error: save_memory needs `content`. Call again with `content`."
    )
    assert "`compartment` is given twice" in functions["save_memory"]("run", compartment="run")
    assert "it has 8 arguments" in functions["save_memory"](*["run"] * 9)
    assert "has no argument 'colour'" in functions["get_memory"]("run", colour="red")
    assert "has no argument 'colour'" in functions["get_memory"](compartment="run", colour="red")


# --- tools of one's own


def shout(desk: Any, given: Any) -> Answer:
    return Answer(f"{given['text'].upper()} in {desk.session_id}")


SHOUT = Tool("shout", "Say it loud.", {"text": {"type": "string"}}, ("text",), shout)


def test_a_tool_of_ones_own_stands_beside_the_others_in_every_form(run):
    tools = bind(run, [SHOUT])
    assert tools.call("shout", {"text": "hello"}).text == "HELLO in talk"
    for form in FORMS:
        assert list(schemas(tools, form))[-1] == "shout"
    assert tools.functions()["shout"]("hello") == "HELLO in talk"
    assert "- shout: Say it loud." in tools.system()
    assert "shout" not in bind(run).system()


def test_a_tool_of_ones_own_that_fails_is_an_answer_and_a_line_in_the_log(run, caplog):
    tools = bind(run, [SHOUT])
    answer = tools.call("shout", {"text": 5})
    assert answer.is_error
    assert "Go on without it." in answer.text
    assert "AttributeError" not in answer.text
    assert (tools.failures, len(caplog.records)) == (1, 1)
    assert "the tool 'shout' failed" in caplog.text


def test_what_a_tool_of_ones_own_requires_is_asked_for(run):
    tools = bind(run, [SHOUT])
    answer = tools.call("shout", {})
    assert answer == Answer("Error: shout needs `text`. Call again with `text`.", is_error=True)
    assert tools.failures == 0


def test_a_tool_of_ones_own_may_answer_with_a_text_and_with_nothing_else(run, caplog):
    texts = Tool("texts", "", {}, (), lambda desk, given: "plain")
    nothing = Tool("nothing", "", {}, (), lambda desk, given: None)  # type: ignore[arg-type, return-value]
    tools = bind(run, [texts, nothing])
    assert tools.call("texts") == Answer("plain")
    assert tools.functions()["texts"]() == "plain"
    assert tools.call("nothing").is_error
    assert "an Answer or a text, not None" in caplog.text


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({}, Any),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, Any),
        ({"type": ["string", "null"]}, Any),
        ({"type": "null"}, Any),
        ({"type": "array"}, list[Any]),
        ({"type": "object"}, dict[str, Any]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, dict[str, int]),
    ],
)
def test_a_function_takes_whatever_its_schema_says(run, schema, kind):
    tool = Tool("own", "", {"what": schema}, ("what",), lambda desk, given: Answer(given["what"]))
    called = bind(run, [tool]).functions()["own"]
    assert called.__annotations__["what"] == kind
    assert called("x") == "x"


@pytest.mark.parametrize("name", ["save_memory", "", "has space", "x" * 65, "é", None, 7])
def test_a_tool_needs_a_name_that_every_api_takes_and_nobody_has(run, name):
    with pytest.raises(InvalidFormatError, match="cannot be called"):
        bind(run, [Tool(name, "", {}, (), shout)])


@pytest.mark.parametrize(
    "properties", [{"my-arg": {}}, {"class": {}}, {"": {}}, {7: {}}, {"x": "string"}, {"x": None}]
)
def test_a_tool_takes_arguments_that_a_function_can_take(properties):
    with pytest.raises(InvalidFormatError, match="cannot take"):
        Tool("odd", "", properties, (), shout)


def test_a_tool_cannot_require_what_it_does_not_take():
    with pytest.raises(InvalidFormatError, match="does not take"):
        Tool("odd", "", {}, ("text",), shout)


@pytest.mark.req("S004-099", "S004-001", "S004-105")
def test_memory_knows_no_framework_and_no_tool():
    code = (
        "import sys, mnemolog.memory, mnemolog.aio\n"
        "print([name for name in sys.modules if name.startswith(('mnemolog.tools',"
        " 'mnemolog.faces', 'mnemolog.adapters', 'openai', 'anthropic', 'mcp', 'langchain'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
