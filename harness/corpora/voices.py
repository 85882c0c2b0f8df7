"""The synthetic voices of the benchmark `demo`.

A voice is a set of espeak-ng parameters drawn from the seed and the speaker's id; an utterance is a
sentence, a way of saying it and a channel, drawn from the seed and the utterance's id. So nothing
depends on the number of voices, the order of work, or the process that does it.

Within-voice variation and modest differences between voices are what make speaker verification an
honest task here: a small ECAPA gets an EER of about 10 %, untrained 17 to 20 %. Without them the
voices of a formant synthesizer are told apart by any network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter, resample_poly

from harness.corpora import espeak
from harness.corpora.sentences import SENTENCES
from harness.corpora.store import SAMPLE_RATE, Made, Samples, Utterance
from harness.errors import ConfigError
from harness.runtime.seeds import derived_seed

# Of a voice. F0 in Hz: the lowest pitch, and how far the highest lies above it, as a fraction.
F0_BASE_HZ = {"f": (135.0, 205.0), "m": (68.0, 115.0)}
F0_SPAN = (0.30, 0.70)
# Formant frequencies in percent of the language's: common to all formants (the length of the vocal
# tract), times each formant's own. Formant 0 is espeak-ng's low-frequency component.
TRACT_PERCENT = {"f": (103.0, 121.0), "m": (90.0, 106.0)}
FORMANTS = 9
FORMANT_SPREAD = 0.04
STRENGTH_PERCENT = (80, 110)
WIDTH_PERCENT = (85, 125)
FLUTTER = (0, 8)
ROUGHNESS = (0, 4)
VOICING_PERCENT = (85, 115)
CONSONANTS_PERCENT = (80, 115)

# Of an utterance: deviations from the voice, in espeak-ng's units (pitch, range), words a minute,
# and a fraction of each formant's frequency.
PITCH = (40, 60)
PITCH_RANGE = (35, 65)
RATE = (122, 150)
FORMANT_SHIFT = 0.03
# Of its channel. Tilt: coefficient of a first-order filter, 0.4 being 7 dB from 0 to 8 kHz.
TILT = (-0.4, 0.4)
LEVEL_DBFS = (-32.0, -20.0)
SNR_DB = (15.0, 30.0)
PEAK = 0.9

# A line fitted to 624 utterances; it only decides where shards are cut.
SECONDS_PER_CHARACTER_AT_RATE_1 = 8.4
SECONDS_OF_PAUSE = 0.15


@dataclass(frozen=True)
class Voice:
    """A speaker: parameters of an espeak-ng voice variant.

    language: one of espeak.LANGUAGES. base_hz, top_hz: range of F0.
    formants: per formant 0-8 the frequency, strength and width, in percent of the language's.
    flutter, roughness: espeak-ng's units. voicing, consonants: percent.
    """

    speaker: str
    gender: str
    language: str
    base_hz: int
    top_hz: int
    formants: tuple[tuple[float, int, int], ...]
    flutter: int
    roughness: int
    voicing: int
    consonants: int


@dataclass(frozen=True)
class Channel:
    """What lies between mouth and file.

    tilt: coefficient of a first-order filter (positive: dark). level_dbfs: RMS, dB of full scale.
    snr_db: of white noise. seed: of that noise.
    """

    tilt: float
    level_dbfs: float
    snr_db: float
    seed: int


@dataclass(frozen=True)
class Recipe:
    """Everything that determines an utterance's samples."""

    phrase: espeak.Phrase
    channel: Channel


def voices(seed: int, count_f: int, count_m: int, prefix: str) -> list[Voice]:
    """Speakers `<prefix>001`, `<prefix>002`, …: first the women, then the men.

    Another seed or prefix gives other voices. Raises ConfigError for a negative count or a prefix
    that is not a letter or more.
    """
    if count_f < 0 or count_m < 0:
        raise ConfigError("a number of voices is negative", fix="give 0 or more")
    if not (prefix.isascii() and prefix.isalpha()):
        raise ConfigError(f"prefix {prefix!r} is not made of letters", fix="use one like 'd'")
    genders = ["f"] * count_f + ["m"] * count_m
    return [
        _voice(seed, f"{prefix}{number:03d}", gender)
        for number, gender in enumerate(genders, start=1)
    ]


