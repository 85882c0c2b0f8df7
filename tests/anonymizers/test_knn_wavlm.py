"""kNN-VC on WavLM and HiFi-GAN: the real networks of transformers, tiny and with random weights."""

from __future__ import annotations

import hashlib
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from transformers import SpeechT5HifiGan, SpeechT5HifiGanConfig, WavLMConfig, WavLMModel

from anonymizers.speakers import say, stored
from harness.anonymizers import knn_wavlm
from harness.anonymizers.base import Accelerated, Device, Job, batch_of
from harness.anonymizers.knn_vc import Aimed, KnnVc
from harness.anonymizers.pretrained import Pinned
from harness.errors import ConfigError, IntegrityError
from harness.runtime.events import Events

pytestmark = pytest.mark.heavy

FEATURES = 16


def save_wavlm(folder: Path, **changes: Any) -> WavLMModel:
    torch.manual_seed(1)
    options = {
        "hidden_size": FEATURES,
        "num_hidden_layers": 8,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "conv_dim": (8,) * 7,
        "num_conv_pos_embeddings": 16,
        "num_conv_pos_embedding_groups": 4,
        "do_stable_layer_norm": True,
        "feat_extract_norm": "layer",
    }
    model = WavLMModel(WavLMConfig(**(options | changes))).eval()
    model.save_pretrained(folder / "wavlm")
    return model


def save_vocoder(folder: Path, **changes: Any) -> SpeechT5HifiGan:
    torch.manual_seed(2)
    options = {
        "model_in_dim": FEATURES,
        "upsample_initial_channel": 32,
        "upsample_rates": [10, 8, 2, 2],
        "upsample_kernel_sizes": [20, 16, 4, 4],
        "resblock_kernel_sizes": [3],
        "resblock_dilation_sizes": [[1, 3]],
        "initializer_range": 0.3,
    }
    model = SpeechT5HifiGan(SpeechT5HifiGanConfig(**(options | changes))).eval()
    model.save_pretrained(folder / "hifigan")
    return model


def on_networks(weights: Path) -> KnnVc:
    """With the hash of what is there."""
    said = ""
    for name in knn_wavlm.SAVED:
        path = weights / name
        if path.is_file():
            said += f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n"
    pin = hashlib.sha256(said.encode()).hexdigest()
    return KnnVc(backend="wavlm", weights=str(weights), weights_sha256=pin)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("weights")
    save_wavlm(folder)
    save_vocoder(folder)
    return folder


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    return stored(folder / "train", folder / "work")


@pytest.fixture(scope="module")
def system(weights: Path, corpus: Path) -> Aimed:
    return on_networks(weights).aimed(corpus)


def job(seed: int, utterance: str = "u000001") -> Job:
    return Job(utterance=utterance, seed=seed)


# What it computes


@pytest.mark.parametrize("stable", [True, False], ids=["large", "base"])
def test_speech_is_made_of_the_nearest_frames_of_layer_six(tmp_path: Path, stable: bool) -> None:
    wavlm = save_wavlm(
        tmp_path, do_stable_layer_norm=stable, feat_extract_norm="layer" if stable else "group"
    )
    vocoder = save_vocoder(tmp_path)
    caught: list[torch.Tensor] = []
    wavlm.encoder.layers[5].register_forward_hook(lambda *passed: caught.append(passed[2][0]))
    source, target = say("low", "ai", 0.3), say("high", "iau", 0.3)
    with torch.no_grad():
        for samples in (source, target):
            # 9,600 and 14,400 samples, and 80 more for the last window of 400.
            padded = np.append(samples, np.zeros(80)).astype(np.float32) / 32_768
            wavlm(torch.from_numpy(padded)[None])
        features = [layer[0].double() for layer in caught]
        assert [len(frames) for frames in features] == [30, 45]
        frames = []
        for frame in features[0]:
            near = torch.nn.functional.cosine_similarity(frame[None], features[1])
            frames.append(features[1][near.argsort(descending=True)[:4]].mean(dim=0))
        expected = vocoder(torch.stack(frames).float()).numpy()
    networks = knn_wavlm.networks(str(tmp_path), "cpu")
    result = networks.converted(source, networks.voice([target]), 4)
    assert result == pytest.approx(expected / np.abs(expected).max() * 32_766, abs=20)


@pytest.mark.parametrize("length", [1, 79, 319, 320, 321, 399, 400, 16_001])
def test_any_length_comes_out_as_it_went_in(system: Aimed, length: int) -> None:
    spoken = np.tile(say("low", "a"), 3)[4_000 : 4_000 + length]
    result = system.anonymize(spoken, job(1))
    assert result.dtype == np.int16
    assert result.shape == (length,)
    assert np.abs(result.astype(int)).max() == 32_766


