"""What differs in how two attackers' scores were made, by `dvc.lock` and `events.jsonl`.

A lock names the inputs of every stage by hash: here those of the stage `score` and of all that it
stands on. It is believed only where it names the scores by their hash, too: others are compared by
what their stage says of itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

from harness.reports.difference import Side
from harness.reports.freshness import PARAMETERS_FILE, path_md5
from harness.reports.lockfile import FILE_NAME, Stage, flat_params, reads

Kind = Literal[
    "system",
    "attacker",
    "seeds",
    "data",
    "parameter",
    "code",
    "image",
    "environment",
    "machine",
]
Input = tuple[Kind, str]
IMAGES_FILE = "docker/images.lock"
ENVIRONMENT_FILE = "requirements/full.lock"
# Parameters that say on what a stage works.
MACHINE = {"runtime.threads": "threads", "runtime.device": "device asked for"}


@dataclass(frozen=True)
class InputDifference:
    """One input. first, second: its value on either side, a hash where it is a file or folder;
    None where there is none. Where trainings or stages of one side differ, all its values."""

    kind: Kind
    name: str
    first: str | None
    second: str | None


def input_differences(
    first: Side, second: Side
) -> tuple[tuple[InputDifference, ...], tuple[str, ...]]:
    """The inputs that differ, by kind, and remarks on what is not known. Raises OSError."""
    remarks = tuple(
        f"{FILE_NAME} does not name the scores of {letter} as they are: whether data, code, images "
        "and all packages are the same is not known"
        for letter, side in (("A", first), ("B", second))
        if not _is_locked(side)
    )
    old, new = (_inputs(side, locked=not remarks) for side in (first, second))
    kinds = get_args(Kind)
    keys = sorted(old.keys() | new.keys(), key=lambda key: (kinds.index(key[0]), key[1]))
    differing = tuple(
        InputDifference(*key, old.get(key), new.get(key))
        for key in keys
        if old.get(key) != new.get(key)
    )
    return differing, remarks


def _is_locked(side: Side) -> bool:
    """Whether the lock names the scores of every training by the hash that they have."""
    return all(
        (stage := _score_stage(side, seed)) is not None
        and stage.outs[_output(side, seed)] == path_md5(folder)
        for seed, folder in side.scores.items()
    )


def _output(side: Side, seed: int) -> str:
    return str(side.folder / f"seed-{seed}")


def _score_stage(side: Side, seed: int) -> Stage | None:
    made = (stage for stage in side.stages.values() if _output(side, seed) in stage.outs)
    return next(made, None)


def _inputs(side: Side, *, locked: bool) -> dict[Input, str]:
    """All inputs with their values."""
    values: dict[Input, set[str]] = {}
    for seed in side.scores:
        found = [*_said(side.runs[seed])]
        stage = _score_stage(side, seed)
        if locked and stage is not None:
            for below in _with_all_below(stage, side.stages):
                found += _named(below, side)
        for key, value in found:
            values.setdefault(key, set()).add(value)
    return {
        ("system", "name"): side.system,
        ("attacker", "name"): side.attacker,
        ("seeds", "of the trainings"): ", ".join(map(str, side.scores)),
        **{key: ", ".join(sorted(found)) for key, found in values.items()},
    }


def _with_all_below(stage: Stage, stages: Mapping[str, Stage]) -> list[Stage]:
    """A stage and, transitively, those whose outputs it reads."""
    found = [stage]
    for reader in found:
        found += [other for other in stages.values() if other not in found and reads(reader, other)]
    return found


def _named(stage: Stage, side: Side) -> Iterator[tuple[Input, str]]:
    """The inputs of a stage, under names that do not depend on the side's."""
    for path, md5 in stage.deps.items():
        # What a model is follows from the inputs of its training.
        if not path.startswith("models/"):
            yield _dependency(path, side), md5
    own = {f"anonymizers.{side.system}": "anonymizer", f"attackers.{side.attacker}": "attacker"}
    for name, value in stage.settings.get(PARAMETERS_FILE, {}).items():
        for flat, text in flat_params(own.get(name, name), value).items():
            yield (("machine", MACHINE[flat]) if flat in MACHINE else ("parameter", flat)), text
    for name, value in stage.settings.get(IMAGES_FILE, {}).items():
        # `<runner>.<kind>`: images by name, or a word for none.
        images = value.values() if isinstance(value, dict) else [value]
        digests = [str(one.get("digest")) if isinstance(one, dict) else str(one) for one in images]
        yield ("image", name.rpartition(".")[2]), ", ".join(digests)


def _dependency(path: str, side: Side) -> Input:
    if path == ENVIRONMENT_FILE:
        return "environment", path
    data = PurePosixPath("data", side.benchmark)
    if path == str(data / "corpus"):
        return "data", "original speech and lists"
    if path == str(data / "anonymized" / side.system):
        return "data", "speech of the system"
    return ("data" if path.startswith("data/") else "code"), path


def _said(run: Mapping[str, Any]) -> Iterator[tuple[Input, str]]:
    """What the stage `score` says of itself."""
    if "device" in run:
        yield ("machine", "device"), str(run["device"])
    for package, version in (run.get("versions") or {}).items():
        yield ("environment", str(package)), str(version)
    parameters = dict(run.get("parameters") or {})
    if "threads" in parameters:
        yield ("machine", "threads"), str(parameters.pop("threads"))
    if "segment_seconds" in parameters:
        parameters["benchmark.segment_seconds"] = parameters.pop("segment_seconds")
    for name, value in parameters.items():
        for flat, text in flat_params(str(name), value).items():
            yield ("parameter", flat), text
