"""Tiny speech-like signals, made on the spot: enough to see whether an image keeps its contract."""

from __future__ import annotations

import numpy as np

from harness.anonymizers.base import Job
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.runtime.seeds import derived_seed

# Seconds and pitch (Hz) of each utterance for an anonymizer.
UTTERANCES = ((1.0, 110), (1.7, 205), (3.0, 95), (1.31, 240), (2.2, 130), (1.0, 180))
# Pitch (Hz) of each speaker for an attacker, and the formants as a factor of the usual ones.
SPEAKERS = ((95, 0.95), (120, 1.0), (190, 1.12), (230, 1.18))
# Seconds of what a speaker says.
TAKES = (1.0, 2.3, 3.0, 2.1, 1.31, 2.6, 1.0, 1.7)
PITCH_OF_A_TAKE = 0.04
FORMANTS = ((500, 80), (1_500, 120), (2_500, 160))
SYLLABLES_A_SECOND = 4.0
PEAK = 12_000
# Of the coefficients that a host hands out beside the seeds.
ALPHAS = (0.5, 0.9)


def utterances() -> list[Samples]:
    """Voiced signals of 1 to 3 seconds: mono 16 kHz int16, peak 12000, always the same."""
    return [_voiced(seconds, pitch, number) for number, (seconds, pitch) in enumerate(UTTERANCES)]


def said(speaker: int, take: int) -> Samples:
    """What one of SPEAKERS says in one of TAKES: as `utterances`, always the same."""
    pitch, formants = SPEAKERS[speaker]
    number = len(UTTERANCES) + speaker * len(TAKES) + take
    lower_or_higher = 1 + PITCH_OF_A_TAKE * np.random.default_rng(number).uniform(-1, 1)
    return _voiced(TAKES[take], pitch * lower_or_higher, number, formants)


def _voiced(seconds: float, pitch: float, number: int, formants: float = 1.0) -> Samples:
    generator = np.random.default_rng(number)
    time = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    # A pitch that moves, so that no two frames are alike.
    phase = 2 * np.pi * pitch * (time + 0.05 * np.sin(2 * np.pi * 0.7 * time) / (2 * np.pi * 0.7))
    signal = np.zeros(len(time))
    for harmonic in range(1, int(SAMPLE_RATE / 2 / pitch / 1.1)):
        frequency = harmonic * pitch / formants
        gain = sum(1 / (1 + ((frequency - f) / width) ** 2) for f, width in FORMANTS)
        signal += gain * np.sin(harmonic * phase + generator.uniform(0, 2 * np.pi))
    signal *= 0.55 + 0.45 * np.sin(2 * np.pi * SYLLABLES_A_SECOND * time)
    signal += 0.01 * generator.standard_normal(len(time))
    samples: Samples = np.rint(signal / np.abs(signal).max() * PEAK).astype(np.int16)
    return samples


def jobs(seed: int) -> list[Job]:
    """A job for each of `utterances`, with all that a host may assign at level `utterance`."""
    found = []
    for number in range(len(UTTERANCES)):
        own = derived_seed(seed, "conformance", number)
        alpha = float(np.random.default_rng(own).uniform(*ALPHAS))
        found.append(Job(f"u{number:04d}", own, alpha))
    return found
