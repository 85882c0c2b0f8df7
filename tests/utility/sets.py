"""Small stored sets, and groups of measured utterances of which no audio is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.corpora.opaque import Recording
from harness.corpora.store import Corpus, Made, Samples, Utterance, build
from harness.runtime.pool import Pool
from harness.utility.base import Group, Pair

NOWHERE = Recording(Path("nowhere.tar"), 0, 0, "", 0)


@dataclass(frozen=True)
class Said:
    """An utterance. labels: further columns of the manifest."""

    samples: Samples
    speaker: str = "s1"
    gender: str = "f"
    text: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


class _Given:
    """The samples of the recipe."""

    def __call__(self, utterance: Utterance) -> Made:
        samples: Samples = utterance.recipe
        return Made(samples)


def stored(path: Path, said: Mapping[str, Said]) -> Corpus:
    """A corpus of utterances by name."""
    utterances = [
        Utterance(
            name, one.speaker, one.gender, one.text, len(one.samples), one.samples, dict(one.labels)
        )
        for name, one in sorted(said.items(), key=lambda item: item[0].encode())
    ]
    build(path, [utterances], _Given(), work=path.with_name(f".{path.name}"), pool=Pool(1))
    return Corpus(path)


def group(*measured: tuple[Mapping[str, Any], str, str, str], **labels: Sequence[str]) -> Group:
    """Of measurement, speaker, gender and text of each utterance: u0, u1 and so on.

    labels: by name, one of each utterance.
    """
    pairs = [
        Pair(
            f"u{number}",
            speaker,
            gender,
            text,
            NOWHERE,
            NOWHERE,
            {name: values[number] for name, values in labels.items()},
        )
        for number, (_, speaker, gender, text) in enumerate(measured)
    ]
    return Group("libri", "test", "", tuple(pairs), tuple(one for one, *_ in measured))
