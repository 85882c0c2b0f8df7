from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pytest
import soundfile

from harness.cli import corpus
from harness.corpora.store import Corpus
from harness.errors import DataError


@pytest.fixture(autouse=True)
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    corpus.register(parser.add_subparsers(required=True))
    arguments = parser.parse_args(["corpus", *words])
    status: int = arguments.handler(arguments)
    return status


@pytest.fixture
def librispeech(tmp_path: Path) -> Path:
    chapter = tmp_path / "LibriSpeech/dev-clean/84/121123"
    chapter.mkdir(parents=True)
    for number in range(2):
        samples = np.random.default_rng(number).integers(-9000, 9000, 96_000).astype(np.int16)
        soundfile.write(str(chapter / f"84-121123-000{number}.flac"), samples, 16_000)
    (tmp_path / "LibriSpeech/SPEAKERS.TXT").write_text("84 | F | dev-clean | 8.02 | reader\n")
    return tmp_path / "LibriSpeech"


def test_import_check_export_and_import_again(
    librispeech: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    subset = ("librispeech", str(librispeech), "dev-clean")
    assert run("import", *subset, "--to", "c", "--workers", "1") == 0
    assert "c: 2 utterances of 1 speakers, 0.2 minutes" in capsys.readouterr().out
    assert run("check", "c", "--decode", "--workers", "1") == 0
    assert "c: no problem found (all audio decodes)" in capsys.readouterr().out
    assert run("export", "c", "k", "--format", "flac", "--workers", "1") == 0
    assert run("import", "kaldi", "k", "--to", "again", "--workers", "1") == 0
    first, again = Corpus(Path("c")), Corpus(Path("again"))
    assert first.manifest["sha256"].tolist() == again.manifest["sha256"].tolist()


def test_import_in_segments(librispeech: Path) -> None:
    subset = ("librispeech", str(librispeech), "dev-clean")
    assert run("import", *subset, "--to", "c", "--segment-seconds", "3", "--workers", "1") == 0
    assert Corpus(Path("c")).manifest["samples"].tolist() == [48_000] * 4


def test_import_does_not_replace_anything(librispeech: Path) -> None:
    Path("c").mkdir()
    Path("c/mine").touch()
    with pytest.raises(DataError, match="c: is there already and not empty"):
        run("import", "librispeech", str(librispeech), "dev-clean", "--to", "c")
    assert Path("c/mine").exists()


def test_check_reports_problems_and_fails(
    librispeech: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("import", "librispeech", str(librispeech), "dev-clean", "--to", "c", "--workers", "1")
    Path("c/c-000000.tar").unlink()
    capsys.readouterr()
    assert run("check", "c") == 1
    assert capsys.readouterr().out == "shard: c/c-000000.tar: no such shard; run `dvc checkout`\n"


@pytest.mark.parametrize("number", ["-1", "0", "1025", "two", "1.5", "²"])
def test_impossible_number_of_workers(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("check", "c", "--workers", number)
    assert f"{number!r} is not a number from 1 to 1024" in capsys.readouterr().err
