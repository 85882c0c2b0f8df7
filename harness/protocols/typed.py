"""YAML into frozen dataclasses, strictly: an unknown, missing or mistyped field is one line."""

from __future__ import annotations

import dataclasses
import difflib
import types
from collections.abc import Iterable
from pathlib import Path
from typing import (
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import yaml

from harness.errors import ConfigError

T = TypeVar("T")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name: the nearest known one, or all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(names) or 'none'}"


class Loader(yaml.SafeLoader):
    """YAML without its traps: a name stands once, malformed scalars are errors with a line, and
    what YAML 1.1 alone takes for a date or a number of base 60 (`190:20:30`) is text."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """Checked here, because merged mappings (`<<`) are not yet spread: they may be overridden.

        Raises ConstructorError for a name that stands twice.
        """
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if _identity(key) in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key.value!r} stands twice", key.start_mark
                )
            seen.add(_identity(key))
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Spread merged mappings: own names win, then those of the mapping merged first.

        PyYAML 6.0.4 compares names by identity, and so lets either win. Raises ConstructorError.
        """
        own: dict[object, tuple[yaml.Node, yaml.Node]] = {}
        merged: dict[object, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if key.tag != "tag:yaml.org,2002:merge":
                own[_identity(key)] = (key, value)
                continue
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(source, yaml.MappingNode):
                    raise yaml.constructor.ConstructorError(
                        None, None, "merged (`<<`) is what is not a mapping", source.start_mark
                    )
                self.flatten_mapping(source)
                for pair in source.value:
                    merged.setdefault(_identity(pair[0]), pair)
        node.value = list((merged | own).values())

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """A value. Raises ConstructorError where its text is none of its type."""
        kind = node.tag.rpartition(":")[2]
        if isinstance(node, yaml.ScalarNode) and kind in ("int", "float") and ":" in node.value:
            return node.value
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:
            # PyYAML's own conversions, on text that its patterns let through.
            raise yaml.constructor.ConstructorError(
                None, None, f"{node.value!r} is no {kind}", node.start_mark
            ) from error


Loader.yaml_implicit_resolvers = {
    first: [one for one in resolvers if one[0] != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _identity(key: yaml.Node) -> tuple[object, object]:
    return (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else (key.tag, id(key))


def read_yaml(path: Path) -> dict[str, Any]:
    """The YAML mapping of a file. Raises ConfigError with the line where it is malformed."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ConfigError(
            "no such file", where=path, fix="run from the repository's root"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", where=path, fix="name a file that can be read"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError("not UTF-8", where=path, fix="save it as UTF-8") from error
    return parse_yaml(text, path)


def parse_yaml(text: str, where: object) -> dict[str, Any]:
    """A YAML mapping; `where` names it in errors. Raises ConfigError with the malformed line."""
    try:
        content = yaml.load(text, Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = "" if mark is None else f":{mark.line + 1}"
        problem = getattr(error, "problem", None) or "malformed"
        raise ConfigError(
            f"not valid YAML ({problem})", where=f"{where}{line}", fix="mend that line"
        ) from error
    except RecursionError as error:
        raise ConfigError("nested too deeply", where=where, fix="mend the file") from error
    if not isinstance(content, dict):
        raise ConfigError("not a mapping of names to values", where=where, fix="mend the file")
    return content


def build(kind: type[T], value: Any, where: str) -> T:
    """`value` (from YAML) as the dataclass `kind`; `where` names it in errors."""
    if not isinstance(value, dict):
        raise ConfigError(f"expected a mapping, found {value!r}", where=where, fix="mend it")
    hints = get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in value:
        if name not in fields:
            raise ConfigError(
                f"unknown name {name!r}", where=where, fix=did_you_mean(str(name), fields)
            )
    arguments = {}
    for name, field in fields.items():
        if name in value:
            arguments[name] = convert(hints[name], value[name], f"{where}.{name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ConfigError(f"{name!r} is missing", where=where, fix=f"add `{name}:`")
    return kind(**arguments)


def convert(hint: Any, value: Any, where: str) -> Any:
    """`value` as the type `hint`: scalars, Literal, X | None, tuples, lists, dicts, dataclasses."""
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin in (Union, types.UnionType):
        options = get_args(hint)
        if value is None and type(None) in options:
            return None
        return convert(next(o for o in options if o is not type(None)), value, where)
    if origin is Literal:
        if value not in get_args(hint):
            choices = ", ".join(map(repr, get_args(hint)))
            raise ConfigError(
                f"{value!r} is not possible", where=where, fix=f"use one of {choices}"
            )
        return value
    if origin in (tuple, list):
        if not isinstance(value, list):
            raise ConfigError(f"expected a list, found {value!r}", where=where, fix="use [..]")
        items = [convert(get_args(hint)[0], v, f"{where}[{i}]") for i, v in enumerate(value)]
        return origin(items)
    if origin is dict:
        if not isinstance(value, dict):
            raise ConfigError(f"expected a mapping, found {value!r}", where=where, fix="mend it")
        return {str(k): convert(get_args(hint)[1], v, f"{where}.{k}") for k, v in value.items()}
    if dataclasses.is_dataclass(hint):
        return build(hint, value, where)  # type: ignore[arg-type]
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise ConfigError(
            f"expected {hint.__name__}, found {value!r}", where=where, fix="mend the value"
        )
    return value
