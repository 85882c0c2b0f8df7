"""The table for people and the document for programs."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.ranking import load
from harness.ranking.conditions.document import schema, to_json
from harness.ranking.conditions.measured import read_tables
from harness.ranking.conditions.ranking import rank_measured
from harness.ranking.conditions.table import to_text

from . import measured_tables as tables

VALIDATOR = jsonschema.Draft202012Validator(json.loads(schema()))


def shown(folder: Path, name: str, lines: list[str]) -> tuple[str, str]:
    rules = load(name)
    assert isinstance(rules, AnonymizerRanking)
    ranking = rank_measured(read_tables([tables.write(folder, lines)], rules), rules)
    return to_text(ranking), to_json(ranking)


def lines_2022() -> list[str]:
    return [
        *tables.rows("organizers", "B2", tables.B2_2022),
        *tables.rows("", "orig", tables.ORIG_2022),
        *tables.rows_2022("T04", "strict", "31", "8"),
        *tables.rows_2022("T04", "mild", "26", "7.5"),
        *tables.rows_2022("T11", "x", "29.99999", "7"),
        *tables.rows_2022("T99", "wordless", "40", "n/a"),
    ]


def section(text: str, head: str) -> list[list[str]]:
    """The words of each line below the line that starts so."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(head)) + 1
    end = next((i for i in range(start, len(lines)) if not lines[i]), len(lines))
    return [line.split() for line in lines[start:end]]


def test_the_table(tmp_path: Path) -> None:
    text, _ = shown(tmp_path, "vpc2022", lines_2022())
    assert text.startswith("vpc2022: The VoicePrivacy 2022 Challenge\n")
    # Columns without any value are left out.
    assert section(text, "condition with EER of at least 15 %, by WER (lower is better)") == [
        ["rank", "team", "system", "WER", "test", "EER", "test"],
        ["1", "T11", "x", "7.000", "30.000"],
        ["2", "T04", "mild", "7.500", "26.000"],
        ["-", "T04", "strict", "8.000", "31.000"],
        ["-:", "not", "the", "best", "of", "its", "team", "here"],
    ]
    assert section(text, "condition with EER of at least 30 %")[1:] == [
        ["1", "T04", "strict", "8.000", "31.000"]
    ]
    assert "  T99 wordless: in no ranking by WER: no WER of libri, vctk (test)\n" in text
    values = section(text, "all systems, and how far each is from the next condition")
    assert values[1:] == [
        ["organizers", "B2", "7.769", "-", "15", "7.231"],
        ["T04", "mild", "26.000", "25", "30", "4.000"],
        ["T04", "strict", "31.000", "30", "-", "-"],
        ["T11", "x", "30.000", "25", "30", "<0.001"],
        ["T99", "wordless", "40.000", "30", "-", "-"],
    ]
    # (7.76925 - 3.786) / 3.786 and (9.03 - 8.485) / 8.485
    assert ["organizers", "B2", "+105.2", "+6.4"] in section(text, "change against original speech")
    assert "  EER and WER: T04 strict, T11 x\n" in text


def test_nobody(tmp_path: Path) -> None:
    text, document = shown(tmp_path, "vpc2024", tables.rows_2024("A", "weak", "5", "2", "60"))
    assert section(text, "category with EER of at least 10 %, by UAR (higher is better)") == [
        ["nobody"]
    ]
    assert "no changes against original speech: no table has the system `orig`\n" in text
    empty, nothing = shown(tmp_path, "vpc2024", [])
    assert "nobody" in empty
    for one in (document, nothing):
        VALIDATOR.validate(json.loads(one))


def test_the_document_keeps_its_schema(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema()))
    _, text = shown(tmp_path, "vpc2022", lines_2022())
    document = json.loads(text)
    VALIDATOR.validate(document)
    assert document["rankings"][0] == {
        "privacy": "EER",
        "minimum": 15,
        "track": "WER",
        "rows": [
            {"team": "T11", "system": "x", "rank": 1},
            {"team": "T04", "system": "mild", "rank": 2},
            {"team": "T04", "system": "strict", "rank": None},
        ],
    }
    b2 = document["systems"][0]
    # 0.25 (7.117 + 1.114) + 0.2 (16.92 + 7.692) + 0.05 (10.98 + 4.802), not rounded.
    assert (b2["system"], b2["means"]["EER"]["test"]) == ("B2", 7.76925)
    assert (b2["reached"], b2["next"], b2["short"]) == ([], 15, 7.23075)
    assert document["systems"][-1]["unranked"]
    # Every field is described, so that none is added unseen.
    described = json.loads(schema())["properties"]
    assert set(document) == set(described)
    for part in ("systems", "rankings", "pareto_fronts"):
        assert set(document[part][0]) == set(described[part]["items"]["properties"])


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("systems", "team", ""),
        ("systems", "short", 0),
        ("rankings", "rows", None),
        ("pareto_fronts", "measures", "EER"),
    ],
)
def test_the_schema_refuses_what_is_none(
    tmp_path: Path, part: str, field: str, value: object
) -> None:
    document = json.loads(shown(tmp_path, "vpc2022", lines_2022())[1])
    document[part][0][field] = value
    assert list(VALIDATOR.iter_errors(document))
    del document[part][0][field]
    assert list(VALIDATOR.iter_errors(document))


def test_a_terminal_obeys_nothing(tmp_path: Path) -> None:
    hostile = tables.rows_2024("\x1b[31mteam", "\u202esystem\x9b2J", "45", "3", "n/a")
    for text in shown(tmp_path, "vpc2024", hostile):
        assert text.replace("\n", "").isprintable()
        assert "team" in text
