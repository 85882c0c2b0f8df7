"""Chromium without a window, and pages in it that it gets from this process alone."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from harness.reports.page import Page

HERE = Path(__file__).resolve().parent
PROGRAMS = ("chromium", "chromedriver", "pdftotext")
# Read before any test starts: tests run without the variable.
REQUIRED = bool(os.environ.get("HARNESS_REQUIRE_BROWSER"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skipped where there is no browser, unless one must be there."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent and not REQUIRED:
        skip = pytest.mark.skip(reason=f"no {', '.join(absent)}: run make test-browser")
        for item in items:
            if item.path.is_relative_to(HERE):
                item.add_marker(skip)


class Opened:
    """A page in the browser. driver: of selenium. asked: what the browser asked the server for."""

    def __init__(self, driver: Any, asked: list[str], address: str) -> None:
        self.driver = driver
        self.asked = asked
        self.address = address

    def run(self, script: str, *arguments: Any) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def command(self, name: str, **arguments: Any) -> Any:
        """What a command of the browser's own protocol answers."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def all(self, selector: str) -> list[Any]:
        """Elements that are to be seen."""
        found = self.driver.find_elements("css selector", selector)
        return [element for element in found if element.is_displayed()]

    def click(self, selector: str, place: int = 0) -> None:
        """A click where a reader would click."""
        element = self.all(selector)[place]
        self.run("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def texts(self, selector: str) -> list[str]:
        """Texts of the elements that are to be seen."""
        return [element.text for element in self.all(selector)]

    def size(self, width: int, height: int = 900) -> None:
        """The size of the window, in CSS pixels."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def requests(self) -> list[str]:
        """Addresses that the page has asked for, of whatever server."""
        events = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        return [
            event["message"]["params"]["request"]["url"]
            for event in events
            if event["message"]["method"] == "Network.requestWillBeSent"
        ]

    def console(self) -> list[str]:
        """What the browser had to say."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def driver() -> Iterator[Any]:
    """Chromium; a test fails where there is none."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.fail("no chromium or chromedriver (make test-browser)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.add_argument("--headless=new")
    options.add_argument("--disable-gpu")
    options.add_argument("--disable-dev-shm-usage")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(chromedriver))
    yield driver
    driver.quit()


@pytest.fixture
def opened(driver: Any) -> Iterator[Callable[..., Opened]]:
    """Opens a page. scripts: whether the browser runs any."""
    from harness.reports.html.render import render

    asked: list[str] = []
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            body = bodies[0] if self.path == "/" else b""
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def opened(page: Page, *, scripts: bool = True) -> Opened:
        bodies[:] = [render(page).encode()]
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        one = Opened(driver, asked, address)
        one.console()
        one.requests()
        one.size(1200)
        one.command("Emulation.setEmulatedMedia", media="", features=[])
        one.command("Emulation.setScriptExecutionDisabled", value=not scripts)
        driver.get(address)
        return one

    yield opened
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    driver.get("about:blank")
    server.shutdown()
    thread.join()
    server.server_close()
