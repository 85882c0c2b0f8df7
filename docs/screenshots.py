"""Make the pictures of docs/mlflow.md: `python docs/screenshots.py [FOLDER]`.

Fills an MLflow store in a temporary folder with runs of an invented benchmark, by the harness's own
code; starts a server on it; and drives Chromium through the clicks that the page describes. Needs
the whole environment (requirements/full.lock), Chromium and its driver (Debian: chromium,
chromium-driver). The numbers are invented; the runs are made as those of the pipeline are.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from harness.errors import HarnessError, ResourceError, TrackingError
from harness.pipeline.leaderboard import log_leaderboard, write_leaderboard
from harness.ranking.model import Estimate
from harness.reports.page import ResultRow
from harness.runtime.events import Events
from harness.runtime.parameters import Tracking
from harness.tracking.importer import import_runs
from harness.tracking.store import URI_VARIABLE, Store, open_store

BENCHMARK = "example"
SEEDS = (1986, 1987)
ATTACKERS = {
    "attacker-a": {"type": "ecapa", "epochs": 6},
    "attacker-b": {"type": "ecapa", "epochs": 12},
}
# Invented. By system and scenario: EER in percent of the first attacker; the other is 3 lower.
EERS = {
    "orig": {"original": 9.8},
    "b2": {"ignorant": 35.8, "lazy-informed": 29.2, "semi-informed": 19.3},
    "b3": {"ignorant": 44.1, "lazy-informed": 38.0, "semi-informed": 27.2},
}
WINDOW = (1500, 900)
NARROW = (1100, 2100)
SECONDS = 60
# A first visitor sees these once; the pictures are of what comes after.
SETTINGS = {
    "mlflow.workflowType_v1": '"machine_learning"',
    "mlflow.assistant.panelOpen_v1": "false",
    "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1": "true",
}
BADGE = """
const [element, number] = arguments, box = element.getBoundingClientRect();
const badge = document.createElement("div");
badge.textContent = number;
badge.className = "badge-of-picture";
badge.style.cssText = `position: fixed; z-index: 9999; left: ${box.right + 6}px;
  top: ${box.top + box.height / 2 - 11}px; width: 22px; height: 22px; border-radius: 11px;
  background: #a3282f; color: white; font: bold 14px/22px sans-serif; text-align: center`;
document.body.append(badge);
"""
UNMARK = "document.querySelectorAll('.badge-of-picture').forEach(badge => badge.remove())"
COMPARE = "//button[normalize-space() = 'Compare']"


def fill(store: Store, folder: Path) -> None:
    """Runs of trainings, scorings and leaderboards, by way of event files below `folder`."""
    for number, attacker in enumerate(ATTACKERS):
        for system, scenarios in EERS.items():
            for seed in SEEDS:
                shift = (seed - SEEDS[0]) * 0.6 - 3 * number
                rates = {name: eer + shift for name, eer in scenarios.items()}
                _write_stage(folder, "train", system, attacker, seed, {})
                _write_stage(folder, "score", system, attacker, seed, rates)
    import_runs(store, folder)
    report = folder / "results" / BENCHMARK / "report"
    write_leaderboard(report, BENCHMARK, _rows(), ATTACKERS)
    problems = log_leaderboard(report, Tracking(uri=store.uri))
    if problems:
        raise TrackingError("; ".join(problems))


def _write_stage(
    folder: Path, stage: str, system: str, attacker: str, seed: int, rates: dict[str, float]
) -> None:
    events = Events()
    events.emit(
        "run",
        stage=stage,
        key=f"{stage}@{BENCHMARK}-{system}-{attacker}-{seed}",
        benchmark=BENCHMARK,
        system=system,
        attacker=attacker,
        seed=seed,
        device="cpu",
        parameters={"attacker": ATTACKERS[attacker]},
    )
    for step in range(6 if stage == "train" else 0):
        events.emit("metric", name="train_loss", value=6.0 / (step + 1 + seed % 2), step=step)
    for scenario, eer in rates.items():
        for name, value in {"f": eer + 1, "m": eer - 1, "mean": eer}.items():
            events.emit("metric", name=f"eer/{scenario}/test/{name}", value=value, step=0)
    events.emit("done")
    place = {"train": "models", "score": "results"}[stage]
    events.write(folder / place / BENCHMARK / stage / system / attacker / f"seed-{seed}")


def _rows() -> list[ResultRow]:
    return [
        ResultRow(
            system=system,
            attacker=attacker,
            scenario=scenario,
            split="test",
            by_gender={},
            mean=Estimate(eer, eer - 6.4, eer + 7.1),
            deviation=0.42,
            seeds=dict.fromkeys(SEEDS, eer),
            published=None,
            source=None,
            file="",
        )
        for system, scenarios in EERS.items()
        for number, attacker in enumerate(ATTACKERS)
        for scenario, eer in ((name, eer + 0.3 - 3 * number) for name, eer in scenarios.items())
    ]


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The address of an MLflow server whose store is in `folder`, while the block runs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "mlflow", "server", "--workers", "1"),
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--backend-store-uri", f"sqlite:///{folder}/mlflow.db"),
            *("--artifacts-destination", str(folder / "artifacts")),
        ],
        cwd=folder,
        env={
            **{name: text for name, text in os.environ.items() if name != URI_VARIABLE},
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            "MLFLOW_DISABLE_TELEMETRY": "true",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=SECONDS)


def opened(uri: str) -> Store:
    """The store of a server that may still be starting. Raises TrackingError after SECONDS."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            store = open_store(Tracking(uri=uri))
        except TrackingError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
        else:
            assert store is not None
            return store


