"""`dvc.lock`: what each stage read and wrote, by hash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from harness.errors import DataError
from harness.protocols.typed import parse_yaml

FILE_NAME = "dvc.lock"
DIGITS_OF_HASH = 8
INPUTS_SHOWN = 4


@dataclass(frozen=True)
class Stage:
    """An entry. deps, outs: md5 by path. params: value by name, nested names joined by dots.

    settings: the same parameters by their file and the names under which they are tracked, values
    as they are.
    """

    cmd: str
    deps: Mapping[str, str]
    params: Mapping[str, str]
    outs: Mapping[str, str]
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read_lock(text: str, benchmark: str, where: object) -> dict[str, Stage]:
    """The stages of a benchmark, in pipeline order; `where` names the lock in errors.

    Raises ConfigError or DataError for a lock that is malformed or has no such stage.
    """
    entries = parse_yaml(text, where).get("stages")
    try:
        stages = {str(name): _stage(entry) for name, entry in (entries or {}).items()}
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError("not a lock of DVC", where=where, fix="run `dvc repro`") from error
    # Stages of other benchmarks stay in the lock when params.yaml is switched.
    chosen = {name: stage for name, stage in stages.items() if _belongs(stage, benchmark)}
    if not chosen:
        raise DataError(
            f"no stage of {benchmark}", where=where, fix=f"run `dvc repro` for {benchmark}"
        )
    return in_pipeline_order(chosen)


def flat_params(name: str, value: Any) -> dict[str, str]:
    """A parameter as text by name; the values of a mapping by `<name>.<inner name>`."""
    if isinstance(value, dict) and value:
        flat: dict[str, str] = {}
        for inner, content in value.items():
            flat |= flat_params(f"{name}.{inner}", content)
        return flat
    return {name: "null" if value is None else str(value)}


def _stage(entry: dict[str, Any]) -> Stage:
    settings: dict[str, dict[str, Any]] = {}
    params: dict[str, str] = {}
    for file, values in (entry.get("params") or {}).items():
        for name, value in values.items():
            settings.setdefault(str(file), {})[str(name)] = value
            params |= flat_params(str(name), value)
    deps, outs = (
        {str(item["path"]): str(item["md5"]) for item in entry.get(kind) or ()}
        for kind in ("deps", "outs")
    )
    return Stage(str(entry["cmd"]), deps, params, outs, settings)


def _belongs(stage: Stage, benchmark: str) -> bool:
    # `data/<benchmark>/…`, `models/<benchmark>/…`, `results/<benchmark>/…`.
    return any(PurePosixPath(out).parts[1:2] == (benchmark,) for out in stage.outs)


def in_pipeline_order(stages: Mapping[str, Stage]) -> dict[str, Stage]:
    """The stages, each behind those whose outputs it reads, otherwise as they stood."""
    ordered: dict[str, Stage] = {}

    def put(name: str, below: tuple[str, ...]) -> None:
        if name in ordered or name in below:
            return
        for other, candidate in stages.items():
            if other != name and reads(stages[name], candidate):
                put(other, (*below, name))
        ordered[name] = stages[name]

    for name in stages:
        put(name, ())
    return ordered


def reads(stage: Stage, other: Stage) -> bool:
    """Whether a dependency of `stage` is, holds, or lies in an output of `other`."""
    for dep in stage.deps:
        needed = PurePosixPath(dep)
        for out in other.outs:
            made = PurePosixPath(out)
            if needed == made or needed in made.parents or made in needed.parents:
                return True
    return False


def differing_inputs(before: Stage, after: Stage) -> str:
    """One line: the command, parameters and dependencies that differ."""
    changes = [f"cmd {before.cmd} -> {after.cmd}"] if before.cmd != after.cmd else []
    for kind, old, new, digits in (
        ("params", before.params, after.params, None),
        ("deps", before.deps, after.deps, DIGITS_OF_HASH),
    ):
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                values = [side.get(name, "none")[:digits] for side in (old, new)]
                changes.append(f"{kind} {name} {' -> '.join(values)}")
    if len(changes) > INPUTS_SHOWN:
        changes[INPUTS_SHOWN:] = [f"and {len(changes) - INPUTS_SHOWN} more"]
    return ", ".join(changes) or "same inputs"
