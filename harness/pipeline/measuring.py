"""What the stages of utility share: values of a system, left with their run in MLflow."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.corpora.store import Corpus
from harness.pipeline.context import Context
from harness.pipeline.tracked import problems, tracked
from harness.protocols.values import FILE_NAME, Value, to_csv
from harness.runtime.events import Events
from harness.runtime.files import code_fingerprint, finished_folder, work_folder, write_text
from harness.runtime.pool import Pool
from harness.utility.base import load
from harness.utility.stage import Part, evaluate, kept_folder

UTTERANCES = "utterances.tsv"


def evaluate_system(
    context: Context, key: str, system: str, name: str, parts: Sequence[Part], target: Path
) -> str:
    """Measure the parts of a system with an evaluator of params.yaml, and leave what was found.

    key: of the stage. Returns the line that tells a person what came out.
    """
    parameters = context.parameters
    evaluator = load(name, parameters.evaluators[name])

    def work(folder: Path, events: Events) -> list[Value]:
        with Pool(parameters.runtime.workers) as pool:
            table, values = evaluate(
                evaluator, parts, system=system, name=name, pool=pool, events=events
            )
        text = table.to_csv(sep="\t", index=False, lineterminator="\n")
        write_text(folder / UTTERANCES, text)
        return values

    facts = {
        "system": system,
        "evaluator": name,
        "parameters": {
            "anonymizer": parameters.anonymizers[system],
            "evaluator": parameters.evaluators[name],
        },
    }
    folders = [folder for part in parts for folder in (part.original, part.anonymized)]
    line = leave(context, key, facts, folders, [repr(evaluator)], work, target)
    shutil.rmtree(kept_folder(evaluator, parts, system, name))
    return line


def leave(
    context: Context,
    key: str,
    facts: dict[str, Any],
    folders: Iterable[Path],
    identity: Sequence[str],
    work: Callable[[Path, Events], list[Value]],
    target: Path,
) -> str:
    """Leave at `target` what `work` writes into a folder, and the values that it returns.

    facts: of the run. folders: stored speech that is measured; identity: what else determines the
    values. Returns the line that tells a person what came out.
    """
    datasets = [
        {"name": folder.as_posix(), "digest": Corpus(folder).digest(), "context": "evaluation"}
        for folder in dict.fromkeys(folders)
    ]
    determined = [key, datasets, *identity, code_fingerprint()]
    with tracked(context, key, determined) as (events, sink):
        events.emit(
            "run",
            stage="utility",
            key=key,
            benchmark=context.benchmark.name,
            datasets=datasets,
            **facts,
        )
        with finished_folder(target, work_folder(key, determined)) as folder:
            values = work(folder, events)
            write_text(folder / FILE_NAME, to_csv(values))
            for one in values:
                name = f"{one.measure}/{one.dataset}/{one.split}/{one.gender or 'all'}"
                events.emit("metric", name=name, value=one.value, step=0)
            events.emit("done")
            events.write(folder)
        if sink is not None:
            sink.finish(target)
    return f"{key}: {_told(values)}{problems(sink)}"


def _told(values: Sequence[Value]) -> str:
    """In one line: values of all speakers, or of each gender where there are no others."""
    whole = [one for one in values if not one.gender] or values
    return ", ".join(
        " ".join(
            filter(None, (one.measure, one.dataset, one.split, one.gender, f"{one.value:.2f}"))
        )
        for one in whole
    )
