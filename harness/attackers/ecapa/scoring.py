"""Scoring with an ECAPA model: embeddings of whole utterances, cosine against the enrolment mean.

Each utterance is brought to a loudness, divided by its peak, and freed of zeros at both ends, as
in the official script; utterances are embedded one by one, since padding changes embeddings.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyloudnorm
import torch

from harness.attackers.base import Machine, Pair
from harness.attackers.ecapa.model import Embedder, prepare, read_model
from harness.corpora.opaque import Recording, Speech
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.runtime.events import Events

# Shorter than this, the loudness meter has no gating block and the network no context: such an
# utterance is repeated until it is long enough.
SHORTEST = round(0.4 * SAMPLE_RATE) + 1


def condition(samples: Samples, loudness: float) -> npt.NDArray[np.float32]:
    """Samples as the network gets them, float32 with peak 1.

    samples: int16, shape (n,). loudness: LUFS. Silence is returned as zeros.
    """
    signal = samples.astype(np.float64) / 32768
    if 0 < len(signal) < SHORTEST:
        signal = np.tile(signal, -(-SHORTEST // len(signal)))
    if not signal.any():
        return np.zeros(max(len(signal), SHORTEST), dtype=np.float32)
    with warnings.catch_warnings():
        # The peak is divided out next, so a clipped intermediate is of no consequence.
        warnings.filterwarnings("ignore", message="Possible clipped samples")
        measured = pyloudnorm.Meter(SAMPLE_RATE).integrated_loudness(signal)
        if np.isfinite(measured):
            signal = pyloudnorm.normalize.loudness(signal, measured, loudness)
    signal = signal / np.abs(signal).max()
    sounding = np.flatnonzero(signal)
    signal = signal[sounding[0] : sounding[-1] + 1]
    if len(signal) < SHORTEST:
        signal = np.tile(signal, -(-SHORTEST // len(signal)))
    return signal.astype(np.float32)


def embed_all(
    embedder: Embedder,
    speech: Speech,
    loudness: float,
    device: torch.device,
    threads: int,
    events: Events,
) -> dict[str, npt.NDArray[np.float32]]:
    """Embedding of each utterance, shape (embedding_dim,), not normalised.

    threads: utterances worked on at once. Each takes one CPU thread from end to end, which is
    faster than sharing out so little work, and makes an embedding independent of `threads`.
    """

    def one(recording: Recording) -> npt.NDArray[np.float32]:
        signal = torch.from_numpy(condition(recording.read(), loudness)).to(device)
        with torch.no_grad():
            return np.asarray(embedder(signal.unsqueeze(0))[0].cpu().numpy())

    embeddings = {}
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads) as executor:
            results = executor.map(one, speech.recordings.values())
            for number, (utterance, result) in enumerate(
                zip(speech.recordings, results, strict=True), start=1
            ):
                embeddings[utterance] = result
                events.progress("embed", number, len(speech))
    finally:
        torch.set_num_threads(before)
    return embeddings


def embed(
    model: Path, speech: Speech, *, machine: Machine, events: Events
) -> dict[str, npt.NDArray[np.float32]]:
    """Embeddings by a stored model. See `Embedding.embed`."""
    device = prepare(machine, seed=0)
    settings, embedder = read_model(model, device)
    return embed_all(embedder, speech, settings.loudness, device, machine.threads, events)


def mean_embeddings(
    embeddings: Mapping[str, npt.NDArray[np.float32]], enrolments: Mapping[str, Sequence[str]]
) -> dict[str, npt.NDArray[np.float32]]:
    """Plain mean of each enrolled speaker's embeddings as they are: longer vectors weigh more."""
    return {
        speaker: np.mean([embeddings[utterance] for utterance in utterances], axis=0)
        for speaker, utterances in enrolments.items()
    }


def cosine_scores(
    enrolled: Mapping[str, npt.NDArray[np.float32]],
    trials: Mapping[str, npt.NDArray[np.float32]],
    pairs: Sequence[Pair],
) -> npt.NDArray[np.float32]:
    """Cosine of each pair, shape (len(pairs),), in [-1, 1]."""
    speakers, utterances = sorted(enrolled), sorted(trials)

    def unit(vectors: list[npt.NDArray[np.float32]]) -> npt.NDArray[np.float64]:
        matrix = np.stack(vectors).astype(np.float64)
        return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True))

    cosines = unit([enrolled[s] for s in speakers]) @ unit([trials[u] for u in utterances]).T
    row = {speaker: number for number, speaker in enumerate(speakers)}
    column = {utterance: number for number, utterance in enumerate(utterances)}
    rows = [row[pair.enrolment] for pair in pairs]
    columns = [column[pair.trial] for pair in pairs]
    return np.asarray(cosines[rows, columns], dtype=np.float32)


def score(
    model: Path,
    speech: Speech,
    enrolments: Mapping[str, Sequence[str]],
    pairs: Sequence[Pair],
    *,
    machine: Machine,
    events: Events,
) -> npt.NDArray[np.float32]:
    """Scores of the pairs. See `Attacker.score`."""
    embeddings = embed(model, speech, machine=machine, events=events)
    enrolled = mean_embeddings(embeddings, enrolments)
    trials = {pair.trial: embeddings[pair.trial] for pair in pairs}
    return cosine_scores(enrolled, trials, pairs)
