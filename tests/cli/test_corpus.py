from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
import yaml
from corpora.anonymized_tree import originals, tree, write

from harness.cli import corpus
from harness.corpora.anonymized_store import digest
from harness.corpora.store import Corpus
from harness.errors import AudioError, ConfigError, DataError


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


DEMO = ("train", "demo_test_enrolls", "demo_test_trials_f", "demo_test_trials_m")
ANONYMIZED = ("import", "anonymized", "in", "--system", "T10-2", "--benchmark", "demo")
TARGET = Path("data/demo/imported/T10-2")


@pytest.fixture
def delivery(tmp_path: Path) -> Path:
    """All sets of the demo, anonymized elsewhere; four or more utterances each."""
    return tree(tmp_path / "in", originals(tmp_path / "data/demo/corpus", DEMO))


def test_anonymized_speech_is_checked_then_imported(
    delivery: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*ANONYMIZED, "--check", "--workers", "1") == 0
    assert capsys.readouterr().out == "in: 32 utterances can be imported\n"
    assert not TARGET.exists()
    assert run(*ANONYMIZED, "--workers", "1") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{TARGET}: 32 utterances in 4 sets; for anonymizers in params.yaml:"
    assert second.startswith(f'  T10-2: {{type: imported, folder: {TARGET}, sha256: "')
    assert sorted(path.name for path in TARGET.iterdir()) == sorted((*DEMO, "accepted.json"))
    # A second one is refused, and the entry of the first is told again.
    refused = f"{TARGET}: is there already and not empty; remove it, or give another --system"
    with pytest.raises(DataError, match=refused):
        run(*ANONYMIZED, "--workers", "1")
    assert capsys.readouterr().out == f"{second}\n"
    shutil.rmtree(TARGET / "train")
    with pytest.raises(DataError, match=refused):
        run(*ANONYMIZED, "--workers", "1")
    assert capsys.readouterr().out == ""


def test_faults_of_anonymized_speech_are_told_and_nothing_is_imported(
    delivery: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (delivery / "train_anon/wav/1-1-0.wav").unlink()
    (delivery / "train_anon/wav/\x1b[31m.txt").touch()
    (delivery / "demo_test_trials_f_anon").rename(delivery / "demo_test_trails_f_anon")
    assert run(*ANONYMIZED, "--workers", "1") == 1
    assert capsys.readouterr().out.splitlines() == [
        "set: in: no folder 'demo_test_trials_f_anon' of set demo_test_trials_f; if it is "
        "'demo_test_trails_f_anon': --map demo_test_trails_f_anon=demo_test_trials_f",
        "missing: in/train_anon: 1 utterances have no file, of 8 utterances: '1-1-0'; "
        "ask for the whole set",
        "extra: in/train_anon: 1 entries are no utterance of this set, of 8 utterances: "
        "'\\x1b[31m.txt'; remove them",
    ]
    assert not TARGET.exists()


def test_no_name_of_a_delivery_reaches_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree(tmp_path / "in", originals(tmp_path / "data/demo/corpus", DEMO), suffix="_\x1b[31m\n")
    (tmp_path / "in/train_\x1b[31m\n/wav/1-1-0.wav").unlink()
    assert run(*ANONYMIZED, "--workers", "1") == 1
    out = capsys.readouterr().out
    assert out.startswith("missing: in/train_\\x1b[31m\\n: 1 utterances have no file")
    assert out.count("\n") == 1


def test_misspelt_folder_and_accepted_problems(
    delivery: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (delivery / "train_anon/wav/notes.txt").touch()
    (delivery / "demo_test_trials_f_anon").rename(delivery / "demo_test_trails_f")
    mapped = ("--map", "demo_test_trails_f=demo_test_trials_f", "--suffix=_anon")
    short = delivery / "train_anon/wav/1-1-3.wav"
    write(short, np.arange(9_000, dtype=np.int16))
    accept = ("--accept", "extra", "--accept", "duration", "--accept", "silent")
    (delivery / "demo_test_trials_m_anon/wav/more.txt").touch()
    assert run(*ANONYMIZED, *mapped, *accept, "--workers", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("accepted: extra: in/train_anon: 1 entries are")
    # In two sets one each; what was allowed and did not occur is not told.
    assert lines[-2] == "  # accepted: duration 1, extra 2"
    assert json.loads((TARGET / "accepted.json").read_text()) == {"duration": 1, "extra": 2}
    entry = yaml.safe_load("\n".join(lines[-2:]))["T10-2"]
    assert entry["sha256"] == digest(TARGET, DEMO)
    assert len(Corpus(TARGET / "demo_test_trials_f")) == 8


def test_import_that_fails_half_way_leaves_nothing(
    delivery: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def spoil(path: Path) -> None:
        # The last set's last file is cut after it was checked.
        last = delivery / "demo_test_trials_m_anon/wav/2-1-3.wav"
        last.write_bytes(last.read_bytes()[:9_000])

    monkeypatch.setattr("harness.corpora.anonymized_store.work_folder", spoiled(spoil))
    with pytest.raises(AudioError, match="2-1-3"):
        run(*ANONYMIZED, "--workers", "1")
    assert not TARGET.exists()


def spoiled(spoil: Callable[[Path], None]) -> Callable[..., Path]:
    """Stands in for what names the folder of unfinished work, after the checks."""

    def name(stage: str, identity: object) -> Path:
        spoil(Path(stage))
        return Path(".work") / stage / "0"

    return name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--system", "orig"), "'orig' cannot be the name of an imported system"),
        (("--system", "../x"), "'../x' cannot be the name of an imported system"),
        (("--map", "x"), "'x' is not FOLDER=SET"),
        (("--accept", "audio"), "'audio' is none of: extra, duration, swapped, silent, repeated"),
        (("--accept", "original"), "'original' is none of: extra, duration, swapped, silent, rep"),
    ],
)
def test_impossible_words_of_an_import(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(*ANONYMIZED, *words)
    assert message in capsys.readouterr().err


def test_import_for_an_unknown_benchmark() -> None:
    with pytest.raises(ConfigError, match="unknown benchmark 'dema'; did you mean 'demo'"):
        run("import", "anonymized", "in", "--system", "x", "--benchmark", "dema")


def test_import_before_the_corpus_is_made() -> None:
    with pytest.raises(DataError, match="no such manifest; run the stage that makes it"):
        run(*ANONYMIZED)
