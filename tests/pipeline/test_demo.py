"""The benchmark `demo` for real: DVC, MLflow, training, in a fresh repository with these files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time

import pandas as pd
import pytest
from repository import Repository

pytestmark = [pytest.mark.heavy, pytest.mark.slow]

RUN = "ecapa-demo-1986"
STAGES = {
    "corpus@demo",
    *(f"anonymize@demo-{s}" for s in ("orig", "b2")),
    *(
        f"{stage}@demo-{s}-{RUN}"
        for stage in ("train", "score", "evaluate", "distinctiveness")
        for s in ("orig", "b2")
    ),
    *(f"utility@demo-{s}-{e}" for s in ("orig", "b2") for e in ("wer", "pitch")),
    "compare@demo",
    "report@demo",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The repository after its first `dvc repro`."""
    repository = Repository(tmp_path_factory.mktemp("demo"))
    # The tables are in git: where this machine computes what is committed, they are up to date.
    assert STAGES - repository.repro() <= {"compare@demo"}
    return repository


def test_original_is_less_private_than_anonymized(demo: Repository) -> None:
    results = demo.path / "results/demo"
    summary = json.loads((results / "summary.json").read_text())
    original = summary["orig"]["ecapa-demo"]["original"]["test"]
    b2 = summary["b2"]["ecapa-demo"]["semi-informed"]["test"]
    assert 0 < original < b2 < 40
    table = pd.read_csv(results / "eer.csv")
    assert len(table) == 2 * (1 + 3)  # two lists; original, and three scenarios of b2
    assert set(table["scenario"]) == {"original", "ignorant", "lazy-informed", "semi-informed"}
    assert (table["n_target"] + table["n_nontarget"] == 12 * 60).all()
    # The mean is that of the two lists: checked by hand from the table.
    rows = table[(table["system"] == "b2") & (table["scenario"] == "semi-informed")]
    assert abs(rows["eer_percent"].mean() - b2) < 0.001


def test_scores_are_official_files(demo: Repository) -> None:
    folder = demo.path / "results/demo/scores/b2/ecapa-demo/seed-1986/semi-informed"
    path = folder / "demo_test_enrolls-demo_test_trials_f/scores"
    trials = (demo.path / "data/demo/corpus/lists/demo_test_trials_f/trials").read_text()
    pairs = [line.rsplit(" ", 1)[0] for line in path.read_text().splitlines()]
    assert pairs == [line.rsplit(" ", 1)[0] for line in trials.splitlines()]


def test_every_training_and_scoring_is_a_run(demo: Repository) -> None:
    runs = demo.runs()
    # The leaderboards of the benchmark and of its one attacker.
    boards = ["report@demo"] * 2
    assert sorted(runs["tags.harness.key"]) == sorted(
        [
            *(
                f"{stage}@demo-{s}-{RUN}"
                for stage in ("train", "score", "distinctiveness")
                for s in ("orig", "b2")
            ),
            *(f"utility@demo-{s}-{e}" for s in ("orig", "b2") for e in ("wer", "pitch")),
            *boards,
        ]
    )
    assert set(runs["status"]) == {"FINISHED"}
    scores = runs[runs["tags.harness.key"] == f"score@demo-b2-{RUN}"].iloc[0]
    table = pd.read_csv(demo.path / "results/demo/eer.csv")
    row = table[
        (table["system"] == "b2")
        & (table["scenario"] == "lazy-informed")
        & (table["gender"] == "f")
    ].iloc[0]
    assert scores["metrics.eer/lazy-informed/test/f"] == pytest.approx(row["eer_percent"])


def test_original_speech_is_more_useful(demo: Repository) -> None:
    values = pd.read_csv(demo.path / "results/demo/utility.csv", keep_default_na=False)
    whole = values[(values["gender"] == "")].set_index(["system", "measure"])["value"]
    assert whole["orig", "WER"] < whole["b2", "WER"]
    assert whole["orig", "pitch-correlation"] == 1 > whole["b2", "pitch-correlation"] > 0
    voices = values[values["measure"] == "G_VD"]
    assert set(voices.loc[voices["system"] == "orig", "value"]) == {0.0}
    assert (voices.loc[voices["system"] == "b2", "value"] < 0).all()
    kept = pd.read_csv(demo.path / "results/demo/tradeoff.csv")
    assert set(kept.loc[kept["system"] == "orig", "change"].dropna()) == {0.0}


