"""The pair rule by experiment: "only the utterances in that pair may be used".

An image is run again on the same trials with something changed that no pair has to do with. Scores
of the pairs that are left must not move: if they do, they were made from more than their pair. What
the same run moves when nothing is changed is the image's own noise, and is told first.

One experiment is of another kind: loud samples change by their last bit, which nobody hears. Scores
that are looked up in a table of known recordings then move far. It is told as a note, since an
honest attacker might be that touchy; and a table that knows a recording by what is heard is not
told from an attacker.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from harness.errors import ContainerError
from harness.metrics.agreement import NOISE_SHARE, rank_share, shares
from harness.protocols.lists import Trial
from harness.reruns.model import (
    BEYOND_NOISE,
    INAUDIBLE,
    INAUDIBLE_SHARE,
    MOST_NOISE,
    REPETITION,
    Finding,
)
from harness.reruns.scoring import Bench, Names, Scores

SEED_BITS = 63

# Places of the trials that stay, given all trials, their scores, and a source of draws.
Choice = Callable[[Sequence[Trial], Scores, random.Random], list[int]]


@dataclass(frozen=True)
class Experiment:
    """name: stable, for documents. what: is done. when: the scores move, as the report says it.

    renamed: are the utterances and speakers given other names, and the pairs another order?
    nudged: are loud samples changed by their last bit? least: what moves no farther stays, as a
    share of the spread.
    """

    name: str
    what: str
    when: str
    choose: Choice
    renamed: bool = False
    nudged: bool = False
    least: float = NOISE_SHARE


def _all(trials: Sequence[Trial], scores: Scores, draw: random.Random) -> list[int]:
    return list(range(len(trials)))


def _half(trials: Sequence[Trial], name: Callable[[Trial], str], draw: random.Random) -> list[int]:
    names = sorted({name(trial) for trial in trials})
    half = set(draw.sample(names, -(-len(names) // 2)))
    return [place for place, trial in enumerate(trials) if name(trial) in half]


def _half_of_the_trials(trials: Sequence[Trial], scores: Scores, draw: random.Random) -> list[int]:
    return _half(trials, lambda trial: trial.utterance, draw)


def _half_of_the_speakers(
    trials: Sequence[Trial], scores: Scores, draw: random.Random
) -> list[int]:
    return _half(trials, lambda trial: trial.enrolment, draw)


def _one_speaker(trials: Sequence[Trial], scores: Scores, draw: random.Random) -> list[int]:
    speaker = draw.choice(sorted({one.enrolment for one in trials}))
    return [place for place, trial in enumerate(trials) if trial.enrolment == speaker]


def _one_pair(trials: Sequence[Trial], scores: Scores, draw: random.Random) -> list[int]:
    # The one that a normalisation over the others would move the farthest.
    return [int(np.abs(scores - scores.mean()).argmax())]


EXPERIMENTS = (
    Experiment(REPETITION, "the same once more", "when nothing is changed", _all),
    Experiment(
        "names", "other names, other order", "when names and order are others", _all, renamed=True
    ),
    Experiment(
        "half-trials",
        "half of the trial utterances",
        "when other trial utterances are left out",
        _half_of_the_trials,
    ),
    Experiment(
        "half-speakers",
        "half of the enrolled speakers",
        "when other enrolled speakers are left out",
        _half_of_the_speakers,
    ),
    Experiment(
        "one-speaker",
        "one enrolled speaker alone",
        "when all other enrolled speakers are left out",
        _one_speaker,
    ),
    Experiment("one-pair", "one pair alone", "when all other pairs are left out", _one_pair),
    Experiment(
        INAUDIBLE,
        "last bit of loud samples",
        "when loud samples change by their last bit",
        _all,
        nudged=True,
        least=INAUDIBLE_SHARE,
    ),
)
BY_NAME = {one.name: one for one in EXPERIMENTS}


def examine(
    bench: Bench, name: str, names: Names, base: Scores, seed: int, tell: Callable[[str], None]
) -> Iterator[Finding]:
    """The findings of all experiments on a list, the repetition first.

    name: of the list. names, base: of the first run and its scores. tell: is told what begins.
    """
    noise = 0.0
    for experiment in EXPERIMENTS:
        tell(experiment.what)
        draw = random.Random(f"{seed}/{experiment.name}")
        places = experiment.choose(bench.trials, base, draw)
        try:
            again = bench.score(
                [bench.trials[place] for place in places],
                bench.names() if experiment.renamed else names,
                nudged=draw.getrandbits(SEED_BITS) if experiment.nudged else None,
            )
        except ContainerError as error:
            yield Finding(name, experiment.name, "failed", len(places), said=error.what)
            continue
        finding = judge(name, experiment.name, base, again, places, noise)
        if experiment.name == REPETITION:
            noise = finding.share
        yield finding


def judge(
    name: str, experiment: str, base: Scores, again: Scores, places: Sequence[int], noise: float
) -> Finding:
    """Whether scores moved. base: of all pairs. again: of those at `places`.

    noise: what the repetition moved, as a share of the spread.
    """
    before = base[list(places)]
    share = shares(before, again, among=base)
    beyond = int((share > max(BY_NAME[experiment].least, BEYOND_NOISE * noise)).sum())
    return Finding(
        name,
        experiment,
        "moved" if beyond else "kept",
        len(places),
        float(share.max()),
        beyond,
        rank_share(before, again),
    )


def sentence(finding: Finding) -> str:
    """A finding in words, without what the image said."""
    when = BY_NAME[finding.experiment].when
    if finding.state == "failed":
        return f"the image fails {when}"
    if finding.state == "kept":
        return f"scores stay {when}"
    amount = (
        "although all were the same"
        if math.isinf(finding.share)
        else f"by up to {finding.share:.2g} of their spread"
    )
    said = f"scores move {when}: {amount}; {finding.beyond} of {finding.pairs} pairs"
    if finding.rank_share:
        said += f", ranks by up to {100 * finding.rank_share:.2g} %"
    if finding.experiment == REPETITION:
        hides = "; so far that it hides what else moves them" if finding.share > MOST_NOISE else ""
        return f"not repeatable: {said}{hides}"
    if finding.experiment == INAUDIBLE:
        return f"a note: {said}; as a table of known recordings moves scores: look into the image"
    if finding.small:
        return f"{said}; so little, and in order, as padding in batches moves scores"
    return f"{said}; as normalisation over other utterances moves scores"
