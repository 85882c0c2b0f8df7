"""One document of several verifications, each done by itself; containers are tested elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import small

from harness.submissions.contained import PARTS, Contained, merged
from harness.submissions.document import schema, to_document, to_json
from harness.submissions.verification import verify


def contained(folder: Path, name: str, system: str) -> Contained:
    verification = verify([small.clean(folder / name, (system,))], small.edition())
    return Contained(0, "", "", to_json(verification).encode(), None)


def test_several_are_as_if_they_were_verified_together(tmp_path: Path) -> None:
    alone = {name: contained(tmp_path, name, system) for name, system in (("a", "A1"), ("b", "A2"))}
    together = verify([tmp_path / name for name in alone], small.edition())
    assert json.loads(merged("tiny", alone)) == to_document(together)


def test_one_without_a_report_is_not_checkable(tmp_path: Path) -> None:
    failed = Contained(2, "", "image: no such image\n", None, None)
    document = json.loads(merged("tiny", {"a": contained(tmp_path, "a", "A1"), "b": failed}))
    jsonschema.validate(document, json.loads(schema()))
    assert document["verdict"] == "not checkable"
    assert document["submissions"] == [
        {"name": "a", "sha256": None, "verdict": "verified"},
        {
            "name": "b",
            "sha256": None,
            "verdict": "not checkable",
            "message": "image: no such image",
        },
    ]
    nothing = json.loads(merged("tiny", {"b": failed}))
    jsonschema.validate(nothing, json.loads(schema()))
    assert all(nothing[part] == [] for part in PARTS)
