"""Tables of each list and training."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from harness.reports.per_list import (
    LEFT_OUT,
    histograms_table,
    measure_rows,
    measures_table,
    speakers_table,
)

from .trained import drawn, measured, training, trials_of

# Five speakers, five utterances each: 25 targets and 100 nontargets.
TRIALS = trials_of("abcde", 5)
TARGET = [trial.target for trial in TRIALS]
FEW = trials_of("ab")


def separated(trials: list) -> list:
    return [training(1, "f", trials, [2.0 * trial.target for trial in trials])]


def test_values_of_separated_scores() -> None:
    row = measures_table([measured(separated(TRIALS))]).iloc[0]
    assert (row["n_target"], row["n_nontarget"]) == (25, 100)
    assert row["eer_fraction"] == 0.0
    assert row["min-cllr_bit"] == 0.0
    # 1 / log 4 bit, and log10 of 26 * 100 / 25 (Nautsch et al., 2020).
    assert row["zebra-population_bit"] == pytest.approx(1 / np.log(4), abs=1e-6)
    assert row["zebra-individual_log10"] == pytest.approx(np.log10(104), abs=1e-6)
    assert row["sha256"] == "ab" * 32


def test_what_needs_likelihood_ratios_is_in_the_table_alone_and_said_so() -> None:
    table = measures_table([measured(separated(TRIALS))])
    assert {"cllr_bit", "dcf_cost", "min-dcf_cost"} <= set(table.columns)
    assert "actual Cllr" not in measure_rows(table)[0].values
    assert "actual Cllr" in LEFT_OUT
    assert "actual detection cost" in LEFT_OUT
    assert "min Cllr" not in LEFT_OUT


def test_too_few_targets_leave_a_cell_empty() -> None:
    table = measures_table([measured(separated(FEW)), measured(separated(TRIALS))])
    assert table["linkability_fraction"].isna().tolist() == [True, False]
    few, enough = measure_rows(table)
    assert "linkability D_sys" not in few.values
    assert "linkability D_sys" not in few.cautions
    assert "linkability D_sys" in enough.values


def test_rows_for_people() -> None:
    scores = [-1.0 * target for target in TARGET]
    (row,) = measure_rows(measures_table([measured([training(7, "m", TRIALS, scores)])]))
    assert (row.seed, row.list, row.file) == (7, "test_trials_m", "results/7/test-m/scores")
    assert row.values["EER"] == "100.00 %"
    assert row.values["miss rate at 1 % false alarms"] == "100.00 %"
    assert row.values["min Cllr"] == "1.000 bit"
    assert row.values["minimum detection cost at a prior of 0.01"] == "1.000"
    # Reversed scores are pooled to one group, which is no evidence; the rule of Laplace leaves
    # log10 of 26 * 100 / (25 * 101).
    assert row.values["ZEBRA, worst-case disclosure"] == "0.013 (A)"


def test_cautions_beside_values() -> None:
    (row,) = measure_rows(measures_table([measured(separated(TRIALS))]))
    assert "allows 1.0 errors" in row.cautions["miss rate at 1 % false alarms"]
    assert "allows 0.2 errors" in row.cautions["false-alarm rate at 1 % misses"]
    assert "give 2.017 (C)" in row.cautions["ZEBRA, worst-case disclosure"]
    assert "without any information they give about 0.06" in row.cautions["linkability D_sys"]
    assert "EER" not in row.cautions


def test_speakers() -> None:
    # a: both targets below both nontargets; b: both above.
    scores = [{"a": -1.0, "b": 1.0}[trial.enrolment] * trial.target for trial in FEW]
    table = speakers_table([measured([training(1, "f", FEW, scores)])])
    assert table[["speaker", "n_target", "n_nontarget", "eer_percent"]].to_numpy().tolist() == [
        ["a", 2, 2, 100.0],
        ["b", 2, 2, 0.0],
    ]


def test_a_speaker_of_one_class_has_no_eer() -> None:
    trials = [trial for trial in FEW if trial.enrolment == "a" or trial.target]
    table = speakers_table([measured([training(1, "f", trials, range(len(trials)))])])
    assert table["eer_percent"].isna().tolist() == [False, True]


def test_histograms_hold_every_trial() -> None:
    one = drawn(1, "f", 1.0)
    table = histograms_table([measured([one, drawn(2, "f", 1.0)])])
    assert len(table) == 2 * 2 * 60
    assert table["panel"].nunique() == 2
    first = table[table["seed"] == 1]
    for kind, scores in (("target", one.scored.of(True)), ("nontarget", one.scored.of(False))):
        rows = first[first["trials"] == kind]
        width = np.diff(rows["score"]).mean()
        assert (rows["density"] * width).sum() == pytest.approx(1, abs=1e-4)
        mean = (rows["score"] * rows["density"] * width).sum()
        assert mean == pytest.approx(scores.mean(), abs=width)


@pytest.mark.parametrize("constant", [0.0, 0.5, -3e38])
def test_histograms_of_constant_scores(constant: float) -> None:
    one = training(1, "f", FEW, [constant] * len(FEW))
    table = histograms_table([measured([one])])
    assert (table["density"] > 0).sum() == 2


def test_numbers_are_read_back_as_they_are() -> None:
    table = measures_table([measured([drawn(1, "f", 1.0)])])
    text = table.to_csv(index=False)
    again = pd.read_csv(io.StringIO(text))
    assert again["eer_fraction"].tolist() == table["eer_fraction"].tolist()
