"""Cutting utterances into segments.

An attacker trained on whole utterances, one a speaker, learns the anonymizer's draw for the speaker
and overstates privacy; cut into segments of a few seconds with a draw each, it cannot.
"""

from __future__ import annotations

from itertools import pairwise

from harness.corpora.store import SAMPLE_RATE
from harness.errors import ConfigError

# Shorter than an analysis window, a segment is of no use.
SHORTEST_SECONDS = 0.02


def segments(samples: int, seconds: float) -> list[tuple[int, int]]:
    """Start and stop (samples at 16 kHz) of the equal parts of an utterance of `samples`.

    There are max(1, round(duration / seconds)) of them; they cover the utterance without a gap and
    differ by at most one sample. Raises ConfigError when `seconds` is under 20 ms.
    """
    if not seconds >= SHORTEST_SECONDS:
        raise ConfigError(
            f"segments of {seconds} s", where="segment seconds", fix="use 0.02 s or more"
        )
    parts = max(1, round(samples / (seconds * SAMPLE_RATE)))
    bounds = [part * samples // parts for part in range(parts + 1)]
    return list(pairwise(bounds))


def segment_names(utterance: str, parts: int) -> list[str]:
    """Ids `<utterance>-<nn>` of an utterance's segments, in C order and in order of time."""
    digits = max(2, len(str(parts - 1)))
    return [f"{utterance}-{part:0{digits}d}" for part in range(parts)]
