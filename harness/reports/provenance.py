"""What a page was made of: parameters, versions, data by hash, each with the file that says so.

Everything here follows from the page's inputs, among them what runs say of themselves: device,
threads, versions. No day and no revision is here. The code of the stages before is no input, since
they may change and give the same scores: their hashes stand in `dvc.lock`, and are pointed to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness import __version__
from harness.metrics.resampling import Sampling
from harness.protocols.protocol import Protocol
from harness.reports.page import Fact

LOCK = "dvc.lock"
# What the first event of a run says of its machine, and how a page calls it.
MACHINE = {"device": "device of attackers", "versions": "versions"}


def facts_of_method(
    protocol: Protocol, sampling: Sampling, *, protocol_file: str, intervals_file: str
) -> list[Fact]:
    """The harness, the protocol and how intervals were made, with the files of the latter two."""
    return [
        Fact("harness", __version__),
        Fact("protocol", protocol.title, protocol_file),
        Fact(
            "intervals",
            f"{100 * sampling.level:g} %, by {sampling.draws:,} draws of {sampling.unit}, seed "
            f"{sampling.seed}",
            intervals_file,
        ),
    ]


def facts_of_lists(protocol: Protocol, files: Mapping[str, str]) -> list[Fact]:
    """Each trial list by its hash. files: by name of the list."""
    return [
        Fact(
            f"list {one.trials}",
            f"{one.target:,} target and {one.nontarget:,} nontarget trials, sha256 {one.sha256}",
            files[one.trials],
        )
        for one in protocol.lists
    ]


def facts_of_runs(runs: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Fact]:
    """What the runs say of themselves: what they all share once, the rest beside each name.

    runs: files with the `run` events that open them, of the stages `train` and `score`.
    """
    said = []
    for file, event in runs:
        parameters = event.get("parameters", {})
        said += [
            (f"system {event['system']}", _text(parameters.get("anonymizer")), file),
            (f"attacker {event['attacker']}", _text(parameters.get("attacker")), file),
            ("training segments", _seconds(parameters.get("segment_seconds")), file),
            ("threads of attackers", _text(parameters.get("threads")), file),
            *((label, _text(event.get(name)), file) for name, label in MACHINE.items()),
        ]
        said += [
            (f"speech {one['name']}", f"manifest sha256 {one['digest']} ({one['context']})", file)
            for one in event.get("datasets", [])
        ]
    facts = _once(said)
    stages = [str(event["key"]) for _, event in runs]
    if stages:
        facts.append(Fact("code and inputs by hash", f"stages {', '.join(stages)}", LOCK))
    return facts


def facts_of_images(digests: Mapping[str, str], file: str) -> list[Fact]:
    """The images that a file records, whether or not these runs used them. digests: by name."""
    return [Fact(f"image recorded: {name}", digest, file) for name, digest in digests.items()]


def _once(said: Iterable[tuple[str, str, str]]) -> list[Fact]:
    """Each label with each of its values once, and the first file that says it."""
    files: dict[tuple[str, str], str] = {}
    for label, value, file in said:
        files.setdefault((label, value), file)
    return [Fact(label, value, file) for (label, value), file in sorted(files.items())]


def _seconds(value: object) -> str:
    return "not cut" if value is None else f"{value} s"


def _text(value: object) -> str:
    """A parameter, or several by name."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_text(value[name])}" for name in sorted(value))
    return str(value)