@contextmanager
def browser() -> Iterator[Chrome]:
    """Headless Chromium. Raises ResourceError, one line, where there is none."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        raise ResourceError(
            "no Chromium", fix="install it with its driver (Debian: chromium, chromium-driver)"
        )
    options = ChromeOptions()
    options.binary_location = binary
    # Without a sandbox, since it may be root's; it sees nothing but the server started here.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={WINDOW[0]},{WINDOW[1]}")
    chrome = Chrome(options=options, service=Service(driver))
    try:
        yield chrome
    finally:
        chrome.quit()


class Visitor:
    """Somebody who clicks through the UI."""

    def __init__(self, chrome: Chrome, uri: str, folder: Path) -> None:
        self.chrome = chrome
        self.uri = uri
        self.folder = folder

    def settle(self) -> None:
        """Open the UI once, and leave the settings of somebody who has been there before."""
        self.chrome.get(self.uri)
        for name, value in SETTINGS.items():
            self.chrome.execute_script(
                "localStorage.setItem(arguments[0], arguments[1])", name, value
            )

    def go(self, place: str) -> None:
        """Open a page of the UI anew."""
        self.chrome.get("about:blank")
        self.chrome.get(f"{self.uri}/#/{place}")

    def see(self, path: str) -> Any:
        """The first element of an XPath, once it is there."""
        wait = WebDriverWait(self.chrome, SECONDS)
        return wait.until(lambda chrome: chrome.find_element(By.XPATH, path))

    def click(self, path: str) -> None:
        """Click an element; again while the page is still being drawn over it."""
        wait = WebDriverWait(self.chrome, SECONDS, ignored_exceptions=[WebDriverException])
        wait.until(lambda chrome: chrome.find_element(By.XPATH, path).click() or True)

    def picture(self, name: str, marks: Sequence[str] = ()) -> None:
        """Keep what is on the screen, once it no longer changes.

        marks: elements that get a number, in the order of the clicks.
        """
        for number, path in enumerate(marks, start=1):
            self.chrome.execute_script(BADGE, self.see(path), number)
        before, now = b"", self.chrome.get_screenshot_as_png()
        deadline = time.monotonic() + SECONDS
        while now != before and time.monotonic() < deadline:
            time.sleep(1)
            before, now = now, self.chrome.get_screenshot_as_png()
        (self.folder / name).write_bytes(now)
        self.chrome.execute_script(UNMARK)


def visit(visitor: Visitor, runs: str) -> None:
    """The clicks of docs/mlflow.md, with a picture after each step. runs: place of the list."""
    visitor.settle()
    visitor.go(runs)
    ticks = [_tick(f"leaderboard {attacker}") for attacker in ATTACKERS]
    for tick in ticks:
        visitor.click(tick)
    visitor.picture("runs.png", marks=[*ticks, COMPARE])
    visitor.click(COMPARE)
    visitor.see("//*[contains(text(), 'eer/semi-informed/test/b3')]")
    visitor.chrome.set_window_size(*NARROW)
    visitor.picture("compare.png")
    visitor.chrome.set_window_size(*WINDOW)
    visitor.go(runs)
    visitor.click(f"//a[.//text() = 'leaderboard {BENCHMARK}']")
    visitor.click("//button[contains(., 'Show more')]")
    visitor.picture("leaderboard.png")
    visitor.click("//*[@role = 'tab' and contains(., 'Artifacts')]")
    visitor.click("//*[text() = 'table.png']")
    visitor.see("//img[contains(@src, 'blob:') or contains(@src, 'table.png')]")
    visitor.picture("table.png")


def _tick(name: str) -> str:
    """XPath of the box before a run's name."""
    return f"//*[@role = 'row'][.//a[.//text() = '{name}']]//input[@type = 'checkbox']"


def main() -> None:
    """Write the pictures to the folder that the command line names, or to docs/mlflow."""
    pictures = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("mlflow"))
    pictures = pictures.absolute()
    pictures.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        browser() as chrome,
        server(Path(folder)) as uri,
    ):
        # Runs say where their files are, relative to the working directory.
        os.chdir(folder)
        store = opened(uri)
        fill(store, Path(folder))
        runs = f"experiments/{store.experiment(BENCHMARK)}/runs"
        visit(Visitor(chrome, uri, pictures), runs)


if __name__ == "__main__":
    try:
        main()
    except HarnessError as error:
        raise SystemExit(str(error)) from None
