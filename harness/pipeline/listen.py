"""The page to listen to: some utterances of a benchmark, original and as its systems made them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import yaml

from harness.anonymizers.world import F0_CEILING, F0_FLOOR, FRAME_MS, analyse
from harness.corpora.audio import NOTE
from harness.corpora.store import SAMPLE_RATE, Corpus
from harness.errors import ConfigError, DataError
from harness.pipeline.context import Context, open_context
from harness.reports.listening import Heard, Listening, Source, Version
from harness.runtime.parameters import ORIGINAL, load

# Of sound on one page: about 36 MB.
MOST_SECONDS = 600
F0_METHOD = f"WORLD: DIO and StoneMask, {F0_FLOOR:g} to {F0_CEILING:g} Hz"
NAME_OF_ORIGINAL = "original"


@dataclass(frozen=True)
class Choice:
    """Which utterances are wanted.

    utterances: these. Without any, the first `each` of each gender in C order, of different
    speakers as far as there are so many. dataset: of this set; without one, of the first trial
    sets, or of any set where utterances are named. seconds: to be heard of an utterance at most.
    """

    utterances: tuple[str, ...] = ()
    each: int = 2
    dataset: str | None = None
    seconds: float = 8.0


def page_of(benchmark: str | None, systems: Sequence[str], choice: Choice) -> Listening:
    """The page of some systems of a benchmark, by default of the one that params.yaml names.

    The original is always the first version, named or not. Raises ConfigError for a system, set,
    utterance or number that cannot be, and without pyworld; DataError for speech that is not there.
    """
    if choice.each < 1 or not choice.seconds > 0:
        raise ConfigError(
            f"{choice.each} utterances of {choice.seconds:g} s make no page",
            fix="give at least 1 utterance, and more than 0 s",
        )
    context = open_context(benchmark or load().benchmark.name)
    for system in systems:
        context.require("system", system, context.benchmark.systems)
    others = tuple(one for one in dict.fromkeys(systems) if one != ORIGINAL)
    chosen = _chosen(context, choice)
    seconds = len(chosen) * (1 + len(others)) * choice.seconds
    if seconds > MOST_SECONDS:
        raise ConfigError(
            f"up to {seconds:,.0f} s of sound, more than the {MOST_SECONDS:,} that a page can hold",
            fix="choose fewer utterances, fewer systems, or fewer seconds of each",
        )
    corpora = {
        dataset: {name: _corpus(context, name, dataset) for name in (ORIGINAL, *others)}
        for dataset in dict.fromkeys(chosen["dataset"])
    }
    rows: Iterator[Any] = chosen.itertuples(index=False)
    return Listening(
        benchmark=context.benchmark.name,
        title=f"{context.protocol.title}: original and anonymized speech",
        reference=context.protocol.reference,
        systems=others,
        utterances=tuple(_heard(row, corpora[row.dataset], choice.seconds) for row in rows),
        sources=tuple(
            Source(_shown(name), dataset, corpus.digest(), _entry(context, name))
            for dataset, versions in corpora.items()
            for name, corpus in versions.items()
        ),
        most_seconds=choice.seconds,
        frame_ms=FRAME_MS,
        f0_method=F0_METHOD,
    )


def _chosen(context: Context, choice: Choice) -> pd.DataFrame:
    """Rows of the originals' manifests in the order of the page, with a column `dataset`."""
    protocol = context.protocol
    split = protocol.lists[0].split
    if choice.dataset is not None:
        datasets = [protocol.dataset(choice.dataset).name]
    elif choice.utterances:
        datasets = [one.name for one in protocol.sets]
    else:
        datasets = [one.trials for one in protocol.lists if one.split == split]
    manifests = [
        _corpus(context, ORIGINAL, name).manifest.assign(dataset=name)
        for name in dict.fromkeys(datasets)
    ]
    rows = pd.concat(manifests, ignore_index=True)
    if not choice.utterances:
        # The first of each speaker before the second of any.
        rows["turn"] = rows.groupby("speaker").cumcount()
        rows = rows.sort_values(["gender", "turn"], kind="stable")
        return rows.groupby("gender").head(choice.each)
    by_name = rows.drop_duplicates("utterance").set_index("utterance", drop=False)
    for name in choice.utterances:
        if name not in by_name.index:
            raise ConfigError(
                f"no utterance {name!r}",
                where=context.layout.corpus / (choice.dataset or ""),
                fix="give a name that stands in a manifest.tsv there",
            )
    return by_name.loc[list(dict.fromkeys(choice.utterances))]


def _corpus(context: Context, system: str, dataset: str) -> Corpus:
    """A set as a system made it. Raises DataError, with the command, where it has not."""
    folder = context.layout.anonymized(system)
    stage = f"anonymize {context.benchmark.name} {system}"
    if system == ORIGINAL:
        folder, stage = context.layout.corpus, f"corpus {context.benchmark.name}"
    if not folder.is_dir():
        raise DataError(
            "not made yet", where=folder, fix=f"run `dvc repro`, or `harness stage {stage}`"
        )
    return Corpus(folder / dataset)


def _heard(row: Any, corpora: Mapping[str, Corpus], seconds: float) -> Heard:
    versions = [_version(name, corpus, row.utterance, seconds) for name, corpus in corpora.items()]
    return Heard(row.utterance, row.speaker, row.gender, row.dataset, row.text, tuple(versions))


def _version(name: str, corpus: Corpus, utterance: str, seconds: float) -> Version:
    own = corpus.manifest[corpus.manifest["utterance"] == utterance]
    if own.empty:
        raise DataError(
            f"utterance {utterance} is missing",
            where=corpus.path,
            fix="run the stage that makes it again",
        )
    samples = corpus.read(utterance)
    heard = samples[: math.ceil(seconds * SAMPLE_RATE)]
    return Version(
        _shown(name),
        heard,
        analyse(heard).f0,
        seconds=len(samples) / SAMPLE_RATE,
        note=str(own[NOTE].iloc[0]) if NOTE in own else "",
    )


def _shown(system: str) -> str:
    return NAME_OF_ORIGINAL if system == ORIGINAL else system


def _entry(context: Context, system: str) -> str:
    """What params.yaml says of a system, on one line."""
    entry = context.parameters.anonymizers[system]
    text = yaml.safe_dump(entry, default_flow_style=True, sort_keys=False, width=math.inf)
    return text.strip()
