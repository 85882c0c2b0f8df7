"""The one audio format of the contracts: WAV, mono, 16 kHz, PCM of 16 bits; read strictly.

The reader takes files of strangers: it follows the chunks by hand, never reads more than the file
holds, and says in which respect a file differs. Chunks other than `fmt ` and `data` are skipped.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import AudioError
from harness.runtime.files import write_bytes

PCM = 1
FORMATS = {3: "floating point", 6: "A-law", 7: "mu-law", 0xFFFE: "extensible"}
CHANNELS, BYTES = 1, 2
HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")
FORMAT = struct.Struct("<HHIIHH")
CHUNK = struct.Struct("<4sI")
FIX = "write mono 16 kHz WAV of 16-bit PCM"


def write_wav(path: Path, samples: Samples) -> None:
    """Write mono 16 kHz int16 samples, (samples,), under a header of 44 bytes without tags."""
    data = np.ascontiguousarray(samples, dtype="<i2").tobytes()
    header = HEADER.pack(
        *(b"RIFF", HEADER.size - 8 + len(data), b"WAVE", b"fmt ", FORMAT.size),
        *(PCM, CHANNELS, SAMPLE_RATE, SAMPLE_RATE * CHANNELS * BYTES, CHANNELS * BYTES, 8 * BYTES),
        *(b"data", len(data)),
    )
    write_bytes(path, header + data)


def read_wav(path: Path) -> Samples:
    """Samples of a file in exactly that format, (samples,) int16, one at least.

    Raises AudioError for a file that is missing, is not WAV, has another format, or is cut short.
    """
    if not path.is_file():
        raise AudioError("no such audio file", where=path, fix="check the path")
    data = path.read_bytes()
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise AudioError("not a WAV file", where=path, fix=FIX)
    known = False
    place = 12
    while place + CHUNK.size <= len(data):
        name, length = CHUNK.unpack_from(data, place)
        place += CHUNK.size
        content = data[place : place + length]
        if name == b"fmt ":
            _refuse_format(content, path)
            known = True
        elif name == b"data":
            if not known:
                raise AudioError("states no format before its samples", where=path, fix=FIX)
            return _samples(content, length, path)
        # Chunks begin at even places.
        place += length + length % 2
    raise AudioError("holds no samples", where=path, fix=FIX)


def _samples(content: bytes, length: int, path: Path) -> Samples:
    if len(content) < length:
        raise AudioError(
            f"cut short: {len(content)} of {length} bytes of samples are there", where=path, fix=FIX
        )
    if not length or length % BYTES:
        raise AudioError(f"{length} bytes are no 16-bit samples", where=path, fix=FIX)
    return np.frombuffer(content, dtype="<i2").astype(np.int16)


def _refuse_format(content: bytes, path: Path) -> None:
    if len(content) < FORMAT.size:
        raise AudioError("its header is cut short", where=path, fix=FIX)
    code, channels, rate, _, _, bits = FORMAT.unpack_from(content)
    found = (FORMATS.get(code, f"format {code}") if code != PCM else "PCM", bits, channels, rate)
    wanted = ("PCM", 8 * BYTES, CHANNELS, SAMPLE_RATE)
    if found != wanted:
        coding, bits, channels, rate = found
        raise AudioError(
            f"is {coding} of {bits} bits, {channels} channels, {rate} Hz", where=path, fix=FIX
        )