def test_all_recordings_of_a_target_are_one_pool(weights: Path) -> None:
    networks = knn_wavlm.networks(str(weights), "cpu")
    first, second = say("high", "a"), say("high", "iu", 0.41)
    together = networks.voice([first, second])
    assert together.shape == (25 + 41, FEATURES)
    torch.testing.assert_close(together[:25], networks.voice([first]), rtol=0, atol=0)
    torch.testing.assert_close(together[25:], networks.voice([second]), rtol=0, atol=0)


def test_more_neighbours_than_frames_are_all_of_them(weights: Path) -> None:
    networks = knn_wavlm.networks(str(weights), "cpu")
    short = networks.voice([say("high", "a", 0.05)])
    assert networks.converted(say("low", "a"), short, 100).shape == (8_000,)


def test_silence_stays_silence(system: Aimed) -> None:
    result = system.anonymize(np.zeros(1_000, dtype=np.int16), job(1))
    assert result.shape == (1_000,)
    assert not result.any()


def test_extremes_come_through(system: Aimed) -> None:
    samples = np.random.default_rng(1).choice([-32_768, 32_767], 8_000).astype(np.int16)
    assert np.abs(system.anonymize(samples, job(1)).astype(int)).max() == 32_766


# Independence


def test_only_samples_and_seed_count(system: Aimed) -> None:
    spoken = say("mid", "iu")
    first = system.anonymize(spoken, job(3))
    for seed in range(4, 9):
        system.anonymize(say("low", "ua"), job(seed))
    np.testing.assert_array_equal(system.anonymize(spoken, job(3, "u000777")), first)
    other = next(n for n in range(99) if system.target(spoken, n) != system.target(spoken, 3))
    assert not np.array_equal(system.anonymize(spoken, job(other)), first)


def test_neither_threads_nor_randomness_of_the_process_count(weights: Path) -> None:
    source, target = say("low", "ai"), say("high", "iau")
    before = torch.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            torch.manual_seed(threads)
            drawn = torch.get_rng_state()
            knn_wavlm.networks.cache_clear()
            networks = knn_wavlm.networks(str(weights), "cpu")
            results.append(networks.converted(source, networks.voice([target]), 4))
            assert torch.get_num_threads() == threads
            assert torch.equal(torch.get_rng_state(), drawn)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(results[0], results[1])


def test_networks_are_loaded_once(weights: Path) -> None:
    assert knn_wavlm.networks(str(weights), "cpu") is knn_wavlm.networks(str(weights), "cpu")
    networks = knn_wavlm.networks(str(weights), "cpu")
    assert not any(part.training for part in (networks.wavlm, networks.before, networks.vocoder))
    # Layers after the seventh would be work for nothing.
    assert len(networks.wavlm.encoder.layers) == 7


def test_it_can_use_a_gpu_and_world_cannot(system: Aimed, corpus: Path) -> None:
    assert isinstance(system, Accelerated)
    assert system.gpu
    assert not KnnVc().aimed(corpus).gpu


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_batch_gives_the_same(
    system: Aimed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: Device
) -> None:
    # On a GPU a batch is made at once, and elsewhere when it is read. Here both are this CPU.
    load, devices = knn_wavlm.networks, []

    def on_cpu(weights: str, device: Device) -> knn_wavlm.Networks:
        devices.append(device)
        return load(weights, "cpu")

    monkeypatch.setattr(knn_wavlm, "networks", on_cpu)
    recordings = system.targets()[0].recordings
    speech = [(job(n, f"u{n:06d}"), recording) for n, recording in enumerate(recordings)]
    alone = [system.anonymize(recording.read(), one) for one, recording in speech]
    devices.clear()
    batch = batch_of(system, speech, work=tmp_path, threads=1, device=device, events=Events())
    with batch as made:
        assert list(made) == [one.utterance for one, _ in speech]
        assert set(devices) == ({"cuda"} if device == "cuda" else set())
        ready = {name: pickle.loads(pickle.dumps(one)) for name, one in made.items()}
        for expected, (one, _) in zip(alone, speech, strict=True):
            np.testing.assert_array_equal(ready[one.utterance](), expected)
    assert not any(tmp_path.iterdir())


# The released vocoder


