"""params.yaml, typed and checked as a whole before any work starts."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.errors import ConfigError
from harness.protocols import protocol
from harness.protocols.typed import build, did_you_mean, read_yaml

FILE_NAME = "params.yaml"
ORIGINAL = "orig"
ORIGINAL_TYPE = "original"
# Names become folders, stages of DVC and parts of file names; DVC parts them at points.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
SEED_LIMIT = 2**32
MOST_THREADS = 1024
LIBRISPEECH_VARIABLE = "HARNESS_LIBRISPEECH"
LISTS_VARIABLE = "HARNESS_LISTS"
EMODB_VARIABLE = "HARNESS_EMODB"


@dataclass(frozen=True)
class Benchmark:
    """What one benchmark runs.

    segment_seconds: length of training segments, None: not cut. evaluators: of utility, by name;
    emotion_sets: sets of emotional speech, by name, measured by emotion_evaluators.
    """

    name: str
    systems: tuple[str, ...]
    attackers: tuple[str, ...]
    seeds: tuple[int, ...]
    segment_seconds: float | None
    evaluators: tuple[str, ...]
    emotion_sets: tuple[str, ...] = ()
    emotion_evaluators: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sources:
    """Folders with speech and lists from outside; None where not set."""

    librispeech: str | None = None
    lists: str | None = None
    emodb: str | None = None


@dataclass(frozen=True)
class Runtime:
    """threads: of the attacker. workers: processes, None for all cores."""

    threads: int = 2
    device: Literal["auto", "cpu", "cuda"] = "auto"
    workers: int | None = None


@dataclass(frozen=True)
class Tracking:
    """Whether and where MLflow runs are logged; uri None for the local store."""

    enabled: bool = True
    uri: str | None = None


@dataclass(frozen=True)
class Parameters:
    """The whole file.

    runner: where anonymizers and attackers work: in this process, or in their images.
    """

    benchmarks: dict[str, Benchmark]
    benchmark: Benchmark
    anonymizers: dict[str, dict[str, Any]]
    attackers: dict[str, dict[str, Any]]
    evaluators: dict[str, dict[str, Any]]
    seed: int
    sources: Sources
    runtime: Runtime
    tracking: Tracking
    runner: Literal["process", "docker"] = "process"

    def folder(self, variable: str) -> Path | None:
        """The folder of one of the variables: the variable, then the file."""
        configured = {
            LIBRISPEECH_VARIABLE: self.sources.librispeech,
            LISTS_VARIABLE: self.sources.lists,
            EMODB_VARIABLE: self.sources.emodb,
        }[variable]
        value = os.environ.get(variable) or configured
        return None if value is None else Path(value)


def load(path: Path = Path(FILE_NAME)) -> Parameters:
    """Read and check params.yaml. Raises ConfigError with the name that is wrong and a near one."""
    parameters = build(Parameters, read_yaml(path), FILE_NAME)
    for kind, names in (
        ("benchmarks", parameters.benchmarks),
        ("anonymizers", parameters.anonymizers),
        ("attackers", parameters.attackers),
        ("evaluators", parameters.evaluators),
    ):
        for name in names:
            if not NAME.fullmatch(name):
                raise ConfigError(
                    f"{name!r} cannot be a name",
                    where=f"{FILE_NAME}: {kind}",
                    fix="begin with a letter or digit; use letters, digits, `_` and `-`",
                )
    _check_seed(parameters.seed, f"{FILE_NAME}: seed")
    for name, benchmark in parameters.benchmarks.items():
        _check(benchmark, parameters, f"{FILE_NAME}: benchmarks.{name}")
        if benchmark.name != name:
            raise ConfigError(
                f"its name is {benchmark.name!r}",
                where=f"{FILE_NAME}: benchmarks.{name}",
                fix="give both the same name",
            )
    _check(parameters.benchmark, parameters, f"{FILE_NAME}: benchmark")
    runtime = parameters.runtime
    for label, number in (("threads", runtime.threads), ("workers", runtime.workers)):
        if number is not None and not 1 <= number <= MOST_THREADS:
            raise ConfigError(
                f"{number} is not possible",
                where=f"{FILE_NAME}: runtime.{label}",
                fix=f"use 1 to {MOST_THREADS}",
            )
    return parameters


def _check_seed(seed: int, where: str) -> None:
    if not 0 <= seed < SEED_LIMIT:
        raise ConfigError(
            f"{seed} is not a seed", where=where, fix=f"use 0 to {SEED_LIMIT - 1}, 32 bits"
        )


def _check(benchmark: Benchmark, parameters: Parameters, where: str) -> None:
    if benchmark.name not in protocol.names():
        raise ConfigError(
            f"no benchmark {benchmark.name!r}",
            where=f"{where}.name",
            fix=did_you_mean(benchmark.name, protocol.names()),
        )
    for kind, names, known in (
        ("systems", benchmark.systems, parameters.anonymizers),
        ("attackers", benchmark.attackers, parameters.attackers),
        ("evaluators", benchmark.evaluators, parameters.evaluators),
        ("emotion_evaluators", benchmark.emotion_evaluators, parameters.evaluators),
    ):
        if not names and (kind != "emotion_evaluators" or benchmark.emotion_sets):
            raise ConfigError("the list is empty", where=f"{where}.{kind}", fix="name at least one")
        for name in names:
            if name not in known:
                raise ConfigError(
                    f"no {kind[:-1]} {name!r}",
                    where=f"{where}.{kind}",
                    fix=did_you_mean(name, known),
                )
            if "type" not in known[name]:
                raise ConfigError(f"{name!r} has no type", where=where, fix="add `type:`")
    for name in benchmark.emotion_sets:
        sets = [one.name for one in protocol.load(benchmark.name).emotion_sets]
        if name not in sets:
            raise ConfigError(
                f"{benchmark.name} has no set of emotional speech {name!r}",
                where=f"{where}.emotion_sets",
                fix=did_you_mean(name, sets),
            )
    if ORIGINAL not in benchmark.systems:
        raise ConfigError(
            f"{ORIGINAL!r} is missing: every scenario compares with original speech",
            where=f"{where}.systems",
            fix=f"add {ORIGINAL}",
        )
    if parameters.anonymizers[ORIGINAL]["type"] != ORIGINAL_TYPE:
        raise ConfigError(
            f"{ORIGINAL} is the original speech; its type must be {ORIGINAL_TYPE}",
            where=f"{FILE_NAME}: anonymizers.{ORIGINAL}.type",
            fix="give another system another name",
        )
    for seed in benchmark.seeds:
        _check_seed(seed, f"{where}.seeds")
    for kind, values in (
        ("systems", benchmark.systems),
        ("attackers", benchmark.attackers),
        ("evaluators", benchmark.evaluators),
        ("seeds", benchmark.seeds),
        ("emotion_sets", benchmark.emotion_sets),
        ("emotion_evaluators", benchmark.emotion_evaluators),
    ):
        optional = kind.startswith("emotion")
        if len(set(values)) != len(values) or not (values or optional):
            raise ConfigError(
                "values are missing or stand twice", where=f"{where}.{kind}", fix="name each once"
            )
    if benchmark.segment_seconds is not None and not 0 < benchmark.segment_seconds < math.inf:
        raise ConfigError(
            f"{benchmark.segment_seconds} is not a length",
            where=f"{where}.segment_seconds",
            fix="use seconds above 0, or null",
        )
