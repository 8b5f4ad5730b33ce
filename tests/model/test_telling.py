"""How an entry's content reads."""

from mnemolog.model.telling import fields_told, summary_told


def test_a_text_reads_as_it_is():
    assert list(fields_told("We need\nACID.")) == [("", "We need\nACID.")]
    assert summary_told("We need\nACID.") == "We need\nACID."


def test_what_a_decision_is_about_comes_first_and_needs_no_name():
    content = {"rationale": "ACID", "decision": "Use PostgreSQL", "impact": "high"}
    assert summary_told(content) == "Use PostgreSQL · rationale: ACID · impact: high"


def test_a_list_of_texts_reads_as_one_line_and_other_values_as_json():
    options = ["MongoDB", "", {"option": "MySQL"}]
    content = {"alternatives": options, "cost": {"eur": 3}, "empty": [], "kept": True}
    assert list(fields_told(content)) == [
        ("alternatives", "MongoDB, , MySQL"),
        ("cost", '{"eur":3}'),
        ("empty", "[]"),
        ("kept", "true"),
    ]


def test_a_list_that_holds_more_than_texts_reads_as_json():
    content = {"steps": ["one", 2], "options": [{"option": "MySQL", "why_not": "slow"}]}
    assert summary_told(content) == (
        'steps: ["one",2] · options: [{"option":"MySQL","why_not":"slow"}]'
    )
