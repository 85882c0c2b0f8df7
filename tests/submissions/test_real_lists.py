"""Simulated submissions on the official lists of the Attacker Challenge."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import making
import numpy as np
import pytest
import small
from broken import EXAMPLES

from harness.protocols.lists import Trial, read_trials
from harness.protocols.protocol import TrialList, load
from harness.submissions.model import Verification, primary
from harness.submissions.verification import Options, verify

PROTOCOL = load("vpac2025")
LISTS = {listed.trials: listed for listed in PROTOCOL.lists}
SYSTEM = "T10-2"  # a name with the hyphen that also stands between enrolments and trials


@cache
def trials_of(lists: Path, name: str) -> list[Trial]:
    return read_trials(lists / name / "trials")


def labels_of(lists: Path, listed: TrialList) -> np.ndarray:
    return np.array([trial.target for trial in trials_of(lists, listed.trials)])


def simulated(lists: Path, system: str, listed: TrialList) -> np.ndarray:
    """Float32 scores in list order, targets 0.8 standard deviations higher."""
    target = labels_of(lists, listed)
    seed = [ord(c) for c in f"{system}{listed.trials}"]
    return (np.random.default_rng(seed).normal(size=len(target)) + 0.8 * target).astype(np.float32)


def eer(target: np.ndarray, nontarget: np.ndarray) -> float:
    """The official rule, written anew: the first threshold with the smallest |FAR - FRR|."""
    unique = np.unique(np.concatenate([target, nontarget]))
    thresholds = np.sort(np.concatenate([unique, (unique[1:] + unique[:-1]) / np.float32(2)]))
    frr = np.searchsorted(np.sort(target), thresholds, side="right") / len(target)
    far = 1 - np.searchsorted(np.sort(nontarget), thresholds, side="right") / len(nontarget)
    best = np.abs(far - frr).argmin()
    return float(far[best] + frr[best]) / 2


@pytest.fixture
def small_is_real(test_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small edition's generator, with the official lists in place of its own."""
    lists = test_data / "vpc-lists"
    edition = replace(PROTOCOL, systems=small.edition().systems)
    monkeypatch.setattr(small, "edition", lambda: edition)
    monkeypatch.setattr(small, "list_name", lambda split, gender: f"libri_{split}_trials_{gender}")
    monkeypatch.setattr(small, "enrolments_name", lambda split: f"libri_{split}_enrolls")
    monkeypatch.setattr(
        small,
        "trials_of",
        lambda split, gender: trials_of(lists, small.list_name(split, gender)),
    )
    return lists


@pytest.mark.parametrize("code", EXAMPLES)
def test_every_fault_is_named_on_the_real_lists(
    code: str, small_is_real: Path, tmp_path: Path
) -> None:
    example = EXAMPLES[code](tmp_path)
    options = Options(**{"trials": small_is_real, **example.options})
    done = verify(example.paths, example.edition, options)
    found = [check for one in done.submissions for check in one.checks]
    assert primary(found) == code, found


@dataclass(frozen=True)
class Layout:
    """Where a submission keeps the scores of a system on a list."""

    name: str
    place: Callable[[str, TrialList], str]


LAYOUTS = (
    Layout(
        "2024",
        lambda system, one: (
            f"exp/asv_anon_{system}/{one.enrolments}_{system}-{one.trials}_{system}"
        ),
    ),
    Layout(
        "2024 below other folders",
        lambda system, one: (
            f"our files/v2/asv_anon_{system}/{one.enrolments}_{system}-{one.trials}_{system}"
        ),
    ),
    Layout(
        "2024 without suffix, a folder per system",
        lambda system, one: f"{system}/exp/asv_anon/{one.enrolments}-{one.trials}",
    ),
    Layout(
        "2022",
        lambda system, one: (
            f"exp/results-2022-05-01-10-30/ASV-{one.enrolments}_anon-{one.trials}_anon"
        ),
    ),
    Layout("system, then list", lambda system, one: f"{system}/{one.enrolments}-{one.trials}"),
)


def write(
    folder: Path, lists: Path, layout: Layout = LAYOUTS[0], systems: tuple[str, ...] = (SYSTEM,)
) -> Path:
    """A submission without fault: scores as shortest float32, claims with three decimals."""
    for system in systems:
        for listed in PROTOCOL.lists:
            scores = simulated(lists, system, listed)
            target = labels_of(lists, listed)
            place = folder / layout.place(system, listed)
            place.mkdir(parents=True)
            trials = trials_of(lists, listed.trials)
            (place / "scores").write_text(
                "".join(
                    f"{t.enrolment} {t.utterance} {s}\n"
                    for t, s in zip(trials, map(str, scores), strict=True)
                )
            )
            (place / "EER").write_text(f"{eer(scores[target], scores[~target]):.5f}\n")
    return folder


def assert_clean(done: Verification, systems: tuple[str, ...]) -> None:
    (submission,) = done.submissions
    assert submission.checks == []
    assert done.verdict == "verified"
    assert sorted((c.system, c.list, c.verdict) for c in submission.claims) == sorted(
        (system, listed.trials, "verified") for system in systems for listed in PROTOCOL.lists
    )


@pytest.fixture(scope="module")
def lists(test_data: Path) -> Path:
    return test_data / "vpc-lists"


@pytest.fixture(scope="module", params=LAYOUTS, ids=lambda layout: layout.name)
def laid_out(
    request: pytest.FixtureRequest, lists: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Layout, Path]:
    """One system in each layout."""
    folder = tmp_path_factory.mktemp("layout") / "team"
    return request.param, write(folder, lists, request.param)


