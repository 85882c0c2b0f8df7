from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest

from harness.submissions.document import schema, to_document, to_json
from results import DIGEST, NAME, verification

VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema()))


def test_the_schema_is_one_and_the_document_follows_it() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema()))
    VALIDATOR.validate(json.loads(to_json(verification())))


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("claims", "verdict", "passed"),
        ("checks", "severity", "fatal"),
        ("checks", "count", 0),
        ("lists", "sha256", "abc"),
        ("explanations", "sentence", None),
    ],
)
def test_the_schema_refuses_what_is_none(part: str, field: str, value: object) -> None:
    document = to_document(verification())
    document[part][0][field] = value
    assert list(VALIDATOR.iter_errors(document))
    del document[part][0][field]
    assert list(VALIDATOR.iter_errors(document))


def test_what_was_promised_is_there() -> None:
    document = to_document(verification())
    assert document["verdict"] == "refuted"
    assert document["claims"][0] == {
        "submission": NAME,
        "system": "A1",
        "list": "tiny_dev_trials_f",
        "claimed": 22.8,
        "claimed_text": "22.800",
        "recomputed": 22.8,
        "verdict": "verified",
        "remark": "",
        "estimator": "official",
        "file": "x/EER",
        "line": None,
    }
    assert {"code", "severity", "file", "line", "count", "message"} <= set(document["checks"][0])
    assert document["checks"][0]["severity"] == "note"
    assert document["lists"][0]["eer_percent"] == 22.8
    assert document["lists"][1]["eer_percent"] is None
    # One of the two lists of dev cannot be scored.
    assert document["averages"] == []
    assert document["submissions"] == [{"name": NAME, "sha256": DIGEST, "verdict": "refuted"}]


def test_an_average_is_there_without_a_claim() -> None:
    made = verification()
    result = made.submissions[0]
    first = result.lists[0]
    assert first.eer is not None
    other = replace(first.eer, rate=first.eer.rate + 0.001)
    result.lists[1] = replace(first, list="tiny_dev_trials_m", eer=other)
    result.claims.clear()
    document = to_document(made)
    VALIDATOR.validate(document)
    assert document["averages"] == [
        {"submission": NAME, "system": "A1", "list": "average dev", "eer_percent": 22.85}
    ]


def test_a_terminal_obeys_nothing() -> None:
    made = verification()
    made.submissions[0].name = "a\x9b2J\x7f\udcff\nü"
    text = to_json(made)
    assert text.replace("\n", "").isprintable()
    assert json.loads(text)["submissions"][0]["name"] == made.submissions[0].name
