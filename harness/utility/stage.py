"""From two corpora to values: the work of the stages `utility` and `emotion`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from harness.corpora.manifest import COLUMNS
from harness.corpora.opaque import Recording
from harness.corpora.store import Corpus
from harness.errors import DataError, HarnessError
from harness.metrics.resampling import SAMPLING
from harness.protocols.values import Value
from harness.runtime.events import Events
from harness.runtime.files import code_fingerprint, work_folder, write_text
from harness.runtime.pool import Pool
from harness.utility.base import (
    Choosy,
    Evaluation,
    Evaluator,
    Group,
    Measurement,
    Pair,
    as_value,
)

# What is measured anew after a kill, at most.
KEPT_AT_ONCE = 128
# Utterances that an error names.
NAMED = 3


@dataclass(frozen=True)
class Part:
    """A set of a data set and split, stored twice."""

    dataset: str
    split: str
    original: Path
    anonymized: Path


@dataclass(frozen=True)
class Measure:
    """Measures a pair in a worker. Errors have the utterance's name."""

    evaluator: Evaluator

    def __call__(self, pair: Pair) -> Measurement:
        """See `Evaluator.measure`."""
        try:
            return self.evaluator.measure(pair)
        except HarnessError as error:
            where = f"utterance {pair.utterance}"
            if error.where:
                where = f"{where} ({error.where})"
            raise type(error)(error.what, where=where, fix=error.fix) from error


def pairs(original: Corpus, anonymized: Corpus) -> list[Pair]:
    """The utterances of a set in C order. Raises DataError unless both corpora have the same."""
    missing = set(original.manifest["utterance"]) ^ set(anonymized.manifest["utterance"])
    if missing:
        raise DataError(
            f"{len(missing)} utterances are not in both it and {original.path}: "
            + ", ".join(sorted(missing)[:NAMED]),
            where=anonymized.path,
            fix="anonymize the set again, whole",
        )
    labels = [name for name in original.manifest.columns if name not in COLUMNS]
    rows: Iterator[Any] = original.manifest.itertuples(index=False)
    made: Iterator[Any] = anonymized.manifest.itertuples(index=False)
    return [
        Pair(
            row.utterance,
            row.speaker,
            row.gender,
            row.text,
            _recording(original, row),
            _recording(anonymized, other),
            {name: getattr(row, name) for name in labels},
        )
        for row, other in zip(rows, made, strict=True)
    ]


def _recording(corpus: Corpus, row: Any) -> Recording:
    place = corpus.path / row.shard
    return Recording(place, int(row.offset), int(row.nbytes), row.sha256, int(row.samples))


def measure(
    evaluator: Evaluator, chosen: Sequence[Pair], work: Path, pool: Pool
) -> Iterator[Measurement]:
    """The measurements of pairs, in their order. What `work` has of an earlier run is kept."""
    todo = iter(chosen)
    number = 0
    while block := list(islice(todo, KEPT_AT_ONCE)):
        kept = work / f"{number:06d}.jsonl"
        if not kept.is_file():
            found = pool.map(Measure(evaluator), block, chunk=1)
            write_text(kept, "".join(f"{json.dumps(one)}\n" for one in found))
        # Also of this run: what is kept is what counts, to the last digit.
        yield from map(json.loads, kept.read_text(encoding="utf-8").splitlines())
        number += 1


def kept_folder(evaluator: Evaluator, parts: Sequence[Part], system: str, name: str) -> Path:
    """Where measurements are kept until their values are stored, by all that determines them."""
    digests = [
        Corpus(folder).digest() for part in parts for folder in (part.original, part.anonymized)
    ]
    identity = [repr(evaluator), digests, code_fingerprint()]
    return work_folder(f"utility-{system}-{name}", identity)


def evaluate(
    evaluator: Evaluator,
    parts: Sequence[Part],
    *,
    system: str,
    name: str,
    pool: Pool,
    events: Events,
) -> tuple[pd.DataFrame, list[Value]]:
    """Measure a system with the evaluator that params.yaml calls `name`.

    Returns the table of utterances and the values, by data set and split in the order of the
    parts. Raises DataError, AudioError or ConfigError, of which none is of half a table. What was
    measured stays in `kept_folder`: who has stored the values deletes it.
    """
    stored = [(Corpus(part.original), Corpus(part.anonymized)) for part in parts]
    # All, before hours of work that would end at the last set.
    sets = [pairs(one, other) for one, other in stored]
    for chosen in sets:
        if isinstance(evaluator, Choosy):
            evaluator.check(chosen)
    work = kept_folder(evaluator, parts, system, name)
    total = sum(map(len, sets))
    groups: dict[tuple[str, str], list[tuple[Pair, Measurement]]] = {}
    done = 0
    for number, (part, chosen) in enumerate(zip(parts, sets, strict=True)):
        found = groups.setdefault((part.dataset, part.split), [])
        measured = measure(evaluator, chosen, work / f"{number:03d}", pool)
        for pair, measurement in zip(chosen, measured, strict=True):
            found.append((pair, measurement))
            done += 1
            events.progress(f"{name} {system}", done, total)
    tables, values = [], []
    for (dataset, split), found in groups.items():
        whole, kept = zip(*found, strict=True)
        group = Group(dataset, split, "", whole, kept)
        evaluation = evaluator.evaluate(group, SAMPLING)
        for warning in evaluation.warnings:
            events.emit("warning", message=f"{name} {system}: {dataset} {split}: {warning}")
        tables.append(_table(group, evaluation))
        values += [
            as_value(one, system=system, evaluator=name, dataset=dataset, split=split)
            for one in evaluation.values
        ]
    return pd.concat(tables, ignore_index=True), values


def _table(group: Group, evaluation: Evaluation) -> pd.DataFrame:
    rows = [
        {
            "dataset": group.dataset,
            "split": group.split,
            "utterance": pair.utterance,
            "speaker": pair.speaker,
            **row,
        }
        for pair, row in zip(group.pairs, evaluation.rows, strict=True)
    ]
    return pd.DataFrame(rows)
