"""Tiny CTC recognizers of random weights, in folders of transformers' and of SpeechBrain's format.

They have the architecture of facebook/wav2vec2-large-960h-lv60-self, in narrow layers. They hear no
words: what they write of noise is as random as they are.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import torch
import transformers

WIDTH, NEURONS = 16, 24
CHARACTERS = [*ascii_uppercase, "'"]
# facebook's vocab.json begins so.
VOCABULARY = ["<pad>", "<s>", "</s>", "<unk>", "|", *CHARACTERS]


def config(**changes: object) -> transformers.Wav2Vec2Config:
    """Narrow layers, and the blank of facebook's models."""
    settings = {
        "vocab_size": len(VOCABULARY),
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "conv_dim": (8,) * 7,
        "conv_bias": True,
        "feat_extract_norm": "layer",
        "do_stable_layer_norm": True,
        "num_conv_pos_embeddings": 16,
        "num_conv_pos_embedding_groups": 2,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    return transformers.Wav2Vec2Config(**(settings | changes))


def spread(module: torch.nn.Module, seed: int) -> None:
    """Weights that are far enough apart for frames to differ."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for tensor in module.parameters():
            drawn = torch.randn(tensor.shape, generator=generator)
            if tensor.ndim > 1:
                tensor.copy_(drawn * 2 / tensor[0].numel() ** 0.5)
            else:
                tensor.add_(drawn / 5)


def random_transformers(folder: Path, **changes: object) -> Path:
    """A Wav2Vec2ForCTC in the folder, and the folder. changes: of its configuration."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = transformers.Wav2Vec2ForCTC(config(**changes))
    spread(model, 18)
    model.save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor(do_normalize=True).save_pretrained(folder)
    places = {label: place for place, label in enumerate(VOCABULARY)}
    (folder / "vocab.json").write_text(json.dumps(places), encoding="utf-8")
    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(special), encoding="utf-8")
    return folder


def random_speechbrain(folder: Path) -> Any:
    """SpeechBrain's own recognizer, as the hyperparams.yaml of 2024 makes it, and its files."""
    # Here, since hypothesis cannot stand its lazy modules while tests are collected.
    from speechbrain.dataio.encoder import CTCTextEncoder
    from speechbrain.decoders import ctc_greedy_decode
    from speechbrain.inference.ASR import EncoderASR
    from speechbrain.integrations.huggingface.wav2vec2 import Wav2Vec2
    from speechbrain.lobes.models.VanillaNN import VanillaNN
    from speechbrain.nnet.containers import LengthsCapableSequential
    from speechbrain.nnet.linear import Linear

    start = folder / "start"
    with torch.random.fork_rng():
        torch.manual_seed(2)
        transformers.Wav2Vec2Model(config()).save_pretrained(start)
        transformers.Wav2Vec2FeatureExtractor(do_normalize=True).save_pretrained(start)
        wav2vec2 = Wav2Vec2(str(start), str(start), output_norm=True, freeze=True)
        hidden = VanillaNN([None, None, WIDTH], torch.nn.LeakyReLU, 2, NEURONS)
        labels = CTCTextEncoder()
        labels.update_from_iterable([*CHARACTERS, " "], sequence_input=False)
        labels.handle_special_labels({"bos_label": 1, "eos_label": 2, "blank_label": 0})
        linear = Linear(len(labels), input_size=NEURONS)
    spread(wav2vec2, 11)
    head = torch.nn.ModuleList([hidden, linear])
    spread(head, 111)
    for name in ("config.json", "preprocessor_config.json"):
        (folder / name).write_bytes((start / name).read_bytes())
    torch.save(wav2vec2.state_dict(), folder / "wav2vec2.ckpt")
    torch.save(head.state_dict(), folder / "asr.ckpt")
    labels.save(folder / "tokenizer.ckpt")
    layers = LengthsCapableSequential(wav2vec2=wav2vec2, enc=hidden, ctc_lin=linear)
    return EncoderASR(
        modules={"encoder": layers},
        hparams={
            "tokenizer": labels,
            "decoding_function": partial(ctc_greedy_decode, blank_id=0),
        },
    )


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    """Mono 16 kHz samples whose level goes up and down."""
    generator = np.random.default_rng(seed)
    count = round(seconds * 16_000)
    level = 3_000 * (1 + np.sin(np.arange(count) / 2_000))
    return (generator.normal(size=count) * level).clip(-32_768, 32_767).astype(np.int16)
