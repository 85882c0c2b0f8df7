from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from corpora.anonymized_tree import ENROLS, SETS, TRIALS
from harness.corpora.anonymized import find_files, find_folders
from harness.errors import ConfigError, DataError


def folders(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).mkdir(parents=True)
    return root


@pytest.mark.parametrize("suffix", ["", "_nac", "-T10-2", "_f", ".größer 2", "x"])
@pytest.mark.parametrize("outer", ["", "data"])
def test_folders_of_any_suffix(tmp_path: Path, suffix: str, outer: str) -> None:
    folders(tmp_path / outer, *(f"{name}{suffix}" for name in SETS), "exp")
    found, problems = find_folders(tmp_path, SETS)
    assert found == {name: tmp_path / outer / f"{name}{suffix}" for name in SETS}
    assert problems == []


def test_of_two_sets_the_longer_name_counts(tmp_path: Path) -> None:
    folders(tmp_path, "trials_x", "trials_all_x")
    found, _ = find_folders(tmp_path, ["trials", "trials_all"])
    assert {name: path.name for name, path in found.items()} == {
        "trials": "trials_x",
        "trials_all": "trials_all_x",
    }


def test_several_suffixes_are_asked_about(tmp_path: Path) -> None:
    folders(tmp_path, *SETS, *(f"{name}_nac" for name in SETS))
    found, problems = find_folders(tmp_path, SETS)
    assert found == {}
    assert [str(problem) for problem in problems] == [
        f"suffix: {tmp_path}: folders with 2 suffixes: '' (2 sets), '_nac' (2 sets); "
        "name one by --suffix="
    ]
    assert find_folders(tmp_path, SETS, suffix="_nac")[0][TRIALS].name == f"{TRIALS}_nac"
    assert find_folders(tmp_path, SETS, suffix="")[0][TRIALS].name == TRIALS


def test_misspelt_folder_is_named_and_mapped_only_on_request(tmp_path: Path) -> None:
    folders(tmp_path, f"{ENROLS}_nac", "libri_dev_trails_f_nac")
    found, problems = find_folders(tmp_path, SETS)
    assert list(found) == [ENROLS]
    assert [str(problem) for problem in problems] == [
        f"set: {tmp_path}: no folder 'libri_dev_trials_f_nac' of set libri_dev_trials_f; "
        "if it is 'libri_dev_trails_f_nac': --map libri_dev_trails_f_nac=libri_dev_trials_f"
    ]
    found, problems = find_folders(tmp_path, SETS, mapping={"libri_dev_trails_f_nac": TRIALS})
    assert found[TRIALS].name == "libri_dev_trails_f_nac"
    assert problems == []


@pytest.mark.parametrize(
    ("folder", "name", "message"),
    [
        ("libri_dev_enrols", ENROLS, r"no folder 'libri_dev_enrols'; did you mean 'libri_dev_enr"),
        (ENROLS, "libri_dev_trial_f", r"no set 'libri_dev_trial_f'; did you mean 'libri_dev_tri"),
        (f"../{ENROLS}", ENROLS, "no folder"),
    ],
)
def test_mapping_of_what_is_not_there(tmp_path: Path, folder: str, name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        find_folders(folders(tmp_path, *SETS), SETS, mapping={folder: name})


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    folders(tmp_path, "in", "out", f"in/{ENROLS}", f"out/{TRIALS}")
    (tmp_path / "in" / TRIALS).symlink_to(tmp_path / "out" / TRIALS)
    found, problems = find_folders(tmp_path / "in", SETS)
    assert list(found) == [ENROLS]
    assert "'libri_dev_trials_f' is a link, which is not followed" in str(problems[0])


def test_linked_data(tmp_path: Path) -> None:
    folders(tmp_path, "in", *(f"out/{name}" for name in SETS))
    (tmp_path / "in/data").symlink_to(tmp_path / "out")
    with pytest.raises(DataError, match="in: 'data' is a link, which is not followed; put a copy"):
        find_folders(tmp_path / "in", SETS)
    # Nothing is looked for in it where the sets lie beside it.
    folders(tmp_path / "in", *SETS)
    assert find_folders(tmp_path / "in", SETS)[1] == []


def test_too_many_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.corpora.anonymized.MOST_FOLDERS", 2)
    with pytest.raises(DataError, match="more than 2 entries"):
        find_folders(folders(tmp_path, "a", "b", "c"), SETS)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        find_folders(tmp_path / "none", SETS)


def put(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / "wav" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def test_files_flat_and_nested(tmp_path: Path) -> None:
    found = find_files(put(tmp_path, "a.wav", "b/b.wav", "c.flac"), ["a", "b", "c", "d"])
    wav = tmp_path / "wav"
    assert found.found == {"a": wav / "a.wav", "b": wav / "b/b.wav", "c": wav / "c.flac"}
    assert (found.extra, found.links, found.twice) == ([], [], [])


def test_what_is_no_utterance(tmp_path: Path) -> None:
    names = ("a.wav", "a/a.wav", "b/c.wav", "c.mp3", "x.wav", "b/deep/b.wav", "line\nend.wav")
    found = find_files(put(tmp_path, *names), ["a", "b", "c"])
    assert found.twice == ["a"]
    assert sorted(found.extra) == ["b/c.wav", "b/deep", "c.mp3", "line\nend.wav", "x.wav"]
    assert list(found.found) == ["a"]


def test_links_and_pipes_are_never_opened(tmp_path: Path) -> None:
    put(tmp_path / "set", "a.wav")
    put(tmp_path / "out", "b.wav", "d/d.wav")
    wav, outside = tmp_path / "set/wav", tmp_path / "out/wav"
    (wav / "b.wav").symlink_to(outside / "b.wav")
    (wav / "d").symlink_to(outside / "d")
    os.mkfifo(wav / "c.wav")
    found = find_files(tmp_path / "set", ["a", "b", "c", "d"])
    assert list(found.found) == ["a"]
    assert sorted(found.links) == ["b.wav", "c.wav", "d"]
    shutil.rmtree(wav)
    wav.symlink_to(outside)
    with pytest.raises(DataError, match="set: 'wav' is a link, which is not followed; put a copy"):
        find_files(tmp_path / "set", ["b"])
    wav.unlink()
    with pytest.raises(DataError, match="no folder 'wav'; put <utterance>.wav into wav/"):
        find_files(tmp_path / "set", ["b"])


def test_far_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.corpora.anonymized.ENTRIES_BESIDES", 1)
    put(tmp_path, *(f"{n}.wav" for n in range(5)))
    assert len(find_files(tmp_path, ["0"]).extra) == 4
    put(tmp_path, "5.wav")
    with pytest.raises(DataError, match="more than 5 entries for 1 utterances"):
        find_files(tmp_path, ["0"])
