"""The encoder against SpeechBrain's own class; its files are tried in `test_ctc`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import Wav2Vec2Config

from harness.utility.wav2vec2 import encoder, least_samples
from utility import ctc_folders
from utility.ctc_folders import noise

pytestmark = pytest.mark.heavy


def test_frames_are_those_of_speechbrain(tmp_path: Path) -> None:
    original = ctc_folders.random_speechbrain(tmp_path).mods.encoder.wav2vec2
    made = encoder(str(tmp_path), "wav2vec2.ckpt", "here", "mend it", "cpu")
    for samples in (noise(2), noise(2) // 1_000):
        speech = torch.from_numpy(samples / np.float32(32_768))[None]
        frames = made.frames(samples)
        torch.testing.assert_close(frames, original(speech), rtol=0, atol=1e-5)
        # Over all frames and dimensions at once, not over those of a frame.
        assert float(frames.mean()) == pytest.approx(0, abs=1e-5)
        assert float(frames.std(correction=0)) == pytest.approx(1, abs=1e-3)
        assert float(frames.mean(dim=-1).abs().max()) > 0.01
    # 2 s, from 400 samples on in steps of 320.
    assert tuple(made.frames(noise(2)).shape) == (1, 99, ctc_folders.WIDTH)


def test_samples_of_a_frame() -> None:
    # The paper, section 2: about 25 ms at 16 kHz.
    assert least_samples(Wav2Vec2Config()) == 400
    # By hand: one output of the second takes 2 of the first, 3 + 2.
    config = SimpleNamespace(conv_kernel=(3, 2), conv_stride=(2, 1))
    assert least_samples(config) == 5
