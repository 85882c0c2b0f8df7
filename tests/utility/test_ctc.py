"""CTC: its rule by hand, both formats against the libraries they are of, and strangers' files.

The models are tiny and of random weights (`ctc_folders`): what they hear is no speech.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from harness.errors import ConfigError
from harness.utility.ctc import (
    FILES,
    SPEECHBRAIN_FILES,
    SpeechBrain,
    Transformers,
    collapsed,
    speechbrain_ctc,
    wav2vec2_ctc,
)
from utility import ctc_folders
from utility.ctc_folders import CHARACTERS, VOCABULARY, noise

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ctc_folders.random_transformers(tmp_path_factory.mktemp("transformers"))


@pytest.fixture(scope="module")
def tiny(tiny_folder: Path) -> Transformers:
    return wav2vec2_ctc(str(tiny_folder), "cpu")


@pytest.fixture(scope="module")
def brain_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("speechbrain")


@pytest.fixture(scope="module")
def original(brain_folder: Path) -> Any:
    """SpeechBrain's own object, of the files in `brain_folder`."""
    return ctc_folders.random_speechbrain(brain_folder)


@pytest.fixture(scope="module")
def brain(brain_folder: Path, original: Any) -> SpeechBrain:
    return speechbrain_ctc(str(brain_folder), "cpu")


@pytest.fixture(params=["transformers", "speechbrain"])
def either(request: pytest.FixtureRequest) -> Transformers | SpeechBrain:
    names = {"transformers": "tiny", "speechbrain": "brain"}
    heard: Transformers | SpeechBrain = request.getfixturevalue(names[request.param])
    return heard


# The rule


@pytest.mark.parametrize(
    ("outputs", "blank", "heard"),
    [
        ([], 0, []),
        ([0, 0, 0], 0, []),
        ([5, 5, 5], 0, [5]),
        ([0, 5, 5, 0, 0, 3, 3, 0], 0, [5, 3]),
        # A blank between equals keeps both.
        ([5, 0, 5], 0, [5, 5]),
        ([5, 5, 0, 5, 5, 3, 5], 0, [5, 5, 3, 5]),
        ([0, 4, 0, 0, 4], 4, [0, 0]),
    ],
)
def test_of_equal_neighbours_one_counts_and_blanks_part_them(
    outputs: list[int], blank: int, heard: list[int]
) -> None:
    assert collapsed(outputs, blank) == heard


SAID = ["H", "H", "<pad>", "E", "L", "L", "<pad>", "L", "O", "O", "|", "|", "<pad>", "A", "'", "S"]


def made_up(outputs: list[int]) -> torch.Tensor:
    """Logits of shape (1, frames, 32) whose greatest are these outputs, by little."""
    generator = np.random.default_rng(7)
    logits = generator.uniform(-9, -8, size=(1, len(outputs), len(VOCABULARY))).astype(np.float32)
    logits[0, range(len(outputs)), outputs] = -7.9
    return torch.from_numpy(logits)


def scripted(brain: SpeechBrain, labels: list[str], logits: torch.Tensor) -> SpeechBrain:
    """Says the logits of whatever it hears."""
    return SpeechBrain(brain.encoder, (lambda frames: frames, lambda _: logits), labels)


def test_made_up_logits_of_transformers(tiny: Transformers) -> None:
    def model(_: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=made_up([VOCABULARY.index(label) for label in SAID]))

    model.device = "cpu"  # type: ignore[attr-defined]
    hearer = Transformers(model, tiny.extractor, tiny.tokenizer, tiny.least)
    assert hearer.hear(noise(1)) == "HELLO A'S"


def test_made_up_logits_of_speechbrain(brain: SpeechBrain) -> None:
    labels = ["<blank>", *CHARACTERS, " "]
    here = {"<pad>": "<blank>", "|": " "}
    logits = made_up([labels.index(here.get(label, label)) for label in SAID])
    assert scripted(brain, labels, logits).hear(noise(1)) == "HELLO A'S"


def test_what_has_no_label_is_not_heard(brain: SpeechBrain) -> None:
    # The last is the greatest, and has none.
    logits = torch.tensor([[[3.0, 1.0, 2.0, 9.0], [1.0, 2.0, 3.0, 9.0]]])
    assert scripted(brain, ["<blank>", "A", "B"], logits).hear(noise(1)) == "B"


# Against the libraries


