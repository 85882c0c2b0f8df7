"""WAV files in any coding, and a submission with those of one list."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import small

from harness.protocols.protocol import Protocol

NAME = "tiny_dev_trials_f"


def edition() -> Protocol:
    """The small edition, which asks for audio."""
    return replace(small.edition(), audio=True)


def wav(
    content: bytes, code: int = 1, bits: int = 16, channels: int = 1, rate: int = 16_000
) -> bytes:
    """A file whose samples are `content`, and which has a chunk that nobody asks for."""
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", code, channels, rate, rate * frame, frame, bits)
    chunks = b"fmt " + struct.pack("<I", len(form)) + form
    chunks += b"LIST" + struct.pack("<I", 3) + b"abc\0"
    chunks += b"data" + struct.pack("<I", len(content)) + content
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


SPEECH = wav(np.arange(1, 801, dtype="<i2").tobytes())


def utterances() -> list[str]:
    return sorted({trial.utterance for trial in small.trials_of("dev", "f")})


def write_audio(submission: Path, system: str = "A1") -> Path:
    """All utterances of the list, in the layout of 2022 and 2024."""
    folder = submission / "data" / f"{small.list_name('dev', 'f')}_{system}" / "wav"
    folder.mkdir(parents=True)
    for utterance in utterances():
        (folder / f"{utterance}.wav").write_bytes(SPEECH)
    return folder
