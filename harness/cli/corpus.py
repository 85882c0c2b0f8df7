"""`harness corpus`: import, check and export speech."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import DataError
from harness.submissions.shown import printable

if TYPE_CHECKING:
    from harness.corpora.importing import Recording


def register(subparsers: argparse._SubParsersAction[Any]) -> None:
    """Add `corpus` and its sub-commands."""
    corpus = subparsers.add_parser("corpus", help="import, check and export speech")
    commands = corpus.add_subparsers(dest="corpus_command", metavar="COMMAND", required=True)
    _register_import(commands)

    check = commands.add_parser("check", help="check a stored corpus")
    check.add_argument("corpus", type=Path, metavar="CORPUS")
    check.add_argument("--decode", action="store_true", help="also hash and decode all audio")
    _add_workers(check)
    check.set_defaults(handler=_check)

    export = commands.add_parser("export", help="write a stored corpus as a Kaldi directory")
    export.add_argument("corpus", type=Path, metavar="CORPUS")
    export.add_argument("directory", type=Path, metavar="DIR", help="a new or empty folder")
    export.add_argument("--format", choices=("wav", "flac"), default="wav")
    export.add_argument(
        "--absolute", action="store_true", help="absolute paths in wav.scp (default: relative)"
    )
    _add_workers(export)
    export.set_defaults(handler=_export)


def _register_import(commands: argparse._SubParsersAction[Any]) -> None:
    importer = commands.add_parser("import", help="store speech as a corpus")
    sources = importer.add_subparsers(dest="source", metavar="SOURCE", required=True)

    kaldi = sources.add_parser("kaldi", help="from a Kaldi data directory")
    kaldi.add_argument("directory", type=Path, metavar="DIR")
    kaldi.add_argument(
        "--base", type=Path, help="what relative paths of wav.scp start from (default: DIR)"
    )
    kaldi.add_argument(
        "--librispeech", type=Path, metavar="ROOT", help="where to find the audio without wav.scp"
    )
    kaldi.set_defaults(handler=_import_kaldi)

    librispeech = sources.add_parser("librispeech", help="from a subset of LibriSpeech")
    librispeech.add_argument("root", type=Path, metavar="ROOT")
    librispeech.add_argument("subset", metavar="SUBSET", help="e.g. train-clean-360")
    librispeech.set_defaults(handler=_import_librispeech)

    for source in (kaldi, librispeech):
        source.add_argument("--to", type=Path, required=True, metavar="CORPUS", dest="target")
        source.add_argument(
            "--segment-seconds", type=float, metavar="S", help="cut utterances into about S seconds"
        )
        _add_workers(source)

    anonymized = sources.add_parser(
        "anonymized", help="a system's speech that others anonymized, for all sets of a benchmark"
    )
    anonymized.add_argument(
        "path", type=Path, metavar="PATH", help="folder of <set><suffix>/wav/..., or of data/ there"
    )
    anonymized.add_argument("--system", type=_system, required=True, help="e.g. T10-2")
    anonymized.add_argument("--benchmark", metavar="NAME", help="default: that of params.yaml")
    anonymized.add_argument(
        "--suffix", metavar="TEXT", help="what follows the sets' names (default: the only one)"
    )
    anonymized.add_argument(
        "--map",
        action="append",
        default=[],
        type=_mapping,
        metavar="FOLDER=SET",
        help="take a folder of another name for a set",
    )
    anonymized.add_argument(
        "--accept",
        action="append",
        default=[],
        type=_acceptable,
        metavar="CODE",
        help="import in spite of these problems, named by the first word of their line",
    )
    anonymized.add_argument("--check", action="store_true", help="look only, import nothing")
    anonymized.set_defaults(handler=_import_anonymized)
    _add_workers(anonymized)


def _system(text: str) -> str:
    from harness.runtime.parameters import NAME, ORIGINAL

    if not NAME.fullmatch(text) or text == ORIGINAL:
        raise argparse.ArgumentTypeError(f"{text!r} cannot be the name of an imported system")
    return text


def _acceptable(text: str) -> str:
    from harness.corpora.anonymized_check import ACCEPTABLE

    if text not in ACCEPTABLE:
        raise argparse.ArgumentTypeError(f"{text!r} is none of: {', '.join(ACCEPTABLE)}")
    return text


def _mapping(text: str) -> tuple[str, str]:
    folder, equals, name = text.rpartition("=")
    if not (folder and equals and name):
        raise argparse.ArgumentTypeError(f"{text!r} is not FOLDER=SET")
    return folder, name


def _add_workers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers", type=_processes, metavar="N", help="processes (default: all cores)"
    )


def _processes(text: str) -> int:
    from harness.runtime.parameters import MOST_THREADS

    if not text.isdecimal() or not 1 <= int(text[:9]) <= MOST_THREADS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST_THREADS}")
    return int(text)


def _import_kaldi(arguments: argparse.Namespace) -> int:
    from harness.corpora.kaldi import read_kaldi, recordings

    kaldi = read_kaldi(arguments.directory)
    found = recordings(kaldi, base=arguments.base, librispeech=arguments.librispeech)
    return _import(arguments, found)


def _import_librispeech(arguments: argparse.Namespace) -> int:
    from harness.corpora.librispeech import recordings

    return _import(arguments, recordings(arguments.root, arguments.subset))


def _import(arguments: argparse.Namespace, recordings: list[Recording]) -> int:
    from harness.corpora.audio import NOTE
    from harness.corpora.importing import import_utterances, refuse_filled
    from harness.corpora.store import SAMPLE_RATE, Corpus
    from harness.runtime.pool import Pool

    refuse_filled(arguments.target)
    with Pool(arguments.workers) as pool:
        import_utterances(
            arguments.target,
            recordings,
            pool=pool,
            segment_seconds=arguments.segment_seconds,
            on_progress=_show_progress,
        )
    manifest = Corpus(arguments.target).manifest
    minutes = manifest["samples"].sum() / SAMPLE_RATE / 60
    speakers = manifest["speaker"].nunique()
    print(
        f"{arguments.target}: {len(manifest)} utterances of {speakers} speakers, "
        f"{minutes:.1f} minutes"
    )
    for note, count in manifest[NOTE].value_counts().sort_index().items():
        if note:
            print(f"  {count} utterances: {note}")
    return 0


def _import_anonymized(arguments: argparse.Namespace) -> int:
    from harness.corpora.anonymized_check import examine
    from harness.corpora.anonymized_store import store
    from harness.corpora.store import Corpus
    from harness.pipeline.layout import Layout
    from harness.protocols import protocol
    from harness.runtime.parameters import load
    from harness.runtime.pool import Pool

    benchmark = arguments.benchmark or load().benchmark.name
    layout, system = Layout(benchmark), arguments.system
    target = layout.imported(system)
    names = [dataset.name for dataset in protocol.load(benchmark).sets]
    if not arguments.check:
        _refuse_imported(target, system, names)
    originals = {name: Corpus(layout.corpus / name) for name in names}
    with Pool(arguments.workers) as pool:
        found = examine(
            arguments.path,
            originals,
            suffix=arguments.suffix,
            mapping=dict(arguments.map),
            pool=pool,
            on_progress=_show_progress,
        )
        refused = [one for one in found.problems if one.code not in arguments.accept]
        for problem in found.problems:
            print(f"{'' if problem in refused else 'accepted: '}{printable(str(problem))}")
        if refused:
            return 1
        count = sum(map(len, found.files.values()))
        if arguments.check:
            print(f"{printable(str(arguments.path))}: {count} utterances can be imported")
            return 0
        accepted: Counter[str] = Counter()
        for problem in found.problems:
            accepted[problem.code] += problem.count
        store(
            originals,
            found.files,
            found.hashes,
            target,
            accepted=accepted,
            pool=pool,
            on_progress=_show_progress,
        )
    print(f"{target}: {count} utterances in {len(names)} sets; for anonymizers in params.yaml:")
    print(_entry(target, system, names))
    return 0


def _entry(target: Path, system: str, sets: Sequence[str]) -> str:
    """Lines for params.yaml. Raises DataError for what is no whole import."""
    from harness.corpora.anonymized_store import accepted_problems, digest

    entry = f'  {system}: {{type: imported, folder: {target}, sha256: "{digest(target, sets)}"}}'
    accepted = [f"{code} {count}" for code, count in sorted(accepted_problems(target).items())]
    return f"  # accepted: {printable(', '.join(accepted))}\n{entry}" if accepted else entry


def _refuse_imported(target: Path, system: str, sets: Sequence[str]) -> None:
    """Raise DataError where an import is already; what is whole is told with its entry."""
    from harness.corpora.importing import refuse_filled

    try:
        refuse_filled(target)
    except DataError as error:
        with suppress(DataError):
            print(_entry(target, system, sets))
        fix = "remove it, or give another --system"
        raise DataError(error.what, where=error.where, fix=fix) from error


def _check(arguments: argparse.Namespace) -> int:
    from harness.corpora.check import check
    from harness.runtime.pool import Pool

    with Pool(arguments.workers) as pool:
        problems = check(arguments.corpus, arguments.decode, pool=pool, on_progress=_show_progress)
    for problem in problems:
        print(problem)
    if problems:
        return 1
    level = "all audio decodes" if arguments.decode else "metadata only; --decode checks the audio"
    print(f"{arguments.corpus}: no problem found ({level})")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    from harness.corpora.export import export
    from harness.corpora.store import Corpus
    from harness.runtime.pool import Pool

    corpus = Corpus(arguments.corpus)
    with Pool(arguments.workers) as pool:
        export(
            corpus,
            arguments.directory,
            arguments.format,
            paths="absolute" if arguments.absolute else "relative",
            pool=pool,
            on_progress=_show_progress,
        )
    print(f"{arguments.directory}: {len(corpus)} utterances")
    return 0


def _show_progress(done: int, total: int) -> None:
    """One line on a terminal, nothing in a log."""
    if sys.stderr.isatty():
        print(f"\r{done}/{total} utterances", end="" if done < total else "\n", file=sys.stderr)
