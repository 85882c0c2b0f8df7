"""A small stored corpus of speakers that differ in F0 and vocal tract, saying vowels.

`high` has formants a fifth above those of `low`, and twice its F0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymizers.vowels import vowel
from harness.corpora.store import Made, Utterance, build
from harness.runtime.pool import Pool

VOWELS = {"a": (700.0, 1200.0, 2500.0), "i": (300.0, 2100.0, 2900.0), "u": (320.0, 800.0, 2200.0)}
# F0 in Hz and factor of the formants.
SPEAKERS = {"low": (100.0, 1.0), "high": (200.0, 1.2), "mid": (150.0, 1.1), "deep": (85.0, 0.92)}


def say(speaker: str, vowels: str, seconds: float = 0.5) -> npt.NDArray[np.int16]:
    """Vowels one after the other, each `seconds` long, with an F0 that falls a little."""
    f0, factor = SPEAKERS[speaker]
    contour = f0 * np.exp(np.linspace(0.06, -0.06, round(seconds * 16_000)))
    return np.concatenate(
        [vowel(contour, factor * np.array(VOWELS[one]), seconds) for one in vowels]
    )


RECORDINGS = {
    f"{speaker}-{number}": say(speaker, vowels)
    for speaker in SPEAKERS
    for number, vowels in enumerate(("aiu", "uai", "iua"))
}


def stored(folder: Path, work: Path, recordings: dict[str, Any] = RECORDINGS) -> Path:
    """The corpus of recordings by utterance (`<speaker>-<number>`)."""
    shard = [
        Utterance(name, name.split("-")[0], "f", "", len(recordings[name]), recordings[name])
        for name in sorted(recordings)
    ]
    build(folder, [shard], lambda one: Made(one.recipe), work=work, pool=Pool(1))
    return folder
