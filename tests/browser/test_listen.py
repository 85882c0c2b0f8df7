"""The page to listen to in Chromium: it plays, is silent on the network, and fits."""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from reports.test_html import HOSTILE, everywhere
from reports.test_listening import heard, page, sine, version

from browser.conftest import Opened
from harness.reports.html.listen import render
from harness.reports.listening import Listening

pytestmark = [pytest.mark.browser, pytest.mark.heavy]

Open = Callable[..., Opened]


@pytest.fixture
def listened(driver: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page from a file, as a reader would who was sent it."""

    def listened(shown: Listening) -> Opened:
        path = tmp_path / "listen.html"
        path.write_text(render(shown), encoding="utf-8")
        one = Opened(driver, [], path.as_uri())
        one.console()
        one.requests()
        one.size(1200)
        one.command("Emulation.setEmulatedMedia", media="", features=[])
        driver.get(one.address)
        return one

    yield listened
    driver.get("about:blank")


def test_nothing_is_fetched_and_the_console_is_empty(listened: Open) -> None:
    one = listened(page())
    durations = one.run(
        "return Promise.all([...document.querySelectorAll('audio')].map(a => a.readyState ?"
        " a.duration : new Promise(done => a.onloadedmetadata = () => done(a.duration))))"
    )
    assert durations == pytest.approx([1.5, 1.2, 1.5, 1.2], abs=0.001)
    assert [asked for asked in one.requests() if not asked.startswith("data:")] == [one.address]
    assert one.console() == []


def test_it_plays(listened: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    one = listened(page(heard(version("original", sine(400, 0.1)))))
    one.run(
        "const a = document.querySelector('audio');"
        "window.ended = new Promise(done => a.onended = () => done(a.currentTime))"
    )
    (player,) = one.all("audio")
    player.send_keys(Keys.SPACE)
    assert one.run("return window.ended") == pytest.approx(0.1, abs=0.001)


def test_pictures_are_shown(listened: Open) -> None:
    one = listened(page())
    sizes = one.run(
        "return Promise.all([...document.querySelectorAll('image')].map(async i => {"
        " const p = new Image(); p.src = i.href.baseVal; await p.decode();"
        " return [p.naturalWidth, p.naturalHeight]}))"
    )
    # 10 ms a column, up to 8 kHz.
    assert sizes == [[150, 257], [120, 257]] * 2
    # Of one height; the shorter speech takes less of the same axis.
    boxes = one.run(
        "return [...document.querySelectorAll('image')].map(e => {"
        " const b = e.getBoundingClientRect(); return [b.top, b.width, b.height]})"
    )
    assert boxes[0][0] == boxes[1][0]
    assert boxes[0][2] == boxes[1][2]
    assert boxes[1][1] == pytest.approx(boxes[0][1] * 120 / 150, rel=0.01)


def test_hostile_text_does_nothing(listened: Open) -> None:
    for text in HOSTILE.values():
        one = listened(everywhere(page(), lambda value, text=text: value and value + text))
        assert one.run("return window.pwned") is None
        assert one.console() == []
        assert {asked for asked in one.requests() if not asked.startswith("data:")} == {one.address}


def test_light_and_dark(listened: Open) -> None:
    one = listened(page())
    look = (
        "return [getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('image')).filter]"
    )
    for scheme, expected in (
        ("light", ["rgb(253, 252, 249)", "none"]),
        ("dark", ["rgb(22, 24, 27)", "invert(1)"]),
    ):
        one.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        assert one.run(look) == expected


@pytest.mark.parametrize(("width", "rows"), [(1200, 1), (600, 2), (360, 2)])
def test_side_by_side_where_there_is_room(listened: Open, width: int, rows: int) -> None:
    one = listened(page())
    one.size(width)
    assert one.run("return document.documentElement.scrollWidth") <= width
    tops = one.run(
        "return [...document.querySelectorAll('.version')].slice(0, 2).map("
        "e => e.getBoundingClientRect().top)"
    )
    assert len(set(tops)) == rows


def test_a_keyboard_reaches_every_player(listened: Open) -> None:
    from selenium.webdriver.common.keys import Keys

    one = listened(page())
    reached = []
    for _ in range(60):
        one.driver.switch_to.active_element.send_keys(Keys.TAB)
        if one.run("return document.activeElement === document.body"):
            break
        reached.append(one.run("return document.activeElement.ariaLabel"))
    names = [f"84-1-000{n}, {name}" for n in (1, 2) for name in ("original", "b2")]
    assert [name for name in dict.fromkeys(reached) if name in names] == names


def test_what_a_screen_reader_is_told(listened: Open) -> None:
    one = listened(page())
    one.command("Accessibility.enable")
    nodes = [n for n in one.command("Accessibility.getFullAXTree")["nodes"] if not n.get("ignored")]

    def named(role: str) -> list[str]:
        found = [node for node in nodes if node["role"]["value"] == role]
        return [node.get("name", {}).get("value", "") for node in found]

    assert len(named("Audio")) == 4
    assert len(named("image")) == 4
    for role in ("Audio", "image", "link", "table", "region", "navigation", "group"):
        assert named(role), role
        assert all(named(role)), role
    assert len(named("main")) == len(named("banner")) == 1
    levels = one.run(
        "return [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert one.run("return document.documentElement.lang") == "en"


def test_on_paper(listened: Open, tmp_path: Path) -> None:
    one = listened(page())
    answer = one.command("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
    (tmp_path / "page.pdf").write_bytes(base64.b64decode(answer["data"]))
    text = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "page.pdf"), "-"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert text.count("GO DO YOU HEAR") == 2
    assert text.count("−29.0 dBFS") == 2
    assert "Where the speech comes from" in text
    # Players are of no use there.
    assert "0:01" not in text
    assert "Skip to the content" not in text
