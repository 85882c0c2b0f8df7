from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from harness.corpora.export import Form, export
from harness.corpora.importing import import_utterances
from harness.corpora.kaldi import read_kaldi, recordings
from harness.corpora.manifest import read_manifest, write_manifest
from harness.corpora.store import Corpus, Made, Utterance, build, decode
from harness.errors import DataError, IntegrityError
from harness.runtime.pool import Pool

UTTERANCES = (
    # Utterances and speakers sort differently: 10-1 < 2-1, and the last speaker is not a prefix.
    ("10-1", "10", "f", "GRÜSSE"),
    ("2-1", "2", "m", ""),
    ("2-2", "2", "m", "IT'S TWO"),
    ("z-1", "0", "f", "LAST"),
)


def samples_of(utterance: str) -> np.ndarray:
    seed = int.from_bytes(utterance.encode(), "big")
    return np.random.default_rng(seed).integers(-32768, 32767, 3_000).astype(np.int16)


def make(utterance: Utterance) -> Made:
    return Made(samples_of(utterance.utterance), {"note": ""})


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    made = [Utterance(*fields, 3_000, None) for fields in UTTERANCES]
    build(tmp_path / "c", [made[:2], made[2:]], make, work=tmp_path / "w", pool=Pool(1))
    return Corpus(tmp_path / "c")


def test_kaldi_lists(corpus: Corpus, tmp_path: Path) -> None:
    export(corpus, tmp_path / "k")
    lists = {
        p.name: p.read_text(encoding="utf-8") for p in (tmp_path / "k").glob("*") if p.is_file()
    }
    assert lists == {
        "utt2spk": "10-1 10\n2-1 2\n2-2 2\nz-1 0\n",
        "spk2utt": "0 z-1\n10 10-1\n2 2-1 2-2\n",
        "spk2gender": "0 f\n10 f\n2 m\n",
        "text": "10-1 GRÜSSE\n2-2 IT'S TWO\nz-1 LAST\n",
        "wav.scp": "10-1 wav/10-1.wav\n2-1 wav/2-1.wav\n2-2 wav/2-2.wav\nz-1 wav/z-1.wav\n",
    }


def test_wav_files_are_mono_16_khz_pcm16(corpus: Corpus, tmp_path: Path) -> None:
    export(corpus, tmp_path / "k")
    with wave.open(str(tmp_path / "k/wav/2-1.wav")) as sound:
        assert sound.getparams()[:4] == (1, 2, 16_000, 3_000)
        frames = np.frombuffer(sound.readframes(3_000), dtype="<i2")
    np.testing.assert_array_equal(frames, samples_of("2-1"))


def test_flac_files_are_the_stored_bytes(corpus: Corpus, tmp_path: Path) -> None:
    export(corpus, tmp_path / "two words", "flac", paths="absolute")
    np.testing.assert_array_equal(
        decode((tmp_path / "two words/wav/2-1.flac").read_bytes()), samples_of("2-1")
    )
    entry = (tmp_path / "two words/wav.scp").read_text().splitlines()[0]
    assert entry == f"10-1 flac -c -d -s '{tmp_path}/two words/wav/10-1.flac' |"


@pytest.mark.parametrize("form", ["wav", "flac"])
@pytest.mark.parametrize("paths", ["relative", "absolute"])
def test_round_trip_keeps_every_sample(
    corpus: Corpus, tmp_path: Path, form: Form, paths: str
) -> None:
    target = tmp_path / "Kaldi (größer)"
    export(corpus, target, form, paths="absolute" if paths == "absolute" else "relative")
    import_utterances(
        tmp_path / "again" / "c",
        recordings(read_kaldi(target)),
        pool=Pool(1),
        work_root=tmp_path / "work",
    )
    again = Corpus(tmp_path / "again" / "c")
    columns = ["utterance", "speaker", "gender", "samples", "sample_rate", "sha256", "text"]
    assert again.manifest[columns].equals(corpus.manifest[columns])
    for utterance, *_ in UTTERANCES:
        np.testing.assert_array_equal(again.read(utterance), samples_of(utterance))


def test_relative_export_may_be_moved(corpus: Corpus, tmp_path: Path) -> None:
    export(corpus, tmp_path / "k")
    moved = (tmp_path / "k").rename(tmp_path / "moved")
    assert len(recordings(read_kaldi(moved))) == 4


def test_text_is_left_out_where_there_is_none(corpus: Corpus, tmp_path: Path) -> None:
    manifest = corpus.manifest.assign(text="")
    write_manifest(manifest, corpus.path / "manifest.tsv")
    export(Corpus(corpus.path), tmp_path / "k")
    assert not (tmp_path / "k/text").exists()


def test_empty_folder_is_used(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "k").mkdir()
    export(corpus, tmp_path / "k")
    assert (tmp_path / "k/utt2spk").is_file()


def test_filled_target_is_refused_and_untouched(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "k").mkdir()
    (tmp_path / "k/mine").write_text("mine")
    with pytest.raises(DataError, match="k: is there already and not empty; name a new"):
        export(corpus, tmp_path / "k")
    assert [path.name for path in (tmp_path / "k").iterdir()] == ["mine"]


def test_damage_leaves_nothing_behind(corpus: Corpus, tmp_path: Path) -> None:
    row = read_manifest(corpus.path / "manifest.tsv").iloc[3]
    shard = corpus.path / row["shard"]
    content = bytearray(shard.read_bytes())
    content[row["offset"] + 500] ^= 1
    shard.write_bytes(content)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(IntegrityError, match="stored audio differs"):
        export(corpus, tmp_path / "k")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_rest_of_a_killed_export_is_not_kept(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / ".k.export/wav").mkdir(parents=True)
    (tmp_path / ".k.export/wav/half.wav").write_bytes(b"RIFF")
    export(corpus, tmp_path / "k")
    assert not (tmp_path / "k/wav/half.wav").exists()
    assert not (tmp_path / ".k.export").exists()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("utterance", "../../escaped", r"utterance '\.\./\.\./escaped' cannot be a file's name"),
        ("speaker", "a b", "speaker 'a b' has white space"),
        ("speaker", "2", "speaker '2' has white space, no name, or two genders"),
    ],
)
def test_corpus_that_kaldi_cannot_hold_is_refused(
    corpus: Corpus, tmp_path: Path, column: str, value: str, message: str
) -> None:
    corpus.manifest.loc[3, column] = value
    with pytest.raises(DataError, match=message):
        export(corpus, tmp_path / "k")
    assert not (tmp_path / "k").exists()


def test_number_of_workers_changes_nothing(corpus: Corpus, tmp_path: Path) -> None:
    for workers in (1, 2):
        with Pool(workers) as pool:
            export(corpus, tmp_path / f"k{workers}", pool=pool)
    one, two = (
        {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
        for root in (tmp_path / "k1", tmp_path / "k2")
    )
    assert len(one) == 9
    assert one == two