@pytest.mark.parametrize("suffix", making.ARCHIVES)
def test_every_layout_in_every_archive(
    laid_out: tuple[Layout, Path], suffix: str, lists: Path
) -> None:
    layout, folder = laid_out
    # Both ways to the lists, in turn, so that each layout and each kind of archive has both.
    generated = (LAYOUTS.index(layout) + making.ARCHIVES.index(suffix)) % 2
    options = Options(
        trials=None if generated else lists,
        # The layout of 2022 names no system, so the caller does.
        system=SYSTEM if layout.name == "2022" else None,
    )
    assert_clean(verify([making.archive(folder, suffix)], PROTOCOL, options), (SYSTEM,))


def test_all_seven_systems(lists: Path, tmp_path: Path) -> None:
    systems = tuple(PROTOCOL.systems)
    path = making.archive(write(tmp_path / "team", lists, systems=systems), ".zip")
    done = verify([path], PROTOCOL, Options())
    assert_clean(done, systems)
    assert len(done.submissions[0].lists) == 28
    for result in done.submissions[0].lists:
        # What was written as text is read without loss.
        assert result.scores is not None
        written = simulated(lists, result.system, LISTS[result.list])
        np.testing.assert_array_equal(result.scores.first, written)


def test_seven_systems_stay_within_the_memory(lists: Path, tmp_path: Path) -> None:
    """400 MB, cold start included; the time is in benchmarks/verify.py."""
    folder = write(tmp_path / "team", lists, systems=tuple(PROTOCOL.systems))
    code = (
        "import re\nfrom pathlib import Path\nfrom harness.cli.main import main\n"
        f"assert main(['verify', {str(making.archive(folder, '.zip'))!r}]) == 0\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', status).group(1))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.splitlines()[-1]) < 400_000


@pytest.mark.heavy
def test_eers_are_those_of_the_official_function(lists: Path, tmp_path: Path) -> None:
    import torch
    from speechbrain.utils.metric_stats import EER

    done = verify([write(tmp_path / "team", lists)], PROTOCOL, Options(trials=lists))
    assert len(done.submissions[0].lists) == 4
    for result in done.submissions[0].lists:
        target = labels_of(lists, LISTS[result.list])
        scores = simulated(lists, SYSTEM, LISTS[result.list])
        rate, threshold = EER(torch.tensor(scores[target]), torch.tensor(scores[~target]))
        assert result.eer is not None
        assert (result.eer.rate, result.eer.threshold) == (rate, threshold)


# Corruptions: the folder, changed in place.


def without_a_line(folder: Path) -> None:
    path = score_file(folder, "libri_test_trials_m")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:5000] + lines[5001:]))


def with_genders_exchanged(folder: Path) -> None:
    exchange(folder, "libri_test_trials_f", "libri_test_trials_m")


def with_splits_exchanged(folder: Path) -> None:
    exchange(folder, "libri_dev_trials_f", "libri_test_trials_f")


def with_the_sign_reversed(folder: Path) -> None:
    for listed in PROTOCOL.lists:
        path = score_file(folder, listed.trials)
        lines = [line.rpartition(" ") for line in path.read_text().splitlines()]
        path.write_text("".join(f"{pair} {-float(score)!r}\n" for pair, _, score in lines))


def score_file(folder: Path, name: str) -> Path:
    (path,) = folder.glob(f"exp/*/*{name}*/scores")
    return path


def exchange(folder: Path, one: str, other: str) -> None:
    here, there = score_file(folder, one), score_file(folder, other)
    text = here.read_bytes()
    here.write_bytes(there.read_bytes())
    there.write_bytes(text)


@pytest.mark.parametrize("generated", [False, True], ids=["from a folder", "generated"])
@pytest.mark.parametrize(
    ("corrupt", "code", "verdict", "said"),
    [
        (without_a_line, "pair-missing", "not checkable", ""),
        (with_genders_exchanged, "gender-swapped", "not checkable", ""),
        (with_splits_exchanged, "split-swapped", "not checkable", ""),
        (with_the_sign_reversed, "sign-reversed", "refuted", "sign"),
    ],
)
def test_a_corruption_is_named(
    corrupt: Callable[[Path], None],
    code: str,
    verdict: str,
    said: str,
    generated: bool,
    lists: Path,
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "team", lists)
    corrupt(folder)
    done = verify([folder], PROTOCOL, Options(trials=None if generated else lists))
    (submission,) = done.submissions
    assert primary(submission.checks) == code
    assert done.verdict == verdict
    if said:
        assert len(submission.explanations) == 4
        assert all(said in " ".join(one.changes) for one in submission.explanations)


def test_published_values_are_possible(test_data: Path, tmp_path: Path) -> None:
    """Claims without scores are not checkable, but their error counts are recovered."""
    published = test_data / "published" / "published_eer.csv"
    if not published.is_file():
        pytest.skip("no published values beside the lists")
    (tmp_path / "README.md").write_text("No scores.\n")
    done = verify([tmp_path], PROTOCOL, Options(reported=published))
    assert done.verdict == "not checkable"
    sentences = {
        (one.system.lower(), one.list, one.sentence.partition(" ")[0]): one
        for one in done.submissions[0].explanations
    }
    with published.open() as text:
        rows = [row for row in csv.DictReader(text) if re.search(r"\d/\d", row["note"])]
    assert len(rows) == 28
    for row in rows:
        said = sentences[
            row["system"].lower(),
            f"libri_{row['split']}_trials_{row['gender']}",
            row["eer_percent"],
        ]
        assert said.kind == "feasibility"
        assert "not possible" not in said.sentence
        # As in `k_miss=74/704 k_fa=1531/14566`.
        for count, total in re.findall(r"(\d+)/(\d+)", row["note"]):
            assert f"{int(count):,} of {int(total):,}" in said.sentence
