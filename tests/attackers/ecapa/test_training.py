"""Training: repeats bit for bit, also when it is killed; checkpoints are whole or absent."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tones import build_tones

from harness.corpora.opaque import Recording, Speech
from harness.errors import DataError, ResourceError

pytestmark = pytest.mark.heavy

TONES = Path(__file__).with_name("tones.py")
STEPS = 18  # 43 training utterances of 48, batches of 8, 3 epochs


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tones")
    build_tones(folder / "tones", folder / "work")
    return folder / "tones"


def run(corpus: Path, folder: Path, kill_at: int | None = None, **parameters: object) -> list[int]:
    """Train in `folder`; kill -9 when step `kill_at` is told. Returns the steps told."""
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, TONES, corpus, folder / "model", json.dumps(parameters)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    steps = []
    assert process.stdout is not None
    assert process.stderr is not None
    for line in process.stdout:
        steps.append(int(line.split()[1]))
        if steps[-1] == kill_at:
            process.send_signal(signal.SIGKILL)
            break
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    code = process.wait()
    assert code == (0 if kill_at is None else -signal.SIGKILL), errors
    return steps


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "model").iterdir())}


def test_killed_mid_epoch_ends_with_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    steps = run(corpus, tmp_path / "whole")
    assert steps == list(range(1, STEPS + 1))
    expected = contents(tmp_path / "whole")
    assert sorted(expected) == ["events.jsonl", "model.json", "model.safetensors"]

    # Step 3 is inside the first epoch of 6 steps, 10 inside the second; both in one training.
    killed = tmp_path / "killed"
    run(corpus, killed, kill_at=3)
    assert not (killed / "model").exists()
    second = run(corpus, killed, kill_at=10)
    assert 1 < second[0] <= 4, "it began anew instead of going on"
    assert not (killed / "model").exists()
    third = run(corpus, killed)
    assert 8 <= third[0] <= 11, "it began anew instead of going on"
    assert third[-1] == STEPS
    assert contents(killed) == expected
    assert not list(killed.glob(".work/*/*")), "resume state is left behind"


def test_events_tell_each_epoch_once(corpus: Path, tmp_path: Path) -> None:
    run(corpus, tmp_path / "r", kill_at=8)
    run(corpus, tmp_path / "r")
    events = [
        json.loads(line) for line in (tmp_path / "r/model/events.jsonl").read_text().splitlines()
    ]
    losses = [e["step"] for e in events if e.get("name") == "validation_error"]
    assert losses == [1, 2, 3]
    assert events[0]["event"] == "run"
    assert events[-1] == {"event": "done"}


def test_a_checkpoint_that_could_not_be_finished_is_not_there(tmp_path: Path) -> None:
    import torch

    from harness.attackers.ecapa.training import WholeCheckpointer

    broken = torch.nn.Linear(2, 2)
    checkpointer = WholeCheckpointer(
        tmp_path, recoverables={"a": torch.nn.Linear(2, 2), "b": broken}
    )
    checkpointer.save_checkpoint()
    good = checkpointer.find_checkpoint()

    def fail(*_: object) -> None:
        raise OSError("disk full")

    checkpointer.add_recoverable("b", broken, custom_save_hook=fail)
    with pytest.raises(OSError, match="disk full"):
        checkpointer.save_checkpoint()
    assert [c.path for c in checkpointer.list_checkpoints()] == [good.path]


def test_best_is_the_last_of_equals_in_weights_and_description(
    corpus: Path, tmp_path: Path
) -> None:
    # So low a rate changes no decision: all epochs are equally good.
    for keep in ("best", "last"):
        run(corpus, tmp_path / keep, max_lr=2e-8, keep=keep)
    best, last = (contents(tmp_path / keep) for keep in ("best", "last"))
    events = [json.loads(line) for line in best["events.jsonl"].splitlines()]
    errors = [e["value"] for e in events if e.get("name") == "validation_error"]
    assert len(errors) == 3
    assert len(set(errors)) == 1
    assert best["model.safetensors"] == last["model.safetensors"]
    assert json.loads(best["model.json"])["epoch"] == 3


def test_best_is_the_epoch_of_the_least_error(corpus: Path, tmp_path: Path) -> None:
    run(corpus, tmp_path / "best", keep="best")
    best = contents(tmp_path / "best")
    events = [json.loads(line) for line in best["events.jsonl"].splitlines()]
    errors = [e["value"] for e in events if e.get("name") == "validation_error"]
    epoch = json.loads(best["model.json"])["epoch"]
    assert epoch == max(n for n, error in enumerate(errors, start=1) if error == min(errors))


def test_a_checkpoint_that_does_not_fit_is_one_clear_error(corpus: Path, tmp_path: Path) -> None:
    script = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "sys.argv = sys.argv[1:]\n"
        "sys.path.insert(0, str(sys.argv[0]).rpartition('/')[0])\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, TONES, corpus, tmp_path / "model"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    error = done.stderr.splitlines()[-1]
    assert error.startswith("harness.errors.ResourceError: .work/train@tones/"), done.stderr
    assert error.endswith(
        "checkpoints: a checkpoint does not fit on the disk or is larger than `ulimit -f` allows; "
        "free some space or raise the limit, and run again"
    )
    assert not list(tmp_path.glob(".work/*/*/checkpoints/CKPT*"))


def test_a_full_disk_is_told_of_every_file_of_a_checkpoint(tmp_path: Path) -> None:
    import torch

    from harness.attackers.ecapa.training import WholeCheckpointer

    checkpointer = WholeCheckpointer(tmp_path, recoverables={})

    def fill(_: object, path: Path) -> None:
        with Path("/dev/full").open("wb", buffering=0) as full:
            full.write(b"x")

    checkpointer.add_recoverable("a", torch.nn.Linear(2, 2), custom_save_hook=fill)
    with pytest.raises(ResourceError, match=f"^{tmp_path}: no space left on the disk"):
        checkpointer.save_checkpoint()


def test_an_error_of_torch_that_is_not_the_disk_passes_through(tmp_path: Path) -> None:
    from harness.attackers.ecapa.training import checkpoint_errors

    with pytest.raises(RuntimeError, match="shapes"), checkpoint_errors(tmp_path):
        raise RuntimeError("shapes differ")


def test_training_asks_for_the_space_of_its_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from harness.attackers.ecapa.training import require_checkpoint_space

    usage = shutil.disk_usage(tmp_path)
    free = usage._replace(free=47_000_000)
    monkeypatch.setattr("harness.runtime.files.shutil.disk_usage", lambda path: free)
    # 1,001,000 weights of 4 bytes, with two moments each, in four checkpoints.
    network = torch.nn.Linear(1000, 1000)
    with pytest.raises(ResourceError, match=r"47\.0 MB free, 48\.0 MB needed"):
        require_checkpoint_space(tmp_path, network)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "earlier").write_bytes(bytes(2_000_000))
    require_checkpoint_space(tmp_path, network)


def speech(lengths: list[int], speakers: list[str]) -> Speech:
    names = [f"u{n:04d}" for n in range(len(lengths))]
    return Speech(
        {
            n: Recording(Path("x.tar"), 0, 0, "", length)
            for n, length in zip(names, lengths, strict=True)
        },
        dict(zip(names, speakers, strict=True)),
    )


def test_split_drops_short_utterances_and_is_by_utterance_and_seed() -> None:
    from harness.attackers.ecapa.attacker import Ecapa
    from harness.attackers.ecapa.data import split

    data = speech([48_000] * 40 + [47_999], ["s0", "s1"] * 20 + ["s2"])
    found = split(data, Ecapa(), seed=1)
    assert (len(found.training), len(found.validation), found.speakers) == (36, 4, 2)
    assert not {i.utterance for i in found.training} & {i.utterance for i in found.validation}
    assert split(data, Ecapa(), seed=1) == found
    assert split(data, Ecapa(), seed=2) != found


def test_split_says_why_nothing_is_left() -> None:
    from harness.attackers.ecapa.attacker import Ecapa
    from harness.attackers.ecapa.data import split

    with pytest.raises(DataError, match=r"0 of 2 utterances of 0 speakers are at least 3 s long"):
        split(speech([100, 100], ["s0", "s1"]), Ecapa(), seed=1)


def test_batches_go_on_after_a_step_and_cover_the_epoch() -> None:
    from harness.attackers.ecapa.data import Batches

    batches = Batches(22, 5, seed=3, shuffle=True)
    batches.epoch = 2
    whole = list(batches)
    assert sorted(n for batch in whole for _, n in batch) == list(range(22))
    assert len(whole) == len(batches) == 5
    batches.start = 3
    assert list(batches) == whole[3:]
    batches.start, batches.epoch = 0, 3
    assert list(batches) != whole


def test_a_last_batch_of_one_is_left_out_of_training_only() -> None:
    from harness.attackers.ecapa.data import Batches

    assert [len(b) for b in Batches(11, 5, 0, shuffle=True)] == [5, 5]
    assert [len(b) for b in Batches(11, 5, 0, shuffle=False)] == [5, 5, 1]


def test_crops_are_a_function_of_seed_epoch_and_utterance(corpus: Path) -> None:
    from harness.attackers.ecapa import data as ecapa_data
    from harness.attackers.ecapa.attacker import Ecapa
    from harness.corpora.opaque import opaque_ids
    from harness.corpora.opaque import speech as opened
    from harness.corpora.store import Corpus

    stored = Corpus(corpus)
    ids = opaque_ids(stored.manifest["utterance"], "u", 1)
    speakers = opaque_ids(stored.manifest["speaker"], "s", 1)
    settings = Ecapa(crop_seconds=0.5, min_seconds=0.5)
    items = ecapa_data.split(opened(stored, ids, speakers), settings, 1).training
    crops = ecapa_data.Crops(items, settings, 1)
    first, label = crops[1, 4]
    assert first.shape == (8000,)
    assert label == items[4].label
    samples = items[4].recording.read() / 32768
    starts = [s for s in range(len(samples) - 7999) if abs(samples[s] - float(first[0])) < 1e-9]
    assert any(abs(samples[s : s + 8000] - first.numpy()).max() < 1e-6 for s in starts)
    assert (crops[1, 4][0] == first).all()
    assert not (crops[2, 4][0] == first).all()
    # Reading by seeking gives the same crop as reading from memory.
    seeking = ecapa_data.Crops(items, settings, 1)
    seeking._caching = False
    assert (seeking[1, 4][0] == first).all()
