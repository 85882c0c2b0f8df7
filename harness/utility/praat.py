"""F0 of speech by Praat: the tracks that pitch correlation compares.

Praat's autocorrelation method with its own settings (15 candidates, silence threshold 0.03, voicing
threshold 0.45, octave cost 0.01, octave-jump cost 0.35, voiced/unvoiced cost 0.14), by the package
`praat-parselmouth`. Boersma, "Accurate short-term analysis of the fundamental frequency and the
harmonics-to-noise ratio of a sampled sound", IFA Proceedings 17, 1993.

Nothing is random, and a track does not depend on the level of the speech but for its rounding.

Source of step, range and settings: Voice-Privacy-Challenge-2022,
baseline/local/pitch_correlation.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from harness.anonymizers.pretrained import package
from harness.corpora.audio import FULL_SCALE
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.metrics.pitch_correlation import CEILING, FLOOR, STEP_SECONDS, Track

# Three periods of the lowest F0 are one frame: Praat refuses what is shorter.
SHORTEST = round(3 / FLOOR * SAMPLE_RATE)


def sound_and_pitch(signal: npt.NDArray[np.float64]) -> tuple[Any, Any]:
    """Praat's objects of a 16 kHz signal of SHORTEST samples or more, (samples,).

    Raises ConfigError without parselmouth.
    """
    parselmouth = package("parselmouth", "Praat", "pip install 'anonymization-harness[utility]'")
    sound = parselmouth.Sound(signal, sampling_frequency=SAMPLE_RATE)
    pitch = sound.to_pitch(time_step=STEP_SECONDS, pitch_floor=FLOOR, pitch_ceiling=CEILING)
    return sound, pitch


def f0_track(samples: Samples) -> Track:
    """F0 in Hz every 10 ms, 0 where unvoiced, of mono 16 kHz int16 samples.

    (samples,) → (frames,): as many frames of 40 ms as fit, in the middle of the utterance; where
    they fit exactly, rounding may cost one. Less than one frame gives an empty track, silence gives
    zeros. Praat may place an F0 slightly outside 75 to 500 Hz; pitch correlation takes such a frame
    for unvoiced. Raises ConfigError without parselmouth.
    """
    if len(samples) < SHORTEST:
        return np.zeros(0)
    _, pitch = sound_and_pitch(samples / FULL_SCALE)
    # A copy: the field is a view that keeps all candidates in memory.
    track: Track = pitch.selected_array["frequency"].copy()
    return track
