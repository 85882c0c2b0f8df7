"""The challenge's own anonymizers: the inputs that a user brings, and the entry program.

The challenge's code and weights cannot be had here: a stand-in takes the place of its script.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from programs import loaded

from harness.contracts.wav import read_wav, write_wav

DOCKER = Path(__file__).resolve().parents[1] / "docker"
IMAGE = DOCKER / "anonymizer-vpc2024"
A, B = b"weights of one", b"weights of another"
SHA256_A = hashlib.sha256(A).hexdigest()

# In place of the challenge's script: it finds its data by its configuration, draws from all three
# generators, here and in a process of its own, says something, and multiplies by what it drew.
STAND_IN = """\
import random, re, subprocess, sys, wave
from pathlib import Path
import numpy, torch
print("loading", flush=True)
assert sys.argv[1:] == ["--config", "config.yaml"]
(name,) = re.findall("data: (\\S+)", Path("config.yaml").read_text())
child = "import random, torch; print(random.random() + float(torch.rand(1)))"
drawn = random.random() + float(numpy.random.rand()) + float(torch.rand(1))
drawn += float(subprocess.run([sys.executable, "-c", child], capture_output=True).stdout)
out = Path(f"data/{name}_stand-in/wav")
out.mkdir(parents=True)
for line in Path(f"data/{name}/wav.scp").read_text().splitlines():
    utterance, path = line.split()
    with wave.open(path) as stream:
        samples = numpy.frombuffer(stream.readframes(stream.getnframes()), "<i2")
    with wave.open(str(out / f"{utterance}.wav"), "wb") as stream:
        stream.setparams((1, 2, 16000, 0, "NONE", None))
        stream.writeframes((samples * drawn / 5).astype("<i2").tobytes())
"""
CONFIG = """\
data_dir: data
anon_suffix: _stand-in

datasets:
  - name: dev
    data: libri_dev
    trials: [_trials_f, _trials_m]
  - name: other
    data: other

modules:
  device: "cuda"
  model_tag_version: "some"
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "inputs.lock"
    entry = {"from": "the release", "systems": ["B3"], "sha256": None}
    entries = {"one.zip": dict(entry), "two.zip": dict(entry)}
    entries["other.zip"] = entry | {"systems": ["B4"]}
    path.write_text(yaml.safe_dump(entries), encoding="utf-8")
    (tmp_path / "inputs").mkdir()
    return path


