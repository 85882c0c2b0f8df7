from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import ConfigError, TrackingError
from harness.protocols.protocol import EmotionSet
from harness.runtime import doctor, machine
from harness.runtime.doctor import examine
from harness.runtime.machine import Finding
from harness.runtime.parameters import Tracking, load

REPOSITORY = Path(__file__).resolve().parents[2]
# Subsets that the two benchmarks of real speech take their sets from.
EXCERPT_SUBSETS = ("train-clean-100", "test-clean", "test-other")
LIST_FOLDERS = (
    *(f"libri_{split}_enrolls" for split in ("dev", "test")),
    *(f"libri_{split}_trials_{gender}" for split in ("dev", "test") for gender in "fm"),
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder with what `dvc repro` starts from, in git."""
    folder = tmp_path / "repository"
    (folder / ".dvc").mkdir(parents=True)
    (folder / "requirements").mkdir()
    for name in ("params.yaml", "dvc.yaml", machine.LOCK):
        shutil.copy(REPOSITORY / name, folder / name)
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "files")):
        subprocess.run(["git", "-C", str(folder), *command], check=True)
    return folder


def works(tracking: Tracking) -> None:
    """A store that answers."""


def look(
    repository: Path, benchmark: str | None = "demo", *, deep: bool = False
) -> dict[str, Finding]:
    found = examine(benchmark, deep=deep, check_store=works, root=repository)
    assert len({finding.subject for finding in found}) == len(found)
    assert all(f.fix is not None for f in found if f.status == "problem")
    return {finding.subject: finding for finding in found}


def set_parameter(repository: Path, old: str, new: str) -> None:
    path = repository / "params.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH; write scripts into it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def script(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


# The benchmark


def test_the_chosen_benchmark_is_looked_at(repository: Path) -> None:
    assert look(repository, None)["parameters"].text.endswith("benchmark demo")
    set_parameter(repository, "benchmark: *demo", "benchmark: *libri-mini")
    assert look(repository, None)["parameters"].text.endswith("benchmark libri-mini")


def test_unknown_benchmark(repository: Path) -> None:
    with pytest.raises(ConfigError, match="no benchmark 'deno'; did you mean 'demo'"):
        look(repository, "deno")


def test_mistake_in_the_parameters_is_a_problem_and_the_rest_is_still_looked_at(
    repository: Path,
) -> None:
    set_parameter(repository, "\n  threads: 2", "\n  treads: 2")
    found = look(repository)
    assert found["parameters"].status == "problem"
    assert "treads" in found["parameters"].text
    assert found["git"].status == "ok"
    assert "speech" not in found


def test_no_parameters(repository: Path) -> None:
    (repository / "params.yaml").unlink()
    assert look(repository)["parameters"].text.endswith("params.yaml: no such file")


# Speech and lists


def test_the_demo_needs_nothing_from_outside(repository: Path) -> None:
    assert look(repository)["speech"] == Finding("speech", "ok", "made on the spot")


def test_librispeech_is_asked_for_by_the_variable(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = look(repository, "libri-mini")["librispeech"]
    assert (found.status, found.text) == ("problem", "HARNESS_LIBRISPEECH is not set")
    assert str(found.fix).startswith("export HARNESS_LIBRISPEECH=")

    tree = tmp_path / "LibriSpeech"
    monkeypatch.setenv("HARNESS_LIBRISPEECH", str(tmp_path))
    for subset in EXCERPT_SUBSETS:
        found = look(repository, "libri-mini")["librispeech"]
        assert found.status == "problem"
        (tree / subset).mkdir(parents=True)
    # The folder itself and the one that holds it are both understood.
    assert look(repository, "libri-mini")["librispeech"].status == "ok"
    monkeypatch.setenv("HARNESS_LIBRISPEECH", str(tree))
    assert look(repository, "libri-mini")["librispeech"].status == "ok"

    (tree / "test-other").rmdir()
    found = look(repository, "libri-mini")["librispeech"]
    assert found.text == f"no test-other in {tree}"
    assert str(found.fix).endswith(f"/test-other.tar.gz | tar xz -C {tmp_path}")

    monkeypatch.setenv("HARNESS_LIBRISPEECH", str(tmp_path / "away"))
    found = look(repository, "libri-mini")["librispeech"]
    assert found.text == f"no such folder: {tmp_path / 'away'}"


def test_a_folder_in_the_parameters_counts_too(repository: Path, tmp_path: Path) -> None:
    for subset in EXCERPT_SUBSETS:
        (tmp_path / "speech" / subset).mkdir(parents=True)
    set_parameter(repository, "librispeech: null", f"librispeech: {tmp_path / 'speech'}")
    assert look(repository, "libri-mini")["librispeech"].status == "ok"


def test_emodb_is_asked_for_where_a_benchmark_has_it(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "emotion set emodb" not in look(repository, "demo")
    found = look(repository, "libri-mini")["emotion set emodb"]
    assert (found.status, found.text) == ("problem", "HARNESS_EMODB is not set")
    assert found.fix == "export HARNESS_EMODB=/path/to/the/folder/with/03a01Fa.wav"
    folder = tmp_path / "emodb"
    monkeypatch.setenv("HARNESS_EMODB", str(folder))
    for there in (False, True):
        found = look(repository, "libri-mini")["emotion set emodb"]
        assert (found.status, found.text) == ("problem", f"no 03a01Fa.wav or .flac in {folder}")
        (folder / "wav").mkdir(parents=True, exist_ok=there)
    # The folder of the files and the one that holds it are both understood.
    (folder / "wav" / "03a01Fa.wav").touch()
    assert look(repository, "libri-mini")["emotion set emodb"] == Finding(
        "emotion set emodb", "ok", str(folder)
    )
    monkeypatch.delenv("HARNESS_EMODB")
    set_parameter(repository, "emodb: null", f"emodb: {folder / 'wav'}")
    assert look(repository, "libri-mini")["emotion set emodb"].status == "ok"
    set_parameter(repository, "emotion_sets: [emodb]", "emotion_sets: []")
    assert "emotion set emodb" not in look(repository, "libri-mini")


def test_emotional_speech_of_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = EmotionSet("iemocap_test", "iemocap", "test", "lists", 5, 5, {"sad": 1})
    parameters = load(REPOSITORY / "params.yaml")
    monkeypatch.setenv("HARNESS_LISTS", str(tmp_path))
    found = doctor.emotional(parameters, wanted)
    assert (found.subject, found.status) == ("emotion set iemocap_test", "problem")
    assert found.text == f"no iemocap_test in {tmp_path}"
    assert found.fix == "export HARNESS_LISTS=/path/to/the/folder/with/iemocap_test"
    (tmp_path / "iemocap_test").mkdir()
    assert doctor.emotional(parameters, wanted).status == "ok"


def test_official_lists(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = look(repository, "vpac2025")
    assert found["lists"].text == "HARNESS_LISTS is not set"
    assert found["librispeech"].status == "problem"
    for name in LIST_FOLDERS:
        (tmp_path / "data" / name).mkdir(parents=True)
    monkeypatch.setenv("HARNESS_LISTS", str(tmp_path / "data"))
    found = look(repository, "vpac2025")
    assert found["lists"].status == "ok"
    assert found["librispeech"].status == "problem"
    (tmp_path / "data" / LIST_FOLDERS[-1]).rmdir()
    assert look(repository, "vpac2025")["lists"].text.startswith(f"no {LIST_FOLDERS[-1]} in ")


def test_librispeech_is_not_needed_where_the_lists_come_with_audio(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_LISTS", str(tmp_path / "data"))
    for name in (*LIST_FOLDERS, "train-clean-360"):
        assert look(repository, "vpac2025")["librispeech"].status == "problem"
        (tmp_path / "data" / name / "wav").mkdir(parents=True)
    assert look(repository, "vpac2025")["librispeech"].status == "ok"


def test_real_data_are_recognised(
    test_data: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_LIBRISPEECH", str(test_data / "speech"))
    monkeypatch.setenv("HARNESS_LISTS", str(test_data / "vpc-lists"))
    monkeypatch.setenv("HARNESS_EMODB", str(test_data / "speech/emodb"))
    assert look(repository, "libri-mini")["librispeech"].status == "ok"
    assert look(repository, "libri-mini")["emotion set emodb"].status == "ok"
    found = look(repository, "vpac2025")
    assert found["lists"].status == "ok"
    assert found["librispeech"].text.startswith("no train-clean-360, dev-clean in ")


# Disk


def test_disk_is_asked_for_what_the_benchmark_writes(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def free(gigabytes: float) -> None:
        usage = shutil._ntuple_diskusage(int(1e12), 0, int(gigabytes * 1e9))  # type: ignore[attr-defined]
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)

    # train-clean-360 is 23 GB of FLAC (openslr.org/12): original, two systems, and DVC's cache.
    free(100)
    found = look(repository, "vpac2025")["disk"]
    assert found.status == "problem"
    assert found.text.startswith("100.0 GB free, about 1")
    free(200)
    assert look(repository, "vpac2025")["disk"].status == "ok"
    free(2)
    assert look(repository, "demo")["disk"].status == "ok"
    free(0.1)
    assert look(repository, "demo")["disk"].status == "problem"


def test_what_is_there_already_is_not_asked_for_again(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil._ntuple_diskusage(int(1e12), 0, 0)  # type: ignore[attr-defined]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    shard = repository / "data" / "demo" / "corpus" / "train" / "train-000000.tar"
    shard.parent.mkdir(parents=True)
    with shard.open("wb") as stream:
        stream.truncate(10**9)
    assert look(repository)["disk"].text == "0.0 GB free, about 0.0 GB needed"


# Tracking


def test_store_that_fails_is_a_problem_with_its_own_fix(repository: Path) -> None:
    def fails(tracking: Tracking) -> None:
        raise TrackingError("no answer", where="http://127.0.0.1:1", fix="start the server")

    found = examine("demo", deep=False, check_store=fails, root=repository)
    assert found[-1] == Finding(
        "tracking", "problem", "http://127.0.0.1:1: no answer", "start the server"
    )


def test_tracking_may_be_off(repository: Path) -> None:
    def fails(tracking: Tracking) -> None:
        raise AssertionError("opened")

    set_parameter(repository, "enabled: true", "enabled: false")
    assert examine("demo", deep=False, check_store=fails, root=repository)[-1].status == "note"


# Machine


def test_other_python_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.python().status == "ok"
    monkeypatch.setattr(sys, "version_info", (3, 12, 4, "final", 0))
    assert machine.python() == Finding(
        "python",
        "note",
        "3.12.4; the locked packages are for 3.11",
        "make .venv PYTHON=python3.11",
    )


def test_git_repository_is_needed(repository: Path, tmp_path: Path) -> None:
    assert machine.git(repository).status == "ok"
    outside = tmp_path / "outside"
    outside.mkdir()
    found = machine.git(outside)
    assert (found.status, found.text) == ("problem", "no repository with a commit here")


def test_repository_of_another_user(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    found = machine.git(repository)
    assert found.fix == f"git config --global --add safe.directory {repository}"


def test_no_git(repository: Path, command: Path) -> None:
    found = machine.git(repository)
    assert (found.text, found.fix) == ("not installed", "sudo apt-get install git")


def test_dvc_files_and_commands(repository: Path, command: Path) -> None:
    assert machine.pipeline(repository).text == "not on PATH: dvc, harness"
    script(command, "dvc", "")
    found = machine.pipeline(repository)
    assert (found.status, found.text) == ("note", "not on PATH: harness")
    script(command, "harness", "")
    assert machine.pipeline(repository).status == "ok"
    (repository / "dvc.yaml").unlink()
    assert machine.pipeline(repository).status == "problem"


@pytest.mark.parametrize(
    ("body", "status", "text", "fix"),
    [
        ("echo 27.1.0", "ok", "server 27.1.0", None),
        ("exit 1", "note", "does not answer", "start docker"),
        ("echo permission denied >&2; exit 1", "note", "refuses this user", "usermod"),
    ],
)
def test_docker(command: Path, body: str, status: str, text: str, fix: str | None) -> None:
    script(command, "docker", body)
    for needed in (False, True):
        found = machine.docker(needed)
        assert found.status == ("problem" if needed and status == "note" else status)
        assert text in found.text
        assert ("only images need it" in found.text) == (not needed and status == "note")
        assert (found.fix is None) if fix is None else (fix in str(found.fix))


def test_docker_may_be_absent(command: Path) -> None:
    found = machine.docker(needed=False)
    assert (found.status, found.fix) == ("note", "sudo apt-get install docker.io")
    assert machine.docker(needed=True) == dataclasses.replace(
        found, status="problem", text="not installed"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("runner: process ", "runner: docker "),
        ("b2: {type: mcadams, ", "b2: {type: image, "),
        ("ecapa-demo:\n    type: ecapa", "ecapa-demo:\n    type: image"),
    ],
)
def test_who_needs_docker(repository: Path, command: Path, old: str, new: str) -> None:
    assert look(repository)["docker"].status == "note"
    set_parameter(repository, old, new)
    assert look(repository)["docker"].status == "problem"
    # The official one is no part of the demo.
    set_parameter(repository, new, old)
    set_parameter(repository, "b2-official: {type: mcadams", "b2-official: {type: image")
    assert look(repository)["docker"].status == "note"


@pytest.mark.heavy
def test_in_docker_the_host_needs_no_torch(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Stands for an environment without them.
    absent = {"torch", "speechbrain", "numba"}
    version = machine._version
    monkeypatch.setattr(machine, "_version", lambda n: None if n in absent else version(n))
    assert look(repository)["packages"].status == "problem"
    set_parameter(repository, "runner: process ", "runner: docker ")
    found = look(repository, deep=True)
    assert found["packages"].status == "note"
    assert "torch" not in found


def test_gpu(command: Path) -> None:
    assert machine.gpu("auto", deep=False).status == "note"
    assert machine.gpu("cuda", deep=False).status == "problem"
    assert machine.gpu("cpu", deep=False).status == "ok"
    script(command, "nvidia-smi", "echo NVIDIA A100; echo NVIDIA T4")
    for device in ("auto", "cuda"):
        assert machine.gpu(device, deep=False) == Finding("gpu", "ok", "NVIDIA A100, NVIDIA T4")


def test_driver_that_fails_is_no_gpu(command: Path) -> None:
    script(command, "nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")
    assert machine.gpu("auto", deep=False).status == "note"


# Packages


def lock(folder: Path, **versions: str) -> Path:
    """A lock file in the form that uv writes."""
    path = folder / "some.lock"
    lines = (f"{n}=={v} \\\n    --hash=sha256:00\n    # via x==9\n" for n, v in versions.items())
    path.write_text("# made by hand\n" + "".join(lines), encoding="utf-8")
    return path


def test_installed_versions_are_held_against_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = {"numpy": "2.4.6", "torch": "2.14.1+cpu", "pandas": "3.1.1"}
    monkeypatch.setattr(machine, "_version", installed.get)
    assert machine.packages(lock(tmp_path, numpy="2.4.6", torch="2.14.1"), ["numpy"]) == Finding(
        "packages", "ok", "all 2 as locked"
    )
    found = machine.packages(lock(tmp_path, numpy="2.4.6", pandas="3.1.0", ray="1"), ["numpy"])
    assert found.status == "note"
    assert found.text.endswith("pandas 3.1.1 (locked 3.1.0), ray absent (locked 1)")
    found = machine.packages(lock(tmp_path, numpy="2.4.6"), ["numpy", "dvc", "mlflow"])
    assert (found.status, found.text) == ("problem", "not installed: dvc, mlflow")
    assert machine.packages(tmp_path / "none.lock", ["numpy"]).status == "note"


def test_needed_packages_are_those_that_the_package_declares() -> None:
    plain = machine.needed_packages([])
    assert {"numpy", "pandas", "pyyaml", "soundfile", "scipy"} <= set(plain)
    assert not {"torch", "numba", "dvc"} & set(plain)
    more = machine.needed_packages(["attacker", "mcadams", "original"])
    assert set(more) - set(plain) >= {"torch", "speechbrain", "numba"}
    assert "espeakng-loader" in machine.needed_packages(["demo"])
    assert "pyworld-prebuilt" in machine.needed_packages(["knn-vc"])
    # Of words, of intonation, of emotions.
    evaluators = {"jiwer", "faster-whisper", "praat-parselmouth", "scikit-learn"}
    assert evaluators <= set(machine.needed_packages(["utility"]))


def test_needed_packages_follow_from_the_benchmark(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str]] = []
    monkeypatch.setattr(machine, "needed_packages", lambda extras: asked.append(set(extras)) or [])
    look(repository, "demo")
    set_parameter(repository, "systems: [orig, b2]", "systems: [orig, admixture]")
    look(repository, "demo")
    set_parameter(repository, "runner: process", "runner: docker")
    look(repository, "demo")
    heavy = {"pipeline", "utility", "attacker", "original", "demo"}
    mixed = {"admixture", "asr-tts", "knn-vc"}
    # In images works what has one; the rest works here.
    hosted = {"pipeline", "utility", "demo", "original", *mixed}
    assert asked == [heavy | {"mcadams"}, heavy | mixed, hosted]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("recognizer: whisper-tiny,", "recognizer: whisper, weights: /w, sha256: '0',"),
        ("recognizer: acoustic}", "recognizer: wav2vec2-2024, weights: /w}"),
    ],
)
def test_weights_of_an_evaluator_need_packages_of_their_own(
    repository: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    asked: list[set[str]] = []
    monkeypatch.setattr(machine, "needed_packages", lambda extras: asked.append(set(extras)) or [])
    look(repository, "libri-mini")
    set_parameter(repository, old, new)
    look(repository, "libri-mini")
    assert (asked[1] - asked[0], "neural" in asked[0]) == ({"neural"}, False)


def test_deep_imports(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "whole_package.py").write_text("", encoding="utf-8")
    (tmp_path / "broken_package.py").write_text(
        "raise OSError('libcudart.so: cannot open\\nmore')", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "DEEP_IMPORTS", ("whole_package", "broken_package"))
    set_parameter(repository, "device: auto", "device: cpu")
    assert "whole_package" not in look(repository)
    found = look(repository, deep=True)
    assert found["whole_package"].status == "ok"
    assert found["broken_package"].status == "problem"
    assert found["broken_package"].text == "cannot be imported (libcudart.so: cannot open)"


def test_only_deep_loads_torch(repository: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from harness.runtime.doctor import examine\n"
        "examine('demo', deep=False, check_store=lambda t: None, root=Path(sys.argv[1]))\n"
        "print(sorted({'torch', 'mlflow', 'dvc', 'speechbrain'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, str(repository)]
    assert subprocess.check_output(command, text=True, env=os.environ).strip() == "[]"