@pytest.mark.parametrize("scale", [1, 1_000])
def test_transformers_own_way_gives_the_same(
    tiny: Transformers, tiny_folder: Path, scale: int
) -> None:
    from transformers import Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor, Wav2Vec2ForCTC

    samples = noise(3) // scale
    speech = Wav2Vec2FeatureExtractor.from_pretrained(tiny_folder)(
        samples.astype(np.float64) / 32_768, sampling_rate=16_000, return_tensors="pt"
    )
    with torch.no_grad():
        logits = Wav2Vec2ForCTC.from_pretrained(tiny_folder)(**speech).logits
    tokenizer = Wav2Vec2CTCTokenizer.from_pretrained(tiny_folder)
    (expected,) = tokenizer.batch_decode(logits.argmax(-1))
    assert len(set(expected)) > 8
    assert " " in expected
    assert tiny.hear(samples) == expected


# In quiet speech it counts what is added to the variance.
@pytest.mark.parametrize("scale", [1, 1_000])
def test_speechbrains_own_object_gives_the_same(
    brain: SpeechBrain, original: Any, scale: int
) -> None:
    samples = noise(3) // scale
    speech = torch.from_numpy(samples / np.float32(32_768))[None]
    (expected,), _ = original.transcribe_batch(speech, torch.ones(1))
    assert len(set(expected)) > 8
    assert brain.hear(samples) == expected


@pytest.mark.parametrize("load", [wav2vec2_ctc, speechbrain_ctc])
def test_models_that_do_not_normalize_samples(
    tiny_folder: Path, brain_folder: Path, original: Any, tmp_path: Path, load: Any
) -> None:
    folder = tiny_folder if load is wav2vec2_ctc else brain_folder
    copy = shutil.copytree(folder, tmp_path / "model")
    change(copy / "preprocessor_config.json", do_normalize=False)
    samples = noise(2) // 1_000
    assert load(str(copy), "cpu").hear(samples) != load(str(folder), "cpu").hear(samples)


def test_weights_of_older_torch_and_transformers(
    brain: SpeechBrain, brain_folder: Path, tmp_path: Path
) -> None:
    # Those of 2021 have the two factors of a weight under these names.
    copy = shutil.copytree(brain_folder, tmp_path / "model")
    saved = torch.load(copy / "wav2vec2.ckpt", weights_only=True)
    names = {"parametrizations.weight.original0": "weight_g"}
    names |= {"parametrizations.weight.original1": "weight_v"}
    for new, old in names.items():
        place = f"model.encoder.pos_conv_embed.conv.{new}"
        saved[place.replace(new, old)] = saved.pop(place)
    torch.save(saved, copy / "wav2vec2.ckpt")
    assert speechbrain_ctc(str(copy), "cpu").hear(noise(2)) == brain.hear(noise(2))


def test_what_only_training_needs_may_be_absent(
    tiny: Transformers, tiny_folder: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(tiny_folder, tmp_path / "model")
    assert json.loads((copy / "config.json").read_text())["mask_time_prob"] > 0
    saved = load_file(copy / "model.safetensors")
    del saved["wav2vec2.masked_spec_embed"]
    save_file(saved, copy / "model.safetensors", metadata={"format": "pt"})
    assert wav2vec2_ctc(str(copy), "cpu").hear(noise(2)) == tiny.hear(noise(2))


# Any samples


def test_long_speech_is_heard_whole(either: Transformers | SpeechBrain) -> None:
    assert len(either.hear(noise(35))) > 8 * len(either.hear(noise(3)))


@pytest.mark.parametrize("samples", [0, 1, 399])
def test_less_than_a_frame_has_no_text(either: Transformers | SpeechBrain, samples: int) -> None:
    # 25 ms, as the paper has it.
    assert either.hear(np.full(samples, 999, dtype=np.int16)) == ""


@pytest.mark.parametrize("samples", [400, 719, 720, 16_000])
@pytest.mark.parametrize("value", [0, -32_768])
def test_silence_has_some_text_or_none(
    either: Transformers | SpeechBrain, samples: int, value: int
) -> None:
    assert isinstance(either.hear(np.full(samples, value, dtype=np.int16)), str)


def test_a_text_depends_on_its_samples_alone(either: Transformers | SpeechBrain) -> None:
    speech = [noise(1 + seed / 7, seed) for seed in range(6)]
    first = [either.hear(samples) for samples in speech]
    assert len(set(first)) == 6
    threads = torch.get_num_threads()
    try:
        for number in (1, 3):
            torch.set_num_threads(number)
            assert [either.hear(samples) for samples in reversed(speech)] == first[::-1]
            assert torch.get_num_threads() == number
    finally:
        torch.set_num_threads(threads)


def test_loading_and_hearing_draw_nothing(
    tiny_folder: Path, brain_folder: Path, original: Any
) -> None:
    before, state = torch.get_rng_state(), np.random.get_state()[1].copy()
    wav2vec2_ctc.cache_clear()
    speechbrain_ctc.cache_clear()
    wav2vec2_ctc(str(tiny_folder), "cpu").hear(noise(1))
    speechbrain_ctc(str(brain_folder), "cpu").hear(noise(1))
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(np.random.get_state()[1], state)


# Strangers' files


def change(path: Path, **changes: object) -> None:
    settings = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(settings | changes), encoding="utf-8")


