"""Reading foreign audio: whatever the file, mono 16 kHz 16-bit samples or one clear error.

16-bit mono 16 kHz comes out bit-exact. Everything else has a defined outcome, and what was done to
an utterance, or is odd about it, stands in the manifest's column `note`: words joined by `;`, in
this order, empty where there is nothing to say.

    resampled:<Hz>         polyphase resampling from another rate (8 to 192 kHz)
    downmixed:<channels>   mean of the channels
    requantised:<subtype>  rounded to 16 bits (half to even), saturating at full scale
    clipped                samples were beyond full scale, or three in a row stand at it
    dc                     the mean is 1 % of full scale or more
    silence                nothing exceeds -60 dBFS once the mean is removed
    short                  less than one 20-ms analysis window

Accepted are FLAC and WAV (RIFF or RIFX, any subtype), whose completeness can be checked; libsndfile
shortens a cut file of other formats without a word, so they are refused by name.

Refused with an AudioError: what is missing, empty, not audio, without a sample or a stated length,
longer than six hours, cut short (fewer samples than the header declares), damaged, or holds NaN or
an infinite value.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from math import gcd
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import soundfile

from harness.corpora.store import SAMPLE_RATE, Made, Samples
from harness.errors import AudioError

NOTE = "note"
CLIPPED, DC, SILENCE, SHORT = "clipped", "dc", "silence", "short"

LOWEST_RATE = 8_000
HIGHEST_RATE = 192_000
LONGEST_SECONDS = 6 * 3_600
# Read in pieces: a header can declare far more than the file holds.
BLOCK_FRAMES = 1 << 20

FULL_SCALE = 32_768
CLIPPED_RUN = 3
DC_LIMIT = 0.01 * FULL_SCALE
SILENCE_LIMIT = 0.001 * FULL_SCALE
WINDOW_SAMPLES = SAMPLE_RATE // 50

# A `data` chunk of such a size was written to a pipe: the writer did not know the length.
UNKNOWN_RIFF_SIZE = 0x7FFF_0000
# Chunk sizes are little-endian in RIFF, big-endian in RIFX.
RIFF_ORDERS = {b"RIFF": "<", b"RIFX": ">"}

Frames = npt.NDArray[Any]


def read_audio(source: Path, start: int | None = None, stop: int | None = None) -> Made:
    """Samples `start` to `stop` (of the 16 kHz signal; the whole where None) and their note.

    Where the file is at 16 kHz, only that part is read. Otherwise the whole is resampled and then
    cut, so that neighbouring segments join without a seam. Raises AudioError.
    """
    with _opened(source) as sound:
        rate, channels, subtype = sound.samplerate, sound.channels, sound.subtype
        total = _samples_16k(sound.frames, rate)
        first = 0 if start is None else start
        last = total if stop is None else stop
        if not 0 <= first < last <= total:
            raise AudioError(
                f"has {total} samples at 16 kHz, not a segment from {first} to {last}",
                where=source,
                fix="import the corpus again",
            )
        kind: Literal["int16", "float64"] = (
            "int16" if (rate, channels, subtype) == (SAMPLE_RATE, 1, "PCM_16") else "float64"
        )
        if rate == SAMPLE_RATE:
            frames = _read(sound, source, first, last - first, kind)
        else:
            frames = _read(sound, source, 0, sound.frames, kind)
    if kind == "int16":
        samples, clipped = frames[:, 0], False
    else:
        if not np.isfinite(frames).all():
            raise AudioError("holds NaN or infinite samples", where=source, fix="make it again")
        signal = frames.mean(axis=1)
        if rate != SAMPLE_RATE:
            signal = _resample(signal, rate)[first:last]
        samples, clipped = _quantise(signal)
    notes = []
    if rate != SAMPLE_RATE:
        notes.append(f"resampled:{rate}")
    if channels != 1:
        notes.append(f"downmixed:{channels}")
    if subtype != "PCM_16":
        notes.append(f"requantised:{subtype}")
    return Made(samples, {NOTE: ";".join(notes + oddities(samples, clipped))})


def duration_16k(path: Path) -> int:
    """Samples that `read_audio` will return, from the header alone. Raises AudioError."""
    with _opened(path) as sound:
        return _samples_16k(sound.frames, sound.samplerate)


def _samples_16k(frames: int, rate: int) -> int:
    return -(-frames * SAMPLE_RATE // rate)


@contextmanager
def _opened(path: Path) -> Iterator[soundfile.SoundFile]:
    """Open a file whose header is sound."""
    if not path.is_file():
        raise AudioError("no such audio file", where=path, fix="check the path")
    if path.stat().st_size == 0:
        raise AudioError("the audio file is empty", where=path, fix="fetch it again")
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise AudioError(
            f"cannot be opened: {error.strerror}", where=path, fix="check its mode"
        ) from error
    try:
        checked = _refuse_cut_wav(descriptor, path)
        # By descriptor: the format then comes from the content, never from the file's name.
        with soundfile.SoundFile(descriptor, closefd=False) as sound:
            if sound.format != "FLAC" and not checked:
                raise AudioError(
                    f"its format is {sound.format}, which may be cut short unnoticed",
                    where=path,
                    fix="convert it to one of the accepted formats, FLAC or WAV",
                )
            _refuse_header(sound, path)
            yield sound
    except soundfile.LibsndfileError as error:
        raise AudioError(
            f"not readable as audio: {error.error_string}",
            where=path,
            fix="fetch it again, or convert it to FLAC or WAV",
        ) from error
    finally:
        os.close(descriptor)


def _refuse_header(sound: soundfile.SoundFile, path: Path) -> None:
    if sound.frames == 0:
        raise AudioError("holds no samples", where=path, fix="remove it from the lists")
    if not LOWEST_RATE <= sound.samplerate <= HIGHEST_RATE:
        raise AudioError(
            f"its rate is {sound.samplerate} Hz",
            where=path,
            fix=f"use {LOWEST_RATE} to {HIGHEST_RATE} Hz",
        )
    if not 0 < sound.frames <= LONGEST_SECONDS * sound.samplerate:
        raise AudioError(
            "its header declares no length, or more than six hours",
            where=path,
            fix="encode it again into a file (not through a pipe), cut into utterances",
        )


def _refuse_cut_wav(descriptor: int, path: Path) -> bool:
    """Compare a WAV file's declared size with the file's: libsndfile would shorten it silently.

    Returns whether it is a WAV file whose size was compared.
    """
    size = os.fstat(descriptor).st_size
    header = os.pread(descriptor, 12, 0)
    if header[:4] not in RIFF_ORDERS or header[8:] != b"WAVE":
        return False
    chunk_header = f"{RIFF_ORDERS[header[:4]]}4sI"
    place = 12
    while len(chunk := os.pread(descriptor, 8, place)) == 8:
        name, length = struct.unpack(chunk_header, chunk)
        place += 8
        if name == b"data":
            if place + length > size and length < UNKNOWN_RIFF_SIZE:
                raise AudioError(
                    f"cut short: {size - place} of {length} bytes of samples are there",
                    where=path,
                    fix="fetch it again",
                )
            return True
        place += length + length % 2
    return False


def _read(
    sound: soundfile.SoundFile,
    path: Path,
    first: int,
    count: int,
    kind: Literal["int16", "float64"],
) -> Frames:
    blocks = []
    missing = count
    try:
        if first:
            sound.seek(first)
        while missing:
            block = sound.read(min(missing, BLOCK_FRAMES), dtype=kind, always_2d=True)
            if not len(block):
                break
            blocks.append(block)
            missing -= len(block)
    except soundfile.LibsndfileError as error:
        raise AudioError(
            f"cut short or damaged: {error.error_string}", where=path, fix="fetch it again"
        ) from error
    if missing:
        raise AudioError(
            f"cut short: {count - missing} of {count} samples could be decoded",
            where=path,
            fix="fetch it again",
        )
    return np.concatenate(blocks)


def _resample(signal: npt.NDArray[np.float64], rate: int) -> npt.NDArray[np.float64]:
    # Imported here: most corpora are at 16 kHz and need not wait for it.
    from scipy.signal import resample_poly

    divisor = gcd(SAMPLE_RATE, rate)
    return np.asarray(resample_poly(signal, SAMPLE_RATE // divisor, rate // divisor))


def _quantise(signal: npt.NDArray[np.float64]) -> tuple[Samples, bool]:
    """16-bit samples, and whether any lay beyond full scale (+1.0 itself is not beyond)."""
    scaled = np.rint(signal * FULL_SCALE)
    clipped = bool(np.abs(scaled).max() > FULL_SCALE)
    return np.clip(scaled, -FULL_SCALE, FULL_SCALE - 1).astype(np.int16), clipped


def oddities(samples: Samples, clipped: bool = False) -> list[str]:
    """What is odd about mono samples, one or more, in words of the manifest's column `note`.

    clipped: whether they were beyond full scale before they had 16 bits.
    """
    mean = float(samples.mean(dtype=np.float64))
    found = {
        CLIPPED: clipped or _stands_at_full_scale(samples),
        DC: abs(mean) >= DC_LIMIT,
        SILENCE: bool(np.abs(samples - mean).max() < SILENCE_LIMIT),
        SHORT: len(samples) < WINDOW_SAMPLES,
    }
    return [word for word, is_so in found.items() if is_so]


def _stands_at_full_scale(samples: Samples) -> bool:
    for limit in (-FULL_SCALE, FULL_SCALE - 1):
        run = samples == limit
        if run.any() and np.convolve(run, np.ones(CLIPPED_RUN, np.int64)).max() == CLIPPED_RUN:
            return True
    return False
