"""The recognizer of 2024 on tiny random weights: as SpeechBrain has it, and what it refuses."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
import transformers

from harness.anonymizers.pretrained import repeatable
from harness.corpora.store import Samples
from harness.errors import ConfigError, DataError, IntegrityError
from harness.runtime.files import sha256_bytes, sha256_file
from harness.utility.emotions import Labelled
from harness.utility.emotions_2024 import EMOTIONS, Wav2Vec2, network, used_files

pytestmark = pytest.mark.heavy

Floats = npt.NDArray[np.float64]

LABELS = ("neu", "ang", "hap", "sad")
ENCODER = "".join(f"'{name}' => {place}\n" for place, name in enumerate(LABELS))
ENCODER += "================\n'starting_index' => 0\n"


def tiny(seed: int) -> transformers.Wav2Vec2Model:
    """A wav2vec 2.0 network of random weights."""
    config = transformers.Wav2Vec2Config(
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        conv_dim=(8,) * 7,
        conv_bias=True,
        feat_extract_norm="layer",
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
    )
    with repeatable(seed, "cpu"):
        model = transformers.Wav2Vec2Model(config).eval()
        # As they begin, biases are 0 and norms 1: a norm before or after them would change nothing.
        for name, value in model.named_parameters():
            if name.endswith("bias") or "layer_norm" in name:
                value += 0.5 * torch.randn_like(value)
    return model


def linear(seed: int) -> torch.Tensor:
    return torch.randn(4, 16, generator=torch.Generator().manual_seed(seed))


def write_fold(folder: Path, seed: int) -> None:
    """A checkpoint as SpeechBrain writes it, beside files that must never be run."""
    folder.mkdir(parents=True)
    tensors = {f"model.{name}": value for name, value in tiny(seed).state_dict().items()}
    torch.save(tensors, folder / "wav2vec2.ckpt")
    torch.save({"0.w.weight": linear(seed)}, folder / "model.ckpt")
    (folder / "label_encoder.txt").write_text(ENCODER, encoding="utf-8")
    (folder / "hyperparams.yaml").write_text("!apply:os.abort []\n", encoding="utf-8")
    (folder / "custom_interface.py").write_text("import os; os.abort()\n", encoding="utf-8")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """Two folds; of the second an earlier checkpoint, too."""
    folder = tmp_path / "ser_pre_sb"
    write_fold(folder / "fold_1/CKPT+1", 11)
    write_fold(folder / "fold_2/CKPT+9", 29)
    write_fold(folder / "fold_2/CKPT+10", 21)
    tiny(11).config.save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor(do_normalize=True).save_pretrained(folder)
    return folder


def pin(weights: Path) -> str:
    """What `sha256sum FILES | sha256sum` prints."""
    lines = [f"{sha256_file(weights / name)}  {name}\n" for name in used_files(str(weights))]
    return sha256_bytes("".join(lines).encode())


def pinned(weights: Path) -> Wav2Vec2:
    return Wav2Vec2(str(weights), pin(weights))


def speech(length: int = 9_000, seed: int = 5) -> Samples:
    return np.random.default_rng(seed).integers(-3_000, 3_000, length).astype(np.int16)


def by_speechbrain(folder: Path, seed: int, samples: Samples) -> Floats:
    """Probabilities in the order of LABELS, by the modules that hyperparams.yaml would make."""
    from speechbrain.integrations.huggingface.wav2vec2 import Wav2Vec2 as SpeechBrainWav2Vec2
    from speechbrain.nnet.linear import Linear
    from speechbrain.nnet.pooling import StatisticsPooling

    tiny(seed).save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor(do_normalize=True).save_pretrained(folder)
    encoder = SpeechBrainWav2Vec2(str(folder), str(folder), output_norm=True, freeze=True)
    layer = Linear(input_size=16, n_neurons=4, bias=False)
    torch.nn.ModuleList([layer]).load_state_dict({"0.w.weight": linear(seed)})
    with torch.no_grad():
        wave = torch.from_numpy(samples.astype(np.float32) / 32_768)[None]
        pooled = StatisticsPooling(return_std=False)(encoder(wave), torch.ones(1))
        found: Floats = layer(pooled.view(1, -1)).softmax(dim=-1)[0].double().numpy()
    return found


@pytest.mark.parametrize(("fold", "seed"), [("1", 11), ("2", 21)])
def test_as_speechbrain_has_it(tmp_path: Path, weights: Path, fold: str, seed: int) -> None:
    samples = speech()
    expected = dict(zip(LABELS, by_speechbrain(tmp_path / "hf", seed, samples), strict=True))
    found = pinned(weights).vector(samples, fold)
    assert found.sum() == pytest.approx(1)
    # SpeechBrain adds noise of up to 9e-5 to what the layer of these weights sees.
    assert dict(zip(EMOTIONS, found, strict=True)) == pytest.approx(expected, abs=1e-3)
    assert found.max() - found.min() > 0.1


def test_folds_have_models_of_their_own(weights: Path) -> None:
    first, second = (pinned(weights).vector(speech(), fold) for fold in ("1", "2"))
    assert np.abs(first - second).max() > 0.05


def test_names_of_torch_before_2_1(weights: Path) -> None:
    # The official files have the direction and length of the convolution under these.
    path = weights / "fold_1/CKPT+1/wav2vec2.ckpt"
    expected = pinned(weights).vector(speech(), "1")
    tensors = torch.load(path, weights_only=True)
    renamed = {
        name.replace("parametrizations.weight.original0", "weight_g").replace(
            "parametrizations.weight.original1", "weight_v"
        ): value
        for name, value in tensors.items()
    }
    assert len(set(renamed) - set(tensors)) == 2
    torch.save(renamed, path)
    network.cache_clear()
    np.testing.assert_array_equal(network(str(weights), "1").probabilities(speech()), expected)


VECTORS = np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [0.1, 0.4, 0.4, 0.1]])


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        (("sad", "sad", "sad"), ["sad", "angry", "happy"]),
        (("neutral", "angry", "sad"), ["sad", "angry", "happy"]),
        (("neu", "ang", "sad"), ["sad", "ang", "hap"]),
    ],
)
def test_most_probable_emotion_counts(spoken: tuple[str, ...], expected: list[str]) -> None:
    known = Labelled(("a", "b", "c"), ("1", "2", "3"), spoken)
    recognizer = Wav2Vec2("weights", "a" * 64)
    assert recognizer.recognize(VECTORS, VECTORS, known) == expected
    assert not recognizer.learns


def test_emotions_that_it_does_not_know() -> None:
    known = Labelled(("a", "b", "c"), ("1", "2", "3"), ("neu", "angry", "sad"))
    with pytest.raises(DataError, match="emotions are angry, neu, sad; it knows angry, happy, neu"):
        Wav2Vec2("weights", "a" * 64).recognize(VECTORS, VECTORS, known)


@pytest.mark.parametrize("length", [0, 1, 399, 400, 401, 720])
def test_short_speech_and_silence(weights: Path, length: int) -> None:
    for samples in (speech(length), np.zeros(length, dtype=np.int16)):
        assert pinned(weights).vector(samples, "1").sum() == pytest.approx(1)
    padded = np.concatenate([speech(length), np.zeros(max(400 - length, 0), dtype=np.int16)])
    np.testing.assert_array_equal(
        pinned(weights).vector(speech(length), "1"), pinned(weights).vector(padded, "1")
    )


def test_neither_loudness_nor_what_went_before_matters(weights: Path) -> None:
    recognizer = pinned(weights)
    alone = recognizer.vector(speech(), "1")
    torch.manual_seed(1)
    before = torch.get_rng_state()
    recognizer.vector(speech(seed=6), "1")
    np.testing.assert_array_equal(recognizer.vector(speech(), "1"), alone)
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_allclose(recognizer.vector(4 * speech(), "1"), alone, atol=1e-3)


def test_only_the_latest_checkpoints_are_pinned(weights: Path) -> None:
    files = used_files(str(weights))
    assert files[:2] == ("config.json", "preprocessor_config.json")
    assert files[2:] == tuple(
        f"{folder}/{name}"
        for folder in ("fold_1/CKPT+1", "fold_2/CKPT+10")
        for name in ("wav2vec2.ckpt", "model.ckpt", "label_encoder.txt")
    )


def test_other_weights_than_the_pinned_are_refused(weights: Path) -> None:
    sha256 = pin(weights)
    Wav2Vec2(str(weights), sha256).require_files()
    with pytest.raises(ConfigError, match="2024: sha256 is missing; give the first word that"):
        Wav2Vec2(str(weights), None).require_files()
    with pytest.raises(IntegrityError, match="recognizer wav2vec2-2024: the sha256 of .* is"):
        Wav2Vec2(str(weights), "0" * 64).vector(speech(), "1")


def test_missing_weights(tmp_path: Path, weights: Path) -> None:
    with pytest.raises(ConfigError, match="weights is None; name a folder with config.json and"):
        Wav2Vec2(None, None)
    with pytest.raises(ConfigError, match="no folder .*absent; name a folder with"):
        Wav2Vec2(str(tmp_path / "absent"), "a" * 64).require_files()
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConfigError, match="no checkpoint in .*empty; name a folder with"):
        Wav2Vec2(str(empty), "a" * 64).require_files()
    (weights / "fold_2/CKPT+10/model.ckpt").unlink()
    with pytest.raises(ConfigError, match=r"lacks fold_2/CKPT\+10/model.ckpt"):
        Wav2Vec2(str(weights), "a" * 64).require_files()


def test_unknown_fold(weights: Path) -> None:
    with pytest.raises(ConfigError, match="no model for fold 3 in .*, but for 1, 2; give speakers"):
        pinned(weights).vector(speech(), "3")


class Harmful:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


def test_a_hostile_checkpoint_runs_nothing(tmp_path: Path, weights: Path) -> None:
    for name in ("wav2vec2.ckpt", "model.ckpt"):
        path = weights / "fold_1/CKPT+1" / name
        kept = path.read_bytes()
        torch.save({"model.a": Harmful(tmp_path / "harm")}, path)
        with pytest.raises(ConfigError, match=f"fold_1/CKPT.1/{name} in .* holds no tensors by"):
            network(str(weights), "1")
        path.write_bytes(pickle.dumps(Harmful(tmp_path / "harm"), 2))
        with pytest.raises(ConfigError, match=f"fold_1/CKPT.1/{name} in .* holds no tensors by"):
            network(str(weights), "1")
        assert not (tmp_path / "harm").exists()
        path.write_bytes(kept)


@pytest.mark.parametrize(
    "content", [b"", b"not a checkpoint", pickle.dumps([1], 2), pickle.dumps({"a": "b"}, 2)]
)
def test_damaged_checkpoints(weights: Path, content: bytes) -> None:
    (weights / "fold_1/CKPT+1/wav2vec2.ckpt").write_bytes(content)
    with pytest.raises(ConfigError, match="fold_1/CKPT.1/wav2vec2.ckpt in .* holds no tensors by"):
        network(str(weights), "1")


def test_weights_of_another_network(weights: Path) -> None:
    path = weights / "fold_1/CKPT+1/wav2vec2.ckpt"
    tensors = torch.load(path, weights_only=True)
    removed, *_ = sorted(tensors)
    torch.save({name: value for name, value in tensors.items() if name != removed}, path)
    with pytest.raises(ConfigError, match="is not the network of its config.json.*Missing key"):
        network(str(weights), "1")
    torch.save({**tensors, "model.more": torch.zeros(1)}, path)
    with pytest.raises(ConfigError, match="is not the network of its config.json.*Unexpected key"):
        network(str(weights), "1")


@pytest.mark.parametrize(
    "tensors",
    [
        {"0.w.weight": torch.zeros(5, 16)},
        {"0.w.weight": torch.zeros(4, 32)},
        {"0.w.weight": torch.zeros(4, 16), "0.w.bias": torch.zeros(4)},
        {"1.w.weight": torch.zeros(4, 16)},
    ],
)
def test_another_layer(weights: Path, tensors: dict[str, torch.Tensor]) -> None:
    torch.save(tensors, weights / "fold_1/CKPT+1/model.ckpt")
    with pytest.raises(ConfigError, match="model.ckpt in .* is no layer of 4 times 16 weights"):
        network(str(weights), "1")


@pytest.mark.parametrize(
    "text", ["", ENCODER.replace("'sad'", "'fea'"), ENCODER.replace("=> 3", "=> 4"), ENCODER[12:]]
)
def test_other_labels(weights: Path, text: str) -> None:
    (weights / "fold_1/CKPT+1/label_encoder.txt").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="label_encoder.txt does not give ang, hap, neu, sad"):
        network(str(weights), "1")


def test_a_configuration_that_is_none(weights: Path) -> None:
    (weights / "config.json").write_text("[]", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds no usable Wav2Vec2Config"):
        network(str(weights), "1")
