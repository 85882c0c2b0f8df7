"""Where the work of a stage is done: in this process, or in a container.

dvc.yaml does not name this module. What of it can change an output is named there: the device asked
for, and the digests of docker/images.lock. An entry of type `image` is a parameter itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec

from harness.anonymizers import base as anonymizers
from harness.anonymizers.base import Accelerated, Anonymizer, Device, everything_of
from harness.anonymizers.pretrained import Pinned
from harness.attackers import base as attackers
from harness.attackers.base import Attacker
from harness.contracts.anonymizer.image import ContainedAnonymizer, ImageAnonymizer
from harness.contracts.attacker.image import ImageAttacker
from harness.errors import ConfigError, HarnessError
from harness.protocols.protocol import DataSet
from harness.runtime.containers.engine import image_digest
from harness.runtime.containers.running import GPU_DEVICE
from harness.runtime.images import Image, Imaged, Kind, usable
from harness.runtime.machine import Finding, failure, locked_versions
from harness.runtime.parameters import Benchmark, Parameters
from harness.utility import base as evaluators
from harness.utility.base import Evaluator

# Of a training or scoring: the packages that an attacker's numbers come from.
TRACKED_VERSIONS = ("torch", "speechbrain", "numpy", "scipy", "soundfile")


def load_anonymizer(
    parameters: Parameters, name: str, dataset: DataSet | None = None
) -> Anonymizer:
    """An anonymizer of params.yaml, in its image where the runner is docker.

    dataset: the set that it is for, as of `harness.anonymizers.base.load`. Raises ConfigError and
    ContainerError as `usable` does.
    """
    entry = parameters.anonymizers[name]
    own = anonymizers.load(name, entry, dataset)
    image = _image(parameters, "anonymizer", own)
    if image is None:
        return own
    if "level" in entry:
        # One of a set, where each has its own.
        entry = {**entry, "level": own.level}
    return ContainedAnonymizer(image=image.digest, level=own.level, parameters=entry, own=own)


def load_attacker(parameters: Parameters, name: str) -> Attacker:
    """An attacker of params.yaml, in its image where the runner is docker. See above."""
    entry = parameters.attackers[name]
    own = attackers.load(name, entry)
    image = _image(parameters, "attacker", own)
    return own if image is None else ImageAttacker(image.digest, entry)


def _image(parameters: Parameters, kind: Kind, own: Anonymizer | Attacker) -> Image | None:
    """The image that one of the harness's own works in; None for none, or for one by type."""
    if parameters.runner == "process" or in_container(own):
        return None
    if not isinstance(own, Imaged) or own.image is None:
        return None
    return usable(kind, own.image)


def versions(parameters: Parameters, attacker: str) -> dict[str, str]:
    """Versions of what an attacker computes with, by package: where it works, not on the host.

    Empty for a stranger's image.
    """
    own = attackers.load(attacker, parameters.attackers[attacker])
    if isinstance(own, ImageAttacker):
        return {}
    image = _image(parameters, "attacker", own)
    if image is None:
        return {name: version(name) for name in TRACKED_VERSIONS}
    found = locked_versions(image.packages)
    return {name: found[name] for name in TRACKED_VERSIONS if name in found}


def device(parameters: Parameters, *systems: Anonymizer | Attacker) -> Device:
    """The device that systems may use. Raises ConfigError where one is asked for and missing."""
    asked = parameters.runtime.device
    parts = [part for system in systems for part in _parts(system)]
    inside, contained = any(map(_takes_gpu, parts)), any(map(in_container, parts))
    if asked == "cpu" or not (inside or contained):
        return "cpu"
    there = (not contained or GPU_DEVICE.exists()) and (not inside or _torch_sees_one())
    if asked == "cuda" and not there:
        raise ConfigError(
            "there is no CUDA device", where="params.yaml: runtime.device", fix="use auto or cpu"
        )
    return "cuda" if there else "cpu"


def _parts(system: Anonymizer | Attacker) -> list[Anonymizer | Attacker]:
    return [system] if isinstance(system, Attacker) else list(everything_of(system))


def _takes_gpu(system: Anonymizer | Attacker) -> bool:
    """Whether a system may use one in this process."""
    if in_container(system):
        return False
    return isinstance(system, Attacker) or (isinstance(system, Accelerated) and system.gpu)


def _torch_sees_one() -> bool:
    # B2 works without torch, too.
    if find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def in_container(system: Anonymizer | Attacker) -> bool:
    """Whether a system works in a container, whatever the runner."""
    return isinstance(system, ImageAnonymizer | ImageAttacker)


def require_machine(parameters: Parameters, benchmark: Benchmark) -> None:
    """Look at images, weights and GPU now, before hours of work that would end without them.

    Raises ConfigError, ContainerError and IntegrityError.
    """
    for _, load in _systems(parameters, benchmark):
        _require(parameters, load())


def examine(parameters: Parameters, benchmark: Benchmark) -> list[Finding]:
    """What `require_machine` looks at, as findings of `harness doctor`."""
    findings = []
    for subject, load in _systems(parameters, benchmark):
        try:
            system = load()
            _require(parameters, system)
        except HarnessError as error:
            findings.append(failure(subject, error))
        else:
            if isinstance(system, ImageAnonymizer | ImageAttacker):
                findings.append(Finding(subject, "ok", f"works in {system.image}"))
    return findings


def _systems(
    parameters: Parameters, benchmark: Benchmark
) -> Iterator[tuple[str, Callable[[], Anonymizer | Attacker | Evaluator]]]:
    """What a benchmark needs, each with what loads it."""
    for name in benchmark.systems:
        yield f"anonymizer {name}", partial(load_anonymizer, parameters, name)
    for name in benchmark.attackers:
        yield f"attacker {name}", partial(load_attacker, parameters, name)
    for name in dict.fromkeys((*benchmark.evaluators, *benchmark.emotion_evaluators)):
        yield f"evaluator {name}", partial(evaluators.load, name, parameters.evaluators[name])


def _require(parameters: Parameters, system: Anonymizer | Attacker | Evaluator) -> None:
    if isinstance(system, Evaluator):
        # They all work in this process, on the CPU.
        if isinstance(system, Pinned):
            system.require_files()
        return
    for part in _parts(system):
        if isinstance(part, ImageAnonymizer | ImageAttacker):
            image_digest(part.image)
        elif isinstance(part, Pinned):
            part.require_files()
    if parameters.runtime.device == "cuda":
        device(parameters, system)
