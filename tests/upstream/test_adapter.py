"""The challenges' codes behind the contract: what comes out, and what is said where it fails."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from harness.contracts.wav import write_wav
from upstream.standin import EDITION, SYSTEMS, WEIGHTS, Installed, Ran, ramp, samples

# One of each code and synthesis.
KINDS = ("B1.a", "B1.b", "B5")
PROGRAM = {2022: "anonymize_data_dir.sh", 2024: "run_anonymization.py"}
THREE = (("u1", 7), ("u2", 8), ("u333", 2**63 - 1))


@pytest.fixture(params=SYSTEMS)
def every(request: pytest.FixtureRequest, tmp_path: Path) -> Installed:
    return Installed(tmp_path, request.param)


@pytest.fixture(params=KINDS)
def installed(request: pytest.FixtureRequest, tmp_path: Path) -> Installed:
    return Installed(tmp_path, request.param)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def audio(*names: str) -> list[str]:
    return [f"audio/{name}.wav" for name in names]


def asked(installed: Installed) -> list[str]:
    """What the script of 2022 was asked for, last."""
    return (installed.scratch / "baseline" / "asked").read_text(encoding="utf-8").split()


def test_every_system_keeps_the_contract(every: Installed, tmp_path: Path) -> None:
    before = files(every.code)
    ran = every.run("batch", *THREE)
    assert (ran.status, ran.stderr) == (0, "")
    assert [event["event"] for event in ran.events if event["event"] != "warning"] == [
        "progress",
        "progress",
        "progress",
        "done",
    ]
    assert ran.said("progress") == ["1/3", "2/3", "3/3"]
    assert list(ran.made) == audio("u1", "u2", "u333")
    given, made = ramp(4).astype(float), samples(ran, "u333", tmp_path).astype(float)
    assert len(made) == 6400
    # The stand-ins multiply.
    assert np.corrcoef(given, made)[0, 1] > 0.999
    # It works on links to the code, which is as it was.
    assert files(every.code) == before


def test_neither_batch_nor_order_changes_a_byte_but_the_seed_does(every: Installed) -> None:
    batch = every.run("batch", ("u1", 7), ("u22", 2**63 - 1)).made
    assert every.run("reversed", ("u22", 2**63 - 1), ("u1", 7)).made == batch
    (alone,) = every.run("alone", ("u22", 2**63 - 1)).made.values()
    assert alone == batch["audio/u22.wav"]
    (other,) = every.run("other", ("u1", 8)).made.values()
    assert other != batch["audio/u1.wav"]


@pytest.mark.heavy
def test_seeds_reach_all_generators_of_the_real_packages(tmp_path: Path) -> None:
    system = Installed(tmp_path, "B5", stubs=False)
    first = system.run("first", ("u1", 7), ("u2", 2**63 - 1))
    assert first.status == 0
    assert system.run("again", ("u2", 2**63 - 1)).made == {
        "audio/u2.wav": first.made["audio/u2.wav"]
    }


@pytest.mark.parametrize(
    ("system", "synthesis"),
    [("B1", "joint_nsf_hifigan"), ("B1.a", "am_nsf_old"), ("B1.b", "joint_nsf_hifigan")],
)
def test_the_script_of_2022_is_asked_as_its_recipe_asks_it(
    tmp_path: Path, system: str, synthesis: str
) -> None:
    installed = Installed(tmp_path, system)
    ran = installed.run("alone", ("u1", 2**63 - 1))
    # As baseline/local/main_anonymization.sh has them; config.sh at d72b50c has the values.
    asr, xvectors = "exp/models/1_asr_am/exp", "exp/models/2_xvect_extr/exp/xvector_nnet_1a"
    assert asked(installed) == [
        *("--nj", "1", "--anoni-pool", "libritts_train_other_500"),
        *("--data-netcdf", f"{installed.scratch}/baseline/exp/am_nsf_data"),
        *("--ppg-model", asr, "--ppg-dir", f"{asr}/nnet3_cleaned"),
        *("--xvec-nnet-dir", xvectors, "--anon-xvec-out-dir", f"{xvectors}/anon"),
        *("--plda-dir", xvectors, "--pseudo-xvec-rand-level", "utt", "--distance", "plda"),
        *("--proximity", "farthest", "--cross-gender", "false"),
        *("--rand-seed", "9223372036854775807", "--anon-data-suffix", "_anon"),
        *("--model-type", synthesis, "--inference-trunc-len", "-1", "one"),
    ]
    data = installed.scratch / "baseline" / "data" / "one"
    assert {path.name: path.read_text() for path in data.iterdir() if path.is_file()} == {
        "wav.scp": "u1 data/one/wav/u1.wav\n",
        "utt2spk": "u1 u1\n",
        "spk2utt": "u1 u1\n",
        "spk2gender": "u1 f\n",
    }
    # What is not as in the challenge is told at each run.
    gender, alone = ran.said("warning")
    assert "the contract tells no gender" in gender
    assert "each is anonymized alone" in alone


def test_the_device_reaches_both_codes(tmp_path: Path) -> None:
    old, new = (Installed(tmp_path / name, name) for name in ("B1.a", "B6"))
    for device, gpu in (("cpu", "no"), ("cuda", "yes")):
        for system in (old, new):
            told = f'{{"device": "{device}", "threads": 2, "novel": 1}}'.encode()
            assert system.run(device, ("u1", 7), run_json=told).status == 0
        posteriors = old.scratch / "baseline/exp/models/1_asr_am/exp/nnet3_cleaned/ppg_one"
        assert (posteriors / "gpu").read_text() == f"{gpu}\n"
        config = (new.scratch / "config.yaml").read_text(encoding="utf-8")
        assert f'device: "{device}"' in config
        assert 'model_tag_version: "hifigan_bn_tdnnf_600h_vq_48_v1"' in config
        assert "libri_dev" not in config


def test_code_that_is_another_is_refused(tmp_path: Path) -> None:
    installed = Installed(tmp_path, "B5")
    config = installed.code / "configs" / "anon_asrbn.yaml"
    config.write_text("modules: {}\n", encoding="utf-8")
    assert "anon_asrbn.yaml names no data sets" in installed.run("other", ("u1", 7)).error


def test_missing_weights_are_named(every: Installed) -> None:
    (every.home / WEIGHTS[every.system]).unlink()
    ran = every.run("without", *THREE)
    assert ran.error.startswith(f"u1: {PROGRAM[EDITION[every.system]]} ended with status 1 (")
    assert re.search("No such file or directory: '.*/", ran.error)
    assert Path(WEIGHTS[every.system]).name in ran.error
    assert ran.made == {}


def test_a_missing_pool_or_installation_is_named(tmp_path: Path) -> None:
    installed = Installed(tmp_path, "B1.b")
    pool = installed.code / "baseline" / "data" / "libritts_train_other_500"
    shutil.rmtree(pool)
    said = "ended with status 1 (File data/libritts_train_other_500/spk2gender does not exist)"
    assert said in installed.run("pool", ("u1", 7)).error
    shutil.rmtree(installed.code)
    said = f"No such file or directory: '{installed.code}'"
    assert said in installed.run("nothing", ("u1", 7)).error


# The fault; what is said of it, by edition.
FAULTS = {
    "crash": {
        2022: "u2: anonymize_data_dir.sh ended with status 1 (RuntimeError: out of memory)",
        2024: "u2: run_anonymization.py ended with status 9 (RuntimeError: out of memory)",
    },
    # The script is told by its shell.
    "killed": {
        2022: "u2: anonymize_data_dir.sh ended with status 1 (",
        2024: "u2: run_anonymization.py was ended by SIGKILL (",
    },
    # As CURRENNT's scripts do, which look at no exit status.
    "nothing": {
        2022: "u2: anonymize_data_dir.sh made 0 files of it, not one (output will be in ",
        2024: "u2: run_anonymization.py made 0 files of it, not one (output will be in ",
    },
    # The script of 2022 writes to one folder.
    "two": {2024: "u2: run_anonymization.py made 2 files of it, not one ("},
} | {
    fault: dict.fromkeys(
        (2022, 2024), "u2.wav: what was made is not whole mono 16 kHz WAV of 16-bit PCM"
    )
    for fault in ("rate", "channels", "width", "truncated", "empty")
}


@pytest.mark.parametrize(
    ("system", "fault", "said"),
    [
        (system, fault, said[EDITION[system]])
        for system in KINDS
        for fault, said in FAULTS.items()
        if EDITION[system] in said
    ],
)
def test_a_failure_half_way_is_one_error(
    tmp_path: Path, system: str, fault: str, said: str
) -> None:
    installed = Installed(tmp_path, system)
    installed.faults(u2=fault)
    ran = installed.run("failing", *THREE)
    assert said in ran.error
    assert ran.said("progress") == ["1/3"]
    # What was whole before; nothing of what failed.
    assert list(ran.made) == audio("u1")
    assert "\x1b" not in ran.error
    # Enough to see why, and too little to fill a log.
    assert len(ran.stderr) < 5_000


def test_a_wrong_duration_is_a_warning(installed: Installed) -> None:
    installed.faults(u2="long")
    ran = installed.run("long", *THREE)
    assert ran.status == 0
    assert ran.said("warning")[-1] == "u2: 12800 samples from 6400, against clause A5"
    assert len(ran.made) == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"params_json": b'{"alpha": 1}'}, "unknown parameter 'alpha'"),
        ({"params_json": b"{"}, "params.json: not JSON"),
        ({"params_json": b"[]"}, "params.json: not a JSON object"),
        ({"audio__u1_wav": b"no audio"}, "u1.wav: the speech given is no WAV file"),
        ({"manifest_tsv": b"utterance\tseed\nu1\t7\n"}, "row 1 lacks utterance, path or seed"),
        ({"manifest_tsv": b"utterance\tseed\tpath\n../u\t7\ta.wav\n"}, "row 1 lacks utterance"),
        ({"manifest_tsv": b"utterance\tseed\tpath\nu1\t-7\ta.wav\n"}, "row 1 lacks utterance"),
        ({"manifest_tsv": b"utterance\tseed\tpath\nu2\t7\ta.wav\n"}, "a.wav: the speech given"),
        ({"manifest_tsv": b"utterance\tseed\tpath\n\xff\t7\ta.wav\n"}, "can't decode byte 0xff"),
    ],
)
def test_input_that_cannot_be_processed_is_one_error(
    installed: Installed, given: dict[str, bytes], said: str
) -> None:
    ran = installed.run("bad", ("u1", 7), **given)
    assert said in ran.error
    assert ran.made == {}
    # Nothing was started.
    assert not (installed.folder / "log").exists()


def test_an_unknown_verb_is_one_error(installed: Installed, tmp_path: Path) -> None:
    ran = installed.start(tmp_path, tmp_path, ["train"])
    assert "the one verb is anonymize, not anonymize train" in ran.error


def test_speech_of_another_format_is_refused(installed: Installed, tmp_path: Path) -> None:
    write_wav(tmp_path / "u.wav", ramp(1))
    content = (tmp_path / "u.wav").read_bytes()
    for name, wrong in {
        "short": content[:-2],
        "stereo": content[:22] + b"\2" + content[23:],
        "8 kHz": content[:24] + (8000).to_bytes(4, "little") + content[28:],
    }.items():
        ran: Ran = installed.run(name, ("u1", 7), audio__u1_wav=wrong)
        assert "u1.wav: the speech given is not whole mono 16 kHz WAV of 16-bit PCM" in ran.error
