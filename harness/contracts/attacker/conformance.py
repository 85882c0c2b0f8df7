"""Does an attacker image keep docs/contracts.md? Tiny speech through it, a few times.

As for anonymizers: every run goes through the fence, each fault is told once, and what can be told
only of an image that works, or that repeats, is not checked of others. Models are compared by what
they score, and scores up to numeric noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.attackers.base import Pair
from harness.contracts.attacker import tiny
from harness.contracts.attacker.exchange import (
    ENROLMENTS,
    MODEL,
    SCORE,
    TRAIN,
    TRAINING,
    TRIALS,
    model_fault,
    read_output,
    write_scoring,
    write_training,
)
from harness.contracts.clauses import Finding
from harness.contracts.examination import Change, Examination, Write, examined, unchanged
from harness.contracts.inputs import Circumstances
from harness.errors import ScoreError
from harness.metrics.agreement import NOISE_SHARE, shares
from harness.runtime.containers.fence import Fence
from harness.runtime.files import folder_fingerprint

# Clauses that are checked, in the order of the document.
CHECKED = (
    *("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9"),
    *("T2", "T3", "T4", "S4", "S5", "S6", "S7"),
)
OF_TRAINING = ("T2", "T3", "T4")
FENCE = Fence(seconds=300.0, file=512, output=1024, log=1)
SEED = 1
OTHER_THREADS = 2

Scores = npt.NDArray[np.float32]


def check(
    image: str,
    parameters: Mapping[str, Any],
    *,
    trained: bool = True,
    system: str = "",
    fence: Fence = FENCE,
) -> list[Finding]:
    """One finding for each of `CHECKED`.

    parameters: what the image gets as /in/params.json. trained: whether it is trained first; if
    not, it carries its models, and clauses T are not checked. system: the anonymizer that it is
    told to attack. Raises ContainerError where the engine or the image is missing.
    """
    circumstances = Circumstances(seed=SEED, system=system)
    with examined(image, fence) as examination:
        _Conformance(examination, parameters, circumstances).check(trained)
    unasked = {} if trained else dict.fromkeys(OF_TRAINING, "the image carries its models")
    return examination.findings.of(CHECKED, unasked)


class _Conformance:
    def __init__(
        self,
        examination: Examination,
        parameters: Mapping[str, Any],
        circumstances: Circumstances,
    ) -> None:
        self.examination, self.findings = examination, examination.findings
        self._parameters, self._circumstances = parameters, circumstances
        self._asked = tiny.scoring()

    def check(self, trained: bool) -> None:
        model = None
        if trained:
            model = self._train()
            if model is None:
                return
        first = self._score(self._asked, model)
        if first is None:
            return
        self.examination.started()
        # Bad input first: nothing of it depends on whether the scores repeat.
        self._bad(model)
        again = self._score(self._asked, model, "S5")
        if not self._same("S5", "scored again", first, again):
            return
        if model is not None and self._same_model("T3", "trained again", model, first):
            self._same_model("T4", "trained on other columns", model, first, tiny.shift_columns)
        elsewhere = replace(self._circumstances, threads=OTHER_THREADS)
        there = self._score(self._asked, model, "C9", circumstances=elsewhere)
        self._same("C9", f"with {OTHER_THREADS} threads", first, there)
        other = self._score(self._asked.renamed(), model, "S6", tiny.shift_columns)
        back = None if other is None else other[::-1]
        if self._same("S6", "in another order, under other names", first, back):
            self._check_pair_rule(model, first)

    def _check_pair_rule(self, model: Path | None, first: Scores) -> None:
        pairs = self._asked.pairs
        one = pairs[0]
        trials = sorted({pair.trial for pair in pairs})
        half = trials[: len(trials) // 2]
        experiments: dict[str, Callable[[Pair], bool]] = {
            "half of the trials alone": lambda pair: pair.trial in half,
            "one enrolled speaker alone": lambda pair: pair.enrolment == one.enrolment,
            "one pair alone": lambda pair: pair == one,
        }
        for how, wanted in experiments.items():
            alone = self._score(self._asked.only(wanted), model, "S7")
            if alone is None:
                return
            # Beside the scores that were not asked for, so that the spread is that of all.
            after = first.copy()
            after[[place for place, pair in enumerate(pairs) if wanted(pair)]] = alone
            if not self._same("S7", how, first, after):
                return

    def _bad(self, model: Path | None) -> None:
        scoring = self._scoring(self._asked, model)
        self.examination.bad_audio(SCORE, scoring, ENROLMENTS)
        self.examination.bad_audio(SCORE, scoring, TRIALS)
        self.examination.bad(SCORE, scoring, "a pair of an unknown trial", tiny.add_unknown_trial)
        if model is not None:
            self.examination.bad(SCORE, scoring, "an empty model", tiny.empty_model)
            self.examination.bad_audio(TRAIN, self._training(), TRAINING)
            self.examination.unknown_parameter(TRAIN, self._training())
        self.examination.unknown_parameter(SCORE, scoring)

    def _train(self, clause: str | None = None, change: Change = unchanged) -> Path | None:
        """The model of a run on good input; None where it failed. clause: as of `_score`."""
        output = self.examination.good(TRAIN, self._training(), clause, change)
        if output is None:
            return None
        kept = self.findings.check(clause or "T2", model_fault(output))
        return output / MODEL if kept else None

    def _score(
        self,
        asked: tiny.Scoring,
        model: Path | None,
        clause: str | None = None,
        change: Change = unchanged,
        circumstances: Circumstances | None = None,
    ) -> Scores | None:
        """The scores of a run on good input, in the order of its pairs; None where it failed.

        clause: what a failure breaks where the image has already worked on such input.
        """
        write = self._scoring(asked, model, circumstances)
        output = self.examination.good(SCORE, write, clause, change)
        if output is None:
            return None
        try:
            scores = read_output(output, asked.pairs)
        except ScoreError as error:
            self.findings.check(clause or "S4", f"{error.where}: {error.what}")
            return None
        self.findings.check(clause or "S4", None)
        return scores

    def _training(self) -> Write:
        sounds, speakers = tiny.training()
        return partial(
            write_training,
            sounds=sounds,
            speakers=speakers,
            parameters=self._parameters,
            circumstances=self._circumstances,
        )

    def _scoring(
        self,
        asked: tiny.Scoring,
        model: Path | None,
        circumstances: Circumstances | None = None,
    ) -> Write:
        return partial(
            write_scoring,
            model=model,
            sounds=asked.sounds,
            enrolments=asked.enrolments,
            pairs=asked.pairs,
            parameters=self._parameters,
            circumstances=circumstances or self._circumstances,
        )

    def _same(self, clause: str, how: str, before: Scores, after: Scores | None) -> bool:
        """Whether scores came again; None: they did not come at all, and that is told."""
        if after is None:
            return False
        share = shares(before, after)
        count = int((share > NOISE_SHARE).sum())
        fault = f"{how}: {count} scores move, by up to {share.max():.2g} of the spread"
        return self.findings.check(clause, fault if count else None)

    def _same_model(
        self, clause: str, how: str, model: Path, first: Scores, change: Change = unchanged
    ) -> bool:
        """Whether what is trained again scores as the model does."""
        other = self._train(clause, change)
        if other is None:
            return False
        if folder_fingerprint(other) == folder_fingerprint(model):
            return self.findings.check(clause, None)
        return self._same(clause, how, first, self._score(self._asked, other, clause))