@pytest.mark.parametrize(
    ("load", "files"), [(wav2vec2_ctc, FILES), (speechbrain_ctc, SPEECHBRAIN_FILES)]
)
def test_a_folder_without_the_files_says_which_it_lacks(
    tmp_path: Path, load: Any, files: tuple[str, ...]
) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"a pickle")
    with pytest.raises(ConfigError, match=f"lacks {', '.join(files)}; put a model there, with"):
        load(str(tmp_path), "cpu")
    with pytest.raises(ConfigError, match=f"no folder {tmp_path}/gone; put a model there, with"):
        load(str(tmp_path / "gone"), "cpu")


@pytest.mark.parametrize(
    ("file", "content", "match"),
    [
        ("model.safetensors", b"a pickle", "holds no usable Wav2Vec2ForCTC: model.safetensors"),
        ("config.json", b"{", "holds no usable Wav2Vec2ForCTC"),
        ("preprocessor_config.json", b"[", "holds no usable Wav2Vec2FeatureExtractor"),
        ("tokenizer_config.json", b"{", "holds no usable Wav2Vec2CTCTokenizer"),
        ("vocab.json", b"{", "holds no usable Wav2Vec2CTCTokenizer"),
        ("vocab.json", b"[]", "holds no usable Wav2Vec2CTCTokenizer"),
        ("vocab.json", b'{"<pad>": 0, "<unk>": 1, "A": 2}', "does not name the 32 outputs"),
        ("vocab.json", b'{"<pad>": "0", "<unk>": [1]}', "holds no usable Wav2Vec2CTCTokenizer"),
    ],
)
def test_a_damaged_file_is_named(
    tiny_folder: Path, tmp_path: Path, file: str, content: bytes, match: str
) -> None:
    copy = shutil.copytree(tiny_folder, tmp_path / "model")
    (copy / file).write_bytes(content)
    with pytest.raises(ConfigError, match=f"^recognizer wav2vec2-ctc: .*{match}.*; put"):
        wav2vec2_ctc(str(copy), "cpu")


@pytest.mark.parametrize(
    ("file", "changes", "match"),
    [
        ("config.json", {"hidden_size": 32}, "no usable Wav2Vec2ForCTC"),
        ("config.json", {"hidden_act": "nonsense"}, "no usable Wav2Vec2ForCTC: 'nonsense'"),
        ("config.json", {"num_attention_heads": 0}, "no usable Wav2Vec2ForCTC: .*by zero"),
        ("config.json", {"conv_dim": "abcdefg"}, "no usable Wav2Vec2ForCTC: .*'conv_dim'"),
        ("config.json", {"attn_implementation": "flash_attention_2"}, "FlashAttention2 .*install"),
        ("config.json", {"conv_stride": [5]}, "no usable Wav2Vec2ForCTC: .*conv_stride"),
        ("config.json", {"num_hidden_layers": 3}, "lacks 16 tensors, such as wav2vec2.encoder"),
        ("config.json", {"pad_token_id": 4}, "does not name .* their blank 4"),
        ("config.json", {"pad_token_id": None}, "does not name .* their blank None"),
        ("tokenizer_config.json", {"pad_token": "|"}, "does not name .* their blank 0"),
        ("preprocessor_config.json", {"sampling_rate": 8000}, "speech of 8000 Hz; take .* 16000"),
    ],
)
def test_files_of_another_model_are_refused(
    tiny_folder: Path, tmp_path: Path, file: str, changes: dict[str, object], match: str
) -> None:
    copy = shutil.copytree(tiny_folder, tmp_path / "model")
    change(copy / file, **changes)
    with pytest.raises(ConfigError, match=f"^recognizer wav2vec2-ctc: .*{match}"):
        wav2vec2_ctc(str(copy), "cpu")


