"""The document and its schema, and what is no such document."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import jsonschema
import pytest

from harness.errors import ConfigError
from harness.metrics.resampling import SEED_LIMIT, Sampling
from harness.ranking import model
from harness.ranking.document import from_json, schema, to_json

from .sample import RANKING

SCHEMA = json.loads(schema())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
DOCUMENT = json.loads(to_json(RANKING))


def test_the_document_follows_its_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(DOCUMENT)
    assert DOCUMENT["kind"] == "attackers"


def test_the_schema_has_all_fields_of_the_model() -> None:
    kinds = {
        name: kind
        for name, kind in vars(model).items()
        if dataclasses.is_dataclass(kind) and name != "Ranking"
    }
    assert set(SCHEMA["$defs"]) == set(kinds)
    for name, kind in kinds.items():
        fields = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
        assert list(SCHEMA["$defs"][name]["properties"]) == fields
        assert SCHEMA["$defs"][name]["required"] == fields
    fields = [field.name for field in dataclasses.fields(model.Ranking)]
    assert list(SCHEMA["properties"]) == ["kind", *fields]


def test_it_is_read_as_it_was_written() -> None:
    text = to_json(RANKING)
    assert from_json(text.encode(), "r.json") == RANKING
    assert to_json(from_json(text.encode(), "r.json")) == text


def test_numbers_are_rounded() -> None:
    thirds = dataclasses.replace(RANKING, method=model.Method(200, 2 / 3, "speakers", 1))
    assert json.loads(to_json(thirds))["method"]["level"] == 0.666667


def test_what_strangers_wrote_is_no_markup_of_a_terminal() -> None:
    assert "Evil" in to_json(RANKING)
    assert to_json(RANKING).replace("\n", "").isprintable()


def put(path: tuple[Any, ...], value: object) -> tuple[dict[str, Any], Any, Any]:
    """The document with another value, what holds the value, and by which name."""
    document = json.loads(to_json(RANKING))
    *rest, last = path
    place = document
    for step in rest:
        place = place[step]
    assert last in place or isinstance(place, list)
    place[last] = value
    return document, place, last


OUT_OF_RANGE: list[tuple[tuple[Any, ...], object]] = [
    (("boards", 0, "rows", 0, "averages", "test", "percent"), 1e308),
    (("boards", 0, "rows", 0, "averages", "test", "low"), -0.5),
    (("boards", 0, "rows", 0, "averages", "test", "high"), 100.5),
    (("boards", 0, "rows", 0, "deviations", "test"), -1),
    (("boards", 0, "rows", 0, "ranks"), [0, 2]),
    (("boards", 0, "rows", 0, "tier"), 0),
    (("boards", 0, "rows", 3, "would_rank"), 0),
    (("boards", 0, "rows", 0, "rates", 0, "percent"), -1),
    (("boards", 0, "rows", 0, "rates", 0, "misses"), -1),
    (("boards", 0, "rows", 0, "rates", 0, "det"), [[0.5, 1.5]]),
    (("boards", 0, "rows", 0, "rates", 0, "speakers", "tf00"), 101),
    (("boards", 0, "references", 0, "percent"), 1e300),
    (("boards", 0, "strongest", "percent"), 1e300),
    (("overall", "top"), -5),
    (("overall", "rows", 0, "place"), 0),
    (("overall", "rows", 0, "ranks", "A1"), 0),
    (("two_sided", "privacy", "A1", "percent"), 1e300),
    (("two_sided", "places", "A1"), 0),
    (("evidence", 0, "claims", 0, "recomputed"), 1e300),
    (("method", "level"), 95),
    (("method", "draws"), 0),
]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("boards", 0, "rows", 0, "rank"), 0),
        (("boards", 0, "rows", 0, "ranks"), [1]),
        (("boards", 0, "rows", 0, "status"), "winner"),
        (("boards", 0, "rows", 0, "rates", 0, "percent"), 100.5),
        (("boards", 0, "rows", 0, "rates", 0, "sha256"), "abc"),
        (("format",), 2),
        (("kind",), "anonymizers"),
    ],
)
def test_the_schema_refuses_what_is_none(path: tuple[Any, ...], value: object) -> None:
    document, place, last = put(path, value)
    assert list(VALIDATOR.iter_errors(document))
    del place[last]
    assert list(VALIDATOR.iter_errors(document))


@pytest.mark.parametrize(("path", "value"), OUT_OF_RANGE)
def test_numbers_out_of_range_are_refused_with_their_place(
    path: tuple[Any, ...], value: object
) -> None:
    document, _, _ = put(path, value)
    assert list(VALIDATOR.iter_errors(document))
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    with pytest.raises(ConfigError, match=f"^r.json{re.escape(where)}.*: .* is out of range; give"):
        from_json(json.dumps(document).encode(), "r.json")


@pytest.mark.parametrize("name", ["places", "privacy", "strongest"])
def test_of_each_system_there_is_a_strongest_attacker(name: str) -> None:
    document, place, system = put(("two_sided", name, "A1"), None)
    del place[system]
    said = f"r.json.two_sided.{name}: nothing of the system 'A1'; name each of `systems`"
    with pytest.raises(ConfigError, match=f"^{re.escape(said)}$"):
        from_json(json.dumps(document).encode(), "r.json")


def test_the_largest_seed_is_read_again() -> None:
    sampling = Sampling(seed=SEED_LIMIT - 1)
    method = model.Method(sampling.draws, sampling.level, sampling.unit, sampling.seed)
    ranking = dataclasses.replace(RANKING, method=method)
    assert from_json(to_json(ranking).encode(), "r.json") == ranking


def changed(**fields: Any) -> bytes:
    return json.dumps({**DOCUMENT, **fields}).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "r.json: no JSON document"),
        (b"\xff", "r.json: no JSON document"),
        (b"[" * 100_000, "r.json: no JSON document (nested too deeply)"),
        (b'{"a":1,"a":2}', "a name stands twice"),
        (b'{"a":NaN}', "NaN is no number in JSON"),
        (b'{"a":1e999}', "a number beyond all bounds"),
        (b'{"a":' + b"9" * 400 + b"}", "a number of too many digits"),
        (b"[]", "no ranking of attackers; give what `harness rank --json` wrote of attackers"),
        (changed(kind="anonymizers"), "no ranking of attackers"),
        (changed(format=2), "a ranking of the format 2, not 1"),
        (changed(format=True), "r.json.format: expected int, found True"),
        (changed(more=1), "unknown name 'more'"),
        (changed(boards={}), "r.json.boards: expected a list, found {}"),
        (changed(rules=[1]), "r.json.rules[0]: expected str, found 1"),
        (changed(method=None), "r.json.method: expected a mapping"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_ranking_is_one_line(data: bytes, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as caught:
        from_json(data, "r.json")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_pair_has_two_ends() -> None:
    document = json.loads(to_json(RANKING))
    document["boards"][0]["rows"][0]["ranks"] = [1, 2, 3]
    with pytest.raises(ConfigError, match=r"rows\[0\].ranks: expected 2 values, found 3"):
        from_json(json.dumps(document).encode(), "r.json")