def test_a_second_repro_does_nothing(demo: Repository) -> None:
    assert demo.repro() == set()


def test_plots_and_metrics_are_shown(demo: Repository) -> None:
    assert "semi-informed" in demo.run("dvc", "metrics", "show")
    demo.run("dvc", "plots", "show", "-o", "plots")
    assert "false_alarm_probit" in (demo.path / "plots/index.html").read_text()


def test_runs_are_made_again_from_event_files(demo: Repository) -> None:
    shutil.rmtree(demo.path / "mlruns")
    demo.run("harness", "track", "import")
    assert len(demo.runs()) == 12
    demo.run("harness", "track", "import")
    assert len(demo.runs()) == 12


def test_a_forced_rerun_leaves_the_lock_byte_identical(demo: Repository) -> None:
    demo.run("git", "commit", "-qam", "what this machine computes")
    before = demo.lock
    assert demo.repro("--force") == STAGES
    assert demo.lock == before
    assert "identical" in demo.run("harness", "diff-lock", "demo").splitlines()[-1]


def test_killed_in_training_it_goes_on_to_the_same_lock(demo: Repository) -> None:
    stage = f"train@demo-b2-{RUN}"
    before = demo.lock
    process = subprocess.Popen(
        ["dvc", "repro", "--force", "--single-item", stage],
        cwd=demo.path,
        env=demo.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 600
    while not list(demo.path.glob(".work/train*/*/checkpoints/CKPT*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (demo.path / "models/demo/b2/ecapa-demo/seed-1986").exists()
    assert demo.repro("--force", "--single-item", stage) == {stage}
    assert demo.lock == before


def test_a_parameter_of_one_system_reruns_that_system_alone(demo: Repository) -> None:
    params = demo.path / "params.yaml"
    text = params.read_text(encoding="utf-8")
    changed = text.replace("b2: {type: mcadams, ", "b2: {type: mcadams, alpha_min: 0.6, ")
    assert changed != text
    params.write_text(changed, encoding="utf-8")
    assert demo.repro() == {s for s in STAGES if "-b2" in s or s.startswith(("compare", "report"))}
    # Back to what was: DVC remembers, nothing is computed.
    params.write_text(text, encoding="utf-8")
    demo.repro()
    summary = (demo.path / "results/demo/summary.json").read_text()
    assert json.loads(summary)["b2"]


def test_bad_settings_stop_before_any_work(demo: Repository) -> None:
    params = demo.path / "params.yaml"
    text = params.read_text(encoding="utf-8")
    try:
        params.write_text(text.replace("epochs: 6", "epoch: 6"), encoding="utf-8")
        output = demo.run("harness", "stage", "corpus", "demo", code=1)
        assert output == (
            "harness: params.yaml: attackers.ecapa-demo: unknown name 'epoch'; "
            "did you mean 'epochs'?\n"
        )
        # Training would need the store: the stages before it already say so.
        params.write_text(text.replace("uri: null", "uri: http://127.0.0.1:9"), encoding="utf-8")
        for stage in (("anonymize", "demo", "b2"), ("train", "demo", "orig", "ecapa-demo", "1986")):
            output = demo.run("harness", "stage", *stage, code=1)
            assert output.startswith("harness: ")
            assert "tracking.enabled: false" in output
            assert output.count("\n") == 1
        params.write_text(text.replace("device: auto", "device: cuda"), encoding="utf-8")
        environment = demo.environment | {"CUDA_VISIBLE_DEVICES": ""}
        output = demo.run(
            "harness", "stage", "anonymize", "demo", "b2", code=1, environment=environment
        )
        assert output == (
            "harness: params.yaml: runtime.device: there is no CUDA device; use auto or cpu\n"
        )
    finally:
        params.write_text(text, encoding="utf-8")
