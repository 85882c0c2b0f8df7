"""What this machine lacks for a benchmark, each with the command that mends it.

Everything is looked up, nothing is computed or installed; the MLflow store alone is opened, and so
made when it is new. Only `deep` imports torch and SpeechBrain, which takes seconds.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, HarnessError
from harness.protocols import protocol as protocols
from harness.protocols.protocol import EmotionSet, Protocol
from harness.protocols.typed import did_you_mean
from harness.runtime import machine, plugins
from harness.runtime.machine import LOCK, Finding
from harness.runtime.parameters import (
    EMODB_VARIABLE,
    FILE_NAME,
    LIBRISPEECH_VARIABLE,
    LISTS_VARIABLE,
    Benchmark,
    Parameters,
    Tracking,
    load,
)

# Of anonymizers and attackers that come as images.
IMAGE_TYPE = "image"
DEEP_IMPORTS = ("torch", "torchaudio", "speechbrain")
# A file that EmoDB has, whatever its format.
EMODB_EXAMPLE = "03a01Fa"
DOWNLOAD = "curl -L https://www.openslr.org/resources/12/{name}.tar.gz | tar xz -C {parent}"

# 16 kHz, 16 bit, mono as FLAC; mean length of an utterance in seconds.
FLAC_BYTES_A_SECOND = 18_000
SECONDS = {"voices": 4.0, "excerpt": 10.0, "lists": 12.5}
# Weights, optimiser state and scores of one training run of the official size.
RUN_BYTES = 200_000_000
# DVC's cache holds what the folders hold.
COPIES = 2


def examine(
    benchmark: str | None,
    *,
    deep: bool,
    check_store: Callable[[Tracking], None],
    root: Path = Path(),
) -> list[Finding]:
    """Look at everything that `benchmark` needs; None: the one that params.yaml chooses.

    check_store: raises TrackingError when the MLflow store cannot be used.
    Raises ConfigError for a benchmark that params.yaml does not name.
    """
    findings = [machine.python(), machine.git(root), machine.pipeline(root)]
    try:
        parameters = load(root / FILE_NAME)
    except ConfigError as error:
        return [*findings, machine.docker(needed=False), machine.failure("parameters", error)]
    chosen = _choose(parameters, benchmark)
    findings.append(machine.docker(_needs_docker(parameters, chosen)))
    try:
        protocol = protocols.load(chosen.name)
    except ConfigError as error:
        return [*findings, machine.failure("parameters", error)]
    text = f"{FILE_NAME} can be read, benchmark {chosen.name}"
    findings.append(Finding("parameters", "ok", text))
    needed = machine.needed_packages(_extras(parameters, chosen, protocol))
    findings.append(machine.packages(root / LOCK, needed))
    deep = deep and parameters.runner == "process"
    if deep:
        findings += [machine.imports(name) for name in DEEP_IMPORTS]
    findings.append(machine.gpu(parameters.runtime.device, deep))
    findings += sources(parameters, protocol)
    wanted = [protocol.emotion_set(name) for name in chosen.emotion_sets]
    findings += [emotional(parameters, one) for one in wanted]
    findings.append(disk(root, chosen, protocol))
    findings.append(store(parameters.tracking, check_store))
    return findings


def sources(parameters: Parameters, protocol: Protocol) -> list[Finding]:
    """The folders with speech and lists from outside that the protocol takes its sets from."""
    if protocol.source.kind == "voices":
        return [Finding("speech", "ok", "made on the spot")]
    findings = []
    lists = parameters.folder(LISTS_VARIABLE)
    if protocol.source.kind == "lists":
        # Training speech may lie in LibriSpeech, so its Kaldi folder may be absent.
        names = [dataset.name for dataset in protocol.sets if dataset.role != "train"]
        findings.append(_folder("lists", lists, LISTS_VARIABLE, names))
    speech = parameters.folder(LIBRISPEECH_VARIABLE)
    if speech is None and lists is not None:
        folders = [lists / dataset.name for dataset in protocol.sets]
        if all((f / "wav.scp").is_file() or (f / "wav").is_dir() for f in folders):
            text = "not needed: the audio lies with the lists"
            return [*findings, Finding("librispeech", "ok", text)]
    if speech is not None and (speech / "LibriSpeech").is_dir():
        speech = speech / "LibriSpeech"
    subsets = list(dict.fromkeys(s.subset for s in protocol.sets if s.subset))
    found = _folder("librispeech", speech, LIBRISPEECH_VARIABLE, subsets, DOWNLOAD)
    return [*findings, found]


def emotional(parameters: Parameters, wanted: EmotionSet) -> Finding:
    """The folder that a set of emotional speech is taken from."""
    subject = f"emotion set {wanted.name}"
    if wanted.corpus == "lists":
        lists = parameters.folder(LISTS_VARIABLE)
        return _folder(subject, lists, LISTS_VARIABLE, [wanted.name])
    folder = parameters.folder(EMODB_VARIABLE)
    setting = f"export {EMODB_VARIABLE}=/path/to/the/folder/with/{EMODB_EXAMPLE}.wav"
    if folder is None:
        return Finding(subject, "problem", f"{EMODB_VARIABLE} is not set", setting)
    if not any(any(place.glob(f"{EMODB_EXAMPLE}.*")) for place in (folder, folder / "wav")):
        text = f"no {EMODB_EXAMPLE}.wav or .flac in {folder}"
        return Finding(subject, "problem", text, setting)
    return Finding(subject, "ok", str(folder))


def needed_bytes(benchmark: Benchmark, protocol: Protocol) -> int:
    """About how much disk a whole run of the benchmark takes, DVC's cache included."""
    utterances = sum(dataset.utterances or 0 for dataset in protocol.sets)
    corpus = utterances * SECONDS[protocol.source.kind] * FLAC_BYTES_A_SECOND
    runs = len(benchmark.systems) * len(benchmark.attackers) * len(benchmark.seeds)
    return round(COPIES * (corpus * (1 + len(benchmark.systems)) + runs * RUN_BYTES))


