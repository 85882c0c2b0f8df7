"""Voice distinctiveness: do speakers still differ from one another after anonymization?

Goal: the gain of voice distinctiveness G_VD, a secondary measure of utility in VoicePrivacy 2022,
and the de-identification DeID of the same paper. A voice similarity matrix M holds for speakers i
and j the sigmoid of the mean log-likelihood ratio (LLR) of their pairs of utterances: near 1 where
the attacker takes them for one speaker, 1/2 where it cannot tell. Its diagonal dominance D_diag is
the distance of the mean of the diagonal from the mean of all else. With original (o) and anonymized
(a) utterances,

    G_VD = 10 log10(D_diag(M_aa) / D_diag(M_oo)),    DeID = 1 - D_diag(M_oa) / D_diag(M_oo).

Conventions: scores come as one matrix of all pairs of utterances, higher means more likely the same
speaker; embeddings as rows. LLRs are natural logarithms. Each matrix is calibrated on its own pairs
by PAV with Laplace's rule (`harness.metrics.calibration`): so only the order of scores matters.

What is official (VoicePrivacy 2020 and 2022): the utterances are the trial utterances of one data
set and gender, scored by a PLDA trained on original speech; no utterance is paired with itself or,
in M_oa, with its own anonymized version; in M_oo and M_aa each pair counts once; M is the sigmoid
of a plain mean. All of this holds here, but that scores may be of any attacker, whose embeddings
are compared by `cosines`, and of any utterances.
What differs: in M_oa the official scripts score, of two utterances, the original of the one that
the list has first against the anonymized other, never the reverse, and mirror the matrix; so the
order of a list matters. Here both count, with two pairs for Laplace's rule, so that speech left as
it is has DeID 0: row i is original speech of speaker i, column j anonymized speech of speaker j. On
ties see `harness.metrics.calibration`.

Source: Noé, Bonastre, Matrouf, Tomashenko, Nautsch and Evans, "Speech pseudonymisation assessment
using voice similarity matrices", Interspeech 2020; the folder `similarity_matrices` of the scripts
of VoicePrivacy 2022.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, stdtrit

from harness.errors import ScoreError
from harness.metrics.bootstrap import FEWEST_TARGET_SPEAKERS, Interval
from harness.metrics.calibration import calibrate
from harness.metrics.resampling import SAMPLING

Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float32]
Integers = npt.NDArray[np.intp]

# Rows of cosines that are computed at a time.
BLOCK = 512
# Means of numbers from 0 to 1 are exact to this: a dominance below it is none.
ROUNDING = 1e-12
# Speakers that an error names.
NAMED = 3


@dataclass(frozen=True)
class SimilarityMatrix:
    """Similarities of k speakers, at least two.

    values: shape (k, k), from 0 to 1, rows and columns in the order of the speakers. Raises
    ScoreError for values of another shape or range.
    """

    speakers: tuple[str, ...]
    values: Floats

    def __post_init__(self) -> None:
        size = len(self.speakers)
        if size < 2 or self.values.shape != (size, size):
            raise ScoreError(
                f"similarities of shape {self.values.shape} for {size} speakers",
                fix="give at least two speakers, and a value for each two of them",
            )
        if not ((self.values >= 0) & (self.values <= 1)).all():
            raise ScoreError("similarities are not all from 0 to 1", fix="give sigmoids of LLRs")


def cosines(first: npt.ArrayLike, second: npt.ArrayLike) -> Scores:
    """The cosine of each row of `first` with each row of `second`, shape (n, m).

    first, second: embeddings, shapes (n, d) and (m, d), of any length but 0. In single precision,
    so that utterances of one embedding tie, whatever a sum in another order leaves in the last bits
    of a double. O(n m d), in blocks of rows. Raises ScoreError for shapes that do not fit, and for
    embeddings that are not finite or have length 0.
    """
    rows, columns = _directions(first), _directions(second)
    if rows.shape[1] != columns.shape[1]:
        raise ScoreError(
            f"embeddings of {rows.shape[1]} and of {columns.shape[1]} numbers",
            fix="extract all with one model",
        )
    found = np.empty((len(rows), len(columns)), np.float32)
    for start in range(0, len(rows), BLOCK):
        found[start : start + BLOCK] = rows[start : start + BLOCK] @ columns.T
    return found


def similarity(scores: npt.ArrayLike, speakers: Sequence[str]) -> SimilarityMatrix:
    """M_oo or M_aa: the utterances of one set against one another.

    scores: shape (n, n), of utterance k against utterance l; the diagonal is not looked at, and
    where the two directions of a pair differ, their mean is its score. speakers: of the n
    utterances, in any order; two or more, each with two utterances or more.
    Symmetric, speakers in ascending order. O(n² log n) time; about 100 bytes for each of the
    n (n - 1) / 2 pairs. Raises ScoreError for other shapes and speakers, and for scores that are
    not finite.
    """
    square, names, owners = _validated(scores, speakers)
    below = np.tri(len(square), k=-1, dtype=bool)
    sums, counts = _ratios((square + square.T) / 2, owners, below, laplace=1)
    # A pair of speakers lies on either side of the diagonal, by the order of the utterances.
    return SimilarityMatrix(names, expit((sums + sums.T) / (counts + counts.T)))


def cross_similarity(scores: npt.ArrayLike, speakers: Sequence[str]) -> SimilarityMatrix:
    """M_oa: original utterances against anonymized ones.

    scores: shape (n, n), of original utterance k against anonymized utterance l, both in one order:
    the diagonal, an utterance against itself, is not looked at. speakers: as of `similarity`, and
    so are time, memory for each of the n (n - 1) pairs, and errors. Rows are original speech.
    """
    square, names, owners = _validated(scores, speakers)
    # Each two utterances make two pairs here, and so does Laplace's rule.
    sums, counts = _ratios(square, owners, ~np.eye(len(square), dtype=bool), laplace=2)
    return SimilarityMatrix(names, expit(sums / counts))


def diagonal_dominance(matrix: SimilarityMatrix) -> float:
    """D_diag, from 0 (speakers are as much like others as like themselves) to 1.

    It is a distance: speakers who are *less* like themselves have it too.
    """
    size = len(matrix.speakers)
    own = float(np.trace(matrix.values))
    others = (float(matrix.values.sum()) - own) / (size * (size - 1))
    distance = abs(own / size - others)
    return distance if distance > ROUNDING else 0.0


def gain(anonymized: SimilarityMatrix, original: SimilarityMatrix) -> float:
    """G_VD of M_aa and M_oo in dB: 0 where speakers differ as before, below 0 where they do less.

    -inf where anonymized speakers are all alike. Raises ScoreError where original ones are, and for
    matrices of different speakers.
    """
    kept = _kept(anonymized, original)
    return 10 * math.log10(kept) if kept else -math.inf


def deidentification(crossed: SimilarityMatrix, original: SimilarityMatrix) -> float:
    """DeID of M_oa and M_oo: 1 where no speaker is found again, 0 where all are as before.

    At most 1; below 0 where they are found better. Raises ScoreError as `gain` does.
    """
    return 1 - _kept(crossed, original)


def gain_interval(
    anonymized: npt.ArrayLike,
    original: npt.ArrayLike,
    speakers: Sequence[str],
    level: float = SAMPLING.level,
) -> Interval:
    """G_VD in dB and where it would lie with other speakers of the same kind: a jackknife.

    anonymized, original, speakers: as of `similarity`, of the same utterances. level: a fraction.
    Each speaker is left out once, and all is computed anew, the calibration too: it depends on the
    speakers as much as the rest does, so that intervals from a fixed matrix of drawn speakers are
    too narrow. These, at 95 %, hold the truth in 95 to 98 of 100 simulated cases with 10 to 40
    speakers (`benchmarks/distinctiveness.py`). None with fewer than FEWEST_TARGET_SPEAKERS, or
    where those who are left are all alike, as originals or anonymized. As many times the time of
    `gain` as there are speakers. Raises ScoreError as the others do.
    Source: Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 11; the normal
    interval with Student's t.
    """
    estimate = gain(similarity(anonymized, speakers), similarity(original, speakers))
    owners = np.asarray(speakers)
    names = np.unique(owners)
    if len(names) < FEWEST_TARGET_SPEAKERS:
        reason = f"{len(names)} speakers, fewer than {FEWEST_TARGET_SPEAKERS}"
        return Interval(estimate, level, None, None, reason)
    without = []
    for name in names:
        left = np.flatnonzero(owners != name)
        matrices = [
            similarity(np.asarray(scores)[np.ix_(left, left)], owners[left].tolist())
            for scores in (anonymized, original)
        ]
        if not diagonal_dominance(matrices[1]):
            reason = "without one of them, the original speakers are all alike"
            return Interval(estimate, level, None, None, reason)
        without.append(gain(*matrices))
    if not np.isfinite([estimate, *without]).all():
        return Interval(estimate, level, None, None, "anonymized speakers are all alike")
    deviation = math.sqrt((len(names) - 1) * np.var(without))
    half = deviation * float(stdtrit(len(names) - 1, (1 + level) / 2))
    return Interval(estimate, level, estimate - half, estimate + half)


def _kept(matrix: SimilarityMatrix, original: SimilarityMatrix) -> float:
    """The diagonal dominance relative to that of original speech."""
    if matrix.speakers != original.speakers:
        raise ScoreError(
            f"matrices of {len(matrix.speakers)} and of {len(original.speakers)} speakers are not "
            "of the same",
            fix="compare the same speakers, in one order",
        )
    before = diagonal_dominance(original)
    if not before:
        raise ScoreError(
            "the original speakers are all alike to this attacker",
            fix="use one that tells original speakers apart",
        )
    return diagonal_dominance(matrix) / before


def _ratios(
    scores: npt.NDArray[Any], owners: Integers, counted: npt.NDArray[np.bool_], laplace: int
) -> tuple[Floats, Integers]:
    """Sums of the LLRs of each two speakers, and how many there are: shapes (k, k).

    owners: the number of each utterance's speaker, shape (n,). counted: which pairs are calibrated
    and summed, shape (n, n). laplace: as of `calibrate`.
    """
    size = int(owners.max()) + 1
    cells = (owners[:, None] * size + owners)[counted]
    target = (owners[:, None] == owners)[counted]
    pairs = scores[counted]
    ratios = np.empty(len(pairs))
    ratios[target], ratios[~target] = calibrate(pairs[target], pairs[~target], laplace=laplace)
    counts = np.bincount(cells, minlength=size**2)
    sums = np.bincount(cells, ratios, size**2).astype(np.float64)
    return sums.reshape(size, size), counts.reshape(size, size)


def _validated(
    scores: npt.ArrayLike, speakers: Sequence[str]
) -> tuple[npt.NDArray[Any], tuple[str, ...], Integers]:
    """The scores, the speakers in ascending order, and of each utterance the place of its own."""
    square = np.asarray(scores)
    if square.shape != (len(speakers), len(speakers)):
        raise ScoreError(
            f"scores of shape {square.shape} for {len(speakers)} utterances",
            fix="give the score of each utterance against each",
        )
    names, owners, counts = np.unique(np.asarray(speakers), return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise ScoreError(
            f"{len(names)} speakers cannot be told apart", fix="give utterances of at least two"
        )
    single = names[counts < 2].tolist()
    if single:
        raise ScoreError(
            f"{len(single)} speakers have a single utterance, such as {', '.join(single[:NAMED])}",
            fix="give each at least two, or leave them out: no utterance is compared with itself",
        )
    return square, tuple(names.tolist()), owners


def _directions(embeddings: npt.ArrayLike) -> Floats:
    """Rows of length 1."""
    rows = np.asarray(embeddings).astype(np.float64)
    if rows.ndim != 2:
        raise ScoreError(f"embeddings have shape {rows.shape}", fix="give one row per utterance")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    usable = np.isfinite(lengths) & (lengths > 0)
    if not usable.all():
        raise ScoreError(
            f"{int((~usable).sum())} embeddings are not finite or have length 0",
            fix="look for silent utterances, or a training that diverged",
        )
    directions: Floats = rows / lengths
    return directions
