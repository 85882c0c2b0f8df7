"""YAML into frozen dataclasses, strictly: an unknown, missing or mistyped field is one line."""

from __future__ import annotations

import dataclasses
import difflib
import types
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import (
    Any,
    Literal,
    Protocol,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import yaml

from harness.errors import ConfigError

T = TypeVar("T")


class HasName(Protocol):
    """What is found by its name."""

    @property
    def name(self) -> str:
        """See the class."""
        ...


Named = TypeVar("Named", bound=HasName)

# Of YAML from strangers. A real submission.yaml has some 100 nodes in 10 kB.
UNTRUSTED_BYTES = 1 << 20
UNTRUSTED_NODES = 20_000
UNTRUSTED_DEPTH = 20
UNTRUSTED_SCALAR = 2_000
SHOWN_CHARACTERS = 100
# Of letters in the same order, by difflib: what shares less is another word, not a misspelt one.
SIMILAR = 0.7
# Not printable for Python, and harmless: line end, tab, no-break space, ideographic space.
WHITE_SPACE = dict.fromkeys(map(ord, "\n\t\xa0\u3000"), " ")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name: the nearest known one, or all of them where none is similar."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=SIMILAR)
    return f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(names) or 'none'}"


def named(name: str, things: Sequence[Named], what: str, where: str) -> Named:
    """Of things with names the one of that name. Raises ConfigError, with a near one, for none."""
    for thing in things:
        if thing.name == name:
            return thing
    raise ConfigError(
        f"no {what} {name!r}", where=where, fix=did_you_mean(name, (one.name for one in things))
    )


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


class UntrustedLoader(Loader):
    """YAML of strangers: no anchors, aliases, merges or tags; depth and sizes are bounded."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """A node, checked before what is within it is read. Raises ConstructorError."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        problem = self._problem(event)
        if problem is not None:
            raise yaml.constructor.ConstructorError(None, None, problem, event.start_mark)
        self._depth += 1
        self._nodes += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self._depth -= 1

    def _problem(self, event: Any) -> str | None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            return "anchors (`&`) and aliases (`*`) are not allowed"
        if getattr(event, "tag", None) is not None:
            return "tags (`!`) are not allowed"
        if self._depth >= UNTRUSTED_DEPTH:
            return f"more than {UNTRUSTED_DEPTH} levels"
        if self._nodes >= UNTRUSTED_NODES:
            return f"more than {UNTRUSTED_NODES:,} values"
        if isinstance(event, yaml.ScalarEvent):
            if len(event.value) > UNTRUSTED_SCALAR:
                return f"a text of more than {UNTRUSTED_SCALAR:,} characters"
            if not event.value.translate(WHITE_SPACE).isprintable():
                return "a control or invisible character"
        return None

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Nothing is spread. Raises ConstructorError for a merge (`<<`)."""
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(
                    None, None, "merges (`<<`) are not allowed", key.start_mark
                )


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
    return _parse(text, where, Loader)


def parse_untrusted_yaml(data: bytes, where: object) -> dict[str, Any]:
    """The YAML mapping of a stranger's file; `where` names it in errors.

    Raises ConfigError, with the line, for what is malformed and for what only an attack needs:
    anchors, aliases, merges, tags, control characters, great depth, number or size.
    """
    if len(data) > UNTRUSTED_BYTES:
        raise ConfigError(
            f"more than {UNTRUSTED_BYTES:,} bytes",
            where=where,
            fix="leave out what it need not say",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError("not UTF-8", where=where, fix="save it as UTF-8") from error
    return _parse(text, where, UntrustedLoader)


def _parse(text: str, where: object, loader: type[Loader]) -> dict[str, Any]:
    try:
        content = yaml.load(text, loader)
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


def shown(value: object) -> str:
    """A value as a message quotes it: on one line, cut where it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def build(kind: type[T], value: Any, where: str) -> T:
    """`value` (from YAML) as the dataclass `kind`; `where` names it in errors."""
    if not isinstance(value, dict):
        raise ConfigError(f"expected a mapping, found {shown(value)}", where=where, fix="mend it")
    hints = get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in value:
        if name not in fields:
            raise ConfigError(
                f"unknown name {shown(name)}", where=where, fix=did_you_mean(str(name), fields)
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
        # By type too: True and 1.0 equal 1.
        if (type(value), value) not in [(type(choice), choice) for choice in get_args(hint)]:
            choices = ", ".join(map(repr, get_args(hint)))
            raise ConfigError(
                f"{shown(value)} is not possible", where=where, fix=f"use one of {choices}"
            )
        return value
    if origin in (tuple, list):
        if not isinstance(value, list):
            raise ConfigError(f"expected a list, found {shown(value)}", where=where, fix="use [..]")
        hints = get_args(hint)
        if origin is list or hints[-1] is Ellipsis:
            hints = (hints[0],) * len(value)
        if len(hints) != len(value):
            raise ConfigError(
                f"expected {len(hints)} values, found {len(value)}", where=where, fix="mend it"
            )
        each = zip(hints, value, strict=True)
        return origin([convert(h, v, f"{where}[{i}]") for i, (h, v) in enumerate(each)])
    if origin is dict:
        if not isinstance(value, dict):
            raise ConfigError(
                f"expected a mapping, found {shown(value)}", where=where, fix="mend it"
            )
        return {
            str(k): convert(get_args(hint)[1], v, f"{where}.{str(k)[:SHOWN_CHARACTERS]}")
            for k, v in value.items()
        }
    if dataclasses.is_dataclass(hint):
        return build(hint, value, where)  # type: ignore[arg-type]
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise ConfigError(
            f"expected {hint.__name__}, found {shown(value)}", where=where, fix="mend the value"
        )
    return value