def disk(root: Path, benchmark: Benchmark, protocol: Protocol) -> Finding:
    """Free space against what the benchmark has yet to write."""
    made = sum(
        file.stat().st_size
        for folder in ("data", "models")
        for file in (root / folder / benchmark.name).rglob("*")
        if file.is_file()
    )
    needed = max(0, needed_bytes(benchmark, protocol) - COPIES * made) / 1e9
    free = shutil.disk_usage(root).free / 1e9
    text = f"{free:,.1f} GB free, about {needed:,.1f} GB needed"
    if free < needed:
        return Finding("disk", "problem", text, "dvc cache dir --local /path/on/a/larger/disk")
    return Finding("disk", "ok", text)


def store(tracking: Tracking, check_store: Callable[[Tracking], None]) -> Finding:
    """Whether the MLflow store answers."""
    if not tracking.enabled:
        return Finding("tracking", "note", f"off (tracking.enabled: false in {FILE_NAME})")
    try:
        check_store(tracking)
    except HarnessError as error:
        return machine.failure("tracking", error)
    return Finding("tracking", "ok", "the MLflow store answers")


def _choose(parameters: Parameters, name: str | None) -> Benchmark:
    known = {**parameters.benchmarks, parameters.benchmark.name: parameters.benchmark}
    if name is None:
        return parameters.benchmark
    if name not in known:
        hint = did_you_mean(name, known)
        raise ConfigError(f"no benchmark {name!r}", where=FILE_NAME, fix=hint)
    return known[name]


def _needs_docker(parameters: Parameters, benchmark: Benchmark) -> bool:
    attackers = {str(parameters.attackers[name]["type"]) for name in benchmark.attackers}
    used = attackers | _types(parameters, benchmark)
    return parameters.runner == "docker" or IMAGE_TYPE in used


def _types(parameters: Parameters, benchmark: Benchmark) -> set[str]:
    """Types of the anonymizers, and of what they are made of."""
    return {
        str(part["type"])
        for system in benchmark.systems
        for part in _parts(parameters.anonymizers[system])
    }


def _parts(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """An entry, and those inside it, each once: YAML can put one into itself."""
    found: dict[int, dict[str, Any]] = {}
    waiting: list[Any] = [entry]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict) and "type" in one and id(one) not in found:
            found[id(one)] = one
            waiting += one.values()
    return list(found.values())


def _extras(parameters: Parameters, benchmark: Benchmark, protocol: Protocol) -> set[str]:
    voices = {"demo"} if protocol.source.kind == "voices" else set()
    # An anonymizer that needs packages of its own has an extra of its type's name.
    entries = [parameters.anonymizers[system] for system in benchmark.systems]
    base = {"pipeline", "utility", "attacker", *voices}
    if parameters.runner == "docker":
        # What computes is in the images, but for types that have none, and their parts.
        entries = [entry for entry in entries if not _in_image(entry)]
        base = {"pipeline", "utility", *voices}
    parts = [part for entry in entries for part in _parts(entry)]
    evaluators = (*benchmark.evaluators, *benchmark.emotion_evaluators)
    weighed = [*parts, *(parameters.evaluators[name] for name in evaluators)]
    neural = any(key.endswith("weights") and one[key] for one in weighed for key in one)
    return base | {str(part["type"]) for part in parts} | ({"neural"} if neural else set())


def _in_image(entry: dict[str, Any]) -> bool:
    """Whether what an entry of an anonymizer names has an image of its own."""
    kind = plugins.registered("harness.anonymizers", str(entry["type"]))
    return getattr(kind, "image", None) is not None


def _folder(
    subject: str, folder: Path | None, variable: str, names: Sequence[str], fetch: str | None = None
) -> Finding:
    setting = f"export {variable}=/path/to/the/folder/with/{names[0]}"
    if folder is None:
        return Finding(subject, "problem", f"{variable} is not set", setting)
    if not folder.is_dir():
        return Finding(subject, "problem", f"no such folder: {folder}", setting)
    absent = [name for name in names if not (folder / name).is_dir()]
    if absent:
        parent = shlex.quote(str(folder.parent))
        fix = setting if fetch is None else fetch.format(name=absent[0], parent=parent)
        return Finding(subject, "problem", f"no {', '.join(absent)} in {folder}", fix)
    return Finding(subject, "ok", str(folder))
