"""Acoustic features of an utterance: pitch, loudness, spectrum and voice quality in one vector.

In the spirit of eGeMAPS: descriptors every 10 ms, and functionals of them over the utterance.
Eyben et al.: The Geneva minimalistic acoustic parameter set (GeMAPS) for voice research and
affective computing, IEEE Transactions on Affective Computing 7, 2016. It is not that set, whose
values depend on the program openSMILE: formants and harmonic differences are left out, and of MFCCs
there are 12 in place of 4.

Nothing is random. Speech is first scaled to a root mean square of 1: how loud a recording is says
nothing here, how loudness moves within it does.

Praat, by `praat-parselmouth`, finds F0, harmonics-to-noise ratio, jitter and shimmer. Spectra are
those of 32 ms under a Hann window, in the middle of Praat's frames of 40 ms.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy.fft import dct
from scipy.sparse import csr_array

from harness.anonymizers.pretrained import package
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.metrics.pitch_correlation import STEP_SECONDS
from harness.utility.praat import SHORTEST, sound_and_pitch

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

WINDOW = 512
STEP = round(STEP_SECONDS * SAMPLE_RATE)
MEL_BANDS = 26
LOWEST_HZ = 20.0
MFCCS = 12
# What is softer than this share of the mean power of a bin, 60 dB, counts as this.
LEAST_POWER = 1e-6
# Stevens' power law: loudness grows with this power of intensity.
LOUDNESS_EXPONENT = 0.3
# Speech, in contrast to pauses: louder than this share of the loudest frames (95th percentile).
ACTIVE_SHARE = 0.1
# eGeMAPS counts semitones from here, in Hz.
SEMITONES_FROM = 27.5
# Praat's own: pulses further apart are no period, and neighbours that differ more no voice.
PERIODS = (0, 0, 0.0001, 0.02, 1.3)
LARGEST_AMPLITUDE_FACTOR = 1.6
# Strengths of 0 and 1 have no ratio: harmonics-to-noise ratios stay within 30 dB.
STRENGTHS = (0.001, 0.999)

# Of voiced frames; of frames with speech.
VOICED = (
    *("f0", "hnr", "alpha ratio", "hammarberg index"),
    *("slope 0-500", "slope 500-1500", "centroid"),
)
ACTIVE = ("loudness", "flux", *(f"mfcc{number}" for number in range(1, MFCCS + 1)))
FUNCTIONALS = ("mean", "deviation", "20 %", "80 %")
MOVEMENTS = ("rise mean", "rise deviation", "fall mean", "fall deviation")
TIMING = (
    *("loudness peaks a second", "voiced segments a second", "voiced share"),
    *("voiced mean", "voiced deviation", "unvoiced mean", "unvoiced deviation"),
)
FEATURES = (
    *(f"{name} {functional}" for name in (*VOICED, *ACTIVE) for functional in FUNCTIONALS),
    *(f"{name} {movement}" for name in ("f0", "loudness") for movement in MOVEMENTS),
    *(f"mfcc{number} change" for number in range(1, MFCCS + 1)),
    *("jitter", "shimmer"),
    *TIMING,
)

FREQUENCIES = np.arange(WINDOW // 2 + 1) * SAMPLE_RATE / WINDOW


def acoustic_features(samples: Samples) -> Floats:
    """FEATURES of mono 16 kHz int16 samples, (samples,) → (features,).

    F0 is in semitones above 27.5 Hz, ratios and slopes in dB (a slope by 100 Hz, a movement by
    second), lengths in seconds, the centroid in Hz, loudness as a share of its mean. A feature of
    which an utterance has nothing is NaN, such as the mean F0 of a whisper; all are in silence (all
    samples equal) and in less than 40 ms. Raises ConfigError without parselmouth.
    """
    if len(samples) < SHORTEST or not np.ptp(samples):
        return np.full(len(FEATURES), np.nan)
    speech = samples - samples.mean()
    speech /= np.sqrt(np.mean(speech**2))
    voice, first, perturbation = _voice(speech)
    spectrum = _spectrum(speech, first, len(voice["f0"]))
    voiced = voice["f0"] > 0
    semitones = 12 * np.log2(np.where(voiced, voice["f0"], SEMITONES_FROM) / SEMITONES_FROM)
    of_voice = {"f0": semitones, "hnr": voice["hnr"], **_balance(spectrum)}
    bands = spectrum @ MEL
    cepstra = dct(np.log(bands), norm="ortho")[:, 1 : MFCCS + 1]
    auditory = bands**LOUDNESS_EXPONENT
    loudness = auditory.sum(axis=1)
    loudness /= loudness.mean()
    active = loudness > ACTIVE_SHARE * np.percentile(loudness, 95)
    flux = np.sqrt(np.sum(np.diff(auditory, axis=0, prepend=auditory[:1]) ** 2, axis=1))
    of_sound = [loudness, flux, *cepstra.T]
    changes = np.diff(cepstra, axis=0)[active[1:]]
    return np.array(
        [
            *(number for name in VOICED for number in _functionals(of_voice[name][voiced])),
            *(number for values in of_sound for number in _functionals(values[active])),
            *_movements(semitones, voiced),
            *_movements(loudness, np.ones_like(active)),
            *(changes.std(axis=0) if len(changes) else np.full(MFCCS, np.nan)),
            *perturbation,
            *_timing(voiced, loudness),
        ]
    )


def _voice(speech: Floats) -> tuple[Mapping[str, Floats], int, tuple[float, float]]:
    """F0 in Hz, 0 where unvoiced, and harmonics-to-noise ratio in dB, both (frames,); the sample in
    the middle of the first frame; jitter and shimmer."""
    parselmouth = package("parselmouth", "Praat", "pip install 'anonymization-harness[utility]'")
    sound, pitch = sound_and_pitch(speech)
    # The height of the autocorrelation at the period: Boersma 1993 makes the ratio of it.
    strength = np.clip(pitch.selected_array["strength"], *STRENGTHS)
    found = {
        "f0": pitch.selected_array["frequency"],
        "hnr": 10 * np.log10(strength / (1 - strength)),
    }
    call = parselmouth.praat.call
    pulses = call([sound, pitch], "To PointProcess (cc)")
    jitter = call(pulses, "Get jitter (local)", *PERIODS)
    shimmer = call([sound, pulses], "Get shimmer (local)", *PERIODS, LARGEST_AMPLITUDE_FACTOR)
    return found, round(pitch.x1 * SAMPLE_RATE), (jitter, shimmer)


def _spectrum(speech: Floats, first: int, frames: int) -> Floats:
    """Power of frames whose middles are STEP apart, (frames, 257)."""
    starts = first - WINDOW // 2 + STEP * np.arange(frames)
    windowed = speech[starts[:, None] + np.arange(WINDOW)] * np.hanning(WINDOW + 1)[:-1]
    power = np.abs(np.fft.rfft(windowed)) ** 2
    spectrum: Floats = np.maximum(power, LEAST_POWER * power.mean())
    return spectrum


def _mel_filters() -> csr_array:
    """Triangles that are evenly spaced in mel, (257, MEL_BANDS)."""
    lowest, highest = 2595 * np.log10(1 + np.array([LOWEST_HZ, SAMPLE_RATE / 2]) / 700)
    edges = 700 * (10 ** (np.linspace(lowest, highest, MEL_BANDS + 2) / 2595) - 1)
    bands = zip(edges[:-2], edges[1:-1], edges[2:], strict=True)
    # A sparse product is added up in one order; a dense one as the threads of BLAS share it out.
    return csr_array(np.stack([np.interp(FREQUENCIES, band, (0, 1, 0)) for band in bands], axis=1))


MEL = _mel_filters()


def _balance(spectrum: Floats) -> dict[str, Floats]:
    """How the spectrum falls, each (frames,); all but the centroid as GeMAPS defines them."""
    decibels = 10 * np.log10(spectrum)
    low, high = (spectrum[:, _band(*ends)].sum(axis=1) for ends in ((50, 1000), (1000, 5000)))
    peaks = [decibels[:, _band(*ends)].max(axis=1) for ends in ((0, 2000), (2000, 5000))]
    return {
        "alpha ratio": 10 * np.log10(low / high),
        "hammarberg index": peaks[0] - peaks[1],
        "slope 0-500": _slope(decibels, 0, 500),
        "slope 500-1500": _slope(decibels, 500, 1500),
        "centroid": (spectrum * FREQUENCIES).sum(axis=1) / spectrum.sum(axis=1),
    }


def _band(low: float, high: float) -> Flags:
    return (low <= FREQUENCIES) & (high > FREQUENCIES)


def _slope(decibels: Floats, low: float, high: float) -> Floats:
    """Of the regression line in a band, dB by 100 Hz, (frames,)."""
    band = _band(low, high)
    offsets = FREQUENCIES[band] - FREQUENCIES[band].mean()
    slopes: Floats = 100 * np.sum(decibels[:, band] * offsets, axis=1) / np.sum(offsets**2)
    return slopes


def _functionals(values: Floats) -> tuple[float, ...]:
    """Mean, standard deviation, 20th and 80th percentile; NaN for none of any."""
    if not len(values):
        return (np.nan,) * len(FUNCTIONALS)
    return (values.mean(), values.std(), *np.percentile(values, (20, 80)))


def _movements(values: Floats, there: Flags) -> tuple[float, ...]:
    """Mean and deviation of what rises, and of what falls, by second between frames of which both
    are there."""
    steps = np.diff(values)[there[1:] & there[:-1]] / STEP_SECONDS
    rises, falls = _functionals(steps[steps > 0])[:2], _functionals(steps[steps < 0])[:2]
    return (*rises, *falls)


def _timing(voiced: Flags, loudness: Floats) -> tuple[float, ...]:
    """The features TIMING."""
    seconds = len(voiced) * STEP_SECONDS
    middle = loudness[1:-1]
    peaks = (middle > loudness[:-2]) & (middle >= loudness[2:]) & (middle > 1)
    lengths = [_runs(voiced), _runs(~voiced)]
    return (
        float(peaks.sum() / seconds),
        len(lengths[0]) / seconds,
        float(voiced.mean()),
        *(number for one in lengths for number in _functionals(one)[:2]),
    )


def _runs(flags: Flags) -> Floats:
    """Lengths in seconds of the stretches in which the flags are set."""
    edges = np.diff(flags.astype(np.int8), prepend=0, append=0)
    lengths = np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)
    return lengths.astype(np.float64) * STEP_SECONDS
