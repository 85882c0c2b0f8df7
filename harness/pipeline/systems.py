"""Which systems of the registry run here: looked at, never taken from what is written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from harness.anonymizers.base import load as load_anonymizer
from harness.errors import ConfigError, ContainerError
from harness.pipeline.layout import Layout
from harness.protocols.systems import System, Way
from harness.protocols.typed import convert, read_yaml
from harness.runtime.containers.engine import image_digest

DOCKER = Path("docker")
INPUTS = "inputs.lock"
# What is installed under another name than it is imported by.
PACKAGES = {"pyworld": "pyworld-prebuilt"}


@dataclass(frozen=True)
class Standing:
    """How one way to run a system stands here.

    runs: whether the system itself works now, with nothing to fetch; never said of one of its kind.
    status: in a few words. todo: what to put where and what to run, one step each; empty where
    nothing can be done, or nothing is to be.
    """

    way: Way
    runs: bool
    status: str
    todo: tuple[str, ...] = ()


@dataclass(frozen=True)
class Here:
    """What is looked at.

    refusal: why an entry of params.yaml cannot be used, or None. module: whether a package is
    installed. inputs: of a folder in docker/, its inputs.lock; None without one. digest: of an
    image by its name; None where there is none. imported: folders of a system's imported audio.
    """

    refusal: Callable[[str, Mapping[str, Any]], str | None]
    module: Callable[[str], bool]
    inputs: Callable[[str], dict[str, dict[str, Any]] | None]
    digest: Callable[[str], str | None]
    imported: Callable[[str], list[str]]


def look() -> Here:
    """This installation, and the folder that it is started in."""
    return Here(
        refusal=_refusal,
        module=lambda name: find_spec(name) is not None,
        inputs=_inputs,
        digest=_digest,
        imported=lambda name: sorted(str(p) for p in Path().glob(str(Layout("*").imported(name)))),
    )


def standings(system: System, here: Here) -> list[Standing]:
    """How each way to run a system stands, in the order of the registry."""
    return [_LOOKS[way.how](system, way, here) for way in system.ways]


def chief(found: list[Standing]) -> Standing:
    """Of a system itself, the way that runs, else the first. One of its kind is not the system."""
    own = [one for one in found if one.way.of == "the system"] or found
    return next((one for one in own if one.runs), own[0])


def _built_in(system: System, way: Way, here: Here) -> Standing:
    entry = way.entry or {}
    # Under a name of its own: published values are found by a system's name.
    name = entry_name(system.name) + ("" if way.of == "the system" else "-like")
    line = f"params.yaml, anonymizers: `{name}: {_in_yaml(entry)}`"
    absent = [name for name in way.modules if not here.module(name)]
    if absent:
        step = f"pip install {' '.join(PACKAGES.get(name, name) for name in absent)}"
        return Standing(way, False, f"needs the package {absent[0]}", (step,))
    refusal = here.refusal(system.name, entry)
    if refusal is not None:
        return Standing(way, False, f"not built in: {refusal}")
    if way.of == "the system":
        return Standing(way, True, "runs here", (line,))
    text = f"one of its kind runs here: type {entry['type']}{_differing(way)}"
    return Standing(way, False, text, (line,))


def _differing(way: Way) -> str:
    return f", with {way.differs}" if way.differs else ""


def _container(system: System, way: Way, here: Here) -> Standing:
    entry = (
        f"params.yaml, anonymizers: `{entry_name(system.name)}: {{type: image, image: sha256:…}}`"
    )
    weights = ", ".join(one.name for one in system.weights) or "nothing"
    if way.recipe is None:
        steps = (
            "no folder of docker/ makes its image: put its code and weights behind "
            "docs/contracts.md, and try it with `harness conformance anonymizer IMAGE`",
            entry,
        )
        text = f"needs an image, and the weights {weights}{_differing(way)}"
        return Standing(way, False, text, steps)
    recipe = DOCKER / way.recipe
    inputs = here.inputs(way.recipe)
    if inputs is None:
        step = f"run it in the repository's root: there is no {recipe / INPUTS} here"
        return Standing(way, False, f"needs the weights {weights}", (step,))
    image = f"harness-{way.recipe}:{system.name.lower()}"
    digest = here.digest(image)
    if digest is not None:
        return Standing(
            way,
            True,
            f"its image is here{_differing(way)}",
            (
                f"try it: `harness conformance anonymizer {image}`",
                entry.replace("sha256:…", digest),
            ),
        )
    needed = {name: one for name, one in inputs.items() if system.name in one["systems"]}
    files = [
        f"put into FOLDER: {name}, {one['from']}; sha256 {one['sha256'] or 'not known'}"
        for name, one in needed.items()
    ]
    recorded = all(one["sha256"] for one in needed.values())
    record = f"python docker/inputs.py record {recipe / INPUTS} FOLDER --system {system.name}"
    return Standing(
        way,
        False,
        f"needs the weights {weights}{_differing(way)}",
        (
            *files,
            *(() if recorded else (f"record their hashes, if you trust them: `{record}`",)),
            f"make the image: `{recipe}/build.sh {system.name} FOLDER BASE_IMAGE`",
            entry,
        ),
    )


def _audio(system: System, way: Way, here: Here) -> Standing:
    found = here.imported(system.name)
    if found:
        step = "params.yaml, anonymizers: the entry that the import printed"
        return Standing(way, True, f"its audio is here: {', '.join(found)}", (step,))
    giver = way.giver or "who has it"
    return Standing(
        way,
        False,
        f"audio from {giver}",
        (
            f"its anonymized speech, from {giver}, as data/<set><suffix>/wav/<utterance>.wav",
            f"store it: `harness corpus import anonymized PATH --system {system.name}`",
        ),
    )


_LOOKS = {"built in": _built_in, "container": _container, "imported audio": _audio}


def entry_name(system: str) -> str:
    """A system's name as params.yaml can have it."""
    return system.replace(".", "")


def _in_yaml(entry: Mapping[str, Any]) -> str:
    """On one line, as params.yaml has it."""
    text = yaml.safe_dump(dict(entry), default_flow_style=True, sort_keys=False, width=1000)
    return text.strip()


def _refusal(name: str, entry: Mapping[str, Any]) -> str | None:
    try:
        load_anonymizer(name, entry)
    except ConfigError as error:
        # Without its place: the entry is the registry's, not one of params.yaml.
        return error.what
    return None


def _inputs(recipe: str) -> dict[str, dict[str, Any]] | None:
    path = DOCKER / recipe / INPUTS
    if not path.is_file():
        return None
    entries: dict[str, dict[str, Any]] = convert(
        dict[str, dict[str, Any]], read_yaml(path), str(path)
    )
    return entries


def _digest(image: str) -> str | None:
    try:
        return image_digest(image)
    except ContainerError:
        return None
