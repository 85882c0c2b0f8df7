"""`harness stage …`: what dvc.yaml runs."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any


def register(commands: Any) -> None:
    command = commands.add_parser("stage", help="run one stage of the pipeline (dvc.yaml does)")
    stages = command.add_subparsers(dest="stage", required=True, metavar="STAGE")
    run_arguments = ("system", "attacker", "seed")
    for name, arguments, text in (
        ("corpus", (), "original speech and trial lists"),
        ("anonymize", ("system",), "one system's anonymized speech"),
        ("train", run_arguments, "train an attacker on one system"),
        ("score", run_arguments, "score all lists and scenarios of one system"),
        ("evaluate", run_arguments, "EERs from score files"),
        ("compare", (), "the benchmark's tables"),
        ("utility", ("system", "evaluator"), "what one system's speech still is good for"),
        ("distinctiveness", run_arguments, "how different the voices of one system still are"),
        ("emotion-corpus", ("set",), "one set of original emotional speech"),
        ("emotion-anonymize", ("set", "system"), "one system's emotional speech"),
        ("emotion", ("set", "system", "evaluator"), "what of emotions one system keeps"),
        ("report", (), "the benchmark's page, with its pictures"),
        ("verify", (), "every submission of the inbox"),
    ):
        stage = stages.add_parser(name, help=text)
        stage.add_argument("benchmark")
        for argument in arguments:
            stage.add_argument(argument, type=int if argument == "seed" else str)
        stage.set_defaults(handler=run, stage_arguments=arguments)


def run(parsed: argparse.Namespace) -> int:
    from harness.runtime.environment import settle

    settle()
    from harness.cli.progress import ProgressBars
    from harness.pipeline.context import open_context

    bars = ProgressBars()
    context = open_context(parsed.benchmark, (bars,))
    values = [getattr(parsed, argument) for argument in parsed.stage_arguments]
    module = import_module(f"harness.pipeline.{parsed.stage.replace('-', '_')}")
    try:
        line = module.run(context, *values)
    finally:
        bars.close()
    print(line)
    return 0
