"""How large the report of 100 teams and seven systems is, and how long until it can be used.

    python benchmarks/report.py [--rounds N] [--output FILE]

The page is made up: 700 rows, 100 submissions with their evidence, 2,800 score files, 1,372 DET
curves. Times are of Chromium without a window, from the disk: until the page is there (its load
event), and until what a reader did is on the screen. Wanted: under 6 MB, usable within 2 seconds.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))

ROUNDS = 5

LOADED = """
const [entry] = performance.getEntriesByType("navigation");
return [entry.domInteractive, entry.loadEventEnd];
"""
# Two frames: what the first one lays out is painted before the second begins.
THEN = """
const [done] = arguments;
const start = performance.now();
ACTION;
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
"""
ACTIONS = {
    "filter": "const i = document.querySelector('#filter input'); i.value = '07';"
    "i.dispatchEvent(new Event('input', {bubbles: true}))",
    "sort a board": "document.querySelectorAll('.board thead button')[2].click()",
    "list the curves": "document.querySelector('.choose summary').click()",
    "add a curve": "document.querySelector('.choose label:nth-of-type(50) input').click()",
    "dark": "document.querySelector('#scheme').click()",
    "open evidence": "document.querySelector('.entry summary').click()",
    "open all": "for (const one of document.querySelectorAll('details')) one.open = true",
}


def browser() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(argument)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def main() -> None:
    from reports.pages import large_page

    from harness.reports.html.render import render

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--output", type=Path, help="where the page is kept")
    arguments = parser.parse_args()
    page = large_page()
    start = time.perf_counter()
    html = render(page).encode()
    print(f"rendering        {time.perf_counter() - start:.2f} s")
    print(
        f"size             {len(html) / 1e6:.2f} MB, {len(gzip.compress(html)) / 1e6:.2f} gzipped"
    )
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.output or Path(folder) / "page.html"
        path.write_bytes(html)
        driver = browser()
        try:
            for _ in range(arguments.rounds):
                driver.get(path.resolve().as_uri())
                parsed, loaded = driver.execute_script(LOADED)
                times.setdefault("parsed", []).append(parsed)
                times.setdefault("loaded", []).append(loaded)
                for name, action in ACTIONS.items():
                    took = driver.execute_async_script(THEN.replace("ACTION", action))
                    times.setdefault(name, []).append(took)
            elements = driver.execute_script("return document.querySelectorAll('*').length")
        finally:
            driver.quit()
    print(f"elements         {elements:,}")
    print(f"{'':17}{'best':>8}{'median':>8}  {arguments.rounds} rounds, milliseconds")
    for name, took in times.items():
        print(f"{name:17}{min(took):8.0f}{statistics.median(took):8.0f}")


if __name__ == "__main__":
    main()