def inputs(verb: str, lock: Path, system: str = "B3") -> subprocess.CompletedProcess[str]:
    folder = lock.parent / "inputs"
    return subprocess.run(
        [sys.executable, DOCKER / "inputs.py", verb, lock, folder, "--system", system],
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_missing_is_named_in_one_line(lock: Path) -> None:
    (lock.parent / "inputs" / "one.zip").write_bytes(A)
    for verb in ("check", "record"):
        done = inputs(verb, lock)
        assert done.returncode == 3
        (line,) = done.stderr.splitlines()
        assert re.search(r"inputs/two.zip: is missing; it is: the release$", line)
    assert done.stdout == ""
    assert yaml.safe_load(lock.read_text(encoding="utf-8"))["one.zip"]["sha256"] is None


def test_a_hash_is_recorded_once_and_others_are_refused(lock: Path) -> None:
    folder = lock.parent / "inputs"
    (folder / "one.zip").write_bytes(A)
    (folder / "two.zip").write_bytes(A)
    done = inputs("check", lock)
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert "one.zip: its hash was never recorded; if you trust it: python docker/inputs" in line
    done = inputs("record", lock)
    assert done.returncode == 0
    assert f"first use, vouched for by nobody but you: one.zip {SHA256_A}" in done.stderr
    assert inputs("check", lock).stdout == "one.zip\ntwo.zip\n"
    (folder / "two.zip").write_bytes(B)
    for verb in ("check", "record"):
        done = inputs(verb, lock)
        assert done.returncode == 4
        (line,) = done.stderr.splitlines()
        assert f"{hashlib.sha256(B).hexdigest()}, but {SHA256_A} was recorded" in line
    recorded = yaml.safe_load(lock.read_text(encoding="utf-8"))
    assert recorded["two.zip"] == {"from": "the release", "systems": ["B3"], "sha256": SHA256_A}
    assert recorded["other.zip"]["sha256"] is None


def test_a_lock_that_is_malformed_is_refused(lock: Path) -> None:
    lock.write_text(lock.read_text(encoding="utf-8").replace("null", "abc"), encoding="utf-8")
    done = inputs("check", lock)
    assert done.returncode == 1
    assert "the entry 'one.zip' is malformed" in done.stderr
    assert inputs("check", lock.with_name("none.lock")).returncode == 1


def test_an_unknown_system_is_named(lock: Path) -> None:
    done = inputs("check", lock, "B7")
    assert done.returncode == 1
    assert "no system 'B7'; use one of B3, B4" in done.stderr


def test_the_lock_names_what_each_system_needs() -> None:
    entries = loaded(DOCKER / "inputs.py").read_lock(IMAGE / "inputs.lock")
    dockerfile = (IMAGE / "Dockerfile").read_text(encoding="utf-8")
    for name, entry in entries.items():
        assert name in dockerfile or "for name in anonymization asr tts;" in dockerfile, name
        assert set(entry["systems"]) <= {"B3", "B4", "B5", "B6"}
    weights = {s: [n for n, e in entries.items() if e["systems"] == [s]] for s in ("B3", "B5")}
    # Release v2.0 of DigitalPhonetics/speaker-anonymization holds three archives.
    assert weights["B3"] == ["anonymization.zip", "asr.zip", "tts.zip"]
    assert weights["B5"] == ["torch-hub-b5.tar"]


def test_a_build_without_its_inputs_ends_before_docker(tmp_path: Path) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\necho docker was called >&2\n", encoding="utf-8")
    docker.chmod(0o755)
    folder = Path(sys.executable).parent
    done = subprocess.run(
        ["sh", IMAGE / "build.sh", "B5", tmp_path, "base"],
        cwd=DOCKER.parent,
        env={"PATH": f"{tmp_path}:{folder}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert "voice-privacy-challenge-2024.tar.gz: is missing (and 2 more: wheels.tar," in line


def test_a_configuration_is_made_for_the_one_set() -> None:
    entry = loaded(IMAGE / "anonymize.py")
    changed = yaml.safe_load(entry.configured(CONFIG, {"device": "cpu", "model_tag_version": "b6"}))
    assert changed == {
        "data_dir": "data",
        "anon_suffix": "_stand-in",
        "datasets": [{"name": "train-clean-360", "data": "train-clean-360"}],
        "modules": {"device": "cpu", "model_tag_version": "b6"},
    }
    with pytest.raises(entry.ContractError, match="names no data sets"):
        entry.configured("modules: {}\n", {})


class Standing:
    """The entry program on folders of a test, with the stand-in where the challenge's code lies."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entry = loaded(IMAGE / "anonymize.py")
        self.folder = folder
        home = folder / "home"
        (home / "upstream" / "configs").mkdir(parents=True)
        (home / "upstream" / "exp").mkdir()
        (home / "upstream" / "run_anonymization.py").write_text(STAND_IN, encoding="utf-8")
        (home / "upstream" / "configs" / "anon_asrbn.yaml").write_text(CONFIG, encoding="utf-8")
        shutil.copytree(IMAGE / "seeding", home / "seeding")
        monkeypatch.setattr(self.entry, "HOME", home)
        monkeypatch.setattr(self.entry, "SCRATCH", folder / "scratch")
        monkeypatch.setattr(sys, "argv", ["anonymize.py", "anonymize"])
        monkeypatch.setenv("VPC_SYSTEM", "B5")
        self.monkeypatch = monkeypatch

    def run(self, name: str, *rows: tuple[str, int], **files: bytes) -> tuple[int, Path]:
        """The exit status, and /out. rows: utterances with their seeds. files: more of /in."""
        given, out = self.folder / name / "in", self.folder / name / "out"
        (given / "audio").mkdir(parents=True)
        out.mkdir()
        lines = ["seed\tutterance\tpath"]
        for utterance, seed in rows:
            samples = [1000 + len(utterance) * i for i in range(1000)]
            write_wav(given / "audio" / f"{utterance}.wav", samples)
            lines.append(f"{seed}\t{utterance}\taudio/{utterance}.wav")
        (given / "manifest.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for file, content in files.items():
            (given / file.replace("__", "/").replace("_", ".")).write_bytes(content)
        self.monkeypatch.setattr(self.entry, "INPUTS", given)
        self.monkeypatch.setattr(self.entry, "OUTPUTS", out)
        return self.entry.main(), out


@pytest.fixture
def standing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Standing:
    return Standing(tmp_path, monkeypatch)


def events(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.heavy
def test_neither_batch_nor_order_changes_a_byte_but_the_seed_does(
    standing: Standing, capfd: pytest.CaptureFixture[str]
) -> None:
    def files(out: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (out / "audio").iterdir()}

    status, out = standing.run("batch", ("u1", 7), ("u22", 2**63 - 1))
    assert status == 0
    said = events(capfd)
    assert [event["event"] for event in said] == ["progress", "progress", "done"]
    batch = files(out)
    assert batch.keys() == {"u1.wav", "u22.wav"}
    assert len(read_wav(out / "audio" / "u1.wav")) == 1000
    _, out = standing.run("reversed", ("u22", 2**63 - 1), ("u1", 7))
    assert files(out) == batch
    _, out = standing.run("alone", ("u1", 8))
    assert files(out)["u1.wav"] != batch["u1.wav"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"params_json": b'{"alpha": 1}'}, "unknown parameter 'alpha'"),
        ({"params_json": b"{"}, "params.json: not JSON"),
        ({"audio__u1_wav": b"no audio"}, "u1.wav: the speech given is no WAV file"),
        ({"manifest_tsv": b"utterance\tseed\nu1\t7\n"}, "row 1 lacks utterance, path or seed"),
        ({"manifest_tsv": b"utterance\tseed\tpath\nu2\t7\ta.wav\n"}, "a.wav: the speech given"),
    ],
)
def test_input_that_cannot_be_processed_is_one_error(
    standing: Standing, capsys: pytest.CaptureFixture[str], files: dict[str, bytes], said: str
) -> None:
    status, _ = standing.run("bad", ("u1", 7), **files)
    assert status == 1
    (event,) = events(capsys)
    assert event["event"] == "error"
    assert said in str(event["message"])


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import sys; sys.exit(9)", "ended with status 9"),
        ("pass", "made 0 files of it, not one"),
        (STAND_IN.replace("16000", "24000"), "what was made is not whole mono 16 kHz"),
    ],
)
def test_a_failure_of_the_challenges_script_is_one_error(
    standing: Standing, capfd: pytest.CaptureFixture[str], script: str, said: str
) -> None:
    upstream = standing.entry.HOME / "upstream"
    (upstream / "run_anonymization.py").write_text(script, encoding="utf-8")
    status, out = standing.run("failing", ("u1", 7))
    assert status == 1
    (event,) = events(capfd)
    assert said in str(event["message"])
    assert list((out / "audio").iterdir()) == []


def test_without_its_libraries_nothing_runs_unseeded(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('no numpy')\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "print('went on')"],
        env={"PYTHONPATH": f"{IMAGE / 'seeding'}:{tmp_path}", "HARNESS_SEED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "seeding: no numpy\n")