def released(seed: int) -> dict[str, torch.Tensor]:
    """Random weights in the shapes and under the names of kNN-VC's hifigan/models.py."""
    generator = torch.Generator().manual_seed(seed)
    saved: dict[str, torch.Tensor] = {}

    def add(name: str, shape: tuple[int, ...], biases: int, length: float = 0.7) -> None:
        # Lengths that keep what goes through at about one level.
        saved[f"{name}.weight_v"] = torch.randn(shape, generator=generator)
        lengths = torch.rand((shape[0], 1, 1), generator=generator) + 0.5
        saved[f"{name}.weight_g"] = lengths * length
        saved[f"{name}.bias"] = torch.randn(biases, generator=generator) * 0.1

    saved["lin_pre.weight"] = torch.randn((512, 1_024), generator=generator) / 32
    saved["lin_pre.bias"] = torch.randn(512, generator=generator)
    add("conv_pre", (512, 512, 7), 512)
    channels = 512
    for stage, kernel in enumerate((20, 16, 4, 4)):
        add(f"ups.{stage}", (channels, channels // 2, kernel), channels // 2, kernel**0.5)
        channels //= 2
        for block, size in enumerate((3, 7, 11)):
            for kind in ("convs1", "convs2"):
                for layer in range(3):
                    name = f"resblocks.{3 * stage + block}.{kind}.{layer}"
                    add(name, (channels, channels, size), channels)
    add("conv_post", (1, 32, 7), 1, 0.2)
    return saved


def vocoded(saved: dict[str, torch.Tensor], frames: torch.Tensor) -> torch.Tensor:
    """The forward pass of kNN-VC's generator as its definition has it, (frames, 1024) → samples."""

    def weight(name: str) -> tuple[torch.Tensor, torch.Tensor]:
        v, g = saved[f"{name}.weight_v"], saved[f"{name}.weight_g"]
        return torch._weight_norm(v, g, 0), saved[f"{name}.bias"]

    x = F.linear(frames, saved["lin_pre.weight"], saved["lin_pre.bias"]).T[None]
    x = F.conv1d(x, *weight("conv_pre"), padding=3)
    for stage, (rate, kernel) in enumerate(((10, 20), (8, 16), (2, 4), (2, 4))):
        x = F.leaky_relu(x, 0.1)
        x = F.conv_transpose1d(
            x, *weight(f"ups.{stage}"), stride=rate, padding=(kernel - rate) // 2
        )
        total = torch.zeros_like(x)
        for block, size in enumerate((3, 7, 11)):
            y = x
            for layer, dilation in enumerate((1, 3, 5)):
                name = f"resblocks.{3 * stage + block}"
                z = F.conv1d(
                    F.leaky_relu(y, 0.1),
                    *weight(f"{name}.convs1.{layer}"),
                    dilation=dilation,
                    padding=dilation * (size - 1) // 2,
                )
                z = F.conv1d(
                    F.leaky_relu(z, 0.1), *weight(f"{name}.convs2.{layer}"), padding=size // 2
                )
                y = y + z
            total += y
        x = total / 3
    return torch.tanh(F.conv1d(F.leaky_relu(x, 0.01), *weight("conv_post"), padding=3))[0, 0]


def test_the_released_vocoder_is_read(tmp_path: Path) -> None:
    save_wavlm(tmp_path, hidden_size=1_024)
    saved = released(3)
    for name in ("g_02500000.pt", "prematch_g_02500000.pt"):
        torch.save({"generator": saved if name[0] == "p" else released(4)}, tmp_path / name)
    networks = knn_wavlm.networks(str(tmp_path), "cpu")
    frames = torch.randn((9, 1_024), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        result = networks.vocoder(networks.before(frames))
        expected = vocoded(saved, frames)
    assert expected.shape == (9 * 320,)
    assert expected.std() > 0.1
    torch.testing.assert_close(result, expected, rtol=1e-3, atol=1e-4)
    assert networks.converted(say("low", "a", 0.1), frames, 4).shape == (1_600,)


@pytest.mark.parametrize("fault", ["other file", "no generator", "a tensor less", "not torch"])
def test_a_broken_checkpoint_is_refused(tmp_path: Path, fault: str) -> None:
    save_wavlm(tmp_path, hidden_size=1_024)
    path = tmp_path / "g_02500000.pt"
    if fault == "not torch":
        path.write_bytes(b"no checkpoint")
    else:
        content: Any = {"generator": {"a": torch.zeros(1)}}
        if fault == "no generator":
            content = {"model": {}}
        if fault == "a tensor less":
            content = {"generator": released(3)}
            del content["generator"]["conv_post.bias"]
        torch.save(content, path)
    with pytest.raises(ConfigError, match=r"g_02500000.pt: is no vocoder of kNN-VC"):
        knn_wavlm.networks(str(tmp_path), "cpu")


def test_a_checkpoint_runs_no_code(tmp_path: Path) -> None:
    save_wavlm(tmp_path, hidden_size=1_024)
    (tmp_path / "g_02500000.pt").write_bytes(
        b"cbuiltins\nopen\n(S'" + str(tmp_path / "run").encode() + b"'\nS'w'\ntR."
    )
    with pytest.raises(ConfigError, match="is no vocoder of kNN-VC"):
        knn_wavlm.networks(str(tmp_path), "cpu")
    assert not (tmp_path / "run").exists()


# What is missing, or does not fit

FAULTS: list[tuple[Callable[[Path], object], str]] = [
    (lambda folder: shutil.rmtree(folder), "no folder .*; name a folder with wavlm/ and hifigan"),
    (lambda folder: shutil.rmtree(folder / "wavlm"), "no wavlm in .*; name a folder"),
    (lambda folder: (folder / "wavlm" / "config.json").unlink(), "no wavlm in"),
    (lambda folder: shutil.rmtree(folder / "hifigan"), "no hifigan in .* prematch_g_02500000.pt"),
    (lambda folder: (folder / "hifigan" / "model.safetensors").unlink(), "no hifigan in"),
]


@pytest.mark.parametrize(("spoil", "message"), FAULTS)
def test_what_is_missing_is_said_before_any_work(
    weights: Path, corpus: Path, tmp_path: Path, spoil: Callable[[Path], object], message: str
) -> None:
    folder = shutil.copytree(weights, tmp_path / "weights")
    spoil(folder)
    with pytest.raises(ConfigError, match=message):
        on_networks(folder).aimed(corpus)


def test_other_weights_are_refused(weights: Path, corpus: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(weights, tmp_path / "weights")
    good = on_networks(folder)
    config = folder / "hifigan" / "config.json"
    config.write_text(config.read_text() + " ", encoding="utf-8")
    with pytest.raises(IntegrityError, match=f"weights is .*, not {good.weights_sha256}; put the"):
        good.aimed(corpus)


def test_the_released_vocoder_is_pinned_in_the_place_of_hifigan(tmp_path: Path) -> None:
    save_wavlm(tmp_path)
    (tmp_path / "g_02500000.pt").touch()
    used = ("wavlm/config.json", "wavlm/model.safetensors", "g_02500000.pt")
    assert knn_wavlm.used_files(str(tmp_path)) == used
    system = KnnVc(backend="wavlm", weights=str(tmp_path))
    assert isinstance(system, Pinned)
    with pytest.raises(ConfigError, match=rf"cd .* && sha256sum {' '.join(used)} \| sha256sum`"):
        system.require_files()
    said = "".join(
        f"{hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()}  {name}\n" for name in used
    )
    pin = hashlib.sha256(said.encode()).hexdigest()
    KnnVc(backend="wavlm", weights=str(tmp_path), weights_sha256=pin).require_files()
    KnnVc().require_files()


def test_spoilt_weights_are_refused(weights: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(weights, tmp_path / "weights")
    (folder / "wavlm" / "model.safetensors").write_bytes(b"spoilt")
    with pytest.raises(ConfigError, match="holds no usable WavLMModel"):
        knn_wavlm.networks(str(folder), "cpu")


def test_networks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    save_wavlm(tmp_path)
    save_vocoder(tmp_path, model_in_dim=80)
    with pytest.raises(ConfigError, match="the vocoder is not made for 16 features in 320 samples"):
        knn_wavlm.networks(str(tmp_path), "cpu")
    save_vocoder(tmp_path, upsample_rates=[4, 4, 4, 4], upsample_kernel_sizes=[8, 8, 8, 8])
    with pytest.raises(ConfigError, match="the vocoder is not made for 16 features in 320 samples"):
        knn_wavlm.networks(str(tmp_path), "cpu")


def test_a_shallow_wavlm_is_refused(tmp_path: Path) -> None:
    save_wavlm(tmp_path, num_hidden_layers=6)
    save_vocoder(tmp_path)
    with pytest.raises(ConfigError, match="no WavLM with more than 6 layers"):
        knn_wavlm.networks(str(tmp_path), "cpu")


def test_a_missing_package_is_named(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    knn_wavlm.networks.cache_clear()
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ConfigError, match=r"transformers is not installed; .*\[neural\]"):
        knn_wavlm.networks(str(weights), "cpu")


def test_loading_says_nothing(weights: Path) -> None:
    program = (
        "import sys; from harness.anonymizers.knn_wavlm import networks; "
        "networks(sys.argv[1], 'cpu')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(weights)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")