class Harmful:
    """Makes a folder when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self.trace),)


@pytest.mark.parametrize("file", ["wav2vec2.ckpt", "asr.ckpt"])
def test_no_code_of_a_checkpoint_runs(
    brain_folder: Path, original: Any, tmp_path: Path, file: str
) -> None:
    copy = shutil.copytree(brain_folder, tmp_path / "model")
    saved = torch.load(copy / file, weights_only=True)
    torch.save(saved | {"more": Harmful(tmp_path / "trace")}, copy / file)
    with pytest.raises(ConfigError, match=f"{file} in {copy} holds no tensors by name: .*; put"):
        speechbrain_ctc(str(copy), "cpu")
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"hidden_act": "nonsense"}, "wav2vec2.ckpt in .* is not .* its config.json: 'nonsense'"),
        ({"num_attention_heads": 0}, "wav2vec2.ckpt in .* is not .* its config.json: .*by zero"),
        ({"conv_dim": "abcdefg"}, "holds no usable Wav2Vec2Config: .*'conv_dim'"),
        ({"conv_stride": [5]}, "holds no usable Wav2Vec2Config: .*conv_stride"),
    ],
)
def test_a_configuration_of_no_network_is_refused(
    brain_folder: Path, original: Any, tmp_path: Path, changes: dict[str, object], match: str
) -> None:
    copy = shutil.copytree(brain_folder, tmp_path / "model")
    change(copy / "config.json", **changes)
    with pytest.raises(ConfigError, match=f"^recognizer speechbrain-ctc: .*{match}.*; put"):
        speechbrain_ctc(str(copy), "cpu")


@pytest.mark.parametrize(
    ("file", "content", "match"),
    [
        ("wav2vec2.ckpt", b"", "holds no tensors by name"),
        ("asr.ckpt", b"a pickle", "holds no tensors by name"),
        ("config.json", b"{", "holds no usable Wav2Vec2Config"),
        ("preprocessor_config.json", b"[", "holds no usable Wav2Vec2FeatureExtractor"),
        ("tokenizer.ckpt", b"", "does not label outputs from 0, <blank>, on"),
        ("tokenizer.ckpt", b"================\n", "does not label outputs"),
        ("tokenizer.ckpt", b"'<blank>' => 0\n'A' => 1\n", "does not label outputs"),
        ("tokenizer.ckpt", b"'<blank>' => 0\n'A' => 2\n================\n", "does not label"),
        ("tokenizer.ckpt", b"'<blank>' => 1\n'A' => 0\n================\n", "does not label"),
        ("tokenizer.ckpt", b"'<blank>' => 0\nopen('x') => 1\n================\n", "does not label"),
        ("tokenizer.ckpt", b"'<blank>' => 0\n'AB' => 1\n================\n", "does not label"),
        ("tokenizer.ckpt", b"'<blank>' => 0\n'A' => 1\n'B' => 1\n================\n", "does not"),
    ],
)
def test_a_damaged_file_of_speechbrain_is_named(
    brain_folder: Path, original: Any, tmp_path: Path, file: str, content: bytes, match: str
) -> None:
    copy = shutil.copytree(brain_folder, tmp_path / "model")
    (copy / file).write_bytes(content)
    with pytest.raises(ConfigError, match=f"^recognizer speechbrain-ctc: .*{match}.*; put"):
        speechbrain_ctc(str(copy), "cpu")


def test_checkpoints_of_another_model_are_refused(
    brain_folder: Path, original: Any, tmp_path: Path
) -> None:
    copy = shutil.copytree(brain_folder, tmp_path / "model")

    def saved(file: str) -> Any:
        return torch.load(brain_folder / file, weights_only=True)

    def refused(match: str, file: str, content: object) -> None:
        torch.save(content, copy / file)
        with pytest.raises(ConfigError, match=f"^recognizer speechbrain-ctc: {match}"):
            speechbrain_ctc(str(copy), "cpu")
        shutil.copy(brain_folder / file, copy / file)

    refused("asr.ckpt in .* three layers for 16", "asr.ckpt", saved("wav2vec2.ckpt"))
    refused("wav2vec2.ckpt in .* not the network", "wav2vec2.ckpt", saved("asr.ckpt"))
    refused("wav2vec2.ckpt in .* holds no tensors by", "wav2vec2.ckpt", ["no", "tensors"])
    head = saved("asr.ckpt")
    refused("asr.ckpt in .* three layers", "asr.ckpt", head | {"2.w.bias": torch.zeros(3)})
    refused("asr.ckpt in .* three layers", "asr.ckpt", head | {"1.w.bias": torch.zeros(())})
    few = {"1.w.weight": head["1.w.weight"][:30], "1.w.bias": head["1.w.bias"][:30]}
    refused("tokenizer.ckpt in .* has 31 labels for 30 outputs of asr", "asr.ckpt", head | few)
    change(copy / "config.json", hidden_size=32)
    with pytest.raises(ConfigError, match="wav2vec2.ckpt in .* is not the network of its config"):
        speechbrain_ctc(str(copy), "cpu")
