"""The stage `corpus`: data that are not the protocol's are refused before any audio is decoded."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.corpora import benchmark as stage
from harness.corpora.benchmark import (
    Folders,
    Member,
    build_benchmark,
    gather,
    require_sets,
    trial_texts,
)
from harness.corpora.importing import Recording
from harness.corpora.store import Corpus
from harness.errors import AudioError, ConfigError, DataError
from harness.protocols.lists import sha256_text
from harness.protocols.protocol import DataSet, Protocol, TrialList, data_file, load
from harness.runtime.events import Event, Events
from harness.runtime.pool import Pool


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(protocol: Protocol, folders: Folders, *, segment_seconds: float | None = None) -> int:
    return build_benchmark(
        protocol,
        folders,
        Path("corpus"),
        segment_seconds=segment_seconds,
        pool=Pool(1),
        events=Events(),
    )


def nothing_was_made() -> bool:
    return not [path for path in Path().glob("[.c]*/**/*") if path.is_file()]


# --- synthetic voices -----------------------------------------------------------------------------


def test_demo_has_what_its_protocol_says() -> None:
    protocol = load("demo")
    members = gather(protocol, Folders())
    require_sets(protocol, members)
    texts = trial_texts(protocol, members)
    for listed in protocol.lists:
        assert texts[listed.trials].count(" target\n") == listed.target
    spoken = {name: {m.utterance for m in found} for name, found in members.items()}
    enrolments, trials = spoken["demo_test_enrolls"], spoken["demo_test_trials_f"]
    assert not enrolments & trials
    # Attackers are trained on other voices than those they are tested on.
    training = {m.speaker for m in members["train"]}
    assert not training & {m.speaker for m in members["demo_test_enrolls"]}
    assert {m.speaker for m in members["demo_test_trials_f"]} <= {
        m.speaker for m in members["demo_test_enrolls"] if m.gender == "f"
    }


def test_synthetic_voices_are_not_cut() -> None:
    with pytest.raises(
        ConfigError, match=r"benchmarks\.demo\.segment_seconds: synthetic .* not cut"
    ):
        run(load("demo"), Folders(), segment_seconds=3.0)
    assert nothing_was_made()


def test_another_seed_gives_other_lists() -> None:
    protocol = load("demo")
    other = dataclasses.replace(protocol, source=dataclasses.replace(protocol.source, seed=1))
    one, two = gather(protocol, Folders()), gather(other, Folders())
    assert [m.utterance for m in one["train"]] == [m.utterance for m in two["train"]]
    assert [m.recipe for m in one["train"]] != [m.recipe for m in two["train"]]  # type: ignore[union-attr]


# --- counts and hashes ----------------------------------------------------------------------------


def small_protocol() -> Protocol:
    text = "1 1-1-0 target\n1 2-1-0 nontarget\n"
    return dataclasses.replace(
        load("vpac2025"),
        name="small",
        sets=(
            DataSet("train", "train", 1, 1, 3),
            DataSet("enrolls", "enrolment", 1, 0, 1, sha256=sha256_text("1-0-0\n")),
            DataSet("trials_f", "trial", 2, 0, 2),
        ),
        lists=(TrialList("trials_f", "enrolls", "libri", "dev", "f", 1, 1, sha256_text(text)),),
    )


def recording(name: str, gender: str = "f") -> Recording:
    return Recording(name, name.split("-")[0], gender, "", Path("none.flac"))


def small_members() -> dict[str, Sequence[Member]]:
    return {
        "train": [recording("7-1-0"), recording("7-1-1"), recording("8-1-0", "m")],
        "enrolls": [recording("1-0-0")],
        "trials_f": [recording("1-1-0"), recording("2-1-0")],
    }


def test_right_members_pass() -> None:
    require_sets(small_protocol(), small_members())
    assert trial_texts(small_protocol(), small_members()) == {
        "trials_f": "1 1-1-0 target\n1 2-1-0 nontarget\n"
    }


def test_all_wrong_numbers_stand_side_by_side() -> None:
    members = small_members()
    members["train"] = [recording("7-1-0"), recording("8-1-0")]
    members["enrolls"] = [recording("1-0-1")]
    found, expected = sha256_text("1-0-1\n"), sha256_text("1-0-0\n")
    with pytest.raises(
        DataError,
        match=r"data of small: train: utterances 2 \(expected 3\); "
        r"train: female speakers 2 \(expected 1\); train: male speakers 0 \(expected 1\); "
        rf"enrolls: sha256 of its list {found} \(expected {expected}\); give the data that",
    ):
        require_sets(small_protocol(), members)


def test_wrong_trial_list_is_refused() -> None:
    members = small_members()
    members["trials_f"] = [recording("1-1-0"), recording("2-1-9")]
    with pytest.raises(
        DataError, match=r"trials_f: the trial list differs .*: sha256 \w{64} \(exp"
    ):
        trial_texts(small_protocol(), members)
    members["trials_f"] = [recording("1-1-0"), recording("1-1-1")]
    with pytest.raises(DataError, match=r"target 2 \(expected 1\), nontarget 0 \(expected 1\)"):
        trial_texts(small_protocol(), members)


def test_wrong_numbers_are_found_before_audio(monkeypatch: pytest.MonkeyPatch) -> None:
    members = {**small_members(), "train": []}
    monkeypatch.setattr(stage, "gather", lambda protocol, folders: members)
    with pytest.raises(DataError, match=r"train: utterances 0 \(expected 3\)"):
        run(small_protocol(), Folders())
    assert nothing_was_made()


def test_missing_audio_is_found_when_numbers_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "gather", lambda protocol, folders: small_members())
    with pytest.raises(AudioError, match=r"none\.flac: "):
        run(small_protocol(), Folders())
    assert nothing_was_made()


# --- the LibriSpeech excerpt ----------------------------------------------------------------------


def test_excerpt_without_librispeech() -> None:
    with pytest.raises(
        ConfigError,
        match=r"^params\.yaml: sources\.librispeech: where is LibriSpeech\?; set it, or the "
        r"environment variable HARNESS_LIBRISPEECH$",
    ):
        run(load("libri-mini"), Folders())


def test_excerpt_with_a_wrong_folder(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match="sources.librispeech: no such folder: .*none; mend it or"
    ):
        run(load("libri-mini"), Folders(librispeech=tmp_path / "none"))


def test_excerpt_passes_all_checks(test_data: Path) -> None:
    protocol = load("libri-mini")
    members = gather(protocol, Folders(librispeech=test_data / "speech"))
    require_sets(protocol, members)
    assert {name: len(found) for name, found in members.items()} == {
        "train-clean-100": 220,
        "mini_dev_enrolls": 50,
        "mini_dev_trials_f": 25,
        "mini_dev_trials_m": 25,
        "mini_test_enrolls": 200,
        "mini_test_trials_f": 100,
        "mini_test_trials_m": 100,
    }
    texts = trial_texts(protocol, members)
    # 20 speakers of a gender, five trials each: 100 targets, 19 times as many nontargets.
    assert texts["mini_test_trials_f"].count(" nontarget\n") == 1_900


@pytest.fixture
def excerpt(test_data: Path, tmp_path: Path) -> Path:
    """The excerpt as a tree of links to its files, so that a test may change one."""
    source, target = test_data / "speech/LibriSpeech", tmp_path / "LibriSpeech"
    shutil.copytree(source, target, copy_function=lambda old, new: Path(new).symlink_to(old))
    return target


def replace_file(path: Path, data: bytes) -> None:
    path.unlink()
    path.write_bytes(data)


def test_changed_audio_is_found_by_its_hash(excerpt: Path) -> None:
    path = sorted((excerpt / "test-clean").rglob("*.flac"))[0]
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    replace_file(path, bytes(data))
    with pytest.raises(
        DataError,
        match=rf"LibriSpeech \(test-clean\): 1 of \d+ FLAC files differ from LibriSpeech, e\.g\. "
        rf"{path.stem}: sha256 \w{{64}} \(expected \w{{64}}\); download that subset again",
    ):
        run(load("libri-mini"), Folders(librispeech=excerpt))
    assert nothing_was_made()


def test_missing_audio_is_named(excerpt: Path) -> None:
    sorted((excerpt / "test-other").rglob("*.flac"))[0].unlink()
    with pytest.raises(DataError, match=r"\(test-other\): 1 of 50 utterances are missing, e\.g\. "):
        run(load("libri-mini"), Folders(librispeech=excerpt))


def test_changed_list_of_utterances_is_found(
    excerpt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol = load("libri-mini")
    name = str(protocol.source.utterances)
    (tmp_path / name).write_text(data_file(name).read_text().replace("\tf\t", "\tm\t", 1))
    monkeypatch.setattr(stage, "data_file", tmp_path.joinpath)
    with pytest.raises(DataError, match=r"tsv: the list of utterances was changed; reinstall"):
        run(protocol, Folders(librispeech=excerpt))


def test_part_of_the_excerpt_is_stored_and_only_training_is_cut(test_data: Path) -> None:
    whole = load("libri-mini")
    sets = tuple(
        dataclasses.replace(s, role="train") if s.name == "mini_dev_trials_f" else s
        for s in whole.sets
        if s.name in ("mini_dev_trials_f", "mini_dev_trials_m")
    )
    protocol = dataclasses.replace(whole, sets=sets, lists=())
    heard: list[Event] = []
    count = build_benchmark(
        protocol,
        Folders(librispeech=test_data / "speech"),
        Path("corpus"),
        segment_seconds=3.0,
        pool=Pool(1),
        events=Events(heard.append),
    )
    cut, uncut = (Corpus(Path("corpus", s.name)) for s in sets)
    assert count == 50
    assert len(uncut) == 25
    assert len(cut) > 25
    assert cut.manifest["utterance"].str.fullmatch(r"\d+-\d+-\d{4}-\d\d").all()
    # round(duration / 3 s) parts of equal length: none is over 4.5 s.
    assert cut.manifest["samples"].max() <= 4.5 * 16_000
    assert heard[-1]["task"] == "corpus mini_dev_trials_m"
    assert heard[-1]["done"] == heard[-1]["total"] == 25


# --- the official lists ---------------------------------------------------------------------------


def test_wrong_folder_is_blamed_on_what_set_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_LIBRISPEECH", raising=False)
    folders = Folders(librispeech=Path("/nowhere"))
    with pytest.raises(
        ConfigError, match=r"^params\.yaml: sources\.librispeech: no such folder: /n"
    ):
        run(load("libri-mini"), folders)
    monkeypatch.setenv("HARNESS_LIBRISPEECH", "/nowhere")
    with pytest.raises(
        ConfigError,
        match=r"^environment variable HARNESS_LIBRISPEECH: no such folder: /nowhere; mend it$",
    ):
        run(load("libri-mini"), folders)


def test_official_without_lists(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"sources\.lists: where is the official .*HARNESS_LISTS$"
    ):
        run(load("vpac2025"), Folders(librispeech=tmp_path))


def test_official_without_librispeech(test_data: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"where is LibriSpeech\?; .*variable HARNESS_LIBRISPEECH$"
    ):
        run(load("vpac2025"), Folders(lists=test_data / "vpc-lists"))


@pytest.fixture
def official(test_data: Path, tmp_path: Path) -> Folders:
    """The official lists, and a LibriSpeech tree with an empty file for each of their utterances
    and three training utterances of two speakers."""
    root, lists = tmp_path / "LibriSpeech", test_data / "vpc-lists"
    genders = {"7": "F", "8": "M"}

    def add(subset: str, name: str) -> None:
        speaker, chapter, _ = name.split("-")
        folder = root / subset / speaker / chapter
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.flac").touch()

    for folder in lists.iterdir():
        subset = "dev-clean" if "_dev_" in folder.name else "test-clean"
        for line in (folder / "utt2spk").read_text().splitlines():
            add(subset, line.split()[0])
        for line in (folder / "spk2gender").read_text().splitlines():
            speaker, gender = line.split()
            genders[speaker] = gender.upper()
    for name in ("7-1-0000", "7-1-0001", "8-1-0000"):
        add("train-clean-360", name)
    (root / "SPEAKERS.TXT").write_text(
        "".join(f"{s} | {g} | subset | 1.0 | reader\n" for s, g in genders.items())
    )
    return Folders(librispeech=root, lists=lists)


def test_official_lists_pass_and_training_set_is_counted(official: Folders) -> None:
    protocol = load("vpac2025")
    members = gather(protocol, official)
    texts = trial_texts(protocol, members)
    for listed in protocol.lists:
        path = Path(str(official.lists), listed.trials, "trials")
        assert texts[listed.trials].encode() == path.read_bytes()
    # Of all sets only the training set is wrong.
    with pytest.raises(
        DataError,
        match=r"^data of vpac2025: train-clean-360: utterances 3 \(expected 104014\); "
        r"train-clean-360: female speakers 1 \(expected 439\); "
        r"train-clean-360: male speakers 1 \(expected 482\); give the data that the protocol",
    ):
        run(protocol, official)
    assert nothing_was_made()


def test_empty_audio_is_refused_once_the_numbers_are_right(official: Folders) -> None:
    protocol = load("vpac2025")
    small = dataclasses.replace(protocol.training_set(), female=1, male=1, utterances=3)
    sets = tuple(small if s.role == "train" else s for s in protocol.sets)
    with pytest.raises(AudioError, match=r"train-clean-360/7/1/7-1-0000\.flac: "):
        run(dataclasses.replace(protocol, sets=sets), official)
    assert nothing_was_made()


def test_official_list_that_lost_an_utterance(official: Folders, tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    shutil.copytree(str(official.lists), lists)
    folder = lists / "libri_dev_enrolls"
    for name in ("spk2utt", "enrolls", "text", "utt2dur"):
        (folder / name).unlink()
    lines = (folder / "utt2spk").read_text().splitlines(keepends=True)
    (folder / "utt2spk").write_text("".join(lines[1:]))
    with pytest.raises(
        DataError,
        match=r"libri_dev_enrolls: utterances 342 \(expected 343\); "
        r"libri_dev_enrolls: sha256 of its list \w{64} \(expected 778e7d70",
    ):
        run(load("vpac2025"), dataclasses.replace(official, lists=lists))


def test_enrolments_under_another_speaker_are_found(official: Folders, tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    shutil.copytree(str(official.lists), lists)
    folder = lists / "libri_dev_enrolls"
    (folder / "spk2utt").unlink()
    rows = [line.split() for line in (folder / "utt2spk").read_text().splitlines()]
    genders = dict(line.split() for line in (folder / "spk2gender").read_text().splitlines())
    women = sorted({speaker for _, speaker in rows if genders[speaker] == "f"})
    turned = dict(zip(women, women[1:] + women[:1], strict=True))
    text = "".join(f"{utterance} {turned.get(s, s)}\n" for utterance, s in rows)
    (folder / "utt2spk").write_text(text)
    with pytest.raises(
        DataError, match=r"libri_dev_enrolls: sha256 of utt2spk \w{64} \(expected 91b2d0e3c"
    ):
        run(load("vpac2025"), dataclasses.replace(official, lists=lists))


def test_an_official_file_that_was_changed_is_refused(official: Folders, tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    shutil.copytree(str(official.lists), lists)
    trials = lists / "libri_dev_trials_f" / "trials"
    trials.write_text(trials.read_text().replace(" target", " nontarget"))
    with pytest.raises(
        DataError, match=r"libri_dev_trials_f/trials: sha256 \w{64} \(expected 898c53ef"
    ):
        run(load("vpac2025"), dataclasses.replace(official, lists=lists))


def test_relative_paths_of_wav_scp_begin_above_the_lists(official: Folders, tmp_path: Path) -> None:
    lists = tmp_path / "data"
    shutil.copytree(str(official.lists), lists)
    folder = lists / "libri_test_enrolls"
    (folder / "wav").mkdir()
    entries = []
    for line in (folder / "utt2spk").read_text().splitlines():
        name = line.split()[0]
        (folder / "wav" / f"{name}.wav").touch()
        entries.append(f"{name} data/libri_test_enrolls/wav/{name}.wav\n")
    (folder / "wav.scp").write_text("".join(entries))
    members = gather(load("vpac2025"), dataclasses.replace(official, lists=lists))
    first = members["libri_test_enrolls"][0]
    assert isinstance(first, Recording)
    assert first.path == folder / "wav" / f"{first.utterance}.wav"


def test_a_list_that_nobody_knows_is_not_made_up() -> None:
    with pytest.raises(DataError, match="vpc2026 libri_dev_trials_mixed: the edition's list"):
        trial_texts(load("vpc2026"), {})
