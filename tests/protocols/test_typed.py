"""YAML into dataclasses: whatever is wrong, one line that names the place and the way out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from harness.errors import ConfigError
from harness.protocols.typed import (
    build,
    convert,
    did_you_mean,
    parse_untrusted_yaml,
    parse_yaml,
    read_yaml,
    shown,
)


@dataclass(frozen=True)
class Inner:
    size: int


@dataclass(frozen=True)
class Outer:
    name: str
    ratio: float = 0.5
    kind: Literal["a", "b"] = "a"
    limit: int | None = None
    inner: Inner = Inner(1)
    many: tuple[Inner, ...] = ()
    numbers: list[int] = field(default_factory=list)
    table: dict[str, float] = field(default_factory=dict)
    flag: bool = False
    free: Any = None


def test_every_kind_of_value() -> None:
    built = build(
        Outer,
        {
            "name": "n",
            "ratio": 2,
            "kind": "b",
            "limit": 7,
            "inner": {"size": 3},
            "many": [{"size": 4}, {"size": 5}],
            "numbers": [1, 2],
            "table": {5: 1},
            "flag": True,
            "free": {"x": [1]},
        },
        "f.yaml",
    )
    assert built == Outer(
        "n", 2.0, "b", 7, Inner(3), (Inner(4), Inner(5)), [1, 2], {"5": 1.0}, True, {"x": [1]}
    )
    assert isinstance(built.ratio, float)


def test_defaults_and_null() -> None:
    assert build(Outer, {"name": "n", "limit": None}, "f.yaml") == Outer("n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rati": 1.0}, r"^f\.yaml: unknown name 'rati'; did you mean 'ratio'\?$"),
        ({"zzz": 1}, r"unknown name 'zzz'; known are: flag, free, inner, .*, table$"),
        ({1: 1}, r"unknown name 1; known are"),
        ({"name": 5}, r"f\.yaml\.name: expected str, found 5"),
        ({"ratio": "big"}, r"f\.yaml\.ratio: expected float, found 'big'"),
        ({"ratio": True}, r"f\.yaml\.ratio: expected float, found True"),
        ({"kind": "c"}, r"f\.yaml\.kind: 'c' is not possible; use one of 'a', 'b'"),
        ({"limit": 1.5}, r"f\.yaml\.limit: expected int, found 1\.5"),
        ({"limit": True}, r"f\.yaml\.limit: expected int, found True"),
        ({"inner": 3}, r"f\.yaml\.inner: expected a mapping, found 3"),
        ({"inner": {}}, r"f\.yaml\.inner: 'size' is missing; add `size:`"),
        ({"many": {"size": 1}}, r"f\.yaml\.many: expected a list"),
        ({"many": [{"size": 1}, {"size": "x"}]}, r"f\.yaml\.many\[1\]\.size: expected int"),
        ({"numbers": 1}, r"f\.yaml\.numbers: expected a list, found 1; use \[\.\.\]"),
        ({"table": [1]}, r"f\.yaml\.table: expected a mapping"),
        ({"table": {"x": "y"}}, r"f\.yaml\.table\.x: expected float, found 'y'"),
        ({"flag": "yes"}, r"f\.yaml\.flag: expected bool, found 'yes'"),
    ],
)
def test_what_is_wrong_is_named(change: dict[Any, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(Outer, {"name": "n", **change}, "f.yaml")


def test_missing_name() -> None:
    with pytest.raises(ConfigError, match="f: 'name' is missing; add `name:`"):
        build(Outer, {}, "f")


def test_near_and_far_names() -> None:
    assert did_you_mean("mcadam", ["original", "mcadams"]) == "did you mean 'mcadams'?"
    assert did_you_mean("x", ["b", "a"]) == "known are: a, b"
    # Half of their letters are the same, or two of three: these are other words.
    for name, known in (("neighbors", "weights"), ("eval", "level"), ("gain", "train")):
        assert did_you_mean(name, [known]) == f"known are: {known}"
    assert did_you_mean("x", []) == "known are: none"


def test_yaml_file(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("a: 1\nb: [x, é]\n", encoding="utf-8")
    assert read_yaml(path) == {"a": 1, "b": ["x", "é"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a: 1\nb: [1, 2\nc: 3\n", r"p\.yaml:3: not valid YAML \(.*\); mend that line"),
        (b"a: 1\n\tb: 2\n", r"p\.yaml:2: not valid YAML"),
        (b"a: \x01\n", r"p\.yaml: not valid YAML"),
        (b"- 1\n- 2\n", r"p\.yaml: not a mapping of names to values"),
        (b"", r"p\.yaml: not a mapping of names to values"),
        (b"a: \xff\n", r"p\.yaml: not UTF-8"),
        (b"a: 1\nseed: 0x_\n", r"p\.yaml:2: not valid YAML \('0x_' is no int\); mend that line"),
        (b"a: 0b_\n", r"p\.yaml:1: not valid YAML \('0b_' is no int\)"),
        (b"a: !!int abc\n", r"p\.yaml:1: not valid YAML \('abc' is no int\)"),
        (b"a: !!int ''\n", r"p\.yaml:1: not valid YAML \('' is no int\)"),
        (b"a:\n- !!float abc\n", r"p\.yaml:2: not valid YAML \('abc' is no float\)"),
        (b"a: !!bool maybe\n", r"p\.yaml:1: not valid YAML \('maybe' is no bool\)"),
        (b"a: !!timestamp x\n", r"p\.yaml:1: not valid YAML \('x' is no timestamp\)"),
        (b"a: " + 3000 * b"[" + 3000 * b"]", r"p\.yaml: nested too deeply; mend the file"),
        (b"a: 1\nb: 2\na: 3\n", r"p\.yaml:3: not valid YAML \('a' stands twice\)"),
        (b"a:\n  x: 1\n  'x': 1\n", r"p\.yaml:3: not valid YAML \('x' stands twice\)"),
        (b"a: 1\n<<: [2]\n", r"p\.yaml:2: not valid YAML \(merged .* not a mapping\)"),
        (b"a: &a {<<: *a}\n", r"p\.yaml: nested too deeply"),
        (b"!!python/object/apply:os.getcwd []\n", r"p\.yaml:1: not valid YAML"),
    ],
)
def test_malformed_file(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "p.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_yaml(path)


def test_merged_names_may_be_overridden_and_built_upon() -> None:
    # One letter, and more: Python holds the former once, which PyYAML 6.0.4 takes for a sign.
    for one, two in (("a", "b"), ("alpha", "beta")):
        text = (
            f"{{x: &x {{{one}: 1, {two}: 2}}, y: &y {{<<: *x, {one}: 3}}, "
            f"z: {{<<: *y, {two}: 4}}, w: {{<<: [*y, *x]}}}}"
        )
        assert parse_yaml(text, "f") == {
            "x": {one: 1, two: 2},
            "y": {one: 3, two: 2},
            "z": {one: 3, two: 4},
            "w": {one: 3, two: 2},
        }


def test_what_only_yaml_1_1_takes_for_numbers_and_dates_is_text() -> None:
    text = "a: 190:20:30\nb: 1:30.5\nc: 2024-13-45\nd: 2024-01-02\n"
    assert list(parse_yaml(text, "f").values()) == [
        "190:20:30",
        "1:30.5",
        "2024-13-45",
        "2024-01-02",
    ]
    assert parse_yaml("{a: 0x1F, b: 1_000, c: .5, d: yes, e: null, f: .inf}", "f") == {
        "a": 31,
        "b": 1000,
        "c": 0.5,
        "d": True,
        "e": None,
        "f": float("inf"),
    }


def test_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read \(Is a directory\); name a file"):
        read_yaml(tmp_path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.yaml: no such file; run from the repository"):
        read_yaml(tmp_path / "none.yaml")


def test_text_is_named_by_its_caller() -> None:
    with pytest.raises(ConfigError, match=r"^dvc\.lock at HEAD:1: not valid YAML"):
        parse_yaml("{", "dvc.lock at HEAD")


def test_a_quoted_value_is_short_and_on_one_line() -> None:
    assert shown("a\nb") == r"'a\nb'"
    assert shown(list(range(10_000))) == f"{str(list(range(99)))[:100]}…"
    with pytest.raises(ConfigError, match="f.size: expected int, found 'x{99}…; mend the value"):
        build(Inner, {"size": "x" * 10_000}, "f")


def test_a_literal_is_of_its_type() -> None:
    @dataclass(frozen=True)
    class Versioned:
        format: Literal[1]

    assert build(Versioned, {"format": 1}, "f") == Versioned(1)
    for value in (True, 1.0, "1"):
        with pytest.raises(ConfigError, match="f.format: .* is not possible; use one of 1"):
            build(Versioned, {"format": value}, "f")


def test_yaml_of_strangers() -> None:
    assert parse_untrusted_yaml("{a: [1, x], b: é\u3000}".encode(), "f") == {
        "a": [1, "x"],
        "b": "é\u3000",
    }
    for text, problem in (
        ("a: &x 1", "anchors"),
        ("a: !x 1", "tags"),
        ("<<: {a: 1}", "merges"),
        ("b: 1\na: " + "[" * 30, "more than 20 levels"),
        ('a: "\\e[2J"', "a control or invisible character"),
    ):
        with pytest.raises(ConfigError, match=f"f:[12]: not valid YAML .*{problem}"):
            parse_untrusted_yaml(text.encode(), "f")


def test_a_pair_is_of_two_and_each_of_its_type() -> None:
    assert convert(tuple[str, float], ["a", 1], "x") == ("a", 1.0)
    assert convert(tuple[int, ...], [1, 2, 3], "x") == (1, 2, 3)
    for value in (["a"], ["a", 1.0, 2.0], []):
        with pytest.raises(ConfigError, match=f"x: expected 2 values, found {len(value)}"):
            convert(tuple[str, float], value, "x")
    with pytest.raises(ConfigError, match=r"x\[1\]: expected float, found 'b'"):
        convert(tuple[str, float], ["a", "b"], "x")
