"""`submission.yaml`: strict, told by field, and no door for hostile YAML."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.submissions.contents.description import (
    Description,
    Resource,
    folder_name,
    parse,
    require_date,
    to_text,
)

HASH = "0123456789abcdef" * 4
TEXT = f"""\
format: 1
benchmark: tiny
team: Equipe Été
description: description.pdf
systems: [A1, A2]
claims:
  A1: {{tiny_dev_trials_f: '12.910', average dev: "3"}}
files:
  description.pdf: {HASH}
  A1/tiny_dev_enrolls-tiny_dev_trials_f/scores: {HASH}
resources:
- {{name: VoxCeleb, kind: data, source: 'https://example.org', declared: 2024-10-12}}
own_anonymizers: [A2]
own_code_released: 2024-10-01
"""
EXPECTED = Description(
    format=1,
    benchmark="tiny",
    team="Equipe Été",
    description="description.pdf",
    systems=("A1", "A2"),
    claims={"A1": {"tiny_dev_trials_f": "12.910", "average dev": "3"}},
    files={"description.pdf": HASH, "A1/tiny_dev_enrolls-tiny_dev_trials_f/scores": HASH},
    resources=(Resource("VoxCeleb", "data", "https://example.org", "2024-10-12"),),
    own_anonymizers=("A2",),
    own_code_released="2024-10-01",
)


def refused(text: str | bytes) -> str:
    """The one line that tells what is wrong."""
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ConfigError, match=r"submission\.yaml") as caught:
        parse(data, "submission.yaml")
    line = str(caught.value)
    assert "\n" not in line
    assert len(line) < 700
    return line


def changed(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new)


def test_every_field() -> None:
    assert parse(TEXT.encode(), "submission.yaml") == EXPECTED
    assert parse(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(), "s") == EXPECTED


def test_text_is_yaml_that_any_reader_understands() -> None:
    text = to_text(EXPECTED)
    assert parse(text.encode(), "s") == EXPECTED
    # PyYAML's own loader: no digit of a claim is lost, and no date is taken for another type.
    content = yaml.safe_load(text)
    assert content["claims"]["A1"] == {"tiny_dev_trials_f": "12.910", "average dev": "3"}
    assert content["own_code_released"] == "2024-10-01"
    assert list(content)[:4] == ["format", "benchmark", "team", "description"]
    assert "Été" in text
    assert "notes" not in content  # what is optional and empty is left out
    empty = dataclasses.replace(EXPECTED, claims={})
    assert parse(to_text(empty).encode(), "s") == empty


printable = st.text(
    st.characters(exclude_categories=("C", "Z"), include_characters=" \n\u3000"),
    min_size=1,
    max_size=40,
).filter(str.strip)


@given(printable, printable, st.dictionaries(printable, printable, max_size=3))
def test_any_text_comes_back(team: str, name: str, notes: dict[str, str]) -> None:
    written = dataclasses.replace(
        EXPECTED, team=team, resources=(Resource(name, "model", team),), notes=notes
    )
    assert parse(to_text(written).encode(), "s") == written


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "'12.910'",
            "12.910",
            "submission.yaml.claims.A1.tiny_dev_trials_f: 12.91 is a number without quotes; "
            "quote it, so that its digits are kept",
        ),
        ('"3"', "3", "quote it, so that its digits are kept"),
        ("format: 1", "format: 2", "submission.yaml.format: 2 is not possible; use one of 1"),
        ("format: 1", "format: yes", "submission.yaml.format: True is not possible"),
        ("format: 1", "format: 1.0", "submission.yaml.format: 1.0 is not possible"),
        ("team:", "taem:", "unknown name 'taem'; did you mean 'team'?"),
        ("team: Equipe Été\n", "", "'team' is missing"),
        ("Equipe Été", "' '", "submission.yaml.team: is empty"),
        ("[A1, A2]", "[]", "submission.yaml.systems: no system"),
        ("[A1, A2]", "[A1, A2, A1]", "submission.yaml.systems: 'A1' stands twice"),
        ("[A1, A2]", "[A2, A3]", "submission.yaml.claims: 'A1' is none of the systems"),
        ("[A2]", "[A22]", "own_anonymizers: 'A22' is none of the systems; did you mean 'A2'?"),
        ("kind: data", "kind: corpus", "resources[0].kind: 'corpus' is not possible"),
        ("2024-10-12", "12.10.2024", "resources[0].declared: '12.10.2024' is no date"),
        ("2024-10-01", "2024-02-30", "own_code_released: '2024-02-30' is no date"),
        ("2024-10-01", "20241001", "own_code_released: expected str, found 20241001"),
        (f"f: {HASH}\n  A1", "f: abc\n  A1", "files.description.pdf: 'abc' is no SHA-256"),
        (HASH, HASH.replace("a", "A"), "is no SHA-256"),
        ("  A1/tiny", "  ../tiny", "is no path below this file's folder"),
        ("  A1/tiny", "  /tiny", "is no path below this file's folder"),
        ("  A1/tiny", "  A1\\tiny", "is no path below this file's folder"),
        ("  description.pdf:", "  submission.yaml:", "cannot hold its own hash"),
        ("description: description.pdf", "description: d.pdf", "'d.pdf' is none of the files"),
    ],
)
def test_a_fault_is_one_line_that_names_the_field(old: str, new: str, line: str) -> None:
    assert line in refused(changed(old, new))


def laughs() -> str:
    lines = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"{n}: &{n} [{','.join([f'*{p}'] * 9)}]" for p, n in zip("abcdefgh", "bcdefghi")]  # noqa: B905
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (laughs(), "submission.yaml:1: not valid YAML (anchors (`&`) and aliases (`*`)"),
        ("a: 1\nb: *c\n", "submission.yaml:2: not valid YAML (anchors"),
        ("&a [*a]", "not valid YAML (anchors"),
        ("<<: {format: 1}", "not valid YAML (merges (`<<`) are not allowed"),
        ("a: !!python/object/apply:os.system [ls]", "not valid YAML (tags (`!`)"),
        ("!!python/name:os.system", "not valid YAML (tags (`!`)"),
        ("a: !!binary aGk=", "not valid YAML (tags (`!`)"),
        ("[" * 100_000, "not valid YAML (more than 20 levels)"),
        ("{a: " * 5_000, "not valid YAML (more than 20 levels)"),
        ("".join(f"{' ' * i}a:\n" for i in range(800)), "not valid YAML (more than 20 levels)"),
        ("- " * 50_000, "not valid YAML (more than 20 levels)"),
        ("a: [" + "1," * 400_000 + "]", "not valid YAML (more than 20,000 values)"),
        ("a\n" * 500_000, "not valid YAML (a text of more than 2,000 characters)"),
        ("notes: " + "9" * 900_000, "not valid YAML (a text of more than 2,000 characters)"),
        ("#" * 10_000_000, "more than 1,048,576 bytes"),
        ('team: "\\x1b[2J"', "not valid YAML (a control or invisible character)"),
        ('"\\u202e": 1', "not valid YAML (a control or invisible character)"),
        ("team: a\nteam: b", "submission.yaml:2: not valid YAML ('team' stands twice"),
        ("a: 1\n--- \nb: 2", "not valid YAML"),
        ("a: 1\n  b: 2", "submission.yaml:2: not valid YAML"),
        ("? [a]\n: b", "not valid YAML"),
        ("", "not a mapping"),
        ("- a", "not a mapping"),
        ("{'" + "x" * 900 + "': 1}", "unknown name"),
        ("claims: [" + "x, " * 9_000 + "]", "'format' is missing"),
        (b"team: \xff", "not UTF-8"),
        (b"\x00", "not valid YAML"),
        ("a: 1".encode("utf-16"), "not UTF-8"),
    ],
)
def test_hostile_yaml_is_refused_at_once(text: str | bytes, line: str) -> None:
    start = time.process_time()
    assert line in refused(text)
    assert time.process_time() - start < 5  # a safety net: the slowest takes a second


def outcome(data: bytes) -> str:
    try:
        parse(data, "submission.yaml")
    except ConfigError as error:
        return str(error)
    return ""


@given(st.binary(max_size=300))
def test_any_bytes_are_a_description_or_one_line(data: bytes) -> None:
    assert "\n" not in outcome(data)


leaves: Any = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
trees: Any = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(leaves, inner, max_size=3)
)


@given(st.sampled_from([field.name for field in dataclasses.fields(Description)]), trees)
def test_any_value_of_a_field_is_taken_or_one_line(name: str, value: object) -> None:
    content = yaml.safe_load(TEXT) | {name: value}
    assert "\n" not in outcome(yaml.safe_dump(content).encode())


@pytest.mark.parametrize(
    ("team", "folder"),
    [
        ("NTU-NPU", "NTU-NPU"),
        ("Equipe Été 1", "Equipe_t_1"),
        ("../../etc/passwd", "etc_passwd"),
        (".hidden", "hidden"),
        ("团队", ""),
        ("x" * 500, "x" * 64),
    ],
)
def test_a_team_is_a_folder(team: str, folder: str) -> None:
    assert folder_name(team) == folder


def test_a_date_is_a_day() -> None:
    assert require_date("2024-02-29", "w").isoformat() == "2024-02-29"
    for text in ("2024-02-30", "2024-W10-1", "20240229", "2024-2-9", "2024-02-29T00:00", ""):
        with pytest.raises(ConfigError, match="w: '.*' is no date; write it as YYYY-MM-DD"):
            require_date(text, "w")
