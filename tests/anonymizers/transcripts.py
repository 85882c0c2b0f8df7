"""Real speech with its words, and how many of them a text has wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile


def words(text: str) -> list[str]:
    """In upper case, without punctuation."""
    return re.sub(r"[^A-Z' ]", " ", text.upper()).split()


def errors(reference: str, text: str) -> tuple[int, int]:
    """Words that differ by edit distance, and words of the reference."""
    said = words(text)
    row = list(range(len(said) + 1))
    for number, word in enumerate(words(reference), start=1):
        above, row[0] = row[0], number
        for place, other in enumerate(said, start=1):
            change = min(row[place] + 1, row[place - 1] + 1, above + (word != other))
            above, row[place] = row[place], change
    return row[-1], len(words(reference))


def real_speech(test_data: Path, step: int) -> Iterator[tuple[str, np.ndarray]]:
    """Words and samples of every so-manieth utterance of LibriSpeech's test-clean."""
    files = sorted((test_data / "speech/LibriSpeech/test-clean").glob("*/*/*.flac"))
    for path in files[::step]:
        lines = next(path.parent.glob("*.trans.txt")).read_text(encoding="utf-8").splitlines()
        text = dict(line.split(" ", 1) for line in lines)[path.stem]
        yield text, soundfile.read(path, dtype="int16")[0]
