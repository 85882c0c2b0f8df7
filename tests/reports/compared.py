"""Sides of a comparison on disk: small lists of official form, and scores of known truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.protocols.lists import Trial, cross_product, to_text, trials_path
from harness.protocols.protocol import Protocol, load
from harness.protocols.scores import score_path
from harness.protocols.scores import to_text as scores_text
from harness.reports.difference import Side
from harness.reports.lockfile import Stage

Floats = npt.NDArray[np.float64]
DEMO: Protocol = load("demo")


def small_lists(enrolled: int = 11, speakers: int = 14, utterances: int = 4) -> dict[str, Any]:
    """Lists of the demo's names: every enrolled speaker against every utterance of its gender."""
    lists = {}
    for listed in DEMO.lists:
        names = [f"{listed.gender}{number:03d}" for number in range(speakers)]
        spoken = {f"{name}-0-{u:04d}": name for name in names for u in range(utterances)}
        lists[listed.trials] = cross_product(names[:enrolled], spoken)
    return lists


def heard(trials: Sequence[Trial], rng: np.random.Generator, noise: float) -> Floats:
    """Scores of an attacker that hears every trial with noise of this deviation."""
    truth = np.random.default_rng(7)
    speakers = sorted({trial.utterance[:4] for trial in trials})
    effects = dict(zip(speakers, 0.5 * truth.standard_normal(len(speakers)), strict=True))
    base = [2 * t.target + effects[t.enrolment] + effects[t.utterance[:4]] for t in trials]
    return np.array(base) + noise * rng.standard_normal(len(trials))


def write_side(
    root: Path,
    scenarios: Mapping[str, Mapping[int, float]],
    lists: Mapping[str, Sequence[Trial]],
    *,
    draw: int = 1,
    stages: Mapping[str, Stage] | None = None,
    runs: Mapping[int, Mapping[str, Any]] | None = None,
    system: str = "b2",
    attacker: str = "ecapa",
) -> Side:
    """A side below `root`. scenarios: by seed, how much noise a training hears."""
    folder = PurePosixPath("results/demo/scores", system, attacker)
    seeds = sorted({seed for by_seed in scenarios.values() for seed in by_seed})
    for name, trials in lists.items():
        path = trials_path(root / "corpus", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(to_text(trials))
    for scenario, by_seed in scenarios.items():
        for seed, noise in by_seed.items():
            rng = np.random.default_rng([draw, seed])
            for listed in DEMO.lists:
                trials = lists[listed.trials]
                path = score_path(root / folder / f"seed-{seed}", scenario, listed)
                path.parent.mkdir(parents=True, exist_ok=True)
                values = heard(trials, rng, noise).astype(np.float32)
                path.write_text(scores_text(trials, values))
    return Side(
        name=f"{system}/{attacker}",
        benchmark="demo",
        system=system,
        attacker=attacker,
        folder=folder,
        scores={seed: root / folder / f"seed-{seed}" for seed in seeds},
        corpus=root / "corpus",
        stages=stages or {},
        runs=runs or {seed: {} for seed in seeds},
    )