def _voice(seed: int, speaker: str, gender: str) -> Voice:
    generator = np.random.default_rng(derived_seed(seed, "voice", speaker))

    def whole(limits: tuple[int, int]) -> int:
        return int(generator.integers(*limits, endpoint=True))

    language = espeak.LANGUAGES[generator.integers(len(espeak.LANGUAGES))]
    base = generator.uniform(*F0_BASE_HZ[gender])
    top = base * (1 + generator.uniform(*F0_SPAN))
    tract = generator.uniform(*TRACT_PERCENT[gender])
    formants = tuple(
        (
            float(tract * (1 + generator.uniform(-FORMANT_SPREAD, FORMANT_SPREAD))),
            whole(STRENGTH_PERCENT),
            whole(WIDTH_PERCENT),
        )
        for _ in range(FORMANTS)
    )
    return Voice(
        speaker=speaker,
        gender=gender,
        language=language,
        base_hz=round(base),
        top_hz=round(top),
        formants=formants,
        flutter=whole(FLUTTER),
        roughness=whole(ROUGHNESS),
        voicing=whole(VOICING_PERCENT),
        consonants=whole(CONSONANTS_PERCENT),
    )


def variant(voice: Voice, shifts: Sequence[float]) -> str:
    """The voice as an espeak-ng variant file; formant k's frequency is scaled by 1 + shifts[k]."""
    lines = [
        "language variant",
        f"name {voice.speaker}",
        f"gender {'female' if voice.gender == 'f' else 'male'}",
        f"pitch {voice.base_hz} {voice.top_hz}",
        f"flutter {voice.flutter}",
        f"roughness {voice.roughness}",
        f"voicing {voice.voicing}",
        f"consonants {voice.consonants} {voice.consonants}",
    ]
    for number, ((frequency, strength, width), shift) in enumerate(
        zip(voice.formants, shifts, strict=True)
    ):
        lines.append(f"formant {number} {round(frequency * (1 + shift))} {strength} {width}")
    return "\n".join(lines) + "\n"


def utterances(
    voices: Sequence[Voice], per_voice: int, seed: int, *, chapter: int = 1
) -> list[Utterance]:
    """Utterances `<speaker>-<chapter>-<nnnn>` of each voice, in the order of the voices.

    Another chapter gives other utterances of the same voices. The text is in upper case without
    punctuation, as in LibriSpeech. `samples` is an estimate. Pass `speak` as their maker.
    """
    return [
        _utterance(voice, f"{voice.speaker}-{chapter}-{number:04d}", seed)
        for voice in voices
        for number in range(per_voice)
    ]


def _utterance(voice: Voice, name: str, seed: int) -> Utterance:
    generator = np.random.default_rng(derived_seed(seed, "utterance", name))

    def whole(limits: tuple[int, int]) -> int:
        return int(generator.integers(*limits, endpoint=True))

    sentence = SENTENCES[generator.integers(len(SENTENCES))]
    shifts = generator.uniform(-FORMANT_SHIFT, FORMANT_SHIFT, FORMANTS)
    phrase = espeak.Phrase(
        text=sentence,
        language=voice.language,
        variant=variant(voice, [float(shift) for shift in shifts]),
        pitch=whole(PITCH),
        pitch_range=whole(PITCH_RANGE),
        rate=whole(RATE),
    )
    channel = Channel(
        tilt=generator.uniform(*TILT),
        level_dbfs=generator.uniform(*LEVEL_DBFS),
        snr_db=generator.uniform(*SNR_DB),
        seed=derived_seed(seed, "noise", name),
    )
    seconds = SECONDS_PER_CHARACTER_AT_RATE_1 * len(sentence) / phrase.rate + SECONDS_OF_PAUSE
    return Utterance(
        utterance=name,
        speaker=voice.speaker,
        gender=voice.gender,
        text=sentence.rstrip(".").upper(),
        samples=int(seconds * SAMPLE_RATE),
        recipe=Recipe(phrase, channel),
    )


def transmit(speech: npt.NDArray[np.float64], channel: Channel) -> Samples:
    """Speech (mono 16 kHz, any scale, not silent) through a channel: tilt, noise, level."""
    tilted = lfilter([1.0], [1.0, -channel.tilt], speech)
    power = np.mean(tilted**2)
    noise = np.random.default_rng(channel.seed).standard_normal(len(tilted))
    noisy = tilted + noise * np.sqrt(power / 10 ** (channel.snr_db / 10))
    scaled = noisy * 10 ** (channel.level_dbfs / 20) / np.sqrt(np.mean(noisy**2))
    # A level that would clip is lowered: distortion must not mark a voice.
    scaled *= min(1.0, PEAK / np.max(np.abs(scaled)))
    samples: Samples = np.round(scaled * np.iinfo(np.int16).max).astype(np.int16)
    return samples


def speak(utterance: Utterance) -> Made:
    """Make an utterance of `utterances`: mono 16 kHz int16, the same bytes on every run.

    Raises ConfigError when espeak-ng is not installed, AudioError when it fails.
    """
    recipe = utterance.recipe
    assert isinstance(recipe, Recipe), recipe
    said = espeak.synthesize(recipe.phrase, where=f"utterance {utterance.utterance}")
    speech = resample_poly(said.astype(np.float64), SAMPLE_RATE, espeak.SAMPLE_RATE)
    return Made(transmit(speech, recipe.channel))
