"""The editions in small, and submissions to them whose EERs are known beforehand.

Lists have the editions' names and few trials: cross products of 5 enrolled speakers with 90
utterances of 6 speakers, so 75 targets and 375 nontargets each. With `misses` targets and five
times as many nontargets on the wrong side of 0, the EER is `misses` / 75, by SpeechBrain as by
Kaldi: there both error rates are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from harness.protocols.lists import Trial, cross_product, sha256_text, to_text
from harness.protocols.protocol import Protocol, TrialList, load

TARGETS, NONTARGETS = 75, 375
RESULTS = "exp/results-2022-07-31-10-00-00"
TRIALS_MADE: dict[str, list[Trial]] = {}


def trials_of(listed: TrialList) -> list[Trial]:
    """Named as LibriSpeech and VCTK name them."""
    mark = "_" if listed.dataset.startswith("vctk") else "-"
    if listed.trials not in TRIALS_MADE:
        speakers = [f"{listed.trials.replace('_', '')}{number}" for number in range(6)]
        utterances = {f"{s}{mark}{i:03d}{mark}mic2": s for s in speakers for i in range(15)}
        TRIALS_MADE[listed.trials] = cross_product(speakers[:5], utterances)
    return TRIALS_MADE[listed.trials]


def tiny(name: str, *, known: bool = True) -> Protocol:
    """The edition with tiny lists. known: all of them by their hashes; else as the edition does."""
    edition = load(name)
    lists = []
    for listed in edition.lists:
        digest = sha256_text(to_text(trials_of(listed)))
        whole = replace(listed, target=TARGETS, nontarget=NONTARGETS, sha256=digest)
        unknown = replace(listed, target=TARGETS)
        lists.append(whole if known or listed.sha256 is not None else unknown)
    return replace(edition, lists=tuple(lists))


def write_lists(edition: Protocol, folder: Path) -> Path:
    for listed in edition.lists:
        path = folder / listed.trials / "trials"
        path.parent.mkdir(parents=True)
        path.write_text(to_text(trials_of(listed)))
    return folder


@dataclass(frozen=True)
class Made:
    """What a system is given. misses: by data set, of all its lists; wer: by data set; claimed: the
    misses that are claimed, where they are others."""

    misses: Mapping[str, int]
    wer: Mapping[str, str]
    uar: str = "50"
    claimed: Mapping[str, int] = field(default_factory=dict)

    def eer(self, listed: TrialList) -> float:
        """What is claimed, in percent."""
        return 100 * self.claimed.get(listed.dataset, self.misses[listed.dataset]) / TARGETS


def scores(listed: TrialList, misses: int, seed: int) -> str:
    """The text of a score file."""
    trials = trials_of(listed)
    target = np.array([trial.target for trial in trials])
    own = [seed, misses, *listed.trials.encode()]
    size = np.random.default_rng(own).permutation(len(trials))
    # All different, and none the same as the negative of another.
    values = 0.5 + size / 1000
    wrong = np.zeros(len(trials), np.bool_)
    for label, count in ((True, misses), (False, misses * NONTARGETS // TARGETS)):
        own = np.flatnonzero(target == label)
        wrong[own[np.argsort(size[own])[:count]]] = True
    values = np.where(target ^ wrong, values, -values)
    lines = zip(trials, values.tolist(), strict=True)
    return "".join(f"{t.enrolment} {t.utterance} {value!r}\n" for t, value in lines)


def submit_2022(folder: Path, edition: Protocol, made: Made, seed: int = 0) -> Path:
    """As the scripts of 2022 leave it: both folders of results, scores in each."""
    summary, blocks, lazy = [], [], []
    for listed in edition.lists:
        pair = f"ASV-{listed.enrolments}_anon-{listed.trials}_anon"
        original = f"ASV-{listed.enrolments}-{listed.trials}"
        _write(
            folder / RESULTS / pair / "scores", scores(listed, made.misses[listed.dataset], seed)
        )
        _write(folder / f"{RESULTS}.orig" / pair / "scores", scores(listed, 30, seed + 1))
        # Original speech, to the attacker trained on anonymized speech: asked for nowhere.
        _write(folder / RESULTS / original / "scores", scores(listed, 9, seed + 2))
        eer = f"{made.eer(listed):.4g}"
        summary += [f"{original}  EER: 8.665%", f"{pair}  EER: {eer}%"]
        blocks += [original, "  EER: 12%", pair, f"  EER: {eer}%", "  Cllr (min/act): 0.304/42.857"]
        lazy += [original, "  EER: 8.665%", pair, "  EER: 40%"]
    for dataset in ("libri", "vctk"):
        for split in ("dev", "test"):
            wer = made.wer[dataset]
            title = f"ASR-{dataset}_{split}_asr"
            counts = "[ 1 / 100, 1 ins, 0 del, 0 sub ]"
            best = f"{counts} exp/models/user_asr_eval_anon/decode_tglarge/wer_12_0.5"
            summary += [f"{title}  %WER 4.15 {best}", f"{title}_anon  %WER {wer} {best}"]
            blocks += [f"{title}_anon", f"  %WER 99 {counts} x_tgsmall/wer", f"  %WER {wer} {best}"]
            lazy += [f"{title}_anon", f"  %WER 77 {best}"]
    for listed in edition.lists:
        line = f"{listed.trials}  Pitch_correlation: mean=0.6089 std=0.1574"
        gain = "Gain of voice distinctiveness : -1.7054074286432193"
        summary += [line, f"{listed.trials}  {gain}"]
        blocks += [line, listed.trials, "  De-Identification : 0.8632", f"  {gain}"]
    for split in ("dev", "test"):
        eers = {
            one.trials: float(f"{made.eer(one):.4g}") for one in edition.lists if one.split == split
        }
        summary.append(f"Weighted average EER {split} orig: 8.665")
        summary.append(f"Weighted average EER {split} anon: {edition.average(split, eers):.3f}")
    _write(folder / RESULTS / "results_summary.txt", "".join(f"{one}\n" for one in summary))
    _write(folder / RESULTS / "results.txt", "".join(f"{one}\n" for one in blocks))
    _write(folder / f"{RESULTS}.orig" / "results.txt", "".join(f"{one}\n" for one in lazy))
    return folder


def submit_2024(folder: Path, edition: Protocol, made: Made, seed: int = 0) -> Path:
    """As the scripts of 2024 leave it, and those of 2026, which have a folder for the track."""
    name = folder.name
    rows, lazy = [], []
    for number, listed in enumerate(edition.lists):
        pair = f"{listed.enrolments}_{name}-{listed.trials}_{name}"
        place = folder / "exp" / f"asv_anon_{name}" / pair / "scores"
        _write(place, scores(listed, made.misses[listed.dataset], seed))
        row = f"{number}  {listed.dataset}  {listed.split}  {listed.gender}  anon  anon  "
        rows.append(f"{row}{made.eer(listed):.3f}\n")
        lazy.append(f"{row}40.000\n")
    columns = "  dataset split gender enrollment trial EER\n"
    text = "---- Time: 28-03-24_19:00 ----\n\n---- SER results ----\n"
    text += "   dataset split       ser      UAR  ACC_sad  ACC_neu\n"
    text += "                               mean     mean     mean\n"
    for number, split in enumerate(("dev", "test")):
        text += f"{2 * number}  IEMOCAP  {split}      anon  {made.uar}  32.9580  57.9720\n"
        text += f"{2 * number + 1}  IEMOCAP  {split}  original  71.0618  63.6292  65.9652\n"
    text += f"\n---- ASV_eval results ----\n{columns}{''.join(lazy)}"
    text += "\n---- ASR results ----\n  dataset split       asr     WER\n"
    for number, split in enumerate(("dev", "test")):
        text += f"{2 * number}   libri  {split}  original   1.807\n"
        text += f"{2 * number + 1}   libri  {split}      anon  {made.wer['libri']}\n"
    text += f"\n---- ASV_eval^anon results ----\n{columns}{''.join(rows)}"
    track = "track1/" if edition.name == "vpc2026" else ""
    _write(folder / f"exp/results_summary/{track}result_for_rank_{name}", text)
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
