"""A fresh repository with the project's files, in which real commands run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
from closure import ROOT


class Repository:
    """A fresh repository, as after a clone; commands run with the environment of the tests."""

    def __init__(self, path: Path) -> None:
        self.path = path
        listed = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
        names = subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, path / name)
        self.environment = {
            **{
                k: v
                for k, v in os.environ.items()
                if not k.startswith(("HARNESS_", "MLFLOW_", "DVC_"))
            },
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(path),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "t",
            "GIT_AUTHOR_EMAIL": "t@example.org",
            "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "t@example.org",
        }
        for command in ("git init -q", "git add -A", "git commit -qm files"):
            self.run(*command.split())

    def run(self, *command: str, code: int = 0, environment: dict[str, str] | None = None) -> str:
        """Output of a command that must end with `code`."""
        done = subprocess.run(
            command,
            cwd=self.path,
            env=environment or self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def repro(self, *arguments: str) -> set[str]:
        """`dvc repro`; the stages that ran."""
        return set(re.findall(r"Running stage '([^']+)'", self.run("dvc", "repro", *arguments)))

    @property
    def lock(self) -> str:
        """The text of dvc.lock."""
        return (self.path / "dvc.lock").read_text(encoding="utf-8")

    def runs(self) -> pd.DataFrame:
        """All runs of the MLflow store."""
        code = (
            "import mlflow, sys; mlflow.set_tracking_uri('sqlite:///mlruns/mlflow.db');"
            "mlflow.search_runs(search_all_experiments=True).to_json(sys.argv[1])"
        )
        target = self.path / "runs.json"
        self.run(sys.executable, "-c", code, str(target))
        return pd.read_json(target)
