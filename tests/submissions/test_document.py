from __future__ import annotations

import json

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
    assert document["submissions"] == [{"name": NAME, "sha256": DIGEST, "verdict": "refuted"}]
